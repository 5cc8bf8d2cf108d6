"""What the property tests of records and views draw from: JSON of any form, hostile text, and records gone wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st

from runwatch.base.json import ExactNumber
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import CallError, Run
from runwatch.records.template import Template
from runwatch.store.repositories.record_versions import RecordVersion
from runwatch.view.runs.run_facts import RunFacts, SubmittedRequest
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.templates.decisions import ReviewDecision
from runwatch.view.templates.eligibility import TemplateFacts
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII
from tests.support.hostile import CORPUS
from tests.support.sampling import examples

NOW: Final = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
CONTEXT: Final = RenderContext(NOW)
CONTEXTS: Final = (CONTEXT, RenderContext(NOW, glyphs=ASCII, time="utc"), RenderContext(NOW, time="local", zone=UTC))

# No deadline: how fast the machine is says nothing about the code.
few: Final = settings(max_examples=examples(60), deadline=None, database=None)
many: Final = settings(max_examples=examples(200), deadline=None, database=None)

hostile: Final = st.sampled_from([entry.text for entry in CORPUS if len(entry.text) < 5000])
texts: Final = st.one_of(hostile, st.text(max_size=40), st.text(st.characters(), max_size=20))

words: Final = st.sampled_from(
    [
        "completed", "failed", "running", "hovering", "expired", "lifecycle", "verification_check", "recorded_check",
        "customer", "platform_baseline", "platform_echo", "technical_failure", "valid_verdict", "timeout", "echo",
        "live", "customer_verdict", "customer_unavailable", "baseline", "platform_test", "pending_evaluation",
        "terminal_no_evaluation", "missing_evidence", "no_eligible_arms", "postExecutions", "vrf_builtin_baseline",
    ]
)  # fmt: skip

moments: Final = st.one_of(
    st.datetimes(timezones=st.sampled_from([UTC])).map(datetime.isoformat),
    st.sampled_from(
        ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-11-20", "2026-11-21T12:00:05Z", "not a moment"]
    ),
)

numbers: Final = st.one_of(
    st.integers(), st.integers(-(10**300), 10**300), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["0.10", "1e400", "-0.0", "1e999999999", "123456789012345678901234.5", "1e-400"]).map(ExactNumber),
)  # fmt: skip

scalars: Final = st.one_of(st.none(), st.booleans(), numbers, texts, words, moments)

json_values: Final = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def garbage(kind: type[Record], depth: int = 0) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that may be a record of this kind: members missing, null, right, of a wrong type, and unknown ones."""
    optional = {name: st.one_of(_right(member, depth), scalars, json_values) for name, member in kind.MEMBERS.items()}
    declared = st.fixed_dictionaries({}, optional=optional)
    return st.builds(lambda known, more: {**more, **known}, declared, st.dictionaries(texts, json_values, max_size=2))


@st.composite
def _short(draw: st.DrawFn, inner: Callable[[], st.SearchStrategy[Any]]) -> Any:
    """The same as another strategy, with a short representation; Hypothesis warns of one beyond 30,000 characters."""
    return draw(inner())


def _right(member: Any, depth: int) -> st.SearchStrategy[Any]:
    if member.kind is not None and depth < 3:
        found = garbage(member.kind, depth + 1)
        inner = _short(lambda: found)
        return inner if member.schema.get("type") == "object" else st.lists(st.one_of(inner, scalars), max_size=3)
    match member.schema.get("type"):
        case "string":
            return moments if member.schema.get("format") == "date-time" else st.one_of(words, texts)
        case "number" | "integer":
            return numbers
        case "boolean":
            return st.booleans()
        case "object":
            return st.dictionaries(texts, json_values, max_size=3)
        case "array":
            return st.lists(texts, max_size=3)
    return json_values


def subjects(spec: ResourceSpec[Any]) -> st.SearchStrategy[Any]:
    """What a row of a resource may be about, at its worst."""
    if spec.record is Run:
        return st.builds(
            RunFacts, garbage(Run).map(Run), st.one_of(st.none(), garbage(SubmittedRequest).map(SubmittedRequest)),
            st.one_of(st.none(), garbage(Receipt).map(Receipt)), st.one_of(st.none(), garbage(RunEvent).map(RunEvent)),
            st.just(""), st.just(""),
            st.one_of(st.none(), st.lists(garbage(CallError).map(CallError), max_size=2).map(tuple)),
        )  # fmt: skip
    if spec.record is Template:
        return st.builds(
            TemplateFacts,
            garbage(Template).map(Template),
            st.one_of(
                st.none(), st.builds(ReviewDecision, st.sampled_from(["go", "no-go"]), texts, texts, st.just(NOW))
            ),
            st.lists(garbage(Template).map(_version), max_size=2).map(tuple),
        )
    return garbage(spec.record).map(spec.record).map(spec.subject)


def _version(raw: dict[str, Any]) -> RecordVersion[Template]:
    return RecordVersion(Template(raw), "sha256:0", NOW, NOW)
