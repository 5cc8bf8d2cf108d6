"""One provider call of a live run and its outcome (manual: interface, "Reasons").

The specification lists the reasons of ended runs but does not map failures to them. This service uses
``dispatch_timeout`` when no response arrives in time, ``dispatch_network_error`` when the network yields no response,
``response_incomplete`` (not in the specification) when the connection ends in the middle of one,
``response_too_large`` for a response beyond the client's limit, ``candidate_too_large`` for an output beyond 1 MiB, and
``dispatch_internal_error`` for every other failure. The attempt on the receipt names the failure more exactly.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, Protocol

from runwatch.service.models.providers.error_kinds import REFUSALS
from runwatch.service.models.providers.prices import compute_cost
from runwatch.service.models.providers.types import Generation, Prompt, ProviderAddress, ProviderError
from runwatch.service.transaction import Row

CALL_S: Final = 300.0
"""Longest time of one call in seconds, if the run has more left."""

CANDIDATE_BYTES: Final = 1024 * 1024
"""Largest accepted output in UTF-8 bytes. Not in the specification; the same limit as for the response of a check."""

REASONS: Final[Mapping[str, str]] = {
    "timeout": "dispatch_timeout",
    "network": "dispatch_network_error",
    "dns": "dispatch_network_error",
    "tls": "dispatch_network_error",
    "response_too_large": "response_too_large",
    "response_incomplete": "response_incomplete",
}
OTHER_REASON: Final = "dispatch_internal_error"

_UNKNOWN: Final = (Decimal(0), None)
_NOTHING_USED: Final = Generation("", 0, 0, None, None, None)

_log: Final = logging.getLogger("runwatch.service.execution.live")


class ModelCaller(Protocol):
    """Calls models; see :class:`runwatch.service.models.providers.providers.Providers`."""

    async def generate(self, address: ProviderAddress, prompt: Prompt) -> Generation:
        """Have a model answer one message."""


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call to make.

    Attributes:
        is_price_listed: Whether the provider itself lists the model's price.
    """

    number: int
    connection: Row
    upstream_ref: str
    prices: Mapping[str, Mapping[str, str]] | None
    is_price_listed: bool
    objective: str = field(repr=False)
    inputs: Any = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of a call. Members that an :class:`~runwatch.service.execution.live.state.Attempt` has too mean the same.

    Attributes:
        error: What the provider gave in place of an answer.
        ran_out: Whether the run's time was over before the response came.
        generation: What the provider reported, if it answered.
    """

    candidate: str | None = field(default=None, repr=False)
    reason: str | None = None
    failure_kind: str | None = None
    error: ProviderError | None = field(default=None, repr=False)
    was_sent: bool = True
    ran_out: bool = False
    generation: Generation | None = field(default=None, repr=False)
    usd: Decimal = Decimal(0)
    pricing_basis: str | None = None


async def call_provider(
    providers: ModelCaller, address: ProviderAddress, call: PreparedCall, left_s: float
) -> CallOutcome:
    """Make a call; every failure becomes an outcome."""
    limit = min(CALL_S, left_s)
    is_keyless = address.auth_scheme == "none"
    try:
        # The adapter has its own limit; this one guards against an adapter that does not keep it.
        async with asyncio.timeout(limit) as scope:
            prompt = Prompt(call.upstream_ref, call.objective, limit, call.inputs)
            generation = await providers.generate(address, prompt)
    except TimeoutError:
        return _failed("timeout", was_sent=True, ran_out=scope.expired() and limit >= left_s)
    except ProviderError as error:
        return _refused(error, call, is_keyless=is_keyless, ran_out=error.is_deadline and limit >= left_s)
    except Exception as error:
        # Log neither message nor traceback: both may contain the prompt or the output.
        _log.error("a provider call failed unexpectedly: %s", type(error).__name__)
        return _failed("internal", was_sent=True)
    cost = compute_cost(
        generation, call.prices, call.upstream_ref, is_keyless=is_keyless, is_listed=call.is_price_listed
    )
    usd, basis = cost or _UNKNOWN
    if len(generation.text.encode("utf-8", "surrogatepass")) > CANDIDATE_BYTES:
        return CallOutcome(
            reason="candidate_too_large",
            failure_kind="candidate_too_large",
            generation=generation,
            usd=usd,
            pricing_basis=basis,
        )
    return CallOutcome(candidate=generation.text, generation=generation, usd=usd, pricing_basis=basis)


def _refused(error: ProviderError, call: PreparedCall, *, is_keyless: bool, ran_out: bool) -> CallOutcome:
    """Build the outcome of a call without a usable response, with the usage that the provider reports."""
    failed = replace(_failed(error.kind, was_sent=error.was_sent, ran_out=ran_out), error=error)
    spent = error.spent
    if not error.was_sent:
        return failed
    if spent is not None and not spent.is_without_usage:
        cost = compute_cost(
            spent,
            call.prices,
            call.upstream_ref,
            is_keyless=is_keyless,
            is_listed=call.is_price_listed,
            may_estimate=False,
        )
        usd, basis = cost or _UNKNOWN
        return replace(failed, generation=spent, usd=usd, pricing_basis=basis)
    if error.kind in REFUSALS:
        return replace(failed, generation=_NOTHING_USED)
    return failed


def _failed(kind: str, *, was_sent: bool, ran_out: bool = False) -> CallOutcome:
    return CallOutcome(reason=REASONS.get(kind, OTHER_REASON), failure_kind=kind, was_sent=was_sent, ran_out=ran_out)
