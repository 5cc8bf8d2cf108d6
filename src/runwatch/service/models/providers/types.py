"""Inputs and outputs of provider calls, independent of the wire format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from runwatch.base.errors import RunwatchError
from runwatch.base.secrets.secret import Secret

KINDS: Final = (
    "authentication",
    "permission",
    "model_not_found",
    "rate_limited",
    "capacity",
    "source_5xx",
    "provider_insufficient_funds",
    "timeout",
    "source_timeout",
    "network",
    "dns",
    "tls",
    "egress_rejected",
    "request_refused",
    "input_too_long",
    "response_too_large",
    "response_incomplete",
    "invalid_response",
    "credential_unavailable",
)
"""Kinds of call failure. The first seven are the ``test_error`` values of a connection; the others are failure classes
of checks with the same meaning, and this service's own: ``source_timeout`` when the provider answers that something
behind it took too long, ``dns`` and ``tls`` for a name that does not resolve and a secure connection that is not made,
``input_too_long``, ``request_refused`` for any other 4XX status, ``response_incomplete`` for a connection that
ended in the middle of a response, and ``credential_unavailable`` for a key that no master key at hand opens.
"""

ANSWER_MEMBERS: Final = ("retry_after_s", "body_kind", "content_type")
"""What is kept of the response to a failed call besides its status."""

DEFAULT_DATA_CLASSES: Final = ("public",)
"""Data classes of a model without any statement about them."""


class ProviderError(RunwatchError):
    """A provider gave no usable response. Of the provider's words only ``message`` is carried.

    Args:
        kind: One of :data:`KINDS`.
        was_sent: Whether the provider may have received the request, and may charge for it.
        is_deadline: Whether the call's own time limit ended it. A ``timeout`` reported by the provider says nothing
            about this service's clock.
        spent: Usage reported by a response without usable output.
        message: The provider's own words, from :func:`.error_kinds.provider_message`. They can repeat the prompt of a
            run, and are kept as its result is (manual: decisions, "Truth").
        retry_after_s: Seconds that the provider asked to wait.

    Attributes:
        suggestions: Listed model names similar to the requested one.
        models: The models whose calls failed in this way, when a test called several.
        body_kind: What came in place of an answer, a key of :data:`runwatch.records.failed_calls.BODY_TEXTS`.
    """

    suggestions: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    body_kind: str | None = None
    content_type: str | None = None

    def __init__(
        self,
        kind: str,
        *,
        was_sent: bool,
        http_status: int | None = None,
        is_deadline: bool = False,
        spent: Generation | None = None,
        message: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__("A model provider gave no usable answer", detail=kind)
        self.kind = kind
        self.was_sent = was_sent
        self.http_status = http_status
        self.is_deadline = is_deadline
        self.spent = spent
        self.message = message
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class ProviderAddress:
    """Where a provider is and how to call it.

    Attributes:
        base_url: Prefix of the protocol's paths, such as ``https://api.example/v1``; ``fixture:`` for the sample source
            inside this service.
        protocol_profile: One of :data:`runwatch.records.source.PROTOCOLS`.
        auth_scheme: ``none`` for a server without a key; every other scheme sends the secret as the protocol defines.
        tenant_id: The calling organization, which determines the allowed addresses.
        publisher: Publisher of all models there, if there is a single one. A server's protocol does not tell it.
    """

    base_url: str
    protocol_profile: str
    auth_scheme: str
    secret: Secret | None
    tenant_id: str = ""
    publisher: str | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message to a model.

    Attributes:
        timeout_s: Seconds until the last byte of the response.
        inputs: The task's ``inputs_ref`` as decoded JSON, or ``None``. Inline JSON is appended to the message as text;
            for URLs only the addresses are, and nothing is fetched.
    """

    model: str
    objective: str = field(repr=False)
    timeout_s: float
    inputs: Any = field(default=None, repr=False)
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a provider lists; facts missing there are derived from the name or are ``unknown``.

    Attributes:
        upstream_ref: The provider's name for calls.
        lifecycle: ``preview``, ``active``, ``deprecated`` or ``retired``.
        license: ``identifier``, ``commercial_use`` and ``evidence_ref``.
        prices: ``input_usd_per_million`` and ``output_usd_per_million`` as decimal text, if listed.
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
    """What a provider serves.

    Attributes:
        base_url: The base URL that works: the requested one, or the same with ``/v1``.
        models: Its models in its own order, followed by unlisted models that a user named.
        named: The models that a user named, under their listed names.
        called: The models, under their listed names, that have just answered a test call.
        failed: The failures of named models, if other named models answered the same test.
        left_out: Listed models that do not respond with text, by their names or the list's own words.
        unlisted: The models that a user named and the list, which was read, does not have.
        list_failure: Why the list could not be read; the models are then those that a user named.
    """

    base_url: str
    models: list[ServedModel]
    named: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    failed: Mapping[str, ProviderError] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    list_failure: ProviderError | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """The output of a model.

    Attributes:
        input_tokens: Tokens read as reported by the provider; ``None`` if not reported.
        input_characters: Length of the message sent, to estimate unreported input tokens.
        finish_reason: Why the output ends, in the provider's word, or in every protocol one of
            :data:`runwatch.records.states.INCOMPLETE`. ``None`` if not reported.
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
        return self.input_tokens is None and self.output_tokens is None and self.usd is None
