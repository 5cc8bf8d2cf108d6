"""What a handler gives back: an answer, or a refusal that becomes a Problem."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from runwatch.base.errors import RunwatchError
from runwatch.base.json import dumps
from runwatch.records.codes import CODES

JSON_TYPE: Final = "application/json"
"""Media type of every success that has a body, and of every request body."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer.

    Attributes:
        status: The HTTP status.
        body: The exact bytes; empty for 204.
        media_type: The body's type.
        headers: Further headers.
        kept: What is kept for the idempotency key in place of the body; ``None`` for the body itself.
        rest: What the body goes on with, made as fast as the caller takes it; ``None`` where it is whole, as it is in
            every answer to a mutation.
    """

    status: int
    body: bytes = field(default=b"", repr=False)
    media_type: str = JSON_TYPE
    headers: tuple[tuple[str, str], ...] = ()
    kept: bytes | None = field(default=None, repr=False)
    rest: AsyncGenerator[bytes, None] | None = field(default=None, repr=False)

    @property
    def is_success(self) -> bool:
        """Whether the status is in the 2XX class."""
        return 200 <= self.status < 300


def answer_json(value: object) -> Answer:
    """A success with this value as its body."""
    return Answer(200, dumps(value).encode("ascii"))


def answer_once(value: object, kept: object) -> Answer:
    """A success whose body holds a secret that is told this once.

    Args:
        value: The body.
        kept: What the same request is answered with when it comes again: the body without the secret. The references
            have a repeated request answered word for word; ours is not, because a secret that could be told again
            would have to be stored.
    """
    return replace(answer_json(value), kept=dumps(kept).encode("ascii"))


class Refusal(RunwatchError):
    """A request is not done. It is answered with a Problem of this code.

    Args:
        code: One of :data:`runwatch.records.codes.CODES`, which gives the HTTP status and the title.
        detail: What about this request; it is sent, so it repeats nothing that a caller sent or a secret holds.
        errors: Fields and what is wrong with each; only for ``validation_failed``.
        retry_after_s: Seconds to wait; only for ``rate_limited`` and ``quota_exceeded``.
        headers: Headers that belong to the answer.
        cause: What happened inside; it is stored and never sent.

    Attributes:
        page: Makes a page of the Problem for a browser; ``None`` for the page that every Problem of this code has.
    """

    page: Callable[[Answer], Answer] | None = None

    def __init__(
        self,
        code: str,
        detail: str | None = None,
        *,
        errors: Sequence[tuple[str, str]] = (),
        retry_after_s: int | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        cause: str | None = None,
    ) -> None:
        super().__init__(CODES[code].title, detail=detail)
        self.code = code
        self.errors = tuple(errors)
        self.retry_after_s = retry_after_s
        self.headers = headers
        self.cause = cause

    @property
    def status(self) -> int:
        """The HTTP status that goes with the code."""
        return CODES[self.code].status


def invalid(*errors: tuple[str, str], cause: str | None = None) -> Refusal:
    """A ``validation_failed`` refusal naming fields and what is wrong with each."""
    count = "One field needs" if len(errors) == 1 else f"{len(errors)} fields need"
    return Refusal("validation_failed", f"{count} attention.", errors=errors, cause=cause)
