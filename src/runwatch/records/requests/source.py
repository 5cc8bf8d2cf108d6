"""Bodies of sources: credential handoffs, connections, rotation and quotes (wire reference 2.5 and 2.6)."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator

from runwatch.base.addresses import AddressKind, classify_address, parse_address
from runwatch.records.requests.body import OpenBody
from runwatch.records.source import NAMED_MODELS

NAME_CHARACTERS: Final = 200
"""The longest display name; ours."""

URL_CHARACTERS: Final = 2048
"""The longest base URL; ours."""

PRICED_MODELS: Final = 1000
"""The longest price table; ours."""

TOKENS: Final = 10**12
"""The most tokens that a quote is asked for; ours."""

_AMOUNT: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")

Word = Annotated[str, Field(min_length=1, max_length=NAME_CHARACTERS)]


def _amount(value: str) -> str:
    if not _AMOUNT.fullmatch(value):
        raise ValueError("must be US dollars in decimal digits, such as 0.25")
    return value


Amount = Annotated[str, AfterValidator(_amount)]


ModelNames = Annotated[list[Word], Field(max_length=NAMED_MODELS)]


class PriceRequest(OpenBody):
    """What a model costs in US dollars per million tokens, as decimal texts, so that no digit is lost."""

    input_usd_per_million: Amount
    output_usd_per_million: Amount


Prices = Annotated[dict[Word, PriceRequest], Field(max_length=PRICED_MODELS)]


class EndpointRequest(OpenBody):
    """Where a source is and what it costs; ours, because the interface only knows sources with a fixed address.

    ``prices`` maps a model's name at the source, or ``*`` for all others, to its price. ``models`` names models for a
    source that lists none; its test calls each of them once.
    """

    base_url: Annotated[str, Field(max_length=URL_CHARACTERS)] | None = None
    protocol_profile: Word | None = None
    prices: Prices | None = None
    models: ModelNames | None = None

    @field_validator("base_url")
    @classmethod
    def _url_can_be_called(cls, value: str | None) -> str | None:
        return None if value is None else clean_base_url(value)


class HandoffRequest(OpenBody):
    """The body of ``POST /v1/source-credential-handoffs``: what a secret is about to be entered for."""

    source_id: Word
    auth_scheme: Word
    endpoint: EndpointRequest | None = None


class ConnectionRequest(OpenBody):
    """The body of ``POST /v1/source-connections``; ``source_scope`` is that of the completed handoff, unchanged."""

    display_name: Word
    source_id: Word
    auth_scheme: Word
    handoff_intent_id: Word
    source_scope: dict[str, Any]


class SyncRequest(OpenBody):
    """The body of ``POST /v1/source-connections/{connectionId}/deployments/sync``; empty in the specification.

    ``models`` names models; each is called once before it is taken over, and the source need not list it. ``prices``
    adds prices to the connection, in the form of :class:`EndpointRequest`.
    """

    models: ModelNames | None = None
    prices: Prices | None = None


class RotateRequest(OpenBody):
    """The body of ``POST /v1/source-connections/{connectionId}/rotate``."""

    handoff_intent_id: Word


class QuoteRequest(OpenBody):
    """The body of ``POST /v1/model-catalog/quote``; ours, the references show none."""

    model_deployment_id: Word
    input_tokens: Annotated[int, Field(ge=0, le=TOKENS)]
    output_tokens: Annotated[int, Field(ge=0, le=TOKENS)]


def clean_base_url(text: str) -> str:
    """A source's base URL without the slashes at its end.

    Raises:
        ValueError: it is no absolute http or https URL, carries user info, a query or a fragment, names an address
            that is never called, or speaks plain http to a public address. A name is judged when it is called, by the
            addresses that it has then.
    """
    url = text.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("must be an absolute http or https URL") from None
    if parts.scheme not in {"http", "https"} or not host or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("must be an absolute http or https URL")
    if "@" in parts.netloc:
        raise ValueError("must not carry a user name or password; the secret is entered on its own page")
    if "?" in url or "#" in url:
        raise ValueError("must have neither query nor fragment")
    address = parse_address(host)
    kind = None if address is None else classify_address(address)
    if kind is AddressKind.REFUSED:
        raise ValueError("must not be a link-local, metadata, multicast or reserved address; those are never called")
    if parts.scheme == "http" and kind is AddressKind.PUBLIC:
        raise ValueError("must be https, because the secret would be readable on its way")
    return url


def is_private_host(host: str) -> bool:
    """Whether a host is written as an address of this machine or of its own network, or as ``localhost``."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = parse_address(host)
    return address is not None and classify_address(address) in {AddressKind.LOOPBACK, AddressKind.PRIVATE}
