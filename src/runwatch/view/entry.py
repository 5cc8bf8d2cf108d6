"""Private pages: where a person enters a secret that no request of ours carries, as pure data and pure rules.

An answer names the page (``continue_url``); the address works once and is a secret itself (specification, What the
service does, 7; wire reference 2.4, 2.6 and 2.14). It is shown in full before it is opened, and only an ``https``
address or one of this machine is opened at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from runwatch.base.shell import quote_word
from runwatch.base.target import is_loopback_host

if TYPE_CHECKING:
    from runwatch.view.resource import Action

S = TypeVar("S")

POLL_S: Final = 2.0
"""Seconds between two looks whether a page was completed, as the official clients wait (wire reference 2.6)."""

LOOKS: Final = 900
"""So many looks are half an hour: as long as an address works."""

Stage = Literal["waiting", "entered", "ended"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the entry on a private page is.

    Attributes:
        stage: ``waiting`` for a person, ``entered``, or ``ended`` without.
        words: What is said of it.
    """

    stage: Stage
    words: str


@dataclass(frozen=True, slots=True)
class Entered:
    """What the next step after a private page is about.

    Attributes:
        id: The id of the record that it was for; empty where there is none yet.
        subject: That record.
        answer: The answer that named the page, without the address.
        state: What the service said last of the entry.
    """

    id: str
    subject: Any
    answer: Mapping[str, Any]
    state: Mapping[str, Any]

    @property
    def raw(self) -> Mapping[str, Any]:
        """What the service said last."""
        return self.state


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Entry(Generic[S]):
    """What goes on at a private page, and how one learns of it.

    Attributes:
        what: What a person does there: "enter the key of the output check".
        read: The operation that tells how far it is; empty where nothing does.
        path: The parameters of its path, from the record and the answer that named the page.
        progress: How far it is, from what was read first and what was read last.
        then: What is offered once it is entered; its subject is an :class:`Entered`.
        keeps: What is remembered of it on this machine until it is over, from what was asked for and the answer
            without its address; ``None`` remembers nothing.
    """

    what: str
    read: str = ""
    path: Callable[[S, Mapping[str, Any]], Mapping[str, str]] = lambda _, __: {}
    progress: Callable[[Mapping[str, Any], Mapping[str, Any]], Progress] = lambda _, __: Progress("waiting", "")
    then: Action[Entered] | None = None
    keeps: Callable[[Mapping[str, Any], Mapping[str, Any]], Kept] | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What is remembered of an intent that was started here.

    Attributes:
        kind: The kind of record that comes of it.
        id: The intent's id.
        facts: What is known of it; never the address.
    """

    kind: str
    id: str
    facts: Mapping[str, Any]


def address_of(answer: object) -> str | None:
    """The address of the private page that an answer names."""
    value = answer.get("continue_url") if isinstance(answer, Mapping) else None
    return value if isinstance(value, str) and value else None


def why_not_opened(address: str) -> str | None:
    """Why an address is not opened in a browser from here; ``None`` when it may be.

    Only a secure address, or one of this machine, carries a secret; anything else is for a person to judge.
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


def tunnel_for(address: str, machine: str) -> str | None:
    """The command that makes an address on this machine open from another one; ``None`` where none is needed."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if port is None or not is_loopback_host(parts.hostname or ""):
        return None
    return f"ssh -L {port}:127.0.0.1:{port} {quote_word(machine or 'THIS_MACHINE')}"


def key_progress(before: Mapping[str, Any], now: Mapping[str, Any]) -> Progress:
    """How far the entry of a protected key is: it is entered once another key waits than before."""
    handle, known = _pending(now), _pending(before)
    if handle is not None and handle != known:
        return Progress("entered", "the key was entered and waits for its test")
    return Progress("waiting", "waiting until the key is entered")


_ENDED: Final[Mapping[str, str]] = {
    "failed": "the entry of the key failed",
    "expired": "the address was not used in time",
    "consumed": "the address was used for another connection",
}


def handoff_progress(_: Mapping[str, Any], now: Mapping[str, Any]) -> Progress:
    """How far the entry of a source's key is (wire reference 2.6)."""
    state = now.get("state")
    if state == "completed":
        is_open = now.get("auth_scheme") == "none"
        return Progress("entered", "the source takes no key, so none is entered" if is_open else "the key was entered")
    if isinstance(state, str) and state in _ENDED:
        code = now.get("failure_code")
        return Progress("ended", f"{_ENDED[state]} ({code})" if isinstance(code, str) and code else _ENDED[state])
    return Progress("waiting", "waiting until the key is entered")


def _pending(state: Mapping[str, Any]) -> str | None:
    pending = state.get("pending_key")
    handle = pending.get("handle") if isinstance(pending, Mapping) else None
    return handle if isinstance(handle, str) and handle else None
