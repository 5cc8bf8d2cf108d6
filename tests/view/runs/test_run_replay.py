"""A replay is the run at a moment, from the same fold as the live view."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from runwatch.base.errors import UsageError
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.runs.run_replay import RunReplay, run_as_of, spent_by_then
from runwatch.view.text.format import RenderContext
from tests.support import builders
from tests.tui.samples import NOON
from tests.view.runs.test_run_timeline import STORY, at

CONTEXT = RenderContext(NOON, time="utc")


def moment(second: float) -> datetime:
    return datetime.fromtimestamp(datetime.fromisoformat(at(0)).timestamp() + second, UTC)


def test_the_run_as_of_its_last_event_is_the_run_as_it_is() -> None:
    facts = RunFacts(builders.run(status="completed"))
    replay = RunReplay(STORY)
    replay.move_to_event(len(STORY))
    assert run_as_of(facts, replay.trace).raw == facts.raw


def test_before_its_end_a_run_has_the_state_and_slices_of_then_and_nothing_of_later() -> None:
    facts = RunFacts(
        builders.open_run(status="completed", completed_at=at(20)), receipt=Receipt({"status": "completed"})
    )
    replay = RunReplay(STORY)
    replay.move_to(moment(9))
    then = run_as_of(facts, replay.trace)
    assert (replay.count, then.status, then.receipt, then.run.completed_at) == (5, "running", None, None)
    assert [(part.slice_id, part.status) for part in then.run.slices or ()] == [("sl_1", "running")]
    assert then.max_cost_usd.value == facts.max_cost_usd.value


def test_positions_are_by_event_and_by_time_back_and_forth() -> None:
    replay = RunReplay(STORY)
    assert (replay.count, replay.at, replay.next_in_s) == (1, moment(0), 0)
    replay.advance(5)
    assert (replay.count, replay.at, replay.next_in_s) == (4, moment(5), 3)
    replay.move_to_event(7)
    assert (replay.at, replay.part) == (moment(10), Decimal("0.5"))
    replay.move_to_event(99)
    assert replay.is_at_end
    replay.move_to_event(2)
    assert replay.trace.state == "queued"


def test_time_never_goes_back_and_events_without_one_come_with_their_predecessor() -> None:
    events = [STORY[3], builders.event(2, at=builders.ABSENT), STORY[0], STORY[-1]]
    replay = RunReplay(events)
    replay.move_to(moment(3))
    assert (replay.count, replay.at) == (3, moment(3))
    untimed = RunReplay([builders.event(1, at=builders.ABSENT), builders.event(2, at=builders.ABSENT)])
    untimed.advance(10)
    assert (untimed.count, untimed.at, untimed.part) == (1, None, Decimal("0.5"))


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("10:00:05", 5),
        ("+3s", 13),
        ("-4s", 6),
        ("25%", 5),
        ("10:05", 20),
        ("9:59", 0),
        ("+1h", 20),
        ("2026-11-20T10:00:05Z", 5),
    ],
)
def test_a_typed_time_is_in_the_run(text: str, second: float) -> None:
    replay = RunReplay(STORY)
    replay.move_to(moment(10))
    replay.seek(text, CONTEXT)
    assert replay.at == moment(second)


@pytest.mark.parametrize(
    ("text", "second"), [("-10s", 170), ("+10s", 180), ("50%", 90), ("10:02", 120), ("10:30", 180), ("9:59", 0)]
)
def test_the_times_of_a_run_that_goes_on_end_now(text: str, second: float) -> None:
    replay = RunReplay(STORY[:3])
    replay.now = moment(180)
    replay.move_to(moment(180))
    assert (replay.count, replay.part, replay.last_at) == (3, Decimal(1), moment(180))
    replay.seek(text, CONTEXT)
    assert (replay.at, replay.count) == (moment(second), 3 if second else 2)


@pytest.mark.parametrize("text", ["", "soon", "+x", "+", "101%", "%", "25:00:00", "+99999999999d"])
def test_what_is_no_time_is_refused_and_the_position_stays(text: str) -> None:
    replay = RunReplay(STORY)
    with pytest.raises(UsageError):
        replay.seek(text, CONTEXT)
    assert replay.at == moment(0)


def test_what_was_spent_by_then_is_known_from_the_calls_that_had_ended() -> None:
    calls = [{"attempt": 1, "usd": 0.25}, {"attempt": 2, "usd": 0.5}]
    receipt = Receipt({"slices": [{"slice_id": "sl_1", "attempts": calls}]})
    facts = RunFacts(builders.run(), receipt=receipt)
    replay, spent = RunReplay(STORY), []
    for count in (4, 5, 7, 8):
        replay.move_to_event(count)
        spent.append(spent_by_then(facts, replay.trace))
    assert spent == [0, Decimal("0.25"), Decimal("0.25"), Decimal("0.75")]
    assert spent_by_then(RunFacts(builders.run()), replay.trace) is None
    unknown = Receipt({"slices": [{"slice_id": "sl_1", "attempts": [{"attempt": 1, "usd": None}]}]})
    assert spent_by_then(RunFacts(builders.run(), receipt=unknown), replay.trace) is None


def test_a_run_without_events_has_no_position() -> None:
    replay = RunReplay(list[RunEvent]())
    assert (replay.count, replay.at, replay.is_at_end) == (0, None, True)
