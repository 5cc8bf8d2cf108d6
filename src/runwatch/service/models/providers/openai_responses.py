"""The wire format ``openai_responses``: one input text to ``responses``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.states import REFUSED
from runwatch.service.models.providers.json_reading import joined, member, objects, unusable
from runwatch.service.models.providers.wire_format import WireFormat, bearer

TOOL_CALL: Final = "function_call"


def _body(model: str, message: str, max_output_tokens: int | None) -> dict[str, Any]:
    # By default the provider would store prompt and output, which this service never reads back.
    body: dict[str, Any] = {"model": model, "input": [{"role": "user", "content": message}], "store": False}
    if max_output_tokens is not None:
        body["max_output_tokens"] = max_output_tokens
    return body


def _text(answer: Mapping[str, Any]) -> str:
    output = answer.get("output")
    # An output limit leaves a response incomplete, with the text up to there.
    if not isinstance(output, list) or answer.get("status") not in {None, "completed", "incomplete"}:
        raise unusable()
    return joined(part.get("refusal" if part.get("type") == "refusal" else "text") for part in _parts(answer))


def _parts(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = [item for item in objects(answer.get("output")) if item.get("type") == "message"]
    return [part for item in items for part in objects(item.get("content"))]


def _finish(answer: Mapping[str, Any]) -> object:
    reason = member(answer.get("incomplete_details"), "reason")
    if reason is not None:
        return reason
    if any(item.get("type") == TOOL_CALL for item in objects(answer.get("output"))):
        return TOOL_CALL
    return REFUSED if any(part.get("type") == "refusal" for part in _parts(answer)) else None


PROTOCOL: Final = WireFormat(
    path="responses",
    headers=bearer,
    body=_body,
    text=_text,
    input_member="input_tokens",
    output_member="output_tokens",
    finish=_finish,
)
