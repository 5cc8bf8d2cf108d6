"""Parser of an output check's response, shared by probe and evaluation (manual: interface, "Answer of a check")."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from runwatch.base.json import DuplicateMemberError, loads_strict


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

    Raises:
        InvalidVerdictError: It is anything else.
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
