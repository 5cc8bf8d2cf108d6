"""The timeline draws what events give a time to, and says what they do not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width, is_clean
from runwatch.records.event import RunEvent
from runwatch.records.run import CallError
from runwatch.store.state.collection import StoredRecord
from runwatch.view.detail.sections import DetailLine
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.runs.run_timeline import timeline_bars, timeline_sections
from runwatch.view.runs.run_trace import RunTrace
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, UNICODE, Glyphs
from tests.support import builders
from tests.support.odd_events import odd_events
from tests.support.parts import verification_check
from tests.tui import noon
from tests.tui.samples import NOON

REJECTED = verification_check(arm_id="arm_01HX7", is_correct=False, quality_score=0.31, attempt=1)
ACCEPTED = verification_check(check_id="chk_2", arm_id="arm_01HX8", attempt=2)


def at(second: int) -> str:
    return f"2026-11-20T10:00:{second:02}Z"


STORY = [
    builders.event(1, "accepted", at=at(0)),
    builders.event(2, "queued", at=at(0)),
    builders.event(3, "running", at=at(2)),
    builders.slice_event(4, "running", at=at(2)),
    builders.recorded_event(5, "pending_evaluation", at=at(8)),
    builders.verification_event(6, at=at(10), verification_check=REJECTED),
    builders.slice_event(7, "progress", reason="fallback", at=at(10)),
    builders.verification_event(8, at=at(19), verification_check=ACCEPTED),
    builders.slice_event(9, "completed", at=at(20)),
    builders.event(10, "completed", at=at(20)),
]


def drawn(
    events: list[RunEvent], *, room: int = 70, glyphs: Glyphs = UNICODE, facts: RunFacts | None = None, **more: Any
) -> list[DetailLine]:
    context = RenderContext(NOON, glyphs, time="utc")
    made = timeline_sections(facts or RunFacts(builders.run()), RunTrace(events), lambda _: room, context, **more)
    return [line for section in made for line in section.lines]


def rows(events: list[RunEvent], **more: Any) -> dict[str, list[str]]:
    """The bars by their label: the bar, its seconds, its note."""
    found = [line for line in drawn(events, **more) if line.label]
    return {line.label.strip(): [part.strip() for part in line.text.split("  ") if part.strip()] for line in found}


def remarks(events: list[RunEvent], **more: Any) -> str:
    return "\n".join(line.text for line in drawn(events, **more) if not line.label)


def test_wait_slice_attempts_and_checks_have_their_seconds_and_what_came_of_them() -> None:
    seconds = {label: parts[1:] for label, parts in rows(STORY).items()}
    assert seconds == {
        "queued": ["2 s"],
        "slice sl_1": ["18 s", "✓ completed"],
        "attempt 1": ["6 s", "answered · arm_01HX7"],
        "check 1": ["2 s", "✗ rejected 0.31"],
        "↻ attempt 2": ["9 s", "✓ accepted 0.86 · fallback ·", "arm_01HX8"],
    }
    assert "The bar of attempt 2 includes the check" in remarks(STORY)


def test_without_room_beside_a_bar_what_came_of_it_is_below() -> None:
    found = {label: parts[1:] for label, parts in rows(STORY, room=22).items()}
    assert found["queued"] == ["2 s"]
    assert found["slice sl_1"] == ["18 s\n✓ completed"]
    assert found["check 1"] == ["2 s\n✗ rejected 0.31"]
    assert found["↻ attempt 2"] == ["9 s\n✓ accepted 0.86 ·\nfallback · arm_01HX8"]


def test_bars_follow_each_other_on_one_line_of_time() -> None:
    bars = {line.label.strip(): line.text for line in drawn(STORY)}
    starts = [
        len(bars[label]) - len(bars[label].lstrip(" ")) for label in ("queued", "attempt 1", "check 1", "↻ attempt 2")
    ]
    assert starts == sorted(set(starts))


def test_every_moment_of_a_run_has_the_columns_of_the_whole() -> None:
    context = RenderContext(NOON, UNICODE, time="utc")
    whole = list(timeline_bars(RunFacts(builders.run()), RunTrace(STORY), context))
    moments = [drawn(STORY[:count], until=NOON, whole=whole) for count in range(2, len(STORY) + 1)]
    assert len({moment[0].text for moment in moments}) == 1, "one line of time"
    bars = [row for moment in moments for row in moment if row.label]
    ends = {found.end() for row in bars if (found := re.search(r"\d (ms|s|min|h)(?= |$)", row.text))}
    assert len(ends) == 1, "one column of seconds"


def test_patterns_tell_the_kinds_apart_without_color() -> None:
    for glyphs in (UNICODE, ASCII):
        used = {parts[0][0] for parts in rows(STORY, glyphs=glyphs).values()}
        assert len(used) == 4
        assert all(line.text.isascii() and line.label.isascii() for line in drawn(STORY, glyphs=ASCII))


def test_in_ascii_what_was_tried_again_and_what_goes_on_have_marks_of_their_own() -> None:
    assert "& attempt 2" in rows(STORY, glyphs=ASCII)
    assert "& before an attempt: tried again" in remarks(STORY, glyphs=ASCII)
    live = rows(noon.live_events()[:4], glyphs=ASCII, facts=RunFacts(next(r for r in noon.runs() if r.id == noon.LIVE)))
    assert live["attempt 1"][0].endswith("}")


def test_what_goes_on_grows_until_now_and_an_end_that_no_event_has_stays_open() -> None:
    facts = RunFacts(next(run for run in noon.runs() if run.id == noon.LIVE))
    live = rows(noon.live_events()[:4], facts=facts)
    assert live["attempt 1"][0].endswith("→")
    assert UNICODE.again != UNICODE.going_on
    assert live["attempt 1"][1:] == ["39 s", "● running · arm_01HX7"]
    # As the run's time does, it stops a while after the last read.
    seen = noon.live_events()[3].at
    assert seen is not None
    facts = facts._replace(stored=StoredRecord(facts.run, seen, 0.0))
    assert rows(noon.live_events()[:4], facts=facts)["attempt 1"][1] == "10 s"
    lost = [*STORY[:7], STORY[9]]
    bar, *rest = rows(lost)["slice sl_1"]
    assert bar.endswith("▒?")
    assert rest == ["≥ 8 s", "? progress"]


def test_a_run_that_has_ended_is_never_drawn_as_going_on() -> None:
    ended = RunFacts(builders.run(status="failed"))
    for events in (STORY[:2], STORY[:4], STORY[:5], STORY[:7]):
        text = "\n".join(line.text for line in drawn(events, facts=ended))
        assert "→" not in text
        assert "●" not in text
        assert "The run has ended, but no event after 11-20 10:00:" in text
    assert rows(STORY[:4], facts=ended)["slice sl_1"][1:] == ["≥ 0 ms", "? running"]
    assert "No event of this run is read yet" in remarks([], facts=ended)


def test_nothing_is_drawn_without_a_beginning_and_it_is_said() -> None:
    events = [STORY[0], STORY[5], STORY[7]]
    assert rows(events)["attempt 2"] == ["?", "?", "✓ accepted 0.86 · arm_01HX8"]
    untimed = builders.event(2, "queued", at=builders.ABSENT)
    assert "1 event has no time and is left out." in remarks([STORY[0], untimed, *STORY[2:]])
    assert "nothing to draw" in remarks([untimed])
    assert "more than 10 events" in remarks(STORY, is_cut=True)


def test_a_refused_call_ends_when_its_provider_answered() -> None:
    error = CallError({"attempt": 1, "at": at(5), "http_status": 429, "message": "slow down"})
    events = [*STORY[:4], STORY[6], *STORY[7:]]
    facts = RunFacts(builders.run(), call_errors=(error,))
    assert rows(events, facts=facts)["attempt 1"][1:] == ["3 s", "✗ the provider answered 429:", '"slow down"']
    narrow = " ".join(rows(events, facts=facts, room=40)["attempt 1"])
    assert " ".join(narrow.split()).endswith('3 s ✗ the provider answered 429: "slow down"'), (
        "on as many rows as it needs"
    )


def test_a_test_run_calls_no_model() -> None:
    facts = RunFacts(builders.open_run(status="completed", mode="echo"))
    assert not any("attempt" in label for label in rows(builders.echo_events(), facts=facts))


def test_a_trace_of_all_events_is_that_of_one_after_another() -> None:
    trace = RunTrace(STORY[:3])
    assert (trace.state, trace.is_over) == ("running", False)
    for event in STORY[3:]:
        trace.take(event)
    assert (trace.state, trace.is_over) == ("completed", True)
    assert trace.slices == RunTrace(STORY).slices


@pytest.mark.exhaustive
@given(
    st.lists(st.sampled_from([*STORY, *builders.live_events(), *odd_events(builders.RUN_ID)]), max_size=14),
    st.integers(1, 130),
)
def test_any_events_fit_any_width(events: list[RunEvent], room: int) -> None:
    for glyphs in (UNICODE, ASCII):
        lines = drawn(events, room=room, glyphs=glyphs)
        assert all(is_clean(line.text) and is_clean(line.label) for line in lines)
        rows = [row for line in lines if line.label for row in line.text.splitlines()]
        assert all(cell_width(row) <= max(room, 30) for row in rows)
