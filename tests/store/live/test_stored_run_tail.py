"""Following a run to its end: through silence, restarts, holds, other processes, and starts in the middle."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from math import inf
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runwatch.api.client import Client
from runwatch.api.errors import ApiError, ApiProblem, InvalidRequestError
from runwatch.base.network.service_target import Target
from runwatch.records.event import RunEvent
from runwatch.store.db.database import Database
from runwatch.store.live.stored_run_tail import StoredRunTail, follow_run
from runwatch.store.repositories.event_store import EventGap, EventStore
from runwatch.store.repositories.scope import Scope
from runwatch.store.state.changes import ReadFailure
from runwatch.store.state.failure_kind import FailureKind
from tests.store.stub import SCOPE, StubClient, held, lost, refused, unusable
from tests.support.builders import RUN_ID, account, echo_events, event, problem, run
from tests.support.clock import START, FakeClock
from tests.support.sampling import examples
from tests.support.scripted import Said, ScriptedService

EVENTS = "getExecutionsByExecutionIdEvents"
LOG = echo_events()


def after(log: Sequence[RunEvent]) -> Any:
    def page(asked: str | None) -> Sequence[RunEvent]:
        names = [item.id for item in log]
        return log[names.index(asked) + 1 :] if asked in names else log

    return page


class Followed:
    """A follower, and what it was told."""

    def __init__(self, client: Client, scope: Scope, store: EventStore, clock: FakeClock, patience_s: float) -> None:
        self.troubles: list[tuple[FailureKind, float]] = []
        self.events: AsyncIterator[RunEvent] = follow_run(
            client, scope, store, RUN_ID, clock=clock, patience_s=patience_s, on_failure=self.note
        )

    def note(self, failure: ReadFailure, seconds: float) -> None:
        self.troubles.append((failure.kind, seconds))

    async def all(self) -> list[RunEvent]:
        return [item async for item in self.events]


@pytest.fixture
def followed(client: StubClient, store: EventStore, clock: FakeClock) -> Followed:
    return Followed(client, SCOPE, store, clock, 600)


async def test_all_events_come_once_and_the_run_is_complete(
    followed: Followed, client: StubClient, store: EventStore
) -> None:
    client.event_pages.extend([LOG[:2], [], LOG[1:3], after(LOG)])
    assert await followed.all() == LOG
    assert await store.is_complete(SCOPE, RUN_ID)
    assert await store.window(SCOPE, RUN_ID, 0, 100) == LOG
    assert followed.troubles == []


async def test_a_complete_run_is_reported_from_the_disk_alone(
    followed: Followed, client: StubClient, store: EventStore
) -> None:
    await store.append(SCOPE, RUN_ID, LOG)
    assert await followed.all() == LOG
    assert client.asked == []


async def test_stored_events_come_first_and_reading_goes_on_behind_them(
    followed: Followed, client: StubClient, store: EventStore
) -> None:
    await store.append(SCOPE, RUN_ID, LOG[:3])
    client.event_pages.append(after(LOG))
    assert await followed.all() == LOG
    assert client.asked == [f"events of {RUN_ID} after {LOG[2].id}"]


async def test_events_are_stored_before_they_are_reported(
    followed: Followed, client: StubClient, store: EventStore
) -> None:
    client.event_pages.append(after(LOG))
    first = await anext(followed.events)
    assert first == LOG[0]
    assert await store.window(SCOPE, RUN_ID, 0, 1) == [first]


async def test_a_page_is_one_trip_to_the_database(
    client: StubClient, store: EventStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.event_pages.extend([LOG[:1], LOG[1:3]])
    tail = await StoredRunTail.open(client, SCOPE, store, RUN_ID, clock)
    with monkeypatch.context() as patch:
        trips: list[object] = []
        run = Database._run

        async def counted(self: Database, job: Any) -> Any:
            trips.append(job)
            return await run(self, job)

        patch.setattr(Database, "_run", counted)
        for stored in (1, 3):
            await tail.step()
            assert (tail.position, len(trips)) == (stored, 1)
            trips.clear()
    assert await store.count(SCOPE, RUN_ID) == 3


async def test_events_that_another_process_stores_meanwhile_come_too(
    followed: Followed, client: StubClient, store: EventStore
) -> None:
    client.event_pages.append(LOG[:1])
    assert await anext(followed.events) == LOG[0]
    await store.append(SCOPE, RUN_ID, LOG[1:4])
    client.event_pages.append(after(LOG))
    assert await followed.all() == LOG[1:]


async def test_the_end_that_another_process_stored_ends_it(
    followed: Followed, client: StubClient, store: EventStore
) -> None:
    client.event_pages.append(LOG[:1])
    assert await anext(followed.events) == LOG[0]
    await store.append(SCOPE, RUN_ID, LOG[1:])
    client.event_pages.append([])
    assert await followed.all() == LOG[1:]


async def test_a_run_that_ended_without_its_final_event_ends_and_is_complete(
    followed: Followed, client: StubClient, store: EventStore
) -> None:
    client.event_pages.extend([LOG[:2], []])
    client.runs.append(run(status="failed"))
    client.runs.popleft()
    assert await followed.all() == LOG[:2]
    assert await store.is_complete(SCOPE, RUN_ID)


@pytest.mark.parametrize("status", [403, 405, 501])
async def test_a_service_without_reads_of_single_runs_is_followed_by_events_alone(
    followed: Followed, client: StubClient, status: int
) -> None:
    client.runs.extend([refused("x", status=status)])
    client.runs.popleft()
    client.event_pages.extend([[], [], after(LOG)])
    assert await followed.all() == LOG


async def test_a_run_that_does_not_exist_is_said(followed: Followed, client: StubClient) -> None:
    client.event_pages.append([])
    client.runs.extend([refused("not_found")])
    client.runs.popleft()
    with pytest.raises(ApiProblem, match="no such resource"):
        await followed.all()


@pytest.mark.parametrize(
    "first",
    [lost(operation=EVENTS), refused("internal", operation=EVENTS), held(5, operation=EVENTS), refused("rate_limited")],
    ids=lambda error: type(error).__name__,
)
async def test_a_first_read_that_fails_is_raised_at_once(
    followed: Followed, client: StubClient, clock: FakeClock, first: ApiError
) -> None:
    client.event_pages.append(first)
    with pytest.raises(type(first)) as caught:
        await followed.all()
    assert caught.value is first
    assert clock.sleeps == []
    assert followed.troubles == []


async def test_a_first_read_that_fails_still_tells_what_is_stored(
    followed: Followed, client: StubClient, store: EventStore
) -> None:
    await store.append(SCOPE, RUN_ID, LOG[:2])
    client.event_pages.append(lost(operation=EVENTS))
    assert [await anext(followed.events), await anext(followed.events)] == LOG[:2]
    with pytest.raises(ApiError):
        await anext(followed.events)


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (lost("refused", known=True, operation=EVENTS), FailureKind.OFFLINE),
        (lost("cut", operation=EVENTS), FailureKind.NO_ANSWER),
        (refused("upstream_unavailable", operation=EVENTS), FailureKind.OFFLINE),
        (refused("internal", operation=EVENTS), FailureKind.OFFLINE),
        (refused("x", status=408, operation=EVENTS), FailureKind.ERROR),
        (unusable(known=True, operation=EVENTS), FailureKind.ERROR),
    ],
)
async def test_a_service_that_stumbles_is_asked_again(
    followed: Followed, client: StubClient, clock: FakeClock, trouble: ApiError, kind: FailureKind
) -> None:
    clock.set_chances(0.5)
    client.event_pages.extend([LOG[:2], trouble, trouble, trouble, after(LOG)])
    assert await followed.all() == LOG
    assert clock.sleeps == [0.5, 1.0, 2.0]
    assert followed.troubles == [(kind, seconds) for seconds in (0.5, 1.0, 2.0)]


@pytest.mark.parametrize(("chance", "factor"), [(0.0, 0.8), (0.5, 1.0), (0.75, 1.1)])
async def test_waits_double_up_to_half_a_minute_and_chance_moves_them(
    client: StubClient, store: EventStore, chance: float, factor: float
) -> None:
    clock = FakeClock(chances=[chance])
    client.event_pages.extend([LOG[:1], *[lost(operation=EVENTS)] * 9, after(LOG)])
    await Followed(client, SCOPE, store, clock, inf).all()
    assert clock.sleeps == pytest.approx([factor * wait for wait in (0.5, 1, 2, 4, 8, 16, 30, 30, 30)])


async def test_a_good_answer_makes_the_waits_short_again(
    followed: Followed, client: StubClient, clock: FakeClock
) -> None:
    clock.set_chances(0.5)
    trouble = lost(operation=EVENTS)
    client.event_pages.extend([LOG[:1], trouble, trouble, LOG[1:2], trouble, after(LOG)])
    assert await followed.all() == LOG
    assert clock.sleeps == [0.5, 1.0, 0.5]


async def test_patience_ends_a_time_after_the_last_good_answer(
    client: StubClient, store: EventStore, clock: FakeClock
) -> None:
    clock.set_chances(0.5)
    trouble = lost(operation=EVENTS)
    client.event_pages.extend([LOG[:1], trouble])
    followed = Followed(client, SCOPE, store, clock, 5)
    with pytest.raises(type(trouble)) as caught:
        await followed.all()
    assert caught.value is trouble
    assert clock.sleeps == [0.5, 1.0, 2.0, 1.5]
    assert clock.now() == START + timedelta(seconds=5)


async def test_a_hold_is_waited_out_and_takes_no_patience(
    client: StubClient, store: EventStore, clock: FakeClock
) -> None:
    limit, hold = refused("rate_limited", operation=EVENTS), held(40, operation=EVENTS)
    client.event_pages.extend([LOG[:1], limit, hold, lost(operation=EVENTS), after(LOG)])
    followed = Followed(client, SCOPE, store, clock, 10)
    assert await followed.all() == LOG
    assert clock.sleeps == pytest.approx([20, 40, 0.4])
    assert [trouble for trouble, _ in followed.troubles] == [
        FailureKind.RATE_LIMITED, FailureKind.RATE_LIMITED, FailureKind.OFFLINE,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "end",
    [
        refused("unauthenticated", operation=EVENTS),
        refused("permission_denied", operation=EVENTS),
        lost("too_large", operation=EVENTS),
        lost("endless", operation=EVENTS),
    ],
    ids=lambda error: str(error),
)
async def test_what_asking_again_does_not_mend_is_raised(
    followed: Followed, client: StubClient, clock: FakeClock, end: ApiError
) -> None:
    if isinstance(end, type(lost())):
        end.retryable = False
    client.event_pages.extend([LOG[:1], end])
    with pytest.raises(type(end)) as caught:
        await followed.all()
    assert caught.value is end
    assert clock.sleeps == []


@pytest.mark.parametrize(
    "answer",
    [
        refused("not_found", operation=EVENTS),
        refused("validation_failed", operation=EVENTS),
        InvalidRequestError(operation=EVENTS, errors=[{"field": "after", "message": "Cannot be sent."}]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_cursor_that_is_refused_leads_to_reading_everything_again(
    followed: Followed, client: StubClient, store: EventStore, answer: ApiError
) -> None:
    await store.append(SCOPE, RUN_ID, LOG[:2])
    client.event_pages.extend([answer, after(LOG)])
    assert await followed.all() == LOG
    assert client.asked == [f"events of {RUN_ID} after {LOG[1].id}", f"events of {RUN_ID} after None"]


async def test_times_without_an_answer_are_noted_where_they_were(
    followed: Followed, client: StubClient, store: EventStore, clock: FakeClock
) -> None:
    clock.set_chances(0.5)
    client.event_pages.extend([LOG[:2], lost(operation=EVENTS), lost(operation=EVENTS), after(LOG)])
    await followed.all()
    assert await store.gaps(SCOPE, RUN_ID) == [EventGap(START, START + timedelta(seconds=1.5), 2)]


async def test_quiet_times_are_no_gaps(
    followed: Followed, client: StubClient, store: EventStore, clock: FakeClock
) -> None:
    client.event_pages.extend([LOG[:2], [], [], [], after(LOG)])
    await followed.all()
    assert len(clock.sleeps) == 3
    assert await store.gaps(SCOPE, RUN_ID) == []


_STEP = st.sampled_from(["page", "page", "short", "twice", "all", "lost", "502", "429", "other", "stop"])


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(_STEP, max_size=25), number=st.integers(0, 10**9))
async def test_whatever_happens_on_the_way_every_event_comes_once(
    steps: list[str], number: int, database: Database
) -> None:
    """Each follower that stops is followed by one that begins in the middle; together they tell the log."""
    log = [event(place, event_id=f"e{place}") for place in range(12)] + [event(99, "completed", event_id="end")]
    scope, store = Scope("work", "ten_01", f"key_{number}"), EventStore(database)
    plan = iter(steps)
    client = StubClient()

    def page(asked: str | None) -> Sequence[RunEvent]:
        names = [item.id for item in log]
        start = names.index(asked) + 1 if asked in names else 0
        match next(plan, "page"):
            case "short":
                return log[start : start + 1]
            case "twice":
                return [*log[start : start + 2], *log[start : start + 2]]
            case "all":
                return log[: start + 2]
            case "lost":
                raise lost(operation=EVENTS)
            case "502":
                raise refused("upstream_unavailable", operation=EVENTS)
            case "429":
                raise refused("rate_limited", operation=EVENTS)
            case "stop":
                raise KeyError("the follower dies")
            case _:
                return log[start : start + 3]

    client.event_pages.append(page)
    told: list[RunEvent] = []
    while not told or not told[-1].ends_run:
        follower = Followed(client, scope, store, FakeClock(), 3600)
        told = []
        try:
            async for item in follower.events:
                told.append(item)
        except (KeyError, ApiError):
            continue
    assert told == log
    assert await store.window(scope, RUN_ID, 0, 100) == log


async def test_a_real_client_and_a_real_service_that_stumbles(store: EventStore, clock: FakeClock) -> None:
    service = ScriptedService(runs=[run()], events={RUN_ID: LOG}, account=account())
    path = f"/v1/executions/{RUN_ID}/events"
    broken = Said(502, b"<html>bad gateway</html>", content_type="text/html")
    limited = Said(429, problem("rate_limited", retry_after_s=7))
    first = Said(200, {"events": [dict(item.raw) for item in LOG[:2]]})
    service.say("GET", path, first, broken, broken, broken, limited, Said(200, {"events": [dict(e.raw) for e in LOG]}))
    async with service, Client(Target("work", service.base_url, None), clock=clock) as client:
        followed = Followed(client, SCOPE, store, clock, 600)
        assert await followed.all() == LOG
    assert [trouble for trouble, _ in followed.troubles] == [FailureKind.NO_ANSWER, FailureKind.RATE_LIMITED]
    assert followed.troubles[1][1] == 7
