"""Calls to model providers: one entry point, with an adapter for each wire format and the sample source.

A call is sent once, without streaming or retry, and only what a run needs is read from the response.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from runwatch.base.clock import Clock
from runwatch.records.source import PROTOCOLS
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.models.providers.http_client import ProviderHttpClient, WireFormat
from runwatch.service.models.providers.sample_provider import SampleProvider, is_sample
from runwatch.service.models.providers.types import Generation, Prompt, ProviderAddress, ServedModels
from runwatch.service.outbound import OutboundClient

WIRE_FORMATS: Final[dict[str, WireFormat]] = {name: import_module(f"{__name__}.{name}").PROTOCOL for name in PROTOCOLS}
"""The wire format of each protocol."""


class Providers:
    """Caller of providers; one per service.

    Args:
        reach_of: Addresses allowed for the model servers of an organization, by its id.
    """

    def __init__(self, outbound: OutboundClient, clock: Clock, reach_of: Callable[[str], AddressPolicy]) -> None:
        self._wire: Final = ProviderHttpClient(outbound, clock, reach_of)
        self._fixture: Final = SampleProvider(clock)

    async def find_models(self, address: ProviderAddress, named: Sequence[str] = ()) -> ServedModels:
        """Return what a provider serves, and the base URL that works.

        With ``named`` models, which were tested before, the provider needs no list. A base URL without a model list
        whose path does not end in ``/v1`` is retried with ``/v1``, because users give both forms of server address; the
        connection keeps the one that works.

        Raises:
            ProviderError: No usable response.
        """
        if is_sample(address.base_url):
            return self._fixture.models(address)
        protocol = WIRE_FORMATS[address.protocol_profile]
        return await (self._wire.add_named(protocol, address, named) if named else self._wire.models(protocol, address))

    async def test_models(
        self, address: ProviderAddress, names: Sequence[str], known: Sequence[str] = ()
    ) -> ServedModels:
        """Call each named model once with a minimal message, and find out what else the provider serves.

        The base URL is tried as in :meth:`find_models`. A model that responds is accepted even if it is not listed,
        because gateways have aliases. ``known`` models were tested before and are not called again. If some models
        answer and others do not, the result names those that failed.

        Raises:
            ProviderError: No usable response from any; ``suggestions`` names listed models if the name may be wrong.
        """
        if is_sample(address.base_url):
            return self._fixture.models(address)
        return await self._wire.test_models(WIRE_FORMATS[address.protocol_profile], address, names, known)

    async def generate(self, address: ProviderAddress, prompt: Prompt) -> Generation:
        """Have a model answer one message.

        Raises:
            ProviderError: No usable response.
        """
        if is_sample(address.base_url):
            return await self._fixture.generate(address, prompt)
        return await self._wire.generate(WIRE_FORMATS[address.protocol_profile], address, prompt)
