"""Call the sample checks without a network, before the service listens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from runwatch.base.clock import Clock
from runwatch.base.json import dumps
from runwatch.service.address_policy import SAMPLE_CHECKS_PATH, AddressPolicy
from runwatch.service.checks.sample_checks import SampleCheck, admit, judge
from runwatch.service.outbound import ANSWER_BYTES, OutboundClient, OutboundError, OutboundResponse

AGENT_URL: Final = "https://agents.sample.invalid"
"""Fictional address of the sample agents; the domain can never exist (RFC 2606)."""

_NOT_ALLOWED: Final = 405
"""An agent's response to a ``HEAD``: it exists and does not accept this method."""


class SampleCheckClient(OutboundClient):
    """Client that calls the sample checks of this process in place of the network, and simulates the sample agents."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    async def send(
        self,
        method: str,
        url: str,
        *,
        reach: AddressPolicy,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limit_bytes: int = ANSWER_BYTES,
    ) -> OutboundResponse:
        """Respond as the called side would; see :meth:`runwatch.service.outbound.OutboundClient.send`.

        Raises OutboundError without a complete response.
        """
        if url.startswith(AGENT_URL):
            if url.endswith("/gone"):
                raise OutboundError("network")
            return OutboundResponse(_NOT_ALLOWED, b"")
        path = urlsplit(url).path
        if not path.startswith(SAMPLE_CHECKS_PATH):
            raise OutboundError("network")
        sample = admit(path.removeprefix(SAMPLE_CHECKS_PATH), method, (headers or {}).get("Authorization", ""))
        if not isinstance(sample, SampleCheck):
            status, error = sample
            return OutboundResponse(status, dumps({"error": error}).encode("ascii"))
        began = self._clock.monotonic()
        if sample.delay_s:
            await self._clock.sleep(sample.delay_s)
        if self._clock.monotonic() - began > timeout_s:
            raise OutboundError("timeout", was_sent=True)
        status, verdict = judge(sample, body or b"")
        return OutboundResponse(status, dumps(verdict).encode("ascii"))
