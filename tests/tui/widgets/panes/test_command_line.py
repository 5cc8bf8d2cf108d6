"""Everything can be said in words: found by a few letters, completed, and never done by mistake."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from runwatch.store.session import ServiceSession
from runwatch.tui.app.commands import list_commands
from runwatch.tui.core.command_parser import CommandError, PaletteCommand, parse_command, suggest_commands
from runwatch.tui.flows.runs import add_runs
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.command_line import CommandLine
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.tui.widgets.panes.run_detail import RunDetail
from tests.support.builders import run
from tests.support.hostile import ALL_AT_ONCE
from tests.support.resources import arm
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import NARROW, Driven, console

FILTERS = '[filters]\nmine = "is:problem"\nRuns = "is:live"\n'


async def _nothing(_: str) -> None: ...


COMMANDS = [
    PaletteCommand("runs", "Go to Runs.", _nothing, argument_name="FILTER", aliases=("run",)),
    PaletteCommand("receipts", "Go to Receipts.", _nothing, argument_name="FILTER"),
    PaletteCommand("open", "Go to a run.", _nothing, argument_name="ID", needs_argument=True),
    PaletteCommand(
        "theme", "Another theme.", _nothing, argument_name="NAME", needs_argument=True,
        known=("dark", "light", "Half dark", "receipt paper"), is_found_by_value=True, is_found_by_letters=True,
    ),
    PaletteCommand("view: cancel", "Open the sheet.", _nothing),
    PaletteCommand("view: copy id", "Copy it.", _nothing),
    PaletteCommand("settings", "Change it.", _nothing, known=("local.store",), is_found_by_value=True),
    PaletteCommand("filter: runs", "Filter by is:live.", _nothing, aliases=("runs",)),
]  # fmt: skip


def suggested(text: str) -> list[str]:
    return [found.text for found in suggest_commands(COMMANDS, text)]


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("runs", "runs", ""),
        (":runs is:live", "runs", "is:live"),
        ("  run  status:failed  ", "runs", "status:failed"),
        ("open Ex_1", "open", "Ex_1"),
        ("VIEW: Cancel", "view: cancel", ""),
        ("filter: runs", "filter: runs", ""),
    ],
)
def test_a_line_is_a_name_and_what_is_behind_it(text: str, name: str, argument: str) -> None:
    found = parse_command(COMMANDS, text)
    assert (found.command.name, found.argument) == (name, argument)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("recepits", "did you mean receipts? unknown command"),
        ("xyzzy", "unknown command xyzzy"),
        ("repents", "unknown command repents"),
        ("open", "open needs ID"),
        ("theme nope", "no theme nope; known: dark, light, Half dark, receipt paper"),
        ("theme drak", "no theme drak; did you mean dark?"),
        ("view: cancel now", "view: cancel takes no argument"),
        ("", "unknown command "),
    ],
)
def test_what_is_no_command_is_refused_with_the_nearest_one(text: str, reason: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse_command(COMMANDS, text)
    assert str(caught.value) == reason


def test_names_that_begin_so_come_before_words_that_do_and_those_before_scattered_letters() -> None:
    assert suggested("r")[:3] == ["runs", "receipts", "filter: runs"]
    assert suggested("can") == ["view: cancel"]
    assert suggested("vcp") == ["view: copy id"]
    assert suggested("sheet") == ["view: cancel"]
    assert suggested("zzz") == []


@pytest.mark.parametrize("typed", ["copy run", "id copy", "cop it"])
def test_each_word_may_be_of_the_name_of_what_it_does_or_of_what_is_shown(typed: str) -> None:
    command = PaletteCommand("view: copy id", "Copy it.", _nothing, acts_on="run")
    assert [found.text for found in suggest_commands([*COMMANDS, command], typed)][:1] == ["view: copy id"]
    assert suggest_commands([command], "copy check") == []


def test_behind_a_name_its_own_values_are_suggested() -> None:
    assert suggested("theme ") == ["theme dark", "theme light", "theme Half dark", "theme receipt paper"]
    assert suggested("theme nope") == []
    assert suggested("theme d") == ["theme dark", "theme Half dark"]
    assert suggested("dark") == ["theme dark", "theme Half dark"]
    assert suggested("rec") == ["receipts", "theme receipt paper"]
    assert suggested("stor") == ["settings local.store"]
    assert suggested("lstr") == [], "a long value has nearly any letters"
    assert suggested("hfdrk") == suggested("theme hfdrk") == ["theme Half dark"]
    assert suggested("runs is:live") == ["runs is:live"]
    assert suggested("open ") == ["open"]


@pytest.mark.parametrize(
    ("argument", "values"),
    [("RMG1", ["ex_01RMG1", "RMG1"]), ("ex_01", ["ex_01", "ex_01RMG1"]), ("ex_9", ["ex_9"])],
)
def test_a_part_of_a_known_id_stands_for_it_and_a_whole_one_for_itself(argument: str, values: list[str]) -> None:
    known = ["ex_01RMG1", "ex_01"]
    command = PaletteCommand(
        "open", "Go to a run.", _nothing, argument_name="ID",
        complete=lambda begun: [value for value in known if begun in value],
    )  # fmt: skip
    assert [found.argument for found in suggest_commands([command], f"open {argument}")] == values


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("new run", "▸ view: new "),
        ("copy curl", "▸ view: copy "),
        ("replay run", "▸ view: replay "),
        ("split", "▸ view: beside/below "),
        ("timeline", "▸ tab timeline "),
        ("lgt", "▸ theme runwatch-light "),
        ("rwlight", "▸ theme runwatch-light "),
        ("refresh.runs", "▸ settings refresh.runs"),
        ("runs is:fin", "is:final: it has ended"),
        ("runs status=fai", "  runs status=failed "),
        ("receipts is:cu", "▸ receipts is:cut "),
    ],
)
async def test_what_is_known_is_found_by_its_words(tmp_path: Path, typed: str, found: str) -> None:
    async with console(service(), tmp_path, until="ex_failed2") as driven:
        await driven.until(lambda: bool(driven.app.screen.query(RunDetail)), "the detail")
        await driven.press("colon")
        await driven.type(typed)
        await driven.shows(found)


async def test_a_tab_and_a_setting_are_gone_to(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW, until="ex_failed2") as driven:
        await driven.until(lambda: bool(driven.app.screen.query(RunDetail)), "the detail")
        await driven.say("timeline")
        assert driven.app.screen.query_one(RunDetail).tab == "timeline"
        assert driven.app.screen.has_class("-opened")
        await driven.say("settings mouse")
        await driven.until(lambda: front(driven) == "SettingsScreen", "the settings")
        assert driven.app.screen.query_one(RecordTable).cursor_key == "mouse"


async def test_a_record_is_opened_by_a_part_of_its_name(tmp_path: Path) -> None:
    said = service()
    said.say("GET", "/v1/arms", Said(200, {"arms": [arm("arm_1", display_name="GPT nine").raw]}))
    async with console(said, tmp_path) as driven:
        await driven.press("4")
        await driven.shows("GPT nine")
        await driven.press("colon")
        await driven.type("open gpt")
        await driven.shows(re.compile("▸ open arm_1 +saved model GPT nine"))


@pytest.mark.exhaustive
async def test_a_long_id_is_cut_in_its_middle(tmp_path: Path) -> None:
    long = "ex_01M8100000000000000000000000RMG1"
    async with console(ScriptedService(runs=[run(long, "failed")]), tmp_path, size=NARROW, until="RMG1") as driven:
        await driven.press("colon")
        await driven.type("open RMG")
        assert "RMG1  " in next(row for row in driven.lines if "▸ open ex_01M8" in row)


def test_what_was_run_before_comes_first() -> None:
    def after(text: str) -> list[str]:
        return [found.text for found in suggest_commands(COMMANDS, text, ["theme dark", "receipts", "gone away"])]

    assert after("")[:3] == ["theme dark", "receipts", "runs"]
    assert after("r")[:2] == ["receipts", "runs"]
    assert suggest_commands(COMMANDS, "runs", ["filter: runs"])[0].text == "runs"
    assert suggest_commands(COMMANDS, "", ["theme dark"])[0].is_whole


def test_a_long_line_is_suggested_for_at_once() -> None:
    assert suggested("a" * 5000) == []


def service() -> ScriptedService:
    """Three runs in different states."""
    return ScriptedService(
        runs=[run("ex_live01", "running"), run("ex_failed2", "failed"), run("ex_done003", "completed")]
    )


def front(driven: Driven) -> str:
    screen = driven.app.screen
    return screen.spec.name if isinstance(screen, ResourceScreen) else type(screen).__name__


def lines(driven: Driven) -> int:
    """How many command lines are open."""
    return len(driven.app.screen.query(CommandLine))


async def test_ids_are_completed_and_what_was_run_comes_first_the_next_time(tmp_path: Path) -> None:
    async with console(service(), tmp_path, until="ex_failed2") as driven:
        await driven.press("colon")
        await driven.type("open FAIL")
        assert re.search(r"▸ open ex_failed2 +run · ✗ failed · \d+\w ago", driven.text)
        await driven.press("enter")
        await driven.until(lambda: driven.table.cursor_key == "ex_failed2", "the run")
        await driven.press("colon")
        assert "▸ open ex_failed2 " in driven.text
        await driven.type("xyzzy")
        await driven.shows("nothing matches xyzzy; esc, then / filters rows ┃")
        await driven.press("escape", "I", "colon")
        await driven.type("xyzzy")
        await driven.shows("nothing matches xyzzy ┃")


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_both_keys_open_it_and_esc_gives_the_focus_back(key: str, tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press(key)
        assert isinstance(driven.focused, LineInput)
        await driven.press(key if key == "ctrl+p" else "x")
        assert lines(driven) == 1
        await driven.press("escape")
        assert lines(driven) == 0
        assert isinstance(driven.focused, RecordTable)


@pytest.mark.parametrize(("size", "shown"), [(NARROW, 8), ((120, 48), 16)])
async def test_a_third_of_the_window_has_suggestions_and_pages_reach_all(
    tmp_path: Path, size: tuple[int, int], shown: int
) -> None:
    def first(driven: Driven) -> int:
        return next(number for number, row in enumerate(driven.lines) if row.startswith("┏━ Command"))

    async with console(service(), tmp_path, size=size) as driven:
        await driven.press("colon")
        await driven.settle()
        bottom = next(number for number, row in enumerate(driven.lines) if "tab completes" in row)
        assert bottom - first(driven) - 2 == shown
        assert "more rows below" in driven.lines[bottom]
        assert "─ Runs " in driven.text
        start = driven.lines[first(driven) + 1]
        await driven.press("pagedown")
        assert driven.lines[first(driven) + 1] != start
        await driven.press("end")
        assert "more rows below" not in driven.text
        await driven.press("pageup", "home")
        assert driven.lines[first(driven) + 1] == start


@pytest.mark.exhaustive
async def test_what_a_command_does_is_whole_in_the_narrowest_frame(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        commands = list(list_commands(driven.app))
        for typed in ("around", max(commands, key=lambda command: len(command.help)).name):
            await driven.press("colon")
            await driven.type(typed)
            (command,) = (command for command in commands if command.name == typed)
            await driven.shows(f"{command.help} ━")
            await driven.press("escape")


@pytest.mark.exhaustive
async def test_a_screen_with_a_filter(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say("runs is:problem")
        await driven.shows("filter is:problem")
        assert [row.key for row in driven.table.rows] == ["ex_failed2"]
        assert isinstance(driven.focused, RecordTable)
        await driven.say("receipts")
        assert front(driven) == "receipts"
        await driven.say("runs is:live")
        assert front(driven) == "runs"
        await driven.settle()
        assert [row.key for row in driven.table.rows] == ["ex_live01"]


@pytest.mark.exhaustive
async def test_named_filters_are_commands_and_a_screen_of_the_same_name_goes_first(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings=FILTERS) as driven:
        await driven.say("mine")
        assert [row.key for row in driven.table.rows] == ["ex_failed2"]
        await driven.say("receipts")
        await driven.say("runs")
        await driven.settle()
        assert len(driven.table.rows) == 3
        await driven.say("filter: runs")
        assert [row.key for row in driven.table.rows] == ["ex_live01"]


@pytest.mark.exhaustive
async def test_actions_are_done_on_the_screen_that_was_in_front(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say("list: mark")
        assert driven.table.marks == frozenset({"ex_live01"})
        await driven.say("kill")
        assert isinstance(driven.app.screen, ConfirmDialog)


@pytest.mark.exhaustive
async def test_a_read_only_console_says_why_a_common_word_does_nothing(tmp_path: Path) -> None:
    async with console(service(), tmp_path, settings="read_only = true", until="ex_live01") as driven:
        await driven.press("colon")
        await driven.type("cancel")
        await driven.shows("this profile is read-only")


@pytest.mark.exhaustive
async def test_only_what_works_where_the_focus_was_is_offered(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("colon")
        await driven.type("events: ")
        assert "events: wrap" not in driven.text
        await driven.press("escape", "enter")
        await driven.press("colon")
        await driven.type("events: wr")
        assert "events: wrap" in driven.text


@pytest.mark.exhaustive
async def test_a_suggested_command_is_said_whole_in_80_columns(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=(80, 24)) as driven:
        await driven.press("colon")
        await driven.type("compliancee")
        await driven.shows("did you mean compliance? nothing matches ┃")
        await driven.press("enter")
        await driven.shows("✗ did you mean compliance? unknown command")


@pytest.mark.exhaustive
async def test_profiles_opens_the_menu_of_profiles(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say("profiles")
        await driven.shows("Switch to profile")
        await driven.press("escape")
        await driven.say("available sources")
        await driven.shows("━ Available sources")


async def test_what_cannot_be_done_is_said_and_the_line_stays(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say("xyzzy")
        assert "unknown command xyzzy" in driven.text
        assert lines(driven) == 1
        await driven.press("backspace")
        assert "unknown command" not in driven.text
        await driven.press("escape")
        await driven.say("ope")
        assert "ID is missing" in driven.text
        assert driven.app.screen.query_one(CommandLine).query_one(LineInput).value == "open "
        await driven.press("escape")
        await driven.press("colon")
        driven.app.screen.query_one(CommandLine).query_one(LineInput).value = ALL_AT_ONCE.text
        await driven.press("enter")
        assert isinstance(driven.app.screen, RunsScreen)
        assert lines(driven) == 1
        await driven.press("escape")
        await driven.say("runs is:nothing")
        await driven.shows("unknown is:nothing")
        assert isinstance(driven.focused, LineInput)
        assert driven.focused.value == "is:nothing"
        assert len(driven.table.rows) == 3


@pytest.mark.parametrize("key", ["tab", "right"])
async def test_tab_and_right_complete_and_arrows_choose(tmp_path: Path, key: str) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("colon")
        await driven.type("the")
        await driven.press(key)
        line = driven.app.screen.query_one(CommandLine).query_one(LineInput)
        assert line.value == "theme "
        await driven.press("down", "tab")
        assert line.value == "theme runwatch-light"
        await driven.press("enter")
        assert driven.app.palette.name == "runwatch-light"


@pytest.mark.exhaustive
async def test_a_known_run_is_opened_by_a_part_of_its_id_even_behind_a_filter(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say("runs is:live")
        await driven.say("open failed2")
        assert driven.table.cursor_key == "ex_failed2"
        assert driven.app.screen.has_class("-opened")


@pytest.mark.exhaustive
async def test_an_unknown_run_is_read_watched_and_opened(tmp_path: Path) -> None:
    service = ScriptedService(runs=[run("ex_live01", "running")])
    service.say("GET", "/v1/executions/ex_other99", Said(200, run("ex_other99", "completed")))
    async with console(service, tmp_path) as driven:
        await driven.say("open ex_other99")
        await driven.shows("added")
        assert driven.app.recent_commands == ["open ex_other99"]
        assert driven.table.cursor_key == "ex_other99"
        assert [watched.run_id for watched in await driven.session.watch_list.list(driven.session.scope)] == [
            "ex_other99"
        ]


@pytest.mark.exhaustive
async def test_a_run_that_is_not_there_is_not_watched_and_only_what_worked_is_offered_again(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say("open failed2")
        await driven.say("open ex_nothing")
        await driven.shows("ex_nothing: not found, not added")
        await driven.say("runs is:nothing")
        await driven.press("escape")
        await driven.press("colon")
        assert "▸ open ex_failed2 " in driven.text
        assert "ex_nothing " not in driven.text
        assert "runs is:nothing" not in driven.text
        assert await driven.session.watch_list.list(driven.session.scope) == []


@pytest.mark.exhaustive
async def test_a_run_that_is_found_late_takes_nobody_away_from_where_they_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, watch = asyncio.Event(), add_runs.add_to_watch_list

    async def slow(session: ServiceSession, run_id: str) -> add_runs.AddedRun:
        await goes_on.wait()
        return await watch(session, run_id)

    monkeypatch.setattr(add_runs, "add_to_watch_list", slow)
    service = ScriptedService(runs=[run("ex_1")])
    service.say("GET", "/v1/executions/ex_other99", Said(200, run("ex_other99")))
    async with console(service, tmp_path, until="ex_1") as driven:
        await driven.say("open ex_other99")
        await driven.press("2")
        await driven.until(lambda: driven.lines[1].startswith(" Receipts"), "the receipts")
        before = driven.app.screen
        goes_on.set()
        await driven.shows("ex_other99: ")
        assert driven.app.screen is before


@pytest.mark.exhaustive
async def test_times_are_shown_in_the_way_that_was_asked_for(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say("time utc")
        assert driven.app.render_context().time == "utc"
        await driven.say("time never")
        assert driven.app.render_context().time == "utc"
        assert "no time never; known: relative, local, utc" in driven.text


@pytest.mark.exhaustive
@pytest.mark.parametrize("typed", ["theme light", "light"])
async def test_a_part_of_a_theme_is_enough(tmp_path: Path, typed: str) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say(typed)
        assert driven.app.palette.name == "runwatch-light"


@pytest.mark.exhaustive
async def test_clicks_close_the_line_or_choose_and_quit_ends_the_console(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("colon")
        await driven.click_text("ex_fai")
        assert lines(driven) == 0
        assert driven.table.cursor_key == "ex_failed2"
        await driven.press("colon")
        await driven.click_text("Go to Receipts")
        await driven.until(lambda: front(driven) == "receipts", "the receipts")
        await driven.say("quit")
        assert driven.app.return_code == 0
