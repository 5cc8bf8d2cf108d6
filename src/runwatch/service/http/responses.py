"""What a handler gives back."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import Final

from runwatch.base.json import dumps

JSON_TYPE: Final = "application/json"
"""Media type of every success that has a body, and of every request body."""


@dataclass(frozen=True, slots=True)
class ServiceResponse:
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


def make_json_response(value: object) -> ServiceResponse:
    """A success with this value as its body."""
    return ServiceResponse(200, dumps(value).encode("ascii"))


def make_one_time_response(value: object, kept: object) -> ServiceResponse:
    """A success whose body holds a secret that is told this once.

    Args:
        value: The body.
        kept: What the same request is answered with when it comes again: the body without the secret. The references
            have a repeated request answered word for word; ours is not, because a secret that could be told again
            would have to be stored.
    """
    return replace(make_json_response(value), kept=dumps(kept).encode("ascii"))
