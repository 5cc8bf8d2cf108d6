"""Requests to the transport and responses from it, without httpx types and without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, ready to be sent any number of times with the same bytes.

    Attributes:
        path: The path with its parameters, percent-encoded.
        query: The query, percent-encoded, without the question mark.
    """

    method: str
    path: str
    query: str = ""
    body: bytes | None = field(default=None, repr=False)
    key: str | None = None


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One response, read to its end.

    Attributes:
        headers: The headers with lower-case names; values that carry credentials are redacted.
        body: The body without content encoding. For an error response, the part that could be read.
        received_bytes: Bytes of the body on the wire.
        flaw: Why the body is incomplete or unreadable, or ``None``. A success has a flaw only for its content encoding,
            because an incomplete one is :class:`ConnectionLostError`.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    received_bytes: int
    flaw: str | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is in the 2XX class (manual: interface, "Endpoints")."""
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """The media type in lower case, without parameters; an empty text where none is given."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class ConnectionLostError(Exception):
    """No complete response came back.

    Attributes:
        kind: ``refused``, ``timeout``, ``reset``, ``cut``, ``tls``, ``dns``, ``untrusted``, ``too_large``,
            ``endless`` or ``network``.
        was_sent: Whether the service may have received the request.
        detail: The system's message, or an empty text.
        received_bytes: Bytes of the body that came before the end.
    """

    def __init__(self, kind: str, *, was_sent: bool, detail: str = "", received_bytes: int = 0) -> None:
        super().__init__(kind)
        self.kind = kind
        self.was_sent = was_sent
        self.detail = detail
        self.received_bytes = received_bytes
