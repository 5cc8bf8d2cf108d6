"""Test whether an agent's address responds at all (manual: interface, "Arms").

The address is called once, at registration and without a credential; any response below 500 counts as reachable. The
first run shows whether the agent accepts jobs.
"""

from __future__ import annotations

from typing import Any, Final

from runwatch.service.address_policy import AddressPolicy
from runwatch.service.outbound import OutboundClient, OutboundError

TIMEOUT_S: Final = 10.0
"""Seconds an agent has to respond."""

REASON_CODES: Final = {
    "scheme_rejected": "scheme_rejected",
    "dns_resolution_failed": "dns_resolution_failed",
    "private_range_rejected": "private_range_rejected",
    "timeout": "probe_timeout",
    "network": "endpoint_unreachable",
}
"""Reason codes of a probe report by kind of call failure (manual: interface, "Probing a check")."""

_FIRST_SERVER_ERROR: Final = 500


async def preflight(outbound: OutboundClient, url: str, reach: AddressPolicy) -> dict[str, Any]:
    """Call an address and return ``{reachable, reason_code, http_status, detail}``.

    Args:
        reach: Addresses allowed for it.
    """
    try:
        answer = await outbound.send("HEAD", url, reach=reach, timeout_s=TIMEOUT_S)
    except OutboundError as error:
        if error.kind == "response_too_large":
            return _report(reachable=True)
        return _report(reachable=False, reason_code=REASON_CODES.get(error.kind, "endpoint_unreachable"))
    if answer.status >= _FIRST_SERVER_ERROR:
        return _report(reachable=False, reason_code="endpoint_unreachable", http_status=answer.status)
    return _report(reachable=True, http_status=answer.status)


def _report(*, reachable: bool, reason_code: str | None = None, http_status: int | None = None) -> dict[str, Any]:
    detail = None
    if not reachable:
        detail = "The address answered with a server error." if http_status else "The address gave no answer."
    return {"reachable": reachable, "reason_code": reason_code, "http_status": http_status, "detail": detail}
