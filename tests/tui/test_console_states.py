"""Every screen in every state, at two sizes, as text that was looked at.

What the service says does not matter to the journals of this machine: their screens go on whatever happens, and the
bar above them tells what happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.api.calls import Exchange
from runwatch.records.account import Account
from runwatch.records.problem import Problem
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.store.change import Change, Failure, ListRead, ReadFailed, ReadStarted, Trouble
from runwatch.store.freshness import LoadState
from runwatch.store.live import Live
from runwatch.view.registry import RESOURCES, by_name
from runwatch.view.resource import ResourceSpec
from tests.support import resources
from tests.support.builders import account, problem
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden
from tests.tui.samples import NOON

SCREENS: Final = [spec for spec in RESOURCES if spec.has_screen]
SIZES: Final = (NARROW, WIDE)
INSTANCE: Final = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"
SAMPLES: Final[dict[str, Callable[[], Sequence[Record]]]] = {
    "run": noon.runs, "receipt": noon.receipts, "account": lambda: [account()], **resources.LISTS,
}  # fmt: skip
FAILURES: Final = {
    LoadState.OFFLINE: Failure(
        Trouble.OFFLINE, "Nobody answers at this address", "Check that the service runs there.",
        detail="http://127.0.0.1:40213, connection refused, 3 attempts",
    ),
    LoadState.NOT_AUTHORISED: Failure(
        Trouble.NOT_AUTHORISED, "The request has no usable key", "Check the key of this profile.",
        problem("unauthenticated", instance=INSTANCE),
    ),
    LoadState.NOT_OFFERED: Failure(Trouble.NOT_OFFERED, "Nothing is there", None, problem("not_found")),
    LoadState.ERROR: Failure(
        Trouble.ERROR, "The answer cannot be used", "Check that the base URL is that of the service.",
        detail="it is no JSON (text/html, 1,204 bytes)",
    ),
}  # fmt: skip

each_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))

WHOLE: Final = frozenset({"runs", "receipts", "problems", "requests", "account"})
"""Screens drawn in every state. The others are drawn by the same generic screen from their specification alone, so that
their own part is what a list, an empty list and a service without the list say."""

OWN_STATES: Final = (LoadState.EMPTY, LoadState.FRESH, LoadState.NOT_OFFERED)
STATES: Final = [
    pytest.param(spec, state, id=f"{spec.name}-{state.name.lower()}")
    for spec in SCREENS
    for state in LoadState
    if state is not LoadState.ENDED and (spec.name in WHOLE or state in OWN_STATES)
]


@pytest.fixture(autouse=True)
def _nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the live jobs still, so that the store holds what a test put into it."""

    async def still(_: Live) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Live, "run", still)


class Scene:
    """Puts the store of a console into the states of a collection.

    Args:
        driven: The console.
        kind: Which collection.
    """

    def __init__(self, driven: Driven, kind: str) -> None:
        self._driven = driven
        self._kind = kind

    def change(self, change: type[Change], ago_s: float, **more: Any) -> None:
        """Apply a change that came so many seconds ago."""
        driven = self._driven
        at, monotonic = driven.clock.now() - timedelta(seconds=ago_s), driven.clock.monotonic() - ago_s
        driven.app.store.apply(change(driven.desk.scope.profile, self._kind, at, monotonic, **more))

    def read(self, ago_s: float, **more: Any) -> None:
        """The list came."""
        records = tuple(SAMPLES[self._kind]())
        self.change(ListRead, ago_s, **{"records": records, "complete": True, "end_is_proven": True, **more})

    def enter(self, state: LoadState) -> None:
        """Put the collection into a state."""
        match state:
            case LoadState.LOADING:
                self.change(ReadStarted, 1.2, what="GET /v1/things")
            case LoadState.EMPTY:
                self.read(2, records=())
            case LoadState.FRESH:
                self.read(2)
            case LoadState.REFRESHING:
                self.read(4)
                self.change(ReadStarted, 0.4, what="GET /v1/things")
            case LoadState.STALE:
                self.read(140)
            case LoadState.PARTIAL:
                self.read(2, misfits=2, end_is_proven=False)
            case LoadState.RATE_LIMITED:
                self.read(31)
                self._driven.desk.client.gate.close(self._driven.desk.target.origin, None, 23)
            case _:
                self.read(61)
                self.change(ReadFailed, 58, failure=FAILURES[state])


def journal(driven: Driven) -> None:
    """Write what went wrong this noon into the journal."""
    said = {"validation_failed": 14, "rate_limited": 61, "not_found": 340}
    for number, (code, ago_s) in enumerate(said.items()):
        is_submit = code == "validation_failed"
        told: Problem = problem(code, instance=f"{number}{INSTANCE[1:]}")
        driven.desk.journal.note(
            Exchange(
                at=NOON - timedelta(seconds=ago_s),
                operation="postExecutions" if is_submit else "getExecutions",
                method="POST" if is_submit else "GET",
                path="/v1/executions",
                query="" if is_submit else "limit=100",
                status=told.status,
                elapsed_s=0.143,
                attempt=1,
                key="7c1e9f30-0000-4000-8000-000000000000" if is_submit else None,
                sent_bytes=212 if is_submit else 0,
                received_bytes=431,
                error=None,
                problem=told,
                profile="unnamed",
                origin="http://127.0.0.1:40213",
            )
        )


async def drawn(driven: Driven) -> str:
    """The screen, when everything that was changed is drawn."""
    driven.app._tell_screens()
    driven.app._tick()
    await driven.settle()
    screen: Any = driven.app.screen
    screen.show_detail()
    await driven.settle()
    return driven.text


@each_size
@pytest.mark.parametrize(("spec", "state"), STATES)
async def test_every_screen_in_every_state(
    tmp_path: Path, spec: ResourceSpec[Any], state: LoadState, size: tuple[int, int]
) -> None:
    async with console(noon.service(), tmp_path, size=size, open_at=spec.name) as driven:
        if spec.is_local and state is not LoadState.EMPTY:
            journal(driven)
        Scene(driven, Run.KIND if spec.is_local else spec.kind).enter(state)
        if spec.is_local:
            screen: Any = driven.app.screen
            screen.read_source()
            await driven.settle()
        check_golden(f"{size[0]}x{size[1]}/{spec.name}-{state.value.replace(' ', '-')}", await drawn(driven))


@each_size
async def test_a_run_that_has_ended_says_so_and_is_followed_no_longer(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(noon.service(), tmp_path, size=size) as driven:
        Scene(driven, Run.KIND).read(2)
        await driven.shows("3fd2…9911")
        await driven.desk.events.append(driven.desk.scope, noon.DONE, noon.events()[noon.DONE], after=None)
        await driven.desk.events.mark_complete(driven.desk.scope, noon.DONE)
        driven.desk.live._tell(noon.DONE, count=7, is_complete=True, pause_s=None)
        driven.table.select(noon.DONE)
        await driven.press("enter")
        await driven.shows("7 events")
        check_golden(f"{size[0]}x{size[1]}/runs-ended", await drawn(driven))


@each_size
async def test_a_console_without_its_service_says_what_to_do(tmp_path: Path, size: tuple[int, int]) -> None:
    keyless = '[profiles.work]\nbase_url = "https://runs.example.test"\nkey_command = "false"\n'
    environment = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": "", "RUNWATCH_PROFILE": "work"}
    async with console(
        noon.service(), tmp_path, size=size, settings=keyless, environment=environment, is_open=False
    ) as driven:
        await driven.shows("not connected")
        check_golden(f"{size[0]}x{size[1]}/not-connected", driven.text.replace(str(tmp_path), "~"))


async def test_what_an_earlier_session_knew_is_shown_at_once_with_its_age(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        await driven.desk.cache.save(driven.desk.scope, "run", noon.runs(), NOON - timedelta(minutes=7))
    async with console(noon.service(), tmp_path) as driven:
        await driven.shows("8f21…9b7e")
        await driven.shows("stale 7m")


def test_the_states_of_the_goldens_are_all_there_are() -> None:
    assert set(FAILURES) | {
        LoadState.LOADING, LoadState.EMPTY, LoadState.FRESH, LoadState.REFRESHING, LoadState.STALE, LoadState.PARTIAL,
        LoadState.RATE_LIMITED, LoadState.ENDED,
    } == set(LoadState)  # fmt: skip


def test_screens_are_those_of_the_registry_that_stand_alone() -> None:
    assert {spec.name for spec in SCREENS} >= WHOLE
    assert not by_name("events").has_screen
    assert by_name("account").record is Account
