"""The source that the options of a command name: an address with a protocol, or one that the service knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.base.errors import UsageError
from runwatch.base.network.service_target import may_be_loopback
from runwatch.commands.cli.invocation import Invocation
from runwatch.records.named_models import NAMED_MODELS
from runwatch.records.source import KEYLESS, PROTOCOLS

COMPATIBLE: Final = {source_id: protocol for protocol, source_id in reversed(PROTOCOLS.items())}
"""The usual protocol of servers at custom addresses, by their source, which is also the option for the address."""

ANY_MODEL: Final = "*"
"""The name of every model in a table of prices."""


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """What to connect.

    Attributes:
        auth_scheme: Auth scheme; ``None`` for the source's default.
        endpoint: Address, protocol and prices, for a source without an address of its own.
        name: Name for a new connection.
    """

    source_id: str
    auth_scheme: str | None
    endpoint: dict[str, Any] | None
    name: str

    @property
    def base_url(self) -> str | None:
        """The address, for a source without one of its own."""
        return None if self.endpoint is None else self.endpoint.get("base_url")


def parse_source_options(call: Invocation) -> SourceRequest:
    """Read the source from the options.

    Raises:
        UsageError: They name no source or several, only one price, or too many models.
    """
    options = call.options
    if len(set(options.model or ())) > NAMED_MODELS:
        raise UsageError(
            f"--model may be given at most {NAMED_MODELS} times", hint="Connect again for the other models."
        )
    addresses = {name: options[name] for name in COMPATIBLE if options[name] is not None}
    if len(addresses) + (options.source is not None) != 1:
        raise UsageError(
            "Name one source: SOURCE, --openai-compatible URL or --anthropic-compatible URL",
            hint="'runwatch sources list --available' shows the sources.",
        )
    prices = _prices(call)
    if not addresses:
        priced = {"prices": prices} if prices else None
        return SourceRequest(options.source, options.auth_scheme, priced, options.name or options.source)
    ((source_id, url),) = addresses.items()
    parts = urlsplit(url)
    host = parts.hostname or ""
    scheme = options.auth_scheme or ("api_key" if options.key_stdin or options.key_command else None)
    if scheme is None and may_be_loopback(host):
        scheme = KEYLESS
    endpoint: dict[str, Any] = {"base_url": url, "protocol_profile": options.protocol or COMPATIBLE[source_id]}
    if prices:
        endpoint["prices"] = prices
    if options.model:
        endpoint["models"] = list(dict.fromkeys(options.model))
    return SourceRequest(source_id, scheme or "api_key", endpoint, options.name or parts.netloc.rpartition("@")[2])


def _prices(call: Invocation) -> dict[str, Any] | None:
    """Return the price for every model of the source, in US dollars per million tokens, as decimal text."""
    given, taken = call.options.price_input, call.options.price_output
    if (given is None) != (taken is None):
        raise UsageError("--price-input and --price-output go together", hint="Give both, or none.")
    if given is None:
        return None
    for text in (given, taken):
        whole, _, part = text.partition(".")
        if not (whole.isascii() and whole.isdigit() and (part or "0").isascii() and (part or "0").isdigit()):
            raise UsageError(
                f"'{text}' is not a price", hint="A price is a decimal number of US dollars, such as 0.25."
            )
    return {ANY_MODEL: {"input_usd_per_million": given, "output_usd_per_million": taken}}
