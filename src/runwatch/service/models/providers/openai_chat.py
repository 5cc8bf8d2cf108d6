"""The wire format ``openai_chat``: one user message to ``chat/completions``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.states import BROKEN, REFUSED, TOOLS
from runwatch.service.models.providers.error_kinds import broken_output, build_error
from runwatch.service.models.providers.json_reading import joined, member, objects, unusable
from runwatch.service.models.providers.wire_format import WireFormat, bearer


def _body(model: str, message: str, max_output_tokens: int | None) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": message}]}
    if max_output_tokens is not None:
        # Fewer servers support the newer max_completion_tokens.
        body["max_tokens"] = max_output_tokens
    return body


def _text(answer: Mapping[str, Any]) -> str:
    """Return the output: a text, a list of parts, or the refusal in its place."""
    choices = objects(answer.get("choices"))
    message = member(choices[0], "message") if choices else None
    if not isinstance(message, Mapping):
        raise unusable()
    content = message.get("content")
    if content is None:
        return joined([message.get("refusal")])
    if isinstance(content, str):
        return joined([content])
    if not isinstance(content, list):
        raise unusable()
    return joined(part.get("text") for part in objects(content) if part.get("type") == "text")


def _finish(answer: Mapping[str, Any]) -> object:
    """Return why the output ends. Many servers say ``stop`` of a call of tools, and of a refusal."""
    choice = objects(answer.get("choices"))[0]
    message, reason = member(choice, "message"), member(choice, "finish_reason")
    if objects(member(message, "tool_calls")) or isinstance(member(message, "function_call"), Mapping):
        return TOOLS
    return REFUSED if joined([member(message, "refusal")]).strip() else reason


def _error(answer: Mapping[str, Any]) -> Any:
    """Return the error of a response; gateways put that of a model's provider into the choice."""
    choice = next(iter(objects(answer.get("choices"))), None)
    error = member(choice, "error")
    if build_error(answer) or not (error or member(choice, "finish_reason") == BROKEN):
        return build_error(answer)
    content = member(member(choice, "message"), "content")
    return broken_output("finish_reason", error, has_text=bool(content))


PROTOCOL: Final = WireFormat(
    path="chat/completions",
    headers=bearer,
    body=_body,
    text=_text,
    input_member="prompt_tokens",
    output_member="completion_tokens",
    finish=_finish,
    error=_error,
)
