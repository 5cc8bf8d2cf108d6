"""The wire format ``anthropic_messages``: one user message to ``messages``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.states import BROKEN
from runwatch.service.models.providers.error_kinds import broken_output, build_error
from runwatch.service.models.providers.json_reading import joined, objects, unusable
from runwatch.service.models.providers.wire_format import WireFormat

VERSION: Final = "2023-06-01"
"""Protocol version sent with every request."""

MAX_TOKENS: Final = 4096
"""Output limit when a run has none: the protocol requires one, and every model accepts this value."""


def _headers(key: str | None) -> dict[str, str]:
    named = {"anthropic-version": VERSION}
    return named if key is None else named | {"x-api-key": key}


def _body(model: str, message: str, max_output_tokens: int | None) -> dict[str, Any]:
    cap = MAX_TOKENS if max_output_tokens is None else max_output_tokens
    return {"model": model, "max_tokens": cap, "messages": [{"role": "user", "content": message}]}


def _text(answer: Mapping[str, Any]) -> str:
    content = answer.get("content")
    if not isinstance(content, list):
        raise unusable()
    return joined(part.get("text") for part in objects(content) if part.get("type") == "text")


def _error(answer: Mapping[str, Any]) -> Any:
    if build_error(answer) or answer.get("stop_reason") != BROKEN:
        return build_error(answer)
    return broken_output("stop_reason", None, has_text=bool(answer.get("content")))


PROTOCOL: Final = WireFormat(
    path="messages",
    headers=_headers,
    body=_body,
    text=_text,
    input_member="input_tokens",
    output_member="output_tokens",
    finish=lambda answer: answer.get("stop_reason"),
    error=_error,
    list_query="?limit=1000",
    pages_by="after_id",
)
