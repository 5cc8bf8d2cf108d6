"""Probe of an output check: one call with the reserved candidate, and its report (manual: interface, "Probing a
check").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from runwatch.base.clock import Clock, format_iso
from runwatch.base.secrets.secret import Secret
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.checks.verdict import PROBE_S, InvalidVerdictError, Verdict, call_check, parse_verdict
from runwatch.service.outbound import OutboundClient, OutboundError, OutboundResponse

PROBE: Final[Mapping[str, str]] = {"solverapi_probe": "registration_preflight"}
"""The candidate that a check answers without running (manual: interface, "Request to a check")."""

HTTP_OK: Final = 200

REFUSED_STATUSES: Final = frozenset({401, 403})
"""Statuses with which an endpoint refuses the key, or a call without one."""


Feedback = tuple[tuple[str, str | None], tuple[str, str | None], tuple[str, str | None]]
"""State and correction of reachability, authentication and compatibility."""


@dataclass(frozen=True, slots=True)
class _Fault:
    reason_code: str
    detail: str
    correction: str


UNREACHABLE: Final[Mapping[str, _Fault]] = {
    "scheme_rejected": _Fault("scheme_rejected", "The address is not https.", "Use an https:// address."),
    "dns_resolution_failed": _Fault("dns_resolution_failed", "The host name did not resolve.", "Check the host name."),
    "private_range_rejected": _Fault(
        "private_range_rejected",
        "The host is in a private range.",
        "Use a public host, or start the local service with --allow-loopback-checks for a check on this machine.",
    ),
    "timeout": _Fault(
        "probe_timeout",
        f"There was no complete answer within {PROBE_S:g} s.",
        "Answer the reserved probe at once, without running the check.",
    ),
    "network": _Fault(
        "endpoint_unreachable",
        "No connection was made, or it broke.",
        "Check that the endpoint runs, and its port.",
    ),
    "tls_failed": _Fault(
        "endpoint_unreachable",
        "No secure connection was made: TLS or the certificate failed.",
        "Give the endpoint a certificate that public authorities have signed for its host name.",
    ),
}
"""Faults by kind of call failure, except a response that is too large (manual: interface, "Probing a check")."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """Result of a probe.

    Attributes:
        outcome: ``reachable`` or ``unreachable``.
        reason_code: Why it is not usable, if the interface has a code for it.
        result: The verdict on the reserved candidate; a false one is expected and valid.
        failure: The failure in the words of ``last_test.reason``; ``None`` when the probe passed.
    """

    outcome: str
    reason_code: str | None
    http_status: int | None
    result: Verdict | None
    violation: str | None
    failure: str | None
    feedback: Feedback
    detail: str | None
    checked_at: str

    @property
    def has_passed(self) -> bool:
        return self.failure is None

    @property
    def status(self) -> str:
        return "ready" if self.has_passed else "degraded"

    @property
    def status_reason(self) -> str | None:
        """Return why the check is degraded. ``response_incompatible`` is not in the specification."""
        if self.has_passed:
            return None
        if self.outcome == "unreachable":
            return "endpoint_unreachable"
        return self.reason_code or "response_incompatible"

    def to_json(self) -> dict[str, Any]:
        contract = None
        if self.outcome == "reachable":
            contract = {
                "validated": self.has_passed,
                "verifier_result": None if self.result is None else self.result.to_json(),
                "violation": self.violation,
            }
        names = ("reachability", "authentication", "response_compatibility")
        return {
            "outcome": self.outcome,
            "reason_code": self.reason_code,
            "http_status": self.http_status,
            "contract": contract,
            "feedback": {
                name: {"status": status, "correction": correction}
                for name, (status, correction) in zip(names, self.feedback, strict=True)
            },
            "detail": self.detail,
            "checked_at": self.checked_at,
        }


async def probe(
    outbound: OutboundClient, reach: AddressPolicy, clock: Clock, url: str, key: Secret | None = None
) -> ProbeReport:
    """Send the reserved candidate to an endpoint and report the result."""
    found: OutboundResponse | OutboundError
    try:
        found = await call_check(outbound, reach, url, PROBE, key, PROBE_S)
    except OutboundError as error:
        found = error
    return build_report(found, clock.now(), has_key=key is not None)


_OK: Final = ("ok", None)
_UNKNOWN: Final = ("not_checked", None)
_TOO_LARGE: Final[Feedback] = (_OK, _UNKNOWN, ("failed", "Answer a verdict and nothing more."))
_NOT_OK: Final[Feedback] = (_OK, _UNKNOWN, ("failed", f"Answer the reserved probe with {HTTP_OK} and a verdict."))
_NO_VERDICT: Final[Feedback] = (
    _OK,
    _OK,
    ("failed", "Respond with is_correct (true or false) and quality_score (0 to 1)."),
)


def build_report(found: OutboundResponse | OutboundError, now: datetime, *, has_key: bool) -> ProbeReport:
    at = format_iso(now)
    if isinstance(found, OutboundError):
        if found.kind == "response_too_large":
            return _violation("The answer is larger than 1 MiB.", "invalid_response", None, _TOO_LARGE, at)
        fault = UNREACHABLE[found.kind]
        feedback: Feedback = (("failed", fault.correction), _UNKNOWN, _UNKNOWN)
        return ProbeReport(
            "unreachable", fault.reason_code, None, None, None, found.failure_class, feedback, fault.detail, at
        )
    status = found.status
    if status in REFUSED_STATUSES:
        what = "Check the key and connect it anew." if has_key else "Connect the key that the endpoint expects."
        report = _violation(
            f"The endpoint refused the call with {status}.",
            "authentication_failed",
            status,
            (_OK, ("failed", what), _UNKNOWN),
            at,
        )
        return replace(report, reason_code="authentication_failed")
    if status != HTTP_OK:
        return _violation(f"The endpoint answered {status} in place of {HTTP_OK}.", "http_error", status, _NOT_OK, at)
    try:
        result = parse_verdict(found.content)
    except InvalidVerdictError as error:
        return _violation(str(error), "invalid_response", status, _NO_VERDICT, at)
    detail = None
    if result.is_correct:
        detail = "The endpoint accepted the reserved probe; a check is expected to answer it with false and 0."
    return ProbeReport("reachable", None, status, result, None, None, (_OK, _OK, _OK), detail, at)


def _violation(violation: str, failure: str, http_status: int | None, feedback: Feedback, at: str) -> ProbeReport:
    return ProbeReport("reachable", None, http_status, None, violation, failure, feedback, violation, at)
