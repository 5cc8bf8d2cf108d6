"""Responses of handlers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from runwatch.base.json import dumps

JSON_TYPE: Final = "application/json"
"""Media type of every success with a body, and of every request body."""


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """A response.

    Attributes:
        kept: What to store for the idempotency key in place of the body; ``None`` for the body itself.
        further_parts: What follows the body, made as fast as the caller reads it; ``None`` if the body is whole, as in
            every response to a mutation.
    """

    status: int
    body: bytes = field(default=b"", repr=False)
    media_type: str = JSON_TYPE
    headers: tuple[tuple[str, str], ...] = ()
    kept: bytes | None = field(default=None, repr=False)
    further_parts: AsyncGenerator[bytes, None] | None = field(default=None, repr=False)


def make_json_response(value: object) -> ServiceResponse:
    return ServiceResponse(200, dumps(value).encode("ascii"))


def make_one_time_response(value: object, kept: object) -> ServiceResponse:
    """Build a success whose body holds a secret that is returned only once.

    Args:
        kept: The response to a repeat of the request: the body without the secret. The specification has repeats
            answered verbatim; this service does not, because a secret that could be returned again would have to be
            stored.
    """
    return replace(make_json_response(value), kept=dumps(kept).encode("ascii"))


def make_continue_response(value: Mapping[str, object], continue_url: str | None) -> ServiceResponse:
    """Build a success with the address of a private page, ``continue_url``, which is ``null`` in a repeat."""
    return make_one_time_response({**value, "continue_url": continue_url}, {**value, "continue_url": None})
