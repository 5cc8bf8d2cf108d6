r"""Codec between texts of the service and column values.

Ids and names of the service are opaque and may hold a lone surrogate from a ``\ud800`` escape, which UTF-8 cannot
encode. Such a text is stored as bytes and any other as text, so each comes back exactly and equal texts stay equal.
"""

from __future__ import annotations


def encode_text(text: str) -> str | bytes:
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def encode_optional(value: object) -> str | bytes | None:
    """Return the column value of a text, or ``None`` for any other type."""
    return encode_text(value) if isinstance(value, str) else None


def decode_text(value: str | bytes) -> str:
    """Return the text given to :func:`encode_text`."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def decode_optional(value: str | bytes | None) -> str | None:
    """Return the text given to :func:`encode_optional`."""
    return None if value is None else decode_text(value)
