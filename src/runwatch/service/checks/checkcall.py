"""The one call that is made of an output check's endpoint: probe and evaluation differ in body and time only.

``POST`` with ``{"candidate": …}`` and, when a key is in use, ``Authorization: Bearer`` (wire reference 4.1).
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from runwatch.base.json import dumps
from runwatch.base.secret import Secret
from runwatch.service.options import ServeOptions
from runwatch.service.outbound import PUBLIC, PUBLIC_OR_LOOPBACK, Outbound, OutboundAnswer, Reach

DOCKS_PATH: Final = "/docks/"
"""Where a service with a sample organization serves its own small checks."""

PROBE_S: Final = 3.0
EVALUATION_S: Final = 10.0
"""Seconds until the last byte of the answer (wire reference 4.2)."""


def reach_of(options: ServeOptions, url: str) -> Reach:
    """Where a check may be: on public addresses, and on this machine where the service was started so.

    A service with a sample organization calls the docks of this machine too, and nothing else of it.
    """
    if options.allow_loopback_checks or (options.sample and urlsplit(url).path.startswith(DOCKS_PATH)):
        return PUBLIC_OR_LOOPBACK
    return PUBLIC


async def call_check(
    outbound: Outbound, options: ServeOptions, url: str, candidate: Any, key: Secret | None, timeout_s: float
) -> OutboundAnswer:
    """Send a candidate to a check and read its answer.

    Args:
        outbound: What calls.
        options: How the service was started.
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
        reach=reach_of(options, url),
        timeout_s=timeout_s,
        headers=headers,
        body=dumps({"candidate": candidate}).encode("ascii"),
    )
