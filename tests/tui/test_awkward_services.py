"""What the user sees of an awkward service, at 80x24: one golden a case, on a clock that only moves when told to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from runwatch.store.live.scheduler import HANGS_AFTER_S
from runwatch.tui.screens.runs.replay import ReplayScreen
from runwatch.tui.screens.runs.run_wall import RunWallScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from tests.support.builders import account, event, problem, run
from tests.support.clock import FakeClock
from tests.support.http1 import Head, read_body, read_head
from tests.support.scripted import Heard, Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, Driven, console
from tests.tui.golden import check_golden

RUNS = "/v1/executions"
PAGE = b"<!doctype html><html><body><h1>Sign in to the network</h1></body></html>"


class AwkwardService(ScriptedService):
    """A noon's service with one bad habit, which a test turns on.

    Attributes:
        granted: How many more requests are answered before a 429; ``None`` for no limit.
        is_dead: Whether every connection is closed without a word.
        is_cutting: Whether every body ends in its middle.
        delay_s: How long every answer takes on :attr:`clock`.
        waiting: How many answers are being waited for.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(
            **{"runs": noon.runs(), "events": noon.events(), "receipts": noon.receipts(), "account": None, **given}
        )
        self.granted: int | None = None
        self.is_dead = self.is_cutting = False
        self.delay_s = 0.0
        self.clock: FakeClock | None = None
        self.waiting = 0

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await read_head(reader)) is not None and not self.is_dead:
            heard = Heard(head, await read_body(reader, head))
            self.heard.append(heard)
            if self.clock is not None:
                self.waiting += 1
                await self.clock.sleep(self.delay_s)
                self.waiting -= 1
            whole = self._limited(head) or self._answer(heard).wire()
            writer.write(whole[: len(whole) - 40] if self.is_cutting else whole)
            await writer.drain()
            if self.is_cutting:
                return

    def _limited(self, head: Head) -> bytes | None:
        if self.granted is None:
            return None
        self.granted -= 1
        if self.granted >= 0:
            return None
        refused = problem("rate_limited")
        return Said(429, refused, headers=(("Retry-After", "50"),)).wire()


class TwentyEventsASecond:
    """Events of forty runs, twenty a second, in turn."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = list(ids)
        self.seconds = 0.0

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        """The events of a run up to now, those after the named one only."""
        here, known = self._ids.index(run_id), 0 if after is None else int(after.rpartition("_")[2])
        numbers = range(here, int(self.seconds * 20) + 1, len(self._ids))
        return [
            dict(
                event(
                    number, "running", execution_id=run_id, at=noon.at(-number / 20), event_id=f"evt_{here}_{place}"
                ).raw
            )
            for place, number in enumerate(numbers, start=1)
            if place > known
        ]


async def look(driven: Driven, name: str) -> None:
    """Compare what is drawn now; which second a wait began in is left to chance."""
    driven.app._tick()
    await driven.pilot.pause()
    check_golden(f"80x24/awkward-{name}", re.sub(r"(held |again in )0:(49|50)", r"\g<1>0:50", driven.text))


async def test_a_service_without_lists(tmp_path: Path) -> None:
    service = AwkwardService()
    service.say("GET", RUNS, Said(404, problem("not_found")))
    service.say("GET", "/v1/receipts", Said(404, problem("not_found")))
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.pass_time(3)
        await look(driven, "no-list")
        await driven.press("2")
        await driven.pass_time(3)
        await look(driven, "no-list-of-receipts")


async def test_five_requests_a_minute(tmp_path: Path) -> None:
    service = AwkwardService()
    service.granted = 5
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("held", 60)
        await driven.press("2")
        await look(driven, "five-a-minute-held")
        asked = len(service.heard)
        await driven.press("r")
        await driven.until(lambda: len(service.heard) > asked, "a request")
        assert service.heard[asked].head.path.startswith("/v1/receipts"), "the list in sight is asked for first"
        service.granted = 5
        await driven.pass_time(51)
        assert "429" not in driven.text
        await look(driven, "five-a-minute-over")


@pytest.mark.exhaustive
async def test_every_frame_says_when_it_is_read_at_five_requests_a_minute(tmp_path: Path) -> None:
    service = AwkwardService(account=account(quota={"rate_limit_rpm": 5}))
    waits = re.compile(r"waits for the request limit, reads in (\d+) s")
    async with console(service, tmp_path, size=(120, 36)) as driven:
        await driven.shows("heard")
        await driven.pass_time(8)
        told = [int(seconds) for seconds in waits.findall(driven.text)]
        assert len(told) == 2, "the list and the events"
        await driven.pass_time(3)
        assert [int(seconds) for seconds in waits.findall(driven.text)] == [seconds - 3 for seconds in told]
        asked = len(service.requests("GET", RUNS))
        await driven.press("r")
        await driven.until(lambda: len(service.requests("GET", RUNS)) > asked, "the read that the user asks for")
        await driven.press("asterisk")
        await driven.pass_time(4)
        assert re.search(r"request limit: reads in \d", driven.text), driven.text
        await driven.say("overview")
        await driven.pass_time(1)
        assert re.search(r"─ Requests and quota ─.*─ request limit: reads in \d+ s ─", driven.text, re.DOTALL), (
            driven.text
        )
        await driven.press("1", "L")
        await driven.pass_time(4)
        assert waits.search(driven.text), driven.text


@pytest.mark.exhaustive
async def test_the_form_of_a_run_spends_no_request_that_its_submit_needs(tmp_path: Path) -> None:
    service = AwkwardService(account=account(quota={"rate_limit_rpm": 5}))
    async with console(service, tmp_path, size=(120, 36)) as driven:
        await driven.shows("heard")
        await driven.until(lambda: not driven.session.live.budget.has_room, "more than half to be spent")
        asked = len(service.heard)
        await driven.press("plus")
        await driven.type("Say hello.")
        await driven.review()
        assert len(service.heard) == asked
        await driven.reaches("Runs › ex_…d_10", "tab", "enter")
        assert service.heard[asked].head.method == "POST"


@pytest.mark.exhaustive
async def test_the_events_of_a_new_run_are_read_before_any_list(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=(120, 36)) as driven:
        await driven.shows("8f21")
        await driven.press("plus")
        await driven.type("Say hello.")
        await driven.review()
        asked, service.granted = len(service.heard), 1
        await driven.reaches("Runs › ex_…d_10", "tab", "enter")
        await driven.until(lambda: len(service.heard) > asked + 1, "the next request")
        sent = [heard.head.path for heard in service.heard[asked:]]
        assert sent == ["/v1/executions", "/v1/executions/ex_scripted_10/events"]
        await driven.shows(re.compile(r"not read · held 0:(49|50): the service limits requests \(429\)"))


async def test_a_service_that_dies_and_comes_back(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("9b7e")
        service.is_dead = True
        await driven.comes("offline", 30)
        await look(driven, "dead")
        await driven.reaches(re.compile("━ not read since 12:.* ━"), "enter", "greater_than_sign")
        await driven.press("escape")
        service.is_dead = False
        await driven.pass_time(5)
        assert "offline" not in driven.text, "its return is seen within five seconds"
        await look(driven, "back")


async def test_what_was_never_read_has_the_same_reason_on_every_screen_and_no_number(tmp_path: Path) -> None:
    service = AwkwardService()
    service.say("GET", "/.*", Said(200, PAGE, content_type="text/html"))
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("tries again now.", 30)
        said = [row.strip("┃ ") for row in driven.text.splitlines()[4:20] if row.strip("┃ ")]
        assert len(said) > 2
        for key, crumb in {"asterisk": "Run wall", "L": "Tail ›", "I": "Overview"}.items():
            await driven.reaches(crumb, "1", key)
            await driven.shows(said[-1])
            rows = [row.strip("┃│ ") for row in driven.text.splitlines()]
            assert [row for row in rows if row in said] == said, driven.text
            assert "0 live" not in driven.text
            assert "problems 0" not in driven.text


@pytest.mark.exhaustive
async def test_every_pane_says_since_when_it_is_not_read(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=(120, 36)) as driven:
        await driven.comes("9b7e")
        await driven.press("asterisk")
        await driven.comes("3 live")
        service.is_dead = True
        await driven.comes("offline since", 30)
        await driven.pass_time(90)
        assert driven.text.count("not read since 12:") == 3
        assert "silent 4m" not in driven.text, "what a run does is not known"
        await driven.reaches("Overview", "I")
        frames = driven.text.count("╰") + driven.text.count("┗")
        assert driven.text.count("not read since 12:") == frames, driven.text
        await driven.press("1", "enter")
        await driven.comes("events · not read since 12:")
        assert "poll" not in driven.text


@pytest.mark.exhaustive
async def test_a_replay_stops_with_a_service_that_dies(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("9b7e")
        await driven.select(noon.LIVE)
        await driven.press("m")
        await driven.comes("REPLAY")
        await driven.reaches("LIVE  1×", "end")
        service.is_dead = True
        await driven.comes(re.compile("REPLAY .*not read since 12:"), 30)
        (at,) = re.findall(r"REPLAY  (\S+) of", driven.text)
        await driven.pass_time(60)
        assert re.search(rf"REPLAY  {at} of {at} .*not read since", driven.text)
        service.is_dead = False
        await driven.comes("LIVE  1×", 30)
        assert f"REPLAY  {at} of" not in driven.text


@pytest.mark.exhaustive
async def test_a_replay_opened_while_a_service_is_dead_is_not_live(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("9b7e")
        await driven.select(noon.LIVE)
        await driven.reaches("follow", "enter")
        service.is_dead = True
        await driven.comes("offline since 12:", 30)
        (lost_at,) = re.findall(r"offline since (\S+)", driven.text)
        await driven.reaches(f"of {lost_at}", "m")
        await driven.shows(re.compile(rf"event .* not read since {lost_at}"))
        await driven.reaches(re.compile(rf"REPLAY  {lost_at} of {lost_at} .* not read since"), "left", "left", "end")
        assert "caught up with the run" not in driven.text


async def test_a_run_whose_last_events_were_not_read_is_nowhere_shown_as_whole(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("9b7e")
        await driven.select(noon.LIVE)
        await driven.reaches("8 events", "enter")
        service.say("GET", ".*/events", Said(503, problem("upstream_unavailable")))
        next(each for each in service.runs if each["execution_id"] == noon.LIVE)["status"] = "completed"
        await driven.press("escape")
        await driven.comes("✓ completed 8f21…9b7e", 30)
        service.is_dead = True
        await driven.comes("offline since", 30)
        await driven.select(noon.LIVE)
        await driven.press("space")
        await driven.select(noon.QUEUED)
        await driven.reaches(" events · 1 of 2 runs not read · data ", "space", "L")
        await driven.opens(RunWallScreen, "escape", "asterisk")
        await driven.until(lambda: driven.text.count("━ not read since") + driven.text.count("─ not read") == 2, "both")
        await driven.opens(RunsScreen, "escape")
        await driven.select(noon.LIVE)
        await driven.opens(ReplayScreen, "m")
        await driven.reaches("event 8 of 8 read", "end")
        await driven.shows("PAUSED", " read", "not read since")
        assert " END " not in driven.text


@pytest.mark.exhaustive
async def test_five_thousand_runs(tmp_path: Path) -> None:
    ids = [f"ex_{number:05}" for number in range(5000)]
    runs = [run(run_id, "completed", created_at=noon.at(60 + 60 * place)) for place, run_id in enumerate(ids)]
    async with console(AwkwardService(runs=runs), tmp_path, size=NARROW) as driven:
        await driven.comes("ex_00000")
        await look(driven, "many-runs")
        await driven.press("slash")
        await driven.type("ex_00077")
        await driven.comes("1 of")
        await look(driven, "many-runs-filtered")


@pytest.mark.exhaustive
async def test_forty_live_runs_with_twenty_events_a_second(tmp_path: Path) -> None:
    ids = [f"ex_{number:02}" for number in range(40)]
    source = TwentyEventsASecond(ids)
    runs = [run(run_id, "running", created_at=noon.at(30), completed_at=None) for run_id in ids]
    async with console(AwkwardService(runs=runs, events=source), tmp_path, size=NARROW) as driven:
        await driven.comes("ex_00")
        await driven.press("L")
        for second in range(1, 11):
            source.seconds = second
            await driven.pass_time(1)
        await driven.comes("201 events", 60)
        assert "Tail of 40 runs · 40 live" in driven.text


@pytest.mark.parametrize("kind", ["html", "cut"])
async def test_answers_that_are_no_answers(tmp_path: Path, kind: str) -> None:
    service = AwkwardService()
    if kind == "html":
        service.say("GET", "/.*", Said(200, PAGE, content_type="text/html"))
    service.is_cutting = kind == "cut"
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.pass_time(10)
        await look(driven, kind)


@pytest.mark.exhaustive
async def test_a_service_without_lists_that_dies_is_offline(tmp_path: Path) -> None:
    service = AwkwardService(account=account())
    service.say("GET", RUNS, Said(404, problem("not_found")))
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("not offered")
        service.is_dead = True
        await driven.comes("offline since", 90)
        assert "404" not in driven.text
        assert "Not found" not in driven.text
        assert driven.lines[-1].startswith(" r try again  ")
        await driven.press("plus")
        await driven.comes("objective")
        # In a field "r" is text, as ":" and "?" are.
        assert " ".join(driven.lines[-1].split()) == "tab next field f2 review esc back ctrl+p command f1 help"


@pytest.mark.exhaustive
async def test_three_seconds_for_every_answer(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("9b7e")
        service.clock, service.delay_s = driven.clock, 3.0
        await driven.select(noon.LIVE)
        await driven.press("enter")
        await driven.until(lambda: service.waiting > 0, "the events to be asked for")
        driven.clock.advance(2)
        await look(driven, "slow-waiting")
        driven.clock.advance(1.5)
        await driven.shows("accepted")
        service.clock = None
        await look(driven, "slow-there")


async def test_a_service_that_hangs_is_not_live(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("9b7e")
        before, service.clock, service.delay_s = len(service.heard), driven.clock, 25.0
        driven.clock.advance(3)
        await driven.until(lambda: any(heard.head.path == RUNS for heard in service.heard[before:]), "a read of runs")
        driven.clock.advance(9)
        driven.app._tick()
        await driven.shows(re.compile(r"no answer for \d+s"))
        service.clock = None
        driven.clock.advance(20)
        await driven.comes("● live")


@pytest.mark.exhaustive
async def test_a_read_on_a_dead_connection_does_not_hide_that_the_service_is_back(tmp_path: Path) -> None:
    service = AwkwardService()
    async with console(service, tmp_path, size=NARROW) as driven:
        await driven.comes("9b7e")
        before, service.clock, service.delay_s = len(service.heard), driven.clock, 600.0
        driven.clock.advance(3)
        await driven.until(lambda: any(heard.head.path == RUNS for heard in service.heard[before:]), "a read of runs")
        driven.clock.advance(HANGS_AFTER_S + 1)
        driven.app._tick()
        await driven.shows(re.compile(r"no answer for \d+s"))
        service.clock, back_at = None, driven.clock.monotonic()
        # The first look at the account may hang too, so another one goes after three seconds; then the runs are read.
        asked = len(service.heard)
        while not any(heard.head.path == RUNS for heard in service.heard[asked:]):
            assert driven.clock.monotonic() - back_at < 60, "the service is back, and nothing has seen it"
            driven.clock.advance(0.5)
            await driven.pilot.pause()
        driven.app._tick()
        await driven.shows("● live")
