"""Enter a secret: read it, send it to its private page, or wait until the user opens that page.

A secret comes from a hidden prompt, standard input or a command, never from an argument, and is sent only to the
service's private page (manual: interface, "What the service does"; manual: security, "Private pages"). If none is
given, the page's address is printed once, on stderr, for a browser.
"""

from __future__ import annotations

import getpass
import platform
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from runwatch.api.secrets import is_own_page
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.log import keep_secret
from runwatch.base.secrets.secret import Secret
from runwatch.base.text import clean_line
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.session import CommandSession
from runwatch.records.record import Record
from runwatch.view.actions.private_page import (
    MAX_POLLS,
    POLL_S,
    build_tunnel_command,
    describe_foreign_host,
    find_page_address,
)


def read_secret(call: Invocation, what: str, *, may_ask: bool = True) -> Secret | None:
    """Read a secret, or return ``None`` if it will be entered in a browser.

    Args:
        what: Owner of the key, for the prompt.
        may_ask: Whether to prompt on a terminal without an option.

    Raises:
        UsageError: The options contradict each other, or the input is not a key.
        SettingsError: The key command fails.
    """
    options = call.options
    if options.key_command is not None and options.key_stdin:
        raise UsageError("--key-command and --key-stdin cannot be used together")
    if options.key_command is not None:
        from runwatch.settings.key_command import run_key_command

        return _checked(run_key_command(options.key_command))
    if options.key_stdin and not call.stdin.isatty():
        return _checked(call.read_input("-").decode("utf-8", "replace"))
    if call.stdin.isatty() and sys.stderr.isatty() and (may_ask or options.key_stdin):
        optional = "" if options.key_stdin else "; leave it empty to enter it in a browser"
        try:
            typed = getpass.getpass(f"Key for {clean_line(what)} (not shown{optional}): ", stream=sys.stderr)
        except EOFError:
            raise UsageError("No key was typed") from None
        return _checked(typed) if typed.strip() or options.key_stdin else None
    if options.key_stdin:
        raise UsageError("No key was typed")
    return None


def _checked(text: str) -> Secret:
    value = text.strip()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise UsageError(
            "This is not a key", detail="a key is one word of visible ASCII characters; it is not shown here"
        )
    secret = Secret(value)
    keep_secret(secret)
    return secret


async def enter_secret(
    session: CommandSession, intent: dict[str, Any], key: Secret | None, is_done: Callable[[], Awaitable[bool]]
) -> None:
    """Send a secret to the private page of an intent, or print the page's address and wait.

    Args:
        intent: The decoded response with ``continue_url``.
        key: The secret; ``None`` waits for the user's browser.
        is_done: Returns whether it was entered; raises if it never will be.

    Raises:
        RunwatchError: The response names no page, or the time is over.
        ApiError: The page refused the secret.
    """
    address = find_page_address(intent)
    if address is None:
        raise RunwatchError("The service returned no private page", detail="the response has no continue_url")
    if key is None:
        await _wait(session, address, is_done)
        return
    if not is_own_page(session.client.target, address):
        session.call.output.warn("the private page is not at the service's own address, so no key is sent there")
        await _wait(session, address, is_done)
        return
    await session.client.enter_secret(Secret(address), key)
    session.call.output.note("the key was entered on its private page")


def print_page_address(session: CommandSession, address: str) -> None:
    """Print the address of a private page once on stderr, with the command to open it from another machine."""
    call = session.call
    foreign = describe_foreign_host(session.client.target, address)
    if foreign is not None:
        call.output.warn(foreign)
    call.output.note(f"open this private address to continue; it works once: {address}")
    tunnel = build_tunnel_command(address, platform.node())
    if tunnel is not None:
        call.output.note(f"from another machine, first: {tunnel}")


def print_intent(session: CommandSession, intent: Record, after: str) -> None:
    """Print an intent that the user completes on a private page.

    Args:
        after: Says how to see that it is done.
    """
    call = session.call
    if call.output.is_json:
        # A program opens the page itself, and this output is the only place where the address appears.
        call.output.json(dict(intent.raw), indent=2 if call.output.form == "json" else None)
        return
    address = intent.raw.get("continue_url")
    if isinstance(address, str):
        print_page_address(session, address)
    call.output.note(after)


async def _wait(session: CommandSession, address: str, is_done: Callable[[], Awaitable[bool]]) -> None:
    call = session.call
    print_page_address(session, address)
    call.output.note("waiting for the page to be completed; Ctrl+C stops only the wait")
    call.on_interrupt = "The private address still works until it is used or expires."
    for _ in range(MAX_POLLS):
        if await is_done():
            call.on_interrupt = None
            return
        await call.clock.sleep(POLL_S)
    raise RunwatchError(
        "The private page was not completed in time", hint="Run the command again to get a new address.", retryable=True
    )
