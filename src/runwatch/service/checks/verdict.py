"""Call an output check's endpoint, and read its verdict (manual: interface, "Request to a check"; manual: interface,
"Answer of a check").

Probe and evaluation differ only in body and time limit: both send a ``POST`` of ``{"candidate": …}``, with
``Authorization: Bearer`` when a key is in use.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from runwatch.base.json import DuplicateMemberError, dumps, loads_strict
from runwatch.base.secrets.secret import Secret
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.outbound import OutboundClient, OutboundResponse


class InvalidVerdictError(ValueError):
    """A response is not a verdict. The message says why and repeats nothing of the response."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict.

    Attributes:
        quality_score: From 0 to 1; never affects the verdict.
    """

    is_correct: bool
    quality_score: float
    anchor_results: dict[str, bool] | None = None
    named_metrics: dict[str, float] | None = None

    def to_json(self) -> dict[str, Any]:
        """Build the JSON of the verdict, without what the check left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def parse_verdict(content: bytes) -> Verdict:
    """Parse the verdict in a response body. Unknown members are ignored.

    Raises InvalidVerdictError for anything else.
    """
    try:
        value = loads_strict(content)
    except DuplicateMemberError:
        raise InvalidVerdictError("An object of the answer has two members of the same name.") from None
    except ValueError:
        raise InvalidVerdictError("The answer is not JSON.") from None
    if not isinstance(value, dict):
        raise InvalidVerdictError("The answer is not an object.")
    is_correct: Any = value.get("is_correct")
    score: Any = value.get("quality_score")
    if not isinstance(is_correct, bool):
        raise InvalidVerdictError("is_correct must be true or false.")
    if not _is_number(score) or not 0 <= score <= 1:
        raise InvalidVerdictError("quality_score must be a number from 0 to 1.")
    if not _is_map_of(lambda item: isinstance(item, bool), value.get("anchor_results", {})):
        raise InvalidVerdictError("anchor_results must be an object of true and false.")
    if not _is_map_of(_is_number, value.get("named_metrics", {})):
        raise InvalidVerdictError("named_metrics must be an object of numbers.")
    return Verdict(is_correct, score, value.get("anchor_results"), value.get("named_metrics"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_map_of(fits: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, dict) and all(fits(item) for item in value.values())


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
