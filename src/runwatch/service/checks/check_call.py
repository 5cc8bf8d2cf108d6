"""The one call that is made of an output check's endpoint: probe and evaluation differ in body and time only.

``POST`` with ``{"candidate": …}`` and, when a key is in use, ``Authorization: Bearer`` (wire reference 4.1).
"""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.json import dumps
from runwatch.base.secret import Secret
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.outbound import OutboundClient, OutboundResponse

PROBE_S: Final = 3.0
EVALUATION_S: Final = 10.0
"""Seconds until the last byte of the answer (wire reference 4.2)."""


async def call_check(
    outbound: OutboundClient, reach: AddressPolicy, url: str, candidate: Any, key: Secret | None, timeout_s: float
) -> OutboundResponse:
    """Send a candidate to a check and read its answer.

    Args:
        outbound: What calls.
        reach: Where it may be.
        url: The endpoint.
        candidate: The output, any JSON value.
        key: The endpoint's key, when one is in use.
        timeout_s: Seconds until the last byte of the answer.

    Raises:
        OutboundError: there is no complete answer.
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
