"""Classify what came in place of an answer: its form alone, never its words."""

from __future__ import annotations

import re
from typing import Final

from runwatch.base.json import loads
from runwatch.base.secrets.key_forms import remove_key

_MEDIA_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,40}/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}")

_HTML: Final = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|script)\b", re.IGNORECASE)

_STREAM: Final = re.compile(rb"(?:data|event)?:")
"""How a line of server-sent events begins; one with a colon alone is a comment."""

_LOOKED_AT_BYTES: Final = 2000


def find_body_kind(content: bytes, media_type: str | None) -> str:
    """Return the kind of a body, a key of :data:`runwatch.records.failed_calls.BODY_TEXTS`."""
    body = content.strip()
    start = body[:_LOOKED_AT_BYTES]
    if not body:
        return "empty"
    if body == b"null":
        return "null"
    if _HTML.search(start) and start.startswith(b"<"):
        return "html"
    if media_type == "text/event-stream" or _STREAM.match(start):
        return "stream"
    if _is_json(body):
        return "other_json"
    if start.startswith((b"{", b"[")):
        first_line, _, further = body.partition(b"\n")
        return "stream" if further and _is_json(first_line) else "broken_json"
    return "other"


def clean_media_type(header: str | None, key: str | None) -> str | None:
    """Return the media type of a ``Content-Type`` header without its parameters, or ``None`` for an invalid one and
    for one that repeats the key of the call.
    """
    media_type = (header or "").partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(media_type) or (key and remove_key(media_type, key) != media_type):
        return None
    return media_type


def _is_json(content: bytes) -> bool:
    try:
        loads(content)
    except ValueError:
        return False
    return True
