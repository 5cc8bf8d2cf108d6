"""Filters of events: the language of every list, over what a line shows and what the event holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import loads
from runwatch.records.event import RunEvent
from runwatch.view.query.expressions import QueryError
from runwatch.view.resources.event_filter import (
    MULTI_RUN_EVENTS,
    _EventRow,
    json_texts,
    parse_event_filter,
    seen_values,
)
from runwatch.view.resources.events import EVENTS as EVENTS_SPEC
from runwatch.view.runs.event_lines import describe_event, render_event
from runwatch.view.table.rows import RowRenderer
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Glyphs
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText
from tests.support import builders
from tests.support.hostile import CORPUS
from tests.support.parts import verification_check
from tests.view.strategies import NOW, garbage, many

UTC = RenderContext(NOW, time="utc")

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
    found = parse_event_filter(text)
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
        ("11:59", set()),
        ("2026-11-21", set()),
        ("time:11:59:40", {"failed"}),
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
    assert parse_event_filter("  ") is None


@pytest.mark.parametrize("text", ["is:nothing", "cost>1", "/[/", '"open', "a |", ":unknown"])
def test_what_cannot_be_read_says_why(text: str) -> None:
    with pytest.raises(QueryError):
        parse_event_filter(text)


def test_a_state_is_offered_with_the_field_that_has_it() -> None:
    with pytest.raises(QueryError) as caught:
        parse_event_filter("is:failed")
    assert caught.value.nearest == "state:failed"
    found = parse_event_filter(caught.value.nearest)
    assert found is not None
    assert found.keeps(UTC)(EVENTS["failed"])


def test_a_filter_kept_under_a_name_works_for_events_too() -> None:
    found = parse_event_filter(":bad", named={"bad": "is:problem"})
    assert found is not None
    assert found.keeps(UTC)(EVENTS["failed"])


def test_in_a_list_of_several_runs_a_filter_knows_the_run() -> None:
    found = parse_event_filter("run:beef", is_merged=True)
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
        ("~pgfall", ["p", "g", "fall"]),
        ("~xq", []),
        ("is:live", []),
    ],
)
def test_what_is_looked_for_is_marked_in_the_line(text: str, marked: list[str]) -> None:
    found = parse_event_filter(text)
    assert found is not None
    shown = render_event(EVENTS["fallback"], UTC).summary
    assert [shown[start:end] for start, end in found.match_spans(shown)] == marked


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("queued", "queued"), ("progress", None), ("progress queued", "queued"), ("progress | queued", None),
        ("is:live | queued", "queued"), ("!queued", None), ("nothing", None), ("reason:queue", "queue"),
        ("~prgs", None), ("~queu", "queu"),
    ],
)  # fmt: skip
def test_what_the_line_does_not_show_is_looked_for_elsewhere(text: str, found: str | None) -> None:
    wanted, elsewhere = parse_event_filter(text), "progress, queued before"
    assert wanted is not None
    place = wanted.match_elsewhere(("progress", "sl_1"), elsewhere)
    assert (None if place is None else elsewhere[slice(*place)]) == found


def test_the_json_that_is_searched_has_no_times_and_is_readable_first() -> None:
    event = RunEvent({"event_id": "ev_1", "note": "naïve", "at": "2026-11-20T12:00:00Z"})
    assert json_texts(event) == (
        '{"event_id":"ev_1","note":"naïve"}', "ev_1", '{"event_id":"ev_1","note":"na\\u00efve","at":""}',
    )  # fmt: skip


@pytest.mark.parametrize(("text", "word"), [("a", "a"), ('"a b"', "a b"), ("a b", ""), ("!a", ""), ("kind:a", "")])
def test_a_single_word_is_known_as_one(text: str, word: str) -> None:
    found = parse_event_filter(text)
    assert found is not None
    assert found.word == word


def test_a_filter_can_be_completed_by_the_fields_of_events() -> None:
    known = seen_values(MULTI_RUN_EVENTS)
    assert {"kind", "run", "slice", "score", "reason", "attempt"} <= set(known)
    assert line("check") in known["kind"]


@many
@given(garbage(RunEvent), st.sampled_from(["a", "!a", "is:problem", "kind:a", "score>0", "age<1m", "has:state", "/a/"]))
def test_any_event_can_be_asked(raw: dict[str, object], text: str) -> None:
    found = parse_event_filter(text)
    assert found is not None
    assert found.keeps(UTC)(RunEvent(raw)) in {True, False}


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_hostile_text_is_looked_for_like_any_other(entry: object) -> None:
    text = getattr(entry, "text")  # noqa: B009
    found = parse_event_filter("x | " + '"' + text.replace("\\", "\\\\").replace('"', '\\"')[:900] + '"')
    if found is not None:
        places = list(found.match_spans(line(text)))
        assert all(start < end for start, end in places)


def test_lines_that_say_the_same_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[RunEvent] = []

    def counted(event: RunEvent, glyphs: Glyphs) -> StyledText:
        drawn.append(event)
        return describe_event(event, glyphs)

    monkeypatch.setattr("runwatch.view.resources.events.describe_event", counted)
    monkeypatch.setattr(_EventRow, "_lines", {})
    events = [builders.slice_event(number, "progress", reason="fallback", at=f"2026-11-21T11:59:{number:02}Z")
              for number in range(9)]  # fmt: skip
    found = parse_event_filter("nowhere")
    assert found is not None
    assert not any(map(found.keeps(UTC), events))
    assert drawn == events[:1]


def test_the_lines_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: dict[tuple[str, str], bytes] = {}
    monkeypatch.setattr(_EventRow, "_lines", lines)
    monkeypatch.setattr("runwatch.view.resources.event_filter.MAX_LINES", 5)
    found = parse_event_filter("nowhere")
    assert found is not None
    for number in range(20):
        found.keeps(UTC)(builders.event(1, f"state_{number}"))
        assert 0 < len(lines) <= 5


WORDS = (
    "check", "rejected", "✗", "attempt 1", "0.31", "ev_", "at", "2026", "x", 'a"b', "é", "ex_", "\n", "\\", "tool=",
)  # fmt: skip


@many
@given(
    st.lists(
        st.one_of(
            garbage(RunEvent), st.sampled_from([dict(event.raw) for event in EVENTS.values()]),
            st.fixed_dictionaries(
                {
                    "event_id": st.sampled_from(["ev_1", "rejected", 'a"b', "é"]),
                    "at": st.sampled_from(["2026-11-21T11:59:00Z", "x", 5]),
                    "type": st.sampled_from(["lifecycle", "recorded_check", "other"]),
                    "check_id": st.sampled_from(["0.31", "x"]),
                    "recorded_check": st.fixed_dictionaries({
                        "state": st.sampled_from(["odd", "baseline", "customer_verdict"]),
                        "recorded_at": st.sampled_from(["tool=", "x"]),
                    }),
                }
            ),
        ),
        max_size=5,
    ),
    st.sampled_from(WORDS) | st.text(max_size=3),
    st.booleans(),
)  # fmt: skip
def test_a_word_is_found_in_what_an_event_says_whatever_was_looked_for_before(
    raws: list[dict[str, object]], word: str, ascii_only: bool
) -> None:
    quoted = word.replace("\\", "\\\\").replace('"', '\\"')
    found = parse_event_filter(f'"{quoted}"')
    assert found is not None
    keep = found.keeps(UTC)
    for raw in raws:
        try:
            text = json.dumps(raw, ensure_ascii=ascii_only)
            text.encode()
            event = RunEvent(loads(text), text)
        except (TypeError, ValueError):
            continue
        row = _EventRow(RowRenderer(EVENTS_SPEC, UTC), event, "")
        assert keep(RunEvent.stored(text)) == (word.casefold() in row.text().casefold()), (text, word)
