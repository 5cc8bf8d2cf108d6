"""The sample organization's own output checks: small endpoints under ``/docks/``.

Some follow the contract of a check, some break it on purpose (manual: interface, "Request to a check"; manual:
interface, "Answer of a check"). They are not part of the interface, so their failures are ``{error}``, as a customer's
check would send, and not Problems. :mod:`runwatch.service.http.sample_checks` serves them.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runwatch.base.json import dumps, loads
from runwatch.service.checks.verdict import EVALUATION_S, Verdict

SAMPLE_KEY: Final = "sample-endpoint-key"
"""Key expected by ``protected``. It protects nothing, and the sample's texts name it."""

SLOW_S: Final = EVALUATION_S + 2
"""Delay of ``slow`` in seconds: longer than the time limit of an evaluation."""

PROBE_MEMBER: Final = "solverapi_probe"
"""A candidate with this member at any depth is a probe and is not judged."""

BULLETS: Final = 5

_BULLET: Final = re.compile(r"\s*[-*•]\s+(.*)")

Check = Callable[[Any], Verdict]


@dataclass(frozen=True, slots=True)
class SampleCheck:
    """One sample endpoint.

    Attributes:
        keys: The keys it accepts; ``None`` for a public one.
        answer: A fixed status and body in place of a verdict.
    """

    display_name: str
    check: Check | None = None
    keys: tuple[str, ...] | None = None
    answer: tuple[int, Mapping[str, Any]] | None = None
    delay_s: float = 0.0


def is_not_empty(candidate: Any) -> Verdict:
    return _verdict(1.0 if _text_of(candidate).strip() else 0.0, not_empty=bool(_text_of(candidate).strip()))


def has_five_bullets(candidate: Any) -> Verdict:
    """Whether the text has five bullet points, none of them empty. The score falls with each missing or extra one."""
    bullets = [match[1].strip() for line in _text_of(candidate).splitlines() if (match := _BULLET.fullmatch(line))]
    score = max(0.0, 1 - abs(len(bullets) - BULLETS) / BULLETS)
    return _verdict(score, five_bullets=len(bullets) == BULLETS, no_empty_bullet=all(bullets))


def is_json_object(candidate: Any) -> Verdict:
    """Whether the output is a JSON object with at least one member, as a value or as text."""
    value = _parsed(candidate)
    is_object = isinstance(value, dict)
    return _verdict(1.0 if is_object and value else 0.5 if is_object else 0.0, object=is_object, members=bool(value))


SAMPLE_CHECKS: Final[Mapping[str, SampleCheck]] = {
    "non-empty": SampleCheck("Sample: not empty", is_not_empty),
    "five-bullets": SampleCheck("Sample: five bullet points", has_five_bullets),
    "json-object": SampleCheck("Sample: JSON object", is_json_object),
    "protected": SampleCheck("Sample: not empty, behind a key", is_not_empty, keys=(SAMPLE_KEY,)),
    "slow": SampleCheck("Sample: too slow", is_not_empty, delay_s=SLOW_S),
    "invalid": SampleCheck("Sample: answers no verdict", answer=(200, {"is_correct": "yes", "quality_score": 2})),
    "unauthorised": SampleCheck("Sample: accepts no key", keys=()),
    "http-500": SampleCheck("Sample: fails", answer=(500, {"error": "check_failed"})),
}
"""Every sample endpoint, by the last part of its path."""


def admit(name: str, method: str, authorization: str) -> SampleCheck | tuple[int, str]:
    """Return the endpoint for a call whose body is not read yet, or the status and error of its refusal."""
    sample = SAMPLE_CHECKS.get(name)
    if sample is None:
        return 404, "not_found"
    if method != "POST":
        return 405, "method_not_allowed"
    if sample.keys is not None and not _is_admitted(authorization, sample.keys):
        return 401, "unauthorized"
    return sample


def _is_admitted(authorization: str, keys: tuple[str, ...]) -> bool:
    scheme, _, shown = authorization.partition(" ")
    matches = [hmac.compare_digest(shown.strip().encode(), key.encode()) for key in keys]
    return scheme.lower() == "bearer" and any(matches)


def judge(sample: SampleCheck, content: bytes) -> tuple[int, Mapping[str, Any]]:
    if sample.answer is not None:
        return sample.answer
    try:
        body = loads(content)
    except ValueError:
        return 400, {"error": "malformed_request"}
    if not isinstance(body, dict) or "candidate" not in body:
        return 400, {"error": "missing_candidate"}
    candidate = body["candidate"]
    if is_probe(candidate) or sample.check is None:
        return 200, Verdict(is_correct=False, quality_score=0).to_json()
    try:
        return 200, sample.check(candidate).to_json()
    except ValueError:
        # The value is nested too deeply to be serialized again.
        return 500, {"error": "check_failed"}


def is_probe(candidate: Any) -> bool:
    """Whether a candidate holds the reserved member at any depth, including inside text that is JSON."""
    waiting = [_parsed(candidate)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if PROBE_MEMBER in value:
                return True
            waiting.extend(_parsed(item) for item in value.values())
        elif isinstance(value, list):
            waiting.extend(_parsed(item) for item in value)
    return False


def _parsed(value: Any) -> Any:
    """Parse text that is a JSON object or array; return everything else unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return loads(value)
        except ValueError:
            return value
    return value


def _text_of(candidate: Any) -> str:
    return candidate if isinstance(candidate, str) else "" if candidate is None else dumps(candidate, readable=True)


def _verdict(score: float, **anchors: bool) -> Verdict:
    """Build a verdict that is correct when all anchors are true, independent of the score."""
    return Verdict(is_correct=all(anchors.values()), quality_score=score, anchor_results=anchors)
