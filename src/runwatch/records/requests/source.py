"""Bodies for sources and quotes (manual: interface, "Sources, connections and credential handoffs")."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator

from runwatch.base.network.addresses import AddressKind, classify_address, parse_address
from runwatch.records.named_models import NAMED_MODELS
from runwatch.records.requests.body import OpenBody

NAME_CHARACTERS: Final = 200
"""Maximum length of a display name. Not in the specification."""

URL_CHARACTERS: Final = 2048
"""Maximum length of a base URL. Not in the specification."""

PRICED_MODELS: Final = 1000
"""Maximum entries of a price table. Not in the specification."""

TOKENS: Final = 10**12
"""Maximum tokens of a quote. Not in the specification."""

_AMOUNT: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")

Word = Annotated[str, Field(min_length=1, max_length=NAME_CHARACTERS)]


def _amount(value: str) -> str:
    if not _AMOUNT.fullmatch(value):
        raise ValueError("must be US dollars in decimal digits, such as 0.25")
    return value


Amount = Annotated[str, AfterValidator(_amount)]


ModelNames = Annotated[list[Word], Field(max_length=NAMED_MODELS)]


class PriceRequest(OpenBody):
    """Price of a model in US dollars per million tokens, as decimal texts, so that no digit is lost."""

    input_usd_per_million: Amount
    output_usd_per_million: Amount


Prices = Annotated[dict[Word, PriceRequest], Field(max_length=PRICED_MODELS)]


class EndpointRequest(OpenBody):
    """Address and prices of a source. Not in the specification, where every source has a fixed address.

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
    """The body of ``POST /v1/source-credential-handoffs``: the source of the secret to enter."""

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

    ``models`` names models, which need not be in the source's list; each is called once before it is added. ``remove``
    takes models that were named so off again. ``prices`` adds prices to the connection, in the form of
    :class:`EndpointRequest`.
    """

    models: ModelNames | None = None
    remove: ModelNames | None = None
    prices: Prices | None = None


class RotateRequest(OpenBody):
    """The body of ``POST /v1/source-connections/{connectionId}/rotate``."""

    handoff_intent_id: Word


class QuoteRequest(OpenBody):
    """The body of ``POST /v1/model-catalog/quote``. Not in the specification."""

    model_deployment_id: Word
    input_tokens: Annotated[int, Field(ge=0, le=TOKENS)]
    output_tokens: Annotated[int, Field(ge=0, le=TOKENS)]


def clean_base_url(text: str) -> str:
    """Return a source's base URL without trailing slashes.

    Raises:
        ValueError: It is not an absolute http or https URL, has user info, a query or a fragment, names an address that
            is never called, or uses plain http to a public address. A host name is checked when it is called, by its
            addresses at that time.
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
    """Return whether a host is a loopback or private address, or ``localhost``."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = parse_address(host)
    return address is not None and classify_address(address) in {AddressKind.LOOPBACK, AddressKind.PRIVATE}
