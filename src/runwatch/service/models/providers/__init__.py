"""Calls to model providers: one door, behind it an adapter for each wire form and the sample source.

A call goes out once. Nothing is streamed, nothing is tried again, and of the answer only what a run needs is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from runwatch.base.clock import Clock
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.models.providers import anthropic_messages, openai_chat, openai_responses
from runwatch.service.models.providers.http_client import ProviderHttpClient, WireFormat
from runwatch.service.models.providers.prices import compute_cost
from runwatch.service.models.providers.sample_provider import SampleProvider, is_sample
from runwatch.service.models.providers.types import (
    KINDS,
    Generation,
    ProviderAddress,
    ProviderError,
    ServedModel,
    ServedModels,
)
from runwatch.service.outbound import OutboundClient

__all__ = [
    "KINDS",
    "Generation",
    "ProviderAddress",
    "ProviderError",
    "Providers",
    "ServedModel",
    "ServedModels",
    "compute_cost",
]

PROTOCOLS: Final[dict[str, WireFormat]] = {
    "openai_chat": openai_chat.PROTOCOL,
    "openai_responses": openai_responses.PROTOCOL,
    "anthropic_messages": anthropic_messages.PROTOCOL,
}
"""Protocol profiles that this service speaks, with their adapters."""


class Providers:
    """Calls providers. One for a service.

    Args:
        outbound: The service's HTTP client.
        clock: Where the sample source takes its delays from.
        reach_of: Where the model servers of an organization may be, by its id.
    """

    def __init__(self, outbound: OutboundClient, clock: Clock, reach_of: Callable[[str], AddressPolicy]) -> None:
        self._wire: Final = ProviderHttpClient(outbound, reach_of)
        self._fixture: Final = SampleProvider(clock)

    async def find_models(self, address: ProviderAddress, named: Sequence[str] = ()) -> ServedModels:
        """What a provider serves, and the base URL that works.

        With ``named`` models, which were tested before, a provider needs no list.

        A base URL whose path does not end in ``/v1`` and has no model list is tried once more with ``/v1``, because
        people give server addresses in both forms; a connection keeps the one that works.

        Raises:
            ProviderError: it gave no usable answer.
        """
        if is_sample(address.base_url):
            return self._fixture.models(address)
        protocol = PROTOCOLS[address.protocol_profile]
        return await (self._wire.add_named(protocol, address, named) if named else self._wire.models(protocol, address))

    async def test_models(
        self, address: ProviderAddress, names: Sequence[str], known: Sequence[str] = ()
    ) -> ServedModels:
        """Call each named model once, with the smallest message, and find out what else the provider serves.

        The base URL is tried as in :meth:`find_models`. A model that answers is taken whether the provider lists it or
        not: gateways have aliases. ``known`` models were tested before; they are not called again.

        Raises:
            ProviderError: it gave no usable answer; ``suggestions`` name listed models where the name may be wrong.
        """
        if is_sample(address.base_url):
            return self._fixture.models(address)
        return await self._wire.test_models(PROTOCOLS[address.protocol_profile], address, names, known)

    async def generate(
        self,
        address: ProviderAddress,
        model: str,
        objective: str,
        inputs: Any,
        *,
        max_output_tokens: int | None,
        timeout_s: float,
    ) -> Generation:
        """Have a model answer one message.

        Args:
            address: The provider.
            model: The provider's name of the model.
            objective: What the run is to do.
            inputs: The task's ``inputs_ref`` as decoded JSON, or ``None``. Inline JSON is appended to the message as
                text; of URLs only the addresses are, nothing is fetched.
            max_output_tokens: The cap on the output; ``None`` leaves it to the provider.
            timeout_s: Seconds until the last byte of the answer.

        Raises:
            ProviderError: it gave no usable answer.
        """
        if is_sample(address.base_url):
            return await self._fixture.generate(
                address, model, objective, inputs, max_output_tokens=max_output_tokens, timeout_s=timeout_s
            )
        protocol = PROTOCOLS[address.protocol_profile]
        return await self._wire.generate(
            protocol, address, model, objective, inputs, max_output_tokens=max_output_tokens, timeout_s=timeout_s
        )
