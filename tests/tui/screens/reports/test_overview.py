"""The overview: one look says whether something is wrong, where and since when; enter on a number opens its list."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.base.text import cell_width, is_clean
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.reports.overview import OverviewScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.lists.link_lines import LinkLines
from tests.support import resources
from tests.support.builders import ABSENT, account, live_receipt, open_run
from tests.support.hostile import CORPUS
from tests.support.receipts import ended_receipt
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden
from tests.tui.look import lines_of

UTC: Final = 'time = "utc"\n'
SIZES: Final = (NARROW, (120, 36), WIDE)

each_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))


def at_minute(minutes_ago: float) -> str:
    """A moment before noon."""
    return noon.at(60 * minutes_ago)


def outage() -> tuple[list[Run], list[Receipt]]:
    """Nine runs on one provider, six of which failed for the same reason, and as many on another that went well."""
    runs: list[Run] = []
    receipts: list[Receipt] = []
    for number, letter in enumerate("fcffcffcf"):
        status = "failed" if letter == "f" else "completed"
        run_id, ago = f"ex_outage_{number}", 6.5 - 0.5 * number
        reason = "dispatch_network_error" if status == "failed" else None
        times = {"created_at": at_minute(ago + 0.2), "completed_at": at_minute(ago)}
        over = {"current": None, "decision_packet": ABSENT, **times}
        runs.insert(0, open_run(run_id, status, reason=reason, **over))
        receipts.append(live_receipt(run_id, status=status, reason=reason, **times))
        beside = {"provider": "northwind_direct", "arm_id": "arm_01HX7", "model_key": "northwind/ember-7b-instruct"}
        runs.append(open_run(f"ex_beside_{number}", "completed", **over))
        slices = [{"slice_id": "sl_1", "route": {"selected": beside}}]
        receipts.append(live_receipt(f"ex_beside_{number}", slices=slices, **times))
    return runs, receipts


def troubled(**over: Any) -> ScriptedService:
    """An ordinary noon with an outage in it, and something wrong with a connection, checks and saved models."""
    runs, receipts = outage()
    around = [run for run in noon.runs() if run.id != noon.DONE]
    service = noon.service(**{"runs": [*around, *runs], "receipts": [*noon.receipts(), *receipts], **over})
    lists: dict[str, tuple[str, list[Record]]] = {
        "/v1/arms": ("arms", [resources.arm(), resources.arm("arm_2", "disabled", display_name="Old")]),
        "/v1/source-connections": (
            "connections",
            [
                resources.connection(
                    display_name="openrouter", test_state="failed", test_error="source_5xx",
                    last_tested_at=at_minute(6),
                )
            ],
        ),
        "/v1/verifiers": (
            "verifiers", [resources.verifier(status="degraded", status_reason="response_incompatible")]
        ),
    }  # fmt: skip
    for path, (member, records) in lists.items():
        service.say("GET", path, Said(200, {member: [dict(record.raw) for record in records], "next_cursor": None}))
    return service


def quiet(**over: Any) -> ScriptedService:
    """An organisation in which nothing has ever happened, on a service that offers all lists."""
    service = ScriptedService(**{"account": account(), **over})
    for path, member in (("arms", "arms"), ("source-connections", "connections"), ("verifiers", "verifiers")):
        service.say("GET", f"/v1/{path}", Said(200, {member: [], "next_cursor": None}))
    return service


async def opened(driven: Driven, *, until: str = "updated") -> LinkLines:
    """The lines of "Stands out", once every list was read."""
    await driven.comes(until)
    for second in range(11, 20):
        await driven.pass_time_to(second)
    return driven.app.screen.query_one("#standing-lines", LinkLines)


@each_size
async def test_an_outage_is_on_top_with_everything_else_around_it(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(troubled(), tmp_path, size=size, settings=UTC, open_at="overview") as driven:
        await opened(driven, until="dispatch_network_error")
        await driven.shows("6 of 9 runs on openrouter failed since 11:58")
        check_golden(f"{size[0]}x{size[1]}/overview", driven.text)


@each_size
async def test_an_empty_organisation_says_what_to_do(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(quiet(), tmp_path, size=size, settings=UTC, open_at="overview") as driven:
        await opened(driven, until="No runs yet")
        check_golden(f"{size[0]}x{size[1]}/overview-empty", driven.text)


@pytest.mark.exhaustive
@each_size
async def test_a_service_that_offers_little_is_not_taken_for_one_without_trouble(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    service = ScriptedService(runs=noon.runs())
    service.say("GET", "/v1/receipts", Said(404, {}))
    async with console(service, tmp_path, size=size, settings=UTC, open_at="overview") as driven:
        await opened(driven, until="not offered by this service")
        check_golden(f"{size[0]}x{size[1]}/overview-not-offered", driven.text)


@pytest.mark.exhaustive
async def test_a_line_on_one_record_opens_it(tmp_path: Path) -> None:
    async with console(troubled(), tmp_path, open_at="overview") as driven:
        await opened(driven, until="test failed")
        await driven.reaches("Copied conn_01HX5", "down", "y")
        await driven.reaches("connection openrouter", "enter")
        screen = driven.app.screen
        assert isinstance(screen, ResourceScreen)
        assert screen.spec.name == "sources"
        await driven.press("escape")
        await driven.reaches("Stands out", "escape")
        assert isinstance(driven.focused, LinkLines)
        assert driven.focused.position[0] == 1, "the cursor stands where it stood"


async def test_it_is_the_home_screen_if_the_settings_say_so_and_has_a_key_and_a_name(tmp_path: Path) -> None:
    settings = 'home_screen = "overview"\n[keys]\n"app.overview" = "J"\n'
    async with console(quiet(), tmp_path, settings=settings, until="Stands out") as driven:
        assert isinstance(driven.app.screen, OverviewScreen)
        for keys in "J", (":", *"overview", "enter"):
            await driven.press("1")
            await driven.hides("Stands out")
            await driven.reaches("Stands out", *keys)


@pytest.mark.exhaustive
async def test_its_lists_are_read_while_it_is_in_front_and_no_longer(tmp_path: Path) -> None:
    service = troubled()
    async with console(service, tmp_path, settings="[refresh]\nlists_s = 10\n", until="8f21") as driven:
        assert not service.requests("GET", "/v1/verifiers")
        await driven.press("I")
        await opened(driven, until="its response is not valid")
        assert service.requests("GET", "/v1/arms")
        await driven.reaches("8f21", "1")
        read = len(service.requests("GET", "/v1/verifiers"))
        await driven.pass_time(40)
        assert len(service.requests("GET", "/v1/verifiers")) == read


@pytest.mark.exhaustive
async def test_runs_leave_the_hour_as_time_goes_by(tmp_path: Path) -> None:
    old = open_run("ex_old", "failed", current=None, reason="x", created_at=at_minute(59.5), completed_at=at_minute(59))
    receipt = ended_receipt("failed", "x", execution_id="ex_old")
    async with console(quiet(runs=[old], receipts=[receipt]), tmp_path, open_at="overview") as driven:
        await opened(driven, until="enter on a number opens its list")
        await driven.pass_time(60)
        await driven.shows("Nothing ended in the last hour.")


async def test_header_and_pane_count_requests_at_the_same_moment(tmp_path: Path) -> None:
    async with console(quiet(), tmp_path, size=WIDE, open_at="overview") as driven:
        await opened(driven, until="No runs yet")
        counts = set()
        for second in range(8):
            await driven.pass_time(5)
            driven.app._tick(recount=second % 4 == 1)
            await driven.pilot.pause()
            shown = re.findall(r"(\d+) of 60 (?:requests/min|a minute)", "\n".join(lines_of(driven.app)))
            assert len(shown) == 2
            assert shown[0] == shown[1]
            counts.add(shown[0])
        assert len(counts) > 1


async def test_without_a_service_it_says_what_is_wrong(tmp_path: Path) -> None:
    keyless = '[profiles.work]\nbase_url = "https://runs.example.test"\nkey_command = "false"\n'
    environment = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": "", "RUNWATCH_PROFILE": "work"}
    async with console(
        noon.service(), tmp_path, settings=keyless, environment=environment, is_open=False, open_at="overview"
    ) as driven:
        await driven.shows("not connected")
        assert "Nothing stands out" not in driven.text


async def test_r_reads_everything_again_and_enter_lists_the_runs_of_a_line(tmp_path: Path) -> None:
    service = troubled()
    async with console(service, tmp_path, settings=UTC, open_at="overview") as driven:
        lines = await opened(driven, until="its response is not valid")
        read = len(service.requests("GET", "/v1/source-connections"))
        await driven.press("r")
        await driven.pass_time(5)
        assert len(service.requests("GET", "/v1/source-connections")) > read
        await driven.shows("6 of 9 runs")
        assert driven.focused is lines
        await driven.reaches("Runs   6 of 26", "enter")
        assert isinstance(driven.app.screen, RunsScreen)
        await driven.reaches("Stands out", "escape", "escape")
        assert isinstance(driven.focused, LinkLines)
        assert driven.focused.id == "standing-lines"


@pytest.mark.exhaustive
async def test_a_wider_window_puts_the_numbers_on_top_and_a_narrow_one_what_stands_out(tmp_path: Path) -> None:
    async with console(troubled(), tmp_path, size=NARROW, open_at="overview") as driven:
        await opened(driven, until="6 of 9 runs")

        def rows_of(*titles: str) -> list[int]:
            return [next(n for n, row in enumerate(driven.lines) if f" {title} " in row) for title in titles]

        assert rows_of("Stands out", "Now", "Failed and expired, last hour") == sorted(
            rows_of("Stands out", "Now", "Failed and expired, last hour")
        )
        await driven.pilot.resize_terminal(*WIDE)
        await driven.shows("Live now")
        first, then = rows_of("Live now", "Stands out")
        assert first < then


@pytest.mark.exhaustive
async def test_the_newest_runs_are_whole_as_soon_as_the_window_has_room_for_them(tmp_path: Path) -> None:
    async with console(troubled(), tmp_path, size=NARROW, open_at="overview") as driven:
        await opened(driven, until="6 of 9 runs")
        await driven.pilot.resize_terminal(100, 44)
        await driven.shows("Newest runs")
        newest = driven.lines[next(n for n, row in enumerate(driven.lines) if " Newest runs " in row) :]
        assert any("dispatch_network_error" in row for row in newest)


@pytest.mark.exhaustive
async def test_what_comes_in_above_takes_the_cursor_along(tmp_path: Path) -> None:
    service = troubled()
    async with console(service, tmp_path, open_at="overview") as driven:
        lines = await opened(driven, until="its response is not valid")
        await driven.press("down", "down")
        way = lines.way
        assert way is not None
        assert way.record == "vrf_7c1e"
        service.runs.clear()
        service.receipts.clear()
        await driven.pass_time(20)
        await driven.hides("6 of 9 runs")
        assert lines.way == way


@each_size
async def test_texts_of_any_kind_break_neither_lines_nor_frames(tmp_path: Path, size: tuple[int, int]) -> None:
    runs, receipts = [], []
    for number, entry in enumerate(CORPUS):
        times = {"created_at": at_minute(2), "completed_at": at_minute(1)}
        over = {"current": None, "decision_packet": ABSENT, "reason": entry.text, **times}
        runs.append(open_run(f"ex_{number}", "failed", **over))
        slices = [{"slice_id": "sl_1", "route": {"selected": {"provider": entry.text, "model_key": entry.text}}}]
        receipts.append(live_receipt(f"ex_{number}", status="failed", reason=entry.text, slices=slices, **times))
    service = quiet(runs=runs, receipts=receipts)
    arms = [resources.arm(f"arm_{number}", "degraded", display_name=entry.text) for number, entry in enumerate(CORPUS)]
    service.say("GET", "/v1/arms", Said(200, {"arms": [dict(arm.raw) for arm in arms[:3]], "next_cursor": None}))
    async with console(service, tmp_path, size=size, open_at="overview") as driven:
        await opened(driven, until="enter on a number opens its list")
        assert all(is_clean(row) for row in driven.lines)
        assert all(cell_width(row) <= size[0] for row in driven.lines)
        reasons = driven.app.screen.query_one("#reasons-lines", LinkLines)
        reasons.focus()
        await driven.press("G")
        assert reasons.scroll_y > 0
        assert any(re.search(r" reason .* all ", row) for row in driven.lines), "the heading does not scroll"
        await driven.opens(RunsScreen, "down", "enter")


@pytest.mark.parametrize("size", [NARROW, (120, 36)], ids=["narrow", "wide"])
async def test_a_server_that_is_no_service_has_no_numbers(tmp_path: Path, size: tuple[int, int]) -> None:
    service = ScriptedService(runs=[])
    service.say("*", ".*", Said(404, b"<html>nothing here</html>", "text/html"))
    async with console(service, tmp_path, size=size, open_at="overview") as driven:
        await driven.comes("did not come from the API (HTML)")
        await driven.shows("No runs have been read yet.", "✗ error")
        assert "0 live" not in driven.text
        assert "completed" not in driven.text
