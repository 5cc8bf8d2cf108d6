"""Rules for private pages, where the user enters a secret that no request of the console contains.

A response names the page (``continue_url``). The address works once and is itself a secret (manual: interface, "What
the service does"; manual: security, "Private pages"). It is shown in full before it is opened, and only an ``https`` or
loopback address is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.api.secrets import is_own_page
from runwatch.base.network.service_target import Target, is_loopback_host
from runwatch.base.shell_words import quote_word
from runwatch.view.spec.action_parts import PageProgress

POLL_S: Final = 2.0
"""Poll interval for the completion of a page in seconds, as in the official clients (manual: interface, "Sources,
connections and credential handoffs").
"""

MAX_POLLS: Final = 900
"""Maximum number of polls: half an hour, the lifetime of an address."""


def find_page_address(response: object) -> str | None:
    value = response.get("continue_url") if isinstance(response, Mapping) else None
    return value if isinstance(value, str) and value else None


def explain_browser_refusal(address: str) -> str | None:
    """Explain why an address is not opened in a browser; ``None`` if it may be opened.

    Only ``https`` and loopback addresses protect a secret; the user decides about any other.
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return "it is not an address"
    if not host or not address.isascii() or not address.isprintable() or " " in address:
        return "it is not an address"
    if "@" in parts.netloc:
        return "it carries a user name"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback_host(host)):
        return None
    return "it is neither https nor on this machine"


def describe_foreign_host(target: Target, address: str) -> str | None:
    """Say that a private page is not at the service's own address; ``None`` if it is."""
    if is_own_page(target, address):
        return None
    try:
        host = urlsplit(address).hostname
    except ValueError:
        host = None
    own = "this machine" if target.socket is not None else target.origin
    return f"The page is on {host or 'an unknown host'}, the service on {own}: open it only if you know that host."


def build_tunnel_command(address: str, machine: str) -> str | None:
    """Return the command that makes a loopback address reachable from another machine; ``None`` if none is needed."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if port is None or not is_loopback_host(parts.hostname or ""):
        return None
    return f"ssh -L {port}:127.0.0.1:{port} {quote_word(machine or 'THIS_MACHINE')}"


def key_progress(before: Mapping[str, Any], now: Mapping[str, Any]) -> PageProgress:
    """Return the progress of entering a protected key: it is entered once a different key is pending."""
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
    """Return the progress of entering a source's key (manual: interface, "Sources, connections and credential
    handoffs").
    """
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
