"""The wire form ``openai_chat``: one user message to ``chat/completions``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.service.models.providers.model import Generation
from runwatch.service.models.providers.reading import count, dollars, finish, joined, member, name, objects, unusable
from runwatch.service.models.providers.wire import Protocol, bearer


def _body(model: str, message: str, max_output_tokens: int | None) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": message}]}
    if max_output_tokens is not None:
        # The newer max_completion_tokens is known to fewer servers.
        body["max_tokens"] = max_output_tokens
    return body


def _generation(answer: Mapping[str, Any]) -> Generation:
    choices = objects(answer.get("choices"))
    message = member(choices[0], "message") if choices else None
    if not isinstance(message, Mapping):
        raise unusable()
    usage = answer.get("usage")
    return Generation(
        text=_text(message),
        input_tokens=count(member(usage, "prompt_tokens")),
        output_tokens=count(member(usage, "completion_tokens")),
        # OpenRouter and gateways like it tell what they charge.
        usd=dollars(member(usage, "cost")),
        upstream_ref=name(answer.get("model")),
        source_request_id=name(answer.get("id")),
        finish_reason=finish(choices[0].get("finish_reason")),
    )


def _text(message: Mapping[str, Any]) -> str:
    """The output: a text, a list of parts, or the refusal that stands in its place."""
    content = message.get("content")
    if content is None:
        return joined([message.get("refusal")])
    if isinstance(content, str):
        return joined([content])
    if not isinstance(content, list):
        raise unusable()
    return joined(part.get("text") for part in objects(content) if part.get("type") == "text")


PROTOCOL: Final = Protocol(path="chat/completions", headers=bearer, body=_body, generation=_generation)
