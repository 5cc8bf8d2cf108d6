"""Following a run loses and doubles nothing (manual: decisions, "Event tail"; interface, "Events")."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwatch.api.run_tail import EndStep, PauseStep, ReadStep
from runwatch.records.event import RunEvent
from tests.support.builders import ABSENT, echo_events, event, slice_event
from tests.support.client_calls import MemoryTail
from tests.support.sampling import examples

EVENTS, STATUS = "events", "status"


def ids(events: Sequence[RunEvent]) -> list[str]:
    return [event.id for event in events]


def some(*numbers: int) -> list[RunEvent]:
    """Events of a live run with these numbers."""
    return [event(number) for number in numbers]


def idle(tail: MemoryTail, times: int = 1) -> list[float]:
    """Answer this many times with no event, a status read with "running", and return the pauses in between."""
    pauses = []
    reads = 0
    while reads < times:
        match tail.next_read():
            case PauseStep(seconds):
                pauses.append(seconds)
            case ReadStep(kind="status"):
                tail.take([], "running")
            case ReadStep():
                reads += 1
                tail.take([])
            case EndStep():
                break
    return pauses


@pytest.fixture
def tail() -> MemoryTail:
    return MemoryTail()


def test_the_first_read_is_without_a_cursor_and_the_next_follows_at_once_after_the_last_event(tail: MemoryTail) -> None:
    assert tail.next_read() == ReadStep(None)
    page = some(1, 2, 3)
    assert tail.take(page) == page
    assert tail.next_read() == ReadStep(page[-1].id)
    assert tail.cursor == page[-1].id


def test_a_read_that_failed_is_asked_for_again(tail: MemoryTail) -> None:
    tail.take(some(1))
    assert tail.next_read() == tail.next_read() == ReadStep(event(1).id)


def test_pauses_grow_from_one_second_to_five_and_begin_anew_with_an_event(tail: MemoryTail) -> None:
    tail.take(some(1))
    assert idle(tail, 8) == [1.0, 1.5, 2.25, 3.375, 5.0, 5.0, 5.0]
    assert tail.next_read() == PauseStep(5.0)
    assert tail.next_read() == ReadStep(event(1).id)
    tail.take(some(2))
    assert tail.next_read() == ReadStep(event(2).id)
    assert idle(tail, 2) == [1.0]


def test_overlaps_and_repeats_are_dropped_and_move_no_cursor(tail: MemoryTail) -> None:
    tail.take(some(1, 2, 3))
    assert ids(tail.take(some(2, 3, 4, 4, 3))) == ids(some(4))
    assert tail.take(some(2, 3)) == []
    assert tail.cursor == event(4).id


def test_a_page_of_repeats_that_holds_the_cursor_counts_as_empty(tail: MemoryTail) -> None:
    tail.take(some(1, 2))
    tail.take(some(1, 2))
    assert tail.next_read() == PauseStep(1.0)
    assert tail.next_read() == ReadStep(event(2).id)


def test_events_in_another_order_stay_in_the_order_of_the_service(tail: MemoryTail) -> None:
    assert ids(tail.take(some(2, 1, 3))) == ids(some(2, 1, 3))


def test_the_whole_list_after_an_unknown_cursor_gives_only_what_is_new(tail: MemoryTail) -> None:
    tail.take(some(1, 2, 3))
    assert ids(tail.take(some(1, 2, 3, 4))) == ids(some(4))


def test_the_whole_list_in_parts_is_walked_through_without_pauses(tail: MemoryTail) -> None:
    tail.take(some(1, 2, 3, 4, 5))
    tail.next_read()
    assert tail.take(some(1, 2)) == []
    assert tail.next_read() == ReadStep(event(2).id)
    assert tail.take(some(3, 4)) == []
    assert tail.next_read() == ReadStep(event(4).id)
    assert ids(tail.take(some(5, 6))) == ids(some(6))
    assert tail.cursor == event(6).id


def test_a_service_that_answers_at_random_is_not_asked_without_end(tail: MemoryTail) -> None:
    tail.take(some(*range(1, 6)))
    reads = 0
    while not isinstance(tail.next_read(), PauseStep):
        tail.take(some(1 + reads % 4))
        reads += 1
    assert reads <= 5


def test_a_beginning_in_the_middle_gives_nothing_that_is_before_it() -> None:
    tail = MemoryTail(event(3).id)
    assert tail.next_read() == ReadStep(event(3).id)
    assert ids(tail.take(some(1, 2, 3, 4))) == ids(some(4))
    assert ids(tail.take(some(1, 2, 3, 4, 5))) == ids(some(5))


def test_a_position_that_the_service_refuses_is_forgotten_and_nothing_comes_twice(tail: MemoryTail) -> None:
    tail.take(some(1, 2))
    assert tail.forget_position()
    assert tail.next_read() == ReadStep(None)
    assert ids(tail.take(some(1, 2, 3))) == ids(some(3))
    assert tail.next_read() == ReadStep(event(3).id)


def test_a_forgotten_position_returns_when_the_list_holds_the_cursor(tail: MemoryTail) -> None:
    tail.take(some(1, 2))
    tail.forget_position()
    tail.take(some(1, 2))
    assert tail.next_read() == PauseStep(1.0)
    assert tail.next_read() == ReadStep(event(2).id)


def test_there_is_no_position_to_forget_at_the_beginning() -> None:
    assert not MemoryTail().forget_position()


def test_the_final_event_of_the_run_ends_the_tail_and_everything_of_its_page_is_given(tail: MemoryTail) -> None:
    page = echo_events()
    assert tail.take(page) == page
    assert tail.next_read() == EndStep()
    assert tail.next_read() == EndStep()


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled", "expired"])
def test_each_final_state_ends_the_tail(state: str, tail: MemoryTail) -> None:
    tail.take([event(1, state)])
    assert tail.next_read() == EndStep()


@pytest.mark.parametrize(
    "last",
    [
        slice_event(1, "completed"),
        event(1, "progress"),
        event(1, "reticulating"),
        event(1, "completed", type="recorded_check"),
        RunEvent({"event_id": "ev_1", "type": "lifecycle"}),
    ],
    ids=["of a slice", "not final", "unknown", "another type", "without a state"],
)
def test_nothing_else_ends_the_tail(last: RunEvent, tail: MemoryTail) -> None:
    tail.take([last])
    assert tail.next_read() == ReadStep(last.id)


def test_a_slice_id_of_null_counts_as_absent(tail: MemoryTail) -> None:
    tail.take([event(1, "completed", slice_id=None)])
    assert tail.next_read() == EndStep()


def test_the_status_is_asked_at_once_when_a_tail_begins_with_nothing_and_then_only_when_long_quiet() -> None:
    tail = MemoryTail()
    asked = []
    for quiet in range(1, 16):
        assert isinstance(tail.next_read(), ReadStep)
        tail.take([])
        step = tail.next_read()
        if step == ReadStep(kind="status"):
            asked.append(quiet)
            tail.take([], "running")
            step = tail.next_read()
        assert isinstance(step, PauseStep)
    assert asked == [1, 5, 10, 15]


def test_a_run_that_is_final_ends_after_two_later_empty_reads() -> None:
    tail = MemoryTail("ev_last")
    tail.next_read()
    tail.take([])
    assert tail.next_read() == ReadStep(kind="status")
    tail.take([], "completed")
    assert tail.next_read() == ReadStep("ev_last")
    tail.take([])
    assert tail.next_read() == PauseStep(1.0)
    assert tail.next_read() == ReadStep("ev_last")
    tail.take([])
    assert tail.next_read() == EndStep()


def test_events_after_the_run_is_final_are_still_given_and_the_two_reads_begin_anew(tail: MemoryTail) -> None:
    tail.take(some(1), "failed")
    tail.take([])
    assert ids(tail.take(some(2))) == ids(some(2))
    tail.take([])
    assert not isinstance(tail.next_read(), EndStep)
    tail.take([])
    assert tail.next_read() == EndStep()


def test_a_status_known_from_elsewhere_spares_the_status_read(tail: MemoryTail) -> None:
    tail.next_read()
    tail.take([], "completed")
    assert tail.next_read() == ReadStep(None)
    tail.take([])
    tail.next_read()
    tail.take([])
    assert tail.next_read() == EndStep()


@pytest.mark.parametrize("status", ["reticulating", "", None, "COMPLETED"])
def test_an_unknown_status_means_that_the_run_is_live(status: str | None, tail: MemoryTail) -> None:
    tail.next_read()
    tail.take([])
    tail.next_read()
    tail.take([], status)
    assert idle(tail, 12)
    assert not isinstance(tail.next_read(), EndStep)


def test_a_service_that_always_answers_the_whole_list_of_a_final_run_does_not_hold_the_tail_for_ever() -> None:
    tail = MemoryTail()
    tail.take(some(1, 2), "completed")
    for _ in range(4):
        tail.take(some(1, 2))
        assert isinstance(tail.next_read(), PauseStep)
    tail.take(some(1, 2))
    assert tail.next_read() == EndStep()


def test_a_tail_that_begins_after_the_final_event_ends_when_it_sees_it_again() -> None:
    page = echo_events()
    tail = MemoryTail(page[-1].id)
    assert tail.take(page) == []
    assert tail.next_read() == EndStep()


def test_events_without_an_id_are_distinguished_by_their_text_and_are_no_cursor() -> None:
    nameless = [event(1, "queued", event_id=ABSENT), event(2, "running", event_id=ABSENT)]
    tail = MemoryTail()
    assert tail.take([*some(7), *nameless, nameless[0]]) == [*some(7), *nameless]
    assert tail.take(nameless) == []
    assert tail.cursor == event(7).id


def test_a_store_may_say_what_is_new_and_the_tail_remembers_nothing(tail: MemoryTail) -> None:
    tail.note_page(some(1, 2), new=some(2))
    assert tail.next_read() == ReadStep(event(2).id)
    tail.note_page(some(2), new=[])
    assert tail.next_read() == PauseStep(1.0)
    tail.note_page(some(2, 1), new=some(2, 1))


def test_what_another_process_stored_moves_the_cursor_beyond_the_page(tail: MemoryTail) -> None:
    tail.note_page(some(1), new=some(1, 2))
    assert tail.next_read() == ReadStep(event(2).id)


def test_a_store_that_knows_the_final_event_already_ends_the_tail(tail: MemoryTail) -> None:
    tail.note_page(echo_events(), new=[])
    assert tail.next_read() == EndStep()


def test_behind_a_store_too_the_whole_list_in_parts_is_walked_through() -> None:
    tail = MemoryTail(event(5).id)
    tail.note_page(some(1, 2), new=[])
    assert tail.next_read() == ReadStep(event(2).id)
    tail.note_page(some(3, 4, 5, 6), new=some(6))
    assert tail.cursor == event(6).id


class Service:
    """A service with one run that answers badly: overlaps, repeats, parts of lists, lost cursors."""

    def __init__(self, log: list[RunEvent], chance: random.Random) -> None:
        self.log = log
        self.chance = chance
        self.length = 0
        self.forgotten: set[str] = set()

    def read(self, after: str | None) -> list[RunEvent]:
        """One page; the run goes on meanwhile."""
        self.length = min(len(self.log), self.length + self.chance.choice([0, 0, 1, 2, 7]))
        known = ids(self.log[: self.length])
        if after is not None and self.chance.random() < 0.05:
            self.forgotten.add(after)
        start = known.index(after) + 1 if after in known and after not in self.forgotten else 0
        match self.chance.randrange(8):
            case 0:
                start = 0
            case 1:
                start = max(0, start - self.chance.randrange(4))
        page = self.log[start : self.length]
        if self.chance.random() < 0.5:
            page = page[: self.chance.randrange(1, 5)]
        if page and self.chance.random() < 0.3:
            page = [*page, self.chance.choice(page)]
        return page

    @property
    def status(self) -> str:
        """What the run itself says."""
        return "completed" if self.length == len(self.log) else "running"


class Remembering(Service):
    """A service that never forgets a certain event; its pages that begin before that one reach up to it at least."""

    def __init__(self, log: list[RunEvent], chance: random.Random, start: str) -> None:
        super().__init__(log, chance)
        self.start = ids(log).index(start)
        self.length = self.start + 1

    def read(self, after: str | None) -> list[RunEvent]:
        page = super().read(after)
        self.forgotten.discard(self.log[self.start].id)
        first = ids(self.log).index(page[0].id) if page else self.start + 1
        is_short = first <= self.start and self.log[self.start].id not in ids(page)
        return self.log[first : self.start + 1] if is_short else page


def log_of(count: int, *, with_final: bool) -> list[RunEvent]:
    events = [event(number, "progress") for number in range(1, count + 1)]
    return [*events, event(count + 1, "completed")] if with_final else events


def follow(tail: MemoryTail, service: Service, applied: list[RunEvent], steps: int = 4000) -> bool:
    """Run the tail against the service; False when it did not end."""
    for _ in range(steps):
        match tail.next_read():
            case EndStep():
                return True
            case PauseStep(seconds):
                assert 1.0 <= seconds <= 5.0
            case ReadStep(kind="status"):
                tail.take([], service.status)
            case ReadStep(after):
                applied += tail.take(service.read(after))
                if applied:
                    assert tail.cursor == applied[-1].id
    return False


@settings(max_examples=examples(300), deadline=None)
@given(count=st.integers(0, 40), seed=st.integers(0, 2**32))
def test_nothing_is_lost_or_doubled_and_the_order_is_kept(count: int, seed: int) -> None:
    log = log_of(count, with_final=True)
    applied: list[RunEvent] = []
    assert follow(MemoryTail(), Service(log, random.Random(seed)), applied)
    assert ids(applied) == ids(log)


@settings(max_examples=examples(300), deadline=None)
@given(count=st.integers(1, 40), begin=st.integers(0, 39), seed=st.integers(0, 2**32))
def test_the_same_holds_from_any_event_on_while_the_service_knows_it(count: int, begin: int, seed: int) -> None:
    log = log_of(count, with_final=True)
    begin = begin % count
    service = Remembering(log, random.Random(seed), log[begin].id)
    applied: list[RunEvent] = []
    assert follow(MemoryTail(log[begin].id), service, applied)
    assert ids(applied) == ids(log[begin + 1 :])


class Restarting:
    """A tail and its store, which both die now and then: the store keeps its events, the tail is made again."""

    def __init__(self, service: Service, chance: random.Random) -> None:
        self.service = service
        self.chance = chance
        self.kept: list[RunEvent] = []

    def append(self, page: Sequence[RunEvent]) -> list[RunEvent]:
        """What the store does in one transaction: insert what is new."""
        known = set(ids(self.kept))
        new = [event for event in page if event.id not in known and not known.add(event.id)]  # type: ignore[func-returns-value]
        self.kept += new
        return new

    def live(self) -> bool:
        """One life; True when the tail has ended."""
        tail = MemoryTail(self.kept[-1].id if self.kept else None)
        for _ in range(400):
            match tail.next_read():
                case EndStep():
                    return True
                case ReadStep(kind="status"):
                    tail.take([], self.service.status)
                case ReadStep(after):
                    page: list[Any] = self.service.read(after)
                    if self.chance.random() < 0.1:
                        return False
                    tail.note_page(page, new=self.append(page))
                    if self.chance.random() < 0.1:
                        return False
        return False


@settings(max_examples=examples(200), deadline=None)
@given(count=st.integers(0, 40), seed=st.integers(0, 2**32), with_final=st.booleans())
def test_behind_a_store_it_holds_over_restarts_at_any_moment(count: int, seed: int, with_final: bool) -> None:
    chance = random.Random(seed)
    log = log_of(count, with_final=with_final)
    follower = Restarting(Service(log, chance), chance)
    lives = 0
    while not follower.live() and lives < 200:
        lives += 1
    assert ids(follower.kept) == ids(log)
