"""What one wire format says of a call; each protocol's module declares its own as ``PROTOCOL``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runwatch.service.models.providers.error_kinds import build_error
from runwatch.service.models.providers.json_reading import count, dollars, member, name
from runwatch.service.models.providers.types import Generation


@dataclass(frozen=True, slots=True)
class WireFormat:
    """A wire format.

    Attributes:
        headers: Builds the headers of a call from the key or ``None``.
        body: Builds the body of a call from model, message and output limit.
        text: Reads the output; raises :class:`.ProviderError` if there is none.
        input_member: Member of ``usage`` that counts tokens read.
        output_member: Member of ``usage`` that counts tokens written.
        finish: Reads why the output ends, in the protocol's own word.
        pages_by: Query parameter for the last id of a page, if lists have pages.
    """

    path: str
    headers: Callable[[str | None], dict[str, str]]
    body: Callable[[str, str, int | None], dict[str, Any]]
    text: Callable[[Mapping[str, Any]], str]
    input_member: str
    output_member: str
    finish: Callable[[Mapping[str, Any]], object]
    error: Callable[[Mapping[str, Any]], Any] = build_error
    list_query: str = ""
    pages_by: str = ""

    def spent(self, answer: Mapping[str, Any]) -> Generation:
        """Read what a response reports about itself and its usage, without the output; every value may be absent."""
        usage = answer.get("usage")
        return Generation(
            text="",
            input_tokens=count(member(usage, self.input_member)),
            output_tokens=count(member(usage, self.output_member)),
            # OpenRouter and similar gateways report their charge.
            usd=dollars(member(usage, "cost")),
            upstream_ref=name(answer.get("model")),
            source_request_id=name(answer.get("id")),
        )


def bearer(key: str | None) -> dict[str, str]:
    """Build the key header of both OpenAI formats."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}
