"""Evaluate an output by an output check: a verdict, or a technical failure, which is never one (manual: interface,
"Answer of a check"; manual: interface, "Receipt fields").
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Final

from runwatch.base.errors import DataError
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.vault import Vault
from runwatch.service.address_policy import OrganizationPolicies
from runwatch.service.checks import bindings
from runwatch.service.checks.probe import HTTP_OK, REFUSED_STATUSES
from runwatch.service.checks.verdict import EVALUATION_S, InvalidVerdictError, call_check, parse_verdict
from runwatch.service.database import TransactionRunner
from runwatch.service.outbound import OutboundClient, OutboundError
from runwatch.service.transaction import Row

_log: Final = logging.getLogger("runwatch.service.checks.evaluation")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of one evaluation.

    Attributes:
        outcome: ``valid_verdict`` or ``technical_failure``.
        failure_class: Why there is no verdict: ``authentication``, ``credential_unavailable``, ``timeout``,
            ``network``, ``egress_rejected``, ``response_too_large``, ``http_error``, ``invalid_response`` or
            ``internal``.
        quality_score: From 0 to 1; ``None`` without a verdict.
        http_status: Status that the check answered in place of a verdict, if that is the failure.
    """

    outcome: str
    failure_class: str | None = None
    is_correct: bool | None = None
    quality_score: float | None = None
    anchor_results: dict[str, bool] | None = None
    http_status: int | None = None


class _NoKey(Exception):
    """The check has a key that can no longer be used."""


async def evaluate(
    outbound: OutboundClient,
    vault: Vault,
    database: TransactionRunner,
    policy: OrganizationPolicies,
    verifier: Row,
    candidate: Any,
) -> Evaluation:
    """Have a check judge an output within 10 s. Failures of the check or its key never raise.

    A check whose key was revoked or has expired is not called: the result is ``credential_unavailable``.
    """
    try:
        key = await _key_of(database, vault, verifier["verifier_id"])
        url = verifier["endpoint"]["url"]
        answer = await call_check(outbound, policy.check(verifier["tenant_id"], url), url, candidate, key, EVALUATION_S)
    except _NoKey:
        return _failure("credential_unavailable")
    except OutboundError as error:
        return _failure(error.failure_class)
    except Exception:
        _log.exception("an evaluation failed with an unexpected error")
        return _failure("internal")
    if answer.status in REFUSED_STATUSES:
        return _failure("authentication", answer.status)
    if answer.status != HTTP_OK:
        return _failure("http_error", answer.status)
    try:
        verdict = parse_verdict(answer.content)
    except InvalidVerdictError:
        return _failure("invalid_response")
    return Evaluation(
        "valid_verdict",
        is_correct=verdict.is_correct,
        quality_score=verdict.quality_score,
        anchor_results=verdict.anchor_results,
    )


async def _key_of(database: TransactionRunner, vault: Vault, verifier_id: str) -> Secret | None:
    """Return the key in use, or ``None`` for a check that never had one."""
    binding = await database.read(lambda transaction: bindings.load(transaction, verifier_id))
    if binding.is_stopped:
        raise _NoKey
    if binding.handle is None:
        return None
    try:
        key = await vault.get(binding.handle)
    except DataError:
        key = None
    if key is None:
        raise _NoKey
    return key


def _failure(failure_class: str, http_status: int | None = None) -> Evaluation:
    return Evaluation("technical_failure", failure_class, http_status=http_status)
