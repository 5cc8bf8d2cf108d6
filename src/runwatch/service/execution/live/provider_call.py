"""One provider call of a live run and what came of it (wire reference 3.3).

The references name the reasons of ended runs, not which failure has which. Ours: a call that is not answered in time
is ``dispatch_timeout``, one that gets no complete answer over the network ``dispatch_network_error``, an answer beyond
the client's limit ``response_too_large``, an output beyond 1 MiB ``candidate_too_large``, and every other failure
``dispatch_internal_error``; the attempt on the receipt names the failure more exactly.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, Protocol

from runwatch.service.models.providers import Generation, ProviderAddress, ProviderError, compute_cost
from runwatch.service.models.providers.error_kinds import REFUSALS
from runwatch.service.transaction import Row

CALL_S: Final = 300.0
"""Seconds that one call may take where the run has more left; ours."""

CANDIDATE_BYTES: Final = 1024 * 1024
"""The largest output that is taken on, in UTF-8; ours, the same as what a check may answer (wire reference 4.2)."""

REASONS: Final[Mapping[str, str]] = {
    "timeout": "dispatch_timeout",
    "network": "dispatch_network_error",
    "response_too_large": "response_too_large",
}
OTHER_REASON: Final = "dispatch_internal_error"

_UNKNOWN: Final = (Decimal(0), None)
_NOTHING_USED: Final = Generation("", 0, 0, None, None, None)

_log: Final = logging.getLogger("runwatch.service.execution.live")


class ModelCaller(Protocol):
    """What calls models; see :class:`runwatch.service.models.providers.Providers`."""

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
        """Have a model answer one message."""
        ...


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call to make.

    Attributes:
        number: The number of its attempt.
        connection: The connection that is called.
        upstream_ref: The model's name there.
        prices: What its models cost.
        objective: What the model is asked.
        inputs: The task's ``inputs_ref``.
    """

    number: int
    connection: Row
    upstream_ref: str
    prices: Mapping[str, Mapping[str, str]] | None
    objective: str = field(repr=False)
    inputs: Any = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What came of a call.

    Attributes:
        candidate: The output, ``None`` when the call failed.
        reason: Why it failed, one of wire reference 3.3.
        failure_kind: What exactly failed.
        http_status: The status with which the provider refused it.
        was_sent: Whether the provider may have got the call.
        ran_out: Whether the run's time was over before the answer came.
        generation: What the provider told, where it answered.
        usd: What it cost in US dollars; 0 where that is not known.
        pricing_basis: Where ``usd`` is from; ``None`` where the cost is not known, nothing was sent, or the provider
            refused the call.
    """

    candidate: str | None = field(default=None, repr=False)
    reason: str | None = None
    failure_kind: str | None = None
    http_status: int | None = None
    was_sent: bool = True
    ran_out: bool = False
    generation: Generation | None = field(default=None, repr=False)
    usd: Decimal = Decimal(0)
    pricing_basis: str | None = None


async def call_provider(
    providers: ModelCaller, address: ProviderAddress, order: PreparedCall, left_s: float
) -> CallOutcome:
    """Make a call; every failure is an outcome.

    Args:
        providers: What makes it.
        address: The provider.
        order: The call.
        left_s: Seconds until the run's time is over.
    """
    limit = min(CALL_S, left_s)
    is_keyless = address.auth_scheme == "none"
    try:
        # The adapter's own limit comes first; this one holds against an adapter that does not keep it.
        async with asyncio.timeout(limit) as scope:
            generation = await providers.generate(
                address, order.upstream_ref, order.objective, order.inputs, max_output_tokens=None, timeout_s=limit
            )
    except TimeoutError:
        return _failed("timeout", was_sent=True, ran_out=scope.expired() and limit >= left_s)
    except ProviderError as error:
        return _refused(error, order, is_keyless=is_keyless, ran_out=error.is_deadline and limit >= left_s)
    except Exception as error:
        # Neither its text nor its traceback is kept: both may hold the prompt or what the model said.
        _log.error("a provider call failed unforeseen: %s", type(error).__name__)
        return _failed("internal", was_sent=True)
    cost = compute_cost(generation, order.prices, order.upstream_ref, is_keyless=is_keyless)
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


def _refused(error: ProviderError, order: PreparedCall, *, is_keyless: bool, ran_out: bool) -> CallOutcome:
    """The outcome of a call without a usable answer, with what the provider says that it used."""
    failed = replace(_failed(error.kind, was_sent=error.was_sent, ran_out=ran_out), http_status=error.http_status)
    spent = error.spent
    if not error.was_sent:
        return failed
    if spent is not None and not spent.is_without_usage:
        cost = compute_cost(spent, order.prices, order.upstream_ref, is_keyless=is_keyless, may_estimate=False)
        usd, basis = cost or _UNKNOWN
        return replace(failed, generation=spent, usd=usd, pricing_basis=basis)
    if error.kind in REFUSALS:
        return replace(failed, generation=_NOTHING_USED)
    return failed


def _failed(kind: str, *, was_sent: bool, ran_out: bool = False) -> CallOutcome:
    return CallOutcome(reason=REASONS.get(kind, OTHER_REASON), failure_kind=kind, was_sent=was_sent, ran_out=ran_out)
