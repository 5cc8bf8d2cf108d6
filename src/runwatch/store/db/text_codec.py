"""Texts of the service as values of a column.

Ids and names of the service are opaque and may hold what UTF-8 cannot: a lone surrogate from a ``\\ud800`` escape. Such
a text is kept as bytes, every other one as text, so that each comes back exactly and equal texts stay equal.
"""

from __future__ import annotations


def encode_text(text: str) -> str | bytes:
    """The column value that stands for this text."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def encode_optional(value: object) -> str | bytes | None:
    """The column value of a text; ``None`` for anything that is no text."""
    return encode_text(value) if isinstance(value, str) else None


def decode_text(value: str | bytes) -> str:
    """The text that :func:`encode_text` was given."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def decode_optional(value: str | bytes | None) -> str | None:
    """The text that :func:`encode_optional` was given."""
    return None if value is None else decode_text(value)
