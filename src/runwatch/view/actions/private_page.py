"""Private pages, where the user enters a secret that no request of the console carries: pure rules.

An answer names the page (``continue_url``); the address works once and is a secret itself (specification, What the
service does, 7; wire reference 2.4, 2.6 and 2.14). It is shown in full before it is opened, and only an ``https``
address or one of this machine is opened at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.base.service_target import is_loopback_host
from runwatch.base.shell_words import quote_word
from runwatch.view.spec.action import PageProgress

POLL_S: Final = 2.0
"""Seconds between two looks whether a page was completed, as the official clients wait (wire reference 2.6)."""

MAX_POLLS: Final = 900
"""So many looks are half an hour: as long as an address works."""


def find_page_address(answer: object) -> str | None:
    """The address of the private page that an answer names."""
    value = answer.get("continue_url") if isinstance(answer, Mapping) else None
    return value if isinstance(value, str) and value else None


def explain_browser_refusal(address: str) -> str | None:
    """Why an address is not opened in a browser from here; ``None`` when it may be.

    Only a secure address, or one of this machine, carries a secret; anything else is for the user to judge.
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return "it is no address"
    if not host or not address.isascii() or not address.isprintable() or " " in address:
        return "it is no address"
    if "@" in parts.netloc:
        return "it carries a user name"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback_host(host)):
        return None
    return "it is neither https nor on this machine"


def build_tunnel_command(address: str, machine: str) -> str | None:
    """The command that makes an address on this machine open from another one; ``None`` where none is needed."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if port is None or not is_loopback_host(parts.hostname or ""):
        return None
    return f"ssh -L {port}:127.0.0.1:{port} {quote_word(machine or 'THIS_MACHINE')}"


def key_progress(before: Mapping[str, Any], now: Mapping[str, Any]) -> PageProgress:
    """How far the entry of a protected key is: it is entered once another key waits than before."""
    handle, known = _pending(now), _pending(before)
    if handle is not None and handle != known:
        return PageProgress("entered", "the key was entered and waits for its test")
    return PageProgress("waiting", "waiting until the key is entered")


_ENDED: Final[Mapping[str, str]] = {
    "failed": "the entry of the key failed",
    "expired": "the address was not used in time",
    "consumed": "the address was used for another connection",
}


def handoff_progress(_: Mapping[str, Any], now: Mapping[str, Any]) -> PageProgress:
    """How far the entry of a source's key is (wire reference 2.6)."""
    state = now.get("state")
    if state == "completed":
        is_open = now.get("auth_scheme") == "none"
        return PageProgress(
            "entered", "the source takes no key, so none is entered" if is_open else "the key was entered"
        )
    if isinstance(state, str) and state in _ENDED:
        code = now.get("failure_code")
        return PageProgress("ended", f"{_ENDED[state]} ({code})" if isinstance(code, str) and code else _ENDED[state])
    return PageProgress("waiting", "waiting until the key is entered")


def _pending(state: Mapping[str, Any]) -> str | None:
    pending = state.get("pending_key")
    handle = pending.get("handle") if isinstance(pending, Mapping) else None
    return handle if isinstance(handle, str) and handle else None
