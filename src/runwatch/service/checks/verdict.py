"""What an output check answers: one strict reading, shared by the probe and by evaluations (wire reference 4.2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runwatch.base.json import DuplicateMemberError, loads_strict


class InvalidVerdictError(ValueError):
    """An answer is no verdict. The text says why and repeats nothing of the answer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict.

    Attributes:
        is_correct: The hard gate.
        quality_score: A number from 0 to 1, which never moves the verdict.
        anchor_results: What came of each anchor, where the check tells.
        named_metrics: Further numbers, where the check tells.
    """

    is_correct: bool
    quality_score: float
    anchor_results: dict[str, bool] | None = None
    named_metrics: dict[str, float] | None = None

    def form(self) -> dict[str, Any]:
        """The verdict as the interface shows it; what the check left out is left out."""
        form: dict[str, Any] = {"is_correct": self.is_correct, "quality_score": self.quality_score}
        if self.anchor_results is not None:
            form["anchor_results"] = self.anchor_results
        if self.named_metrics is not None:
            form["named_metrics"] = self.named_metrics
        return form


def parse_verdict(content: bytes) -> Verdict:
    """The verdict in the body of an answer. Members that nobody knows are passed over.

    Raises:
        NoVerdict: it is anything else.
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
    if not _is_map_of(_is_bool, value.get("anchor_results", {})):
        raise InvalidVerdictError("anchor_results must be an object of true and false.")
    if not _is_map_of(_is_number, value.get("named_metrics", {})):
        raise InvalidVerdictError("named_metrics must be an object of numbers.")
    return Verdict(is_correct, score, value.get("anchor_results"), value.get("named_metrics"))


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_map_of(fits: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, dict) and all(fits(item) for item in value.values())
