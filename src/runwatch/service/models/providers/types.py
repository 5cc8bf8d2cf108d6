"""What calls to model providers take and give, whatever wire form the provider speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from runwatch.base.errors import RunwatchError
from runwatch.base.secret import Secret

KINDS: Final = (
    "authentication",
    "permission",
    "model_not_found",
    "rate_limited",
    "capacity",
    "source_5xx",
    "provider_insufficient_funds",
    "timeout",
    "network",
    "egress_rejected",
    "request_refused",
    "response_too_large",
    "invalid_response",
)
"""What can go wrong with a call. The first seven are the ``test_error`` values of a connection (wire reference 2.6),
the others the failure words of checks (3.4), which are used here in the same sense, and ``request_refused`` for any
other 4XX status."""

DEFAULT_DATA_CLASSES: Final = ("public",)
"""The data classes of a model that nobody vouches for."""


class ProviderError(RunwatchError):
    """A provider gave no usable answer. Of what the provider said only ``message`` is carried, and only for tests.

    Args:
        kind: One of :data:`KINDS`.
        was_sent: Whether the provider may have got the request, and may charge for it.
        http_status: The status it answered with, where it answered.
        is_deadline: Whether the call's own time limit ended it. A provider that says that its time is over has a
            ``timeout`` of its own, which says nothing about this service's clock.
        spent: What the provider says the call used, where it answered with usage and without a usable output.
        suggestions: Names of models that it lists and that are near the one asked for.
        message: The provider's own words, from :func:`.error_kinds.provider_message`. ``None`` for the call of a run,
            because they could repeat its prompt.
    """

    def __init__(
        self,
        kind: str,
        *,
        was_sent: bool,
        http_status: int | None = None,
        is_deadline: bool = False,
        spent: Generation | None = None,
        suggestions: tuple[str, ...] = (),
        message: str | None = None,
    ) -> None:
        super().__init__("A model provider gave no usable answer", detail=kind)
        self.kind = kind
        self.was_sent = was_sent
        self.http_status = http_status
        self.is_deadline = is_deadline
        self.spent = spent
        self.suggestions = suggestions
        self.message = message


@dataclass(frozen=True, slots=True)
class ProviderAddress:
    """Where a provider is and how it is spoken to.

    Attributes:
        base_url: What the paths of the protocol are appended to, as ``https://api.example/v1``; ``fixture:`` for the
            sample source inside this service.
        protocol_profile: ``openai_chat``, ``openai_responses`` or ``anthropic_messages``.
        auth_scheme: ``none`` for a server that asks for no key; every other scheme sends the secret in the way of the
            protocol.
        secret: The key, where there is one.
        tenant_id: The organization that calls, which decides where the provider may be.
    """

    base_url: str
    protocol_profile: str
    auth_scheme: str
    secret: Secret | None
    tenant_id: str = ""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a provider lists, with what the list tells; the rest is worked out from its name or ``unknown``.

    Attributes:
        upstream_ref: The name under which the provider takes calls.
        display_name: A name for people.
        capabilities: What it can do, as ``text.generate``.
        data_classes: What it may be given.
        publisher_id: Who made it.
        family: The line of models that it belongs to.
        release: Which one of that line.
        lifecycle: ``preview``, ``active``, ``deprecated`` or ``retired``.
        license: ``identifier``, ``commercial_use`` and ``evidence_ref`` (wire reference 2.5).
        prices: ``input_usd_per_million`` and ``output_usd_per_million`` as decimal texts, where the list tells them.
    """

    upstream_ref: str
    display_name: str
    capabilities: tuple[str, ...]
    data_classes: tuple[str, ...]
    publisher_id: str
    family: str
    release: str
    lifecycle: str
    license: dict[str, Any]
    prices: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ServedModels:
    """The answer of a provider that was asked what it serves.

    Attributes:
        base_url: The base URL that works; the one asked for, or the same with ``/v1``.
        models: What it serves, in its own order; models that a user named and it does not list come last.
        named: The models that a user named, each under the name by which it is listed.
    """

    base_url: str
    models: list[ServedModel]
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model has put out.

    Attributes:
        text: The output.
        input_tokens: Tokens read, as the provider counts them; ``None`` where it does not tell.
        output_tokens: Tokens written, likewise.
        usd: What the call cost in US dollars, where the provider itself reports it.
        upstream_ref: The model that the provider says has answered.
        source_request_id: The provider's id of the call.
        input_characters: Length of the message that was sent; what an estimate of unreported input tokens stands on.
        finish_reason: Why the output ends, in the provider's word; ``length`` in every protocol where it was cut at a
            limit of tokens. ``None`` where the provider does not tell.
    """

    text: str = field(repr=False)
    input_tokens: int | None
    output_tokens: int | None
    usd: Decimal | None
    upstream_ref: str | None
    source_request_id: str | None
    input_characters: int = 0
    finish_reason: str | None = None

    @property
    def is_without_usage(self) -> bool:
        """Whether the provider says neither what the call used nor what it cost."""
        return self.input_tokens is None and self.output_tokens is None and self.usd is None
