"""Filters of events: the language of every list, over what a line shows and what the event holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.records.event import RunEvent
from runwatch.view.drawn import line
from runwatch.view.event_filter import MERGED, read_filter, seen_values
from runwatch.view.format import Context
from runwatch.view.glyphs import Glyphs
from runwatch.view.query import QueryError
from runwatch.view.resource import Styled
from runwatch.view.timeline import event_line, what_happened
from tests.support import builders
from tests.support.hostile import CORPUS
from tests.support.parts import verification_check
from tests.view.strategies import NOW, garbage, many

UTC = Context(NOW, time="utc")

EVENTS = {
    "queued": builders.event(1, "queued", at="2026-11-21T11:58:00Z"),
    "fallback": builders.slice_event(2, "progress", reason="fallback", at="2026-11-21T11:59:00Z"),
    "rejected": builders.verification_event(
        3, verification_check=verification_check(is_correct=False, quality_score=0.31), at="2026-11-21T11:59:10Z"
    ),
    "silent": builders.verification_event(
        4,
        verification_check=verification_check(outcome="technical_failure", failure_class="timeout", is_correct=None),
        at="2026-11-21T11:59:20Z",
    ),
    "tool": builders.unknown_event(5, tool={"name": "sea\u00e9rch"}, at="2026-11-21T11:59:30Z"),
    "failed": builders.event(6, "failed", reason="fallback_exhausted", at="2026-11-21T11:59:40Z"),
}


def kept(text: str) -> set[str]:
    found = read_filter(text)
    assert found is not None
    keep = found.keeps(UTC)
    return {name for name, event in EVENTS.items() if keep(event)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("queued", {"queued"}),
        ("REJECTED", {"rejected"}),
        ('"no verdict"', {"silent"}),
        ("quality_score", {"rejected", "silent"}),
        ("seaérch", {"tool"}),
        ("kind:check", {"rejected", "silent"}),
        ("kind=check !rejected", {"silent"}),
        ("is:problem", {"rejected", "silent", "failed"}),
        ("is:final", {"failed"}),
        ("reason:fallback", {"fallback", "failed"}),
        ("reason=fallback", {"fallback"}),
        ("score<0.5", {"rejected"}),
        ("has:slice", {"fallback", "rejected", "silent"}),
        ("queued | kind=tool_call", {"queued", "tool"}),
        ("/^✗ (rejected|failed)/", {"rejected", "failed"}),
        ("age<45s", {"silent", "tool", "failed"}),
        ("verification_check.failure_class:time", {"silent"}),
        ("!is:problem !queued", {"fallback", "tool"}),
    ],
)
def test_a_filter_keeps_what_it_asks_for(text: str, names: set[str]) -> None:
    assert kept(text) == names


def test_nothing_typed_is_no_filter() -> None:
    assert read_filter("  ") is None


@pytest.mark.parametrize("text", ["is:nothing", "cost>1", "/[/", '"open', "a |", ":unknown"])
def test_what_cannot_be_read_says_why(text: str) -> None:
    with pytest.raises(QueryError):
        read_filter(text)


def test_a_filter_kept_under_a_name_works_for_events_too() -> None:
    found = read_filter(":bad", named={"bad": "is:problem"})
    assert found is not None
    assert found.keeps(UTC)(EVENTS["failed"])


def test_in_a_list_of_several_runs_a_filter_knows_the_run() -> None:
    found = read_filter("run:beef", is_merged=True)
    assert found is not None
    keep = found.keeps(UTC)
    assert keep(builders.event(1, execution_id="ex_beef01"))
    assert not keep(builders.event(1, execution_id="ex_0001"))


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("fall", ["fall"]),
        ("PROGRESS fall", ["progress", "fall"]),
        ("!progress", []),
        ("progress | queued", ["progress"]),
        ("summary:gress", ["gress"]),
        ("/pro.*s/", ["progress"]),
        ("/x*/", []),
        ("progress gress", ["progress"]),
        ("is:live", []),
    ],
)
def test_what_is_looked_for_is_marked_in_the_line(text: str, marked: list[str]) -> None:
    found = read_filter(text)
    assert found is not None
    shown = event_line(EVENTS["fallback"], UTC).summary
    assert [shown[start:end] for start, end in found.places(shown)] == marked


@pytest.mark.parametrize(("text", "word"), [("a", "a"), ('"a b"', "a b"), ("a b", ""), ("!a", ""), ("kind:a", "")])
def test_a_single_word_is_known_as_one(text: str, word: str) -> None:
    found = read_filter(text)
    assert found is not None
    assert found.word == word


def test_a_filter_can_be_completed_by_the_fields_of_events() -> None:
    known = seen_values(MERGED)
    assert {"kind", "run", "slice", "score", "reason", "attempt"} <= set(known)
    assert line("check") in known["kind"]


@many
@given(garbage(RunEvent), st.sampled_from(["a", "!a", "is:problem", "kind:a", "score>0", "age<1m", "has:state", "/a/"]))
def test_any_event_can_be_asked(raw: dict[str, object], text: str) -> None:
    found = read_filter(text)
    assert found is not None
    assert found.keeps(UTC)(RunEvent(raw)) in {True, False}


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_hostile_text_is_looked_for_like_any_other(entry: object) -> None:
    text = getattr(entry, "text")  # noqa: B009
    found = read_filter("x | " + '"' + text.replace("\\", "\\\\").replace('"', '\\"')[:900] + '"')
    if found is not None:
        places = list(found.places(line(text)))
        assert all(start < end for start, end in places)


def test_a_word_that_an_event_does_not_have_is_looked_for_in_its_line_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[RunEvent] = []

    def counted(event: RunEvent, glyphs: Glyphs) -> Styled:
        drawn.append(event)
        return what_happened(event, glyphs)

    monkeypatch.setattr("runwatch.view.resources.events.what_happened", counted)
    assert kept("nowhere") == set()
    assert drawn == list(EVENTS.values())
