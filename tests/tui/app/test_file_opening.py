"""A file in the place of a service: the same screens, offline, read-only, and honest about what it cannot show."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.errors import UsageError
from runwatch.base.paths import Paths
from runwatch.records.event import RunEvent
from runwatch.records.template import Template
from runwatch.settings.local_service import LocalService
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.app.file_opening import SLICE_S, check_openable, read_in_slices
from runwatch.tui.screens.problems.problem_codes import ProblemCodesScreen
from runwatch.tui.screens.problems.problems import ProblemsScreen
from runwatch.tui.screens.templates.application import open_plan
from runwatch.tui.screens.templates.templates import TemplatesScreen
from runwatch.tui.widgets.bars.status_bar import StatusBar
from runwatch.view.problems.activity import ActivityEntry
from runwatch.view.problems.support_bundle import build_bundle, encode_bundle
from tests.support.builders import echo_events, echo_receipt, live_receipt, open_run, problem, run
from tests.support.clock import FakeClock
from tests.support.problems import entry_from_problem
from tests.support.resources import arm
from tests.support.scripted import ScriptedService
from tests.tui.console import NARROW, Driven, drive
from tests.tui.golden import check_golden
from tests.tui.samples import NOON

INSTANCE = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"
OTHER = "7c1e0d52-3b9a-4a55-8f00-1d2c3b4a5f69"


def _no_service(_: Path) -> LocalService:
    raise AssertionError("a file needs no service")


@asynccontextmanager
async def opened(home: Path, content: bytes | str, *, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Driven]:
    """Open a file that was written two minutes ago."""
    file = home / "kept.ndjson"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(file, (NOON.timestamp() - 120,) * 2)
    launch = LaunchOptions(
        Paths(home / "settings.toml", home / "runwatch-data"), {}, SettingOptions(), start_local=_no_service, file=file
    )
    clock = FakeClock(NOON, manual=True)
    async with drive(ConsoleApp(launch, clock=clock), ScriptedService(), clock, size=size) as driven:
        yield driven


def lines(records: Iterable[Any]) -> str:
    return "".join(f"{json.dumps(dict(each.raw))}\n" for each in records)


def a_bundle(polls: int = 0) -> bytes:
    entry = entry_from_problem(
        problem("not_found", instance=INSTANCE), time=NOON, profile="work", method="GET",
        path="/v1/executions/ex_1", operation="getExecutionsByExecutionId", attempt=1,
    )  # fmt: skip
    common = {"time": "2026-11-21T12:04:31.000Z", "offset_s": 0.0}
    around = [
        ActivityEntry({**common, "what": "request", "method": "GET", "path": "/v1/executions/ex_1", "attempt": 1,
                   "operation": "getExecutionsByExecutionId", "status": 404, "sent_bytes": 0}),
        ActivityEntry({**common, "what": "problem", "instance": OTHER, "code": "rate_limited"}),
        ActivityEntry({**common, "what": "run", "run_id": "ex_1", "state": "failed"}),
        *(ActivityEntry({"time": f"2026-11-21T12:04:{number:02}.000Z", "offset_s": -20.0, "what": "request",
                   "method": "GET", "path": "/v1/executions", "attempt": 1, "status": 200}) for number in range(polls)),
    ]  # fmt: skip
    return encode_bundle(build_bundle(entry, around, made_at=NOON, versions={}))


async def test_runs_receipts_and_events_of_a_file_are_shown_together(tmp_path: Path) -> None:
    text = lines([*echo_events("ex_1"), open_run("ex_1", "completed", mode="echo"), run("ex_2"), echo_receipt("ex_1")])
    async with opened(tmp_path, text) as driven:
        await driven.shows("Runs   2")
        assert "file kept.ndjson" in driven.lines[0]
        assert "READ-ONLY" in driven.lines[0]
        assert "from the file" in driven.text
        driven.app.screen.select_record("ex_1")  # type: ignore[attr-defined]
        await driven.shows("7 events", "test run · no verdict")
        await driven.reaches("Receipts   1", "2")
        await driven.reaches("kept.ndjson has no records of this kind.", "3")
        await driven.reaches("A file has no journal", "at")
        assert "loading" not in driven.text


async def test_what_was_live_when_the_file_was_written_is_as_it_was_then_on_every_screen(tmp_path: Path) -> None:
    text = lines([run("ex_1", created_at="2026-11-21T12:00:31.000Z"), open_run("ex_2", "completed")])
    async with opened(tmp_path, text) as driven:
        await driven.shows("Runs   2", "4m ago   2:00")
        for key in ("L", "asterisk"):
            await driven.reaches("its runs cannot be followed", key)
            await driven.press("j", "k")
        assert "Runs   2" in driven.text
        await driven.reaches("The file has no events of this run, so", "enter", *["greater_than_sign"] * 2)
        await driven.reaches("The run was live when the file was written.", *["greater_than_sign"] * 2)
        await driven.reaches("The run was live when the file was written.", "greater_than_sign")
        await driven.press("escape", "j")
        await driven.shows("The file has no receipt of this run.")
        await driven.reaches("A file has no results of runs.", "less_than_sign")
        await driven.reaches("oldest 2:00", "I")
        await driven.shows("receipts, saved models, connections, checks: not in the file", "requests not in the file")
        assert "updated" not in driven.text
        assert "not read" not in driven.text


async def test_the_overview_of_a_file_without_runs_says_so_in_each_pane(tmp_path: Path) -> None:
    async with opened(tmp_path, lines([arm(), arm("arm_2")])) as driven:
        await driven.shows("Saved models   2")
        await driven.reaches("receipts, connections, checks: not in the file", "I")
        assert driven.text.count("The file has no runs.") == 4


async def test_a_bundle_opens_on_its_problem_and_links_to_the_rest(tmp_path: Path) -> None:
    async with opened(tmp_path, a_bundle()) as driven:
        await driven.opens(ProblemsScreen)
        await driven.shows("Problems   2", f"instance   {INSTANCE}")
        await driven.reaches("Requests   1", "H")
        await driven.shows("from the file; press 0 for problems, 1 for runs, @ for around")
        await driven.reaches("✗ failed", "1")
        assert "replay" not in driven.lines[-1]
        await driven.reaches("No events here; `runwatch runs events ID --format ndjson > FILE` saves them.", "m")
        await driven.reaches("the file has no events of this run", "enter")
        driven.app.follow_link("run", "ex_gone")
        await driven.shows("ex_gone: not in this file")
        await driven.reaches("requests 1 in the file", "I")
        await driven.shows("problems 2 in the file", "account  not in the file")
        await driven.reaches("Around a time   4", "at")
        await driven.shows("problems 2 · requests 1 · runs 1")
        assert "loading" not in driven.text
        await driven.reaches("Settings of this machine, not of the file", "comma")
        await driven.press("greater_than_sign")
        assert "profile file" not in driven.text


@pytest.mark.exhaustive
async def test_in_a_narrow_window_the_frame_of_a_bundle_has_its_counts_whole(tmp_path: Path) -> None:
    async with opened(tmp_path, a_bundle(), size=NARROW) as driven:
        await driven.opens(ProblemsScreen)
        await driven.press("escape")
        await driven.reaches("Runs   1", "1")
        assert driven.lines[-2].strip("┗━┛ ").split(" ━")[0] == "from the file"
        assert driven.lines[-2].endswith(" live 0 · failed 1 · done 0 ━┛")


@pytest.mark.exhaustive
async def test_a_report_that_a_file_does_not_have_is_not_waited_for(tmp_path: Path) -> None:
    async with opened(tmp_path, lines([run("ex_1"), run("ex_2")]), size=NARROW) as driven:
        await driven.shows("Runs   2")
        await driven.reaches("kept.ndjson has no records of this kind.", "U")
        assert driven.text.count("from the file") == 2
        assert "loading" not in driven.text
        assert "period" not in driven.lines[-1]


@pytest.mark.exhaustive
async def test_the_polling_in_a_bundle_is_one_row_in_which_each_read_counts(tmp_path: Path) -> None:
    async with opened(tmp_path, a_bundle(polls=5)) as driven:
        await driven.opens(ProblemsScreen)
        await driven.reaches("Requests   6", "H")
        await driven.reaches("Around a time   5", "at")
        await driven.shows("5 reads that succeeded", "problems 2 · requests 6 · runs 1")


async def test_problems_of_a_file_are_found_and_counted(tmp_path: Path) -> None:
    async with opened(tmp_path, a_bundle()) as driven:
        await driven.shows("Problems   2")
        await driven.press("escape", "slash")
        await driven.type("7c1e0d52")
        await driven.shows("1 found by its id")
        await driven.opens(ProblemCodesScreen, "enter", "C")
        await driven.shows("Problems by code   2")
        await driven.reaches("Around a time   4", "at")


async def test_nothing_of_a_file_can_be_sent_or_kept(tmp_path: Path) -> None:
    async with opened(tmp_path, lines([run("ex_1"), run("ex_2")])) as driven:
        await driven.shows("Runs   2")
        await driven.reaches("A file is read once, when it is opened.", "r")
        for key in ("f", "R"):
            await driven.press(key)
            await driven.pilot.pause()
        for key in ("X", "a", "O", "plus", "A", "i"):
            driven.app.screen.query_one(StatusBar).clear_notice()
            await driven.hides("A file is open")
            await driven.reaches("A file is open instead of a service; nothing can be sent or saved.", key)
        assert driven.app.session is None
        assert "Runs   2" in driven.text
        await driven.press("escape", "q", "q")
    assert not (tmp_path / "runwatch-data" / "console.db").exists()


async def test_the_status_line_offers_nothing_that_only_a_service_can_do(tmp_path: Path) -> None:
    async with opened(tmp_path, lines([run("ex_1"), run("ex_2")]), size=(200, 50)) as driven:
        await driven.shows("Runs   2")
        assert "enter open  / filter  y copy id" in driven.lines[-1]
        useless = ("new run", "cancel", "follow", "pause", "add id", "refresh")
        assert not any(label in driven.lines[-1] for label in useless)
        await driven.reaches("esc list", "enter")
        assert "enter event" not in driven.lines[-1]
        await driven.reaches("kept.ndjson has no records of this kind.", "escape", "3")
        assert "actions" not in driven.lines[-1]


async def test_the_menu_of_a_file_has_only_what_can_be_done_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path, lines([run("ex_1", "running"), Template({"template_id": "tpl"})])) as driven:
        await driven.shows("Runs   1")
        await driven.reaches("Follow its events", "full_stop")
        assert "Copy a command" in driven.text
        assert not any(word in driven.text for word in ("off:", "Cancel", "Show its receipt", "Label and note"))
        await driven.reaches("tpl", "escape", "6")
        screen = driven.app.screen
        assert isinstance(screen, TemplatesScreen)
        open_plan(screen, "tpl")
        await driven.shows("A file is open instead of a service")
        assert driven.app.screen is screen


@pytest.mark.exhaustive
async def test_who_goes_elsewhere_while_a_file_is_read_is_not_taken_away_from_there(tmp_path: Path) -> None:
    async with opened(tmp_path, lines([arm(), arm("arm_2")])) as driven:
        await driven.reaches("kept.ndjson has no records of this kind.", "2")
        assert "Receipts" in driven.text
        await driven.reaches("Saved models   2", "4")
        await driven.reaches("Copy a command", "full_stop")
        assert "Save an agent" not in driven.text


@pytest.mark.exhaustive
async def test_events_alone_are_a_list_of_their_own(tmp_path: Path) -> None:
    async with opened(tmp_path, lines(echo_events("ex_1"))) as driven:
        await driven.shows("Events   7", "Events › ex_1")
        await driven.press("m")
        await driven.comes("REPLAY")
        await driven.reaches("event 1 of 7", "home")


@pytest.mark.exhaustive
async def test_events_of_several_runs_say_how_many(tmp_path: Path) -> None:
    others = [RunEvent({**event.raw, "event_id": f"{event.id}_2"}) for event in echo_events("ex_2")]
    async with opened(tmp_path, lines([*echo_events("ex_1"), *others])) as driven:
        await driven.shows("Events   14", "Events › 2 runs")


async def test_a_single_record_is_open_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path, lines([live_receipt("ex_1")]), size=NARROW) as driven:
        await driven.shows("Receipts › ex_1", "neither prompt nor output")


async def test_what_is_not_shown_of_a_file_is_reported(tmp_path: Path) -> None:
    async with opened(tmp_path, lines([run("ex_1"), run("ex_2")]) + '{"cut\n{"a": 1}\n') as driven:
        await driven.shows("1 line is no JSON, the first is line 3; 1 is not a record that runwatch knows")


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "The file is empty"), (b"a,b\n1,2\n", "A table of CSV"), (b'{"a": 1}', "The file has no record"),
     (b"\xff\xff", "not UTF-8 text")],
)  # fmt: skip
async def test_a_file_without_records_says_why_and_is_read_again_on_demand(
    tmp_path: Path, content: bytes, said: str
) -> None:
    async with opened(tmp_path, content) as driven:
        await driven.shows(said)
        assert "not opened" in driven.lines[0]
        assert "not connected" not in driven.text
        assert "━ not opened ━" in driven.text
        (tmp_path / "kept.ndjson").write_text(lines([run("ex_1"), run("ex_2")]))
        await driven.reaches("Runs   2", "r")
        assert "not opened" not in driven.lines[0]


class Ticking(FakeClock):
    """A clock on which every look costs half a slice."""

    def monotonic(self) -> float:
        self.advance(SLICE_S / 2)
        return super().monotonic()


@pytest.mark.exhaustive
async def test_a_file_of_very_many_receipts_is_read_between_the_turns_of_the_loop() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    told: list[float] = []
    going = asyncio.ensure_future(others())
    content = lines(live_receipt(f"ex_{number}") for number in range(3_000)).encode()
    filed = await read_in_slices(content, Ticking(), told.append)
    going.cancel()
    assert filed.count == 3_000
    assert turns >= len(told) > 10
    assert told == sorted(told)


@pytest.mark.exhaustive
async def test_many_receipts_are_all_there(tmp_path: Path) -> None:
    text = lines(live_receipt(f"ex_{number}") for number in range(3_000))
    async with opened(tmp_path, text) as driven:
        await driven.shows("Receipts   3,000")


def test_a_file_is_looked_at_before_the_screen_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="There is no file"):
        check_openable(tmp_path / "nothing")
    with pytest.raises(UsageError, match="is not a file"):
        check_openable(tmp_path)
    file = tmp_path / "kept.json"
    file.write_text("[]")
    check_openable(file)
    monkeypatch.setattr("runwatch.tui.app.file_opening.MAX_FILE_BYTES", 1)
    with pytest.raises(UsageError, match="too large"):
        check_openable(file)


@pytest.mark.parametrize("size", [NARROW, (120, 36)], ids=lambda size: "x".join(map(str, size)))
async def test_a_bundle_as_it_was_looked_at(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(tmp_path, a_bundle(), size=size) as driven:
        await driven.shows(f"instance   {INSTANCE}")
        check_golden(f"{size[0]}x{size[1]}/bundle", driven.text)


async def test_a_request_of_a_file_has_a_command_without_a_key_or_none_and_why(tmp_path: Path) -> None:
    entry = {
        "time": "2026-11-21T11:00:00Z", "profile": "prod", "origin": "https://api.example.test", "path": "/v1/account",
        "attempt": 1, "sent_bytes": 0,
    }  # fmt: skip
    for method, said in (
        ("GET;touch pwned;#", "No command can repeat this request: its method is not one of DELETE, GET, HEAD"),
        ("GET", ": curl -sS -X GET --url https://api.example.test/v1/account"),
    ):
        async with opened(tmp_path, json.dumps({**entry, "method": method}), size=(150, 36)) as driven:
            await driven.shows("/v1/account")
            await driven.reaches(said, "c")
