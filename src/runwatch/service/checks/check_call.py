"""Call an output check's endpoint. Probe and evaluation differ only in body and time limit.

The call is a ``POST`` of ``{"candidate": …}`` with ``Authorization: Bearer`` when a key is in use (manual: interface,
"Request to a check").
"""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.json import dumps
from runwatch.base.secrets.secret import Secret
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.outbound import OutboundClient, OutboundResponse

PROBE_S: Final = 3.0
EVALUATION_S: Final = 10.0
"""Seconds until the last byte of the response (manual: interface, "Answer of a check")."""


async def call_check(
    outbound: OutboundClient, reach: AddressPolicy, url: str, candidate: Any, key: Secret | None, timeout_s: float
) -> OutboundResponse:
    """Send a candidate to a check and read its response.

    Raises:
        OutboundError: No complete response.
    """
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key.reveal()}"
    return await outbound.send(
        "POST",
        url,
        reach=reach,
        timeout_s=timeout_s,
        headers=headers,
        body=dumps({"candidate": candidate}).encode("ascii"),
    )
