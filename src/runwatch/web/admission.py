"""Who may use the consoles of a server: links that work once, sessions, and the checks of Host and Origin (manual:
security, "The console in a browser").
"""

from __future__ import annotations

import hashlib
import secrets
from collections import deque
from collections.abc import Sequence
from typing import Final

from runwatch.base.network.host_header import names_this_machine

COOKIE: Final = "runwatch_web"

MAX_SESSIONS: Final = 64
"""Browsers that hold a session at once; one more ends the oldest."""

_TOKEN_BYTES: Final = 32
_ENTRY_BYTES: Final = 12


class Admission:
    """The links and sessions of one server. They end with it: nothing is kept on disk.

    Args:
        names: More names of this machine that callers may use.
        is_secure: Whether the server speaks TLS.

    Attributes:
        entry: First part of every path. It is random and the path of the cookie, because browsers send a cookie to
            every port of a host: a server of another user on another port does not get it.
    """

    def __init__(self, host: str, *, names: Sequence[str] = (), is_secure: bool = False) -> None:
        self.entry: Final = secrets.token_urlsafe(_ENTRY_BYTES)
        self._scheme: Final = "https" if is_secure else "http"
        self._host: Final = host.strip("[]").lower()
        self._names: Final = frozenset(name.lower() for name in (self._host, *names) if name)
        self._links: Final[set[str]] = set()
        self._sessions: Final[deque[str]] = deque(maxlen=MAX_SESSIONS)

    def make_link(self) -> str:
        """Return the path of a new link, which opens one session."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._links.add(_digest(token))
        return f"/{self.entry}/start/{token}"

    def begin(self, token: str) -> str | None:
        """Use up the link with this token; return the ``Set-Cookie`` header of its session, or ``None``."""
        if _digest(token) not in self._links:
            return None
        self._links.discard(_digest(token))
        session = secrets.token_urlsafe(_TOKEN_BYTES)
        self._sessions.append(_digest(session))
        secure = "; Secure" * (self._scheme == "https")
        return f"{COOKIE}={session}; Path=/{self.entry}/; HttpOnly; SameSite=Strict{secure}"

    def session_of(self, cookie: str | None) -> str | None:
        """Return the name of the session that a cookie opens, which is no secret, or ``None``."""
        named = None if cookie is None else _digest(cookie)
        return named if named in self._sessions else None

    def names_this_server(self, hosts: Sequence[str]) -> bool:
        """Return whether the ``Host`` headers of a request name this machine. A tunnel has a port of its own."""
        return names_this_machine(hosts, self._host, self._names)

    def is_same_origin(self, hosts: Sequence[str], origins: Sequence[str]) -> bool:
        """Return whether a request with this ``Origin`` comes from a page of this server."""
        return [origin.lower() for origin in origins] == [f"{self._scheme}://{hosts[0].lower()}"]


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
