"""Keys of a list that depend on its record, and on whether its detail is in sight."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.settings.view_state import PaneSplit, load_session
from runwatch.tui.flows.action_dialog import ActionForm
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.widgets.inputs.form_fields import FormFields
from runwatch.tui.widgets.panes.menu import Menu
from tests.support import resources
from tests.support.builders import account, run
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import Driven, console
from tests.tui.noon import at


def service() -> ScriptedService:
    runs = [run("ex_live", "running", created_at=at(10)), run("ex_done", "completed", created_at=at(60))]
    return ScriptedService(runs=runs, account=account())


@pytest.mark.exhaustive
async def test_the_keys_that_have_no_room_are_in_the_menu_of_actions_too(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=(80, 40), open_at="runs") as driven:
        await driven.select("ex_done")
        await driven.reaches("Cancel the run", "full_stop")
        assert "Refresh this view." in driven.text
        await driven.reaches("q again quits", "end", "enter")


@pytest.mark.exhaustive
async def test_typing_a_filter_keeps_the_cursor_on_its_row_though_half_a_word_hides_it(tmp_path: Path) -> None:
    runs = [run("ex_1", "failed"), run("ex_2", "completed"), run("ex_3", "failed")]
    async with console(ScriptedService(runs=runs), tmp_path) as driven:
        await driven.select("ex_3")
        # Letter by letter: before its last one, the filter is no condition and matches nothing.
        for key in ("/", *"status:failed"):
            await driven.press(key)
        await driven.hides("ex_2")
        assert driven.table.cursor_key == "ex_3"
        await driven.press("enter", "up")
        await driven.settle()
        assert driven.table.cursor_key == "ex_1"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("start", "nearest"), [("ex_4", "ex_3"), ("ex_6", "ex_7"), ("ex_1", "ex_3")])
async def test_typing_a_filter_leads_to_the_match_nearest_to_where_it_began(
    tmp_path: Path, start: str, nearest: str
) -> None:
    failed = {"ex_3", "ex_7", "ex_9"}
    runs = [run(id, "failed" if id in failed else "completed") for id in (f"ex_{n}" for n in range(1, 10))]
    async with console(ScriptedService(runs=runs), tmp_path) as driven:
        await driven.select(start)
        # What is typed on the way matches a row far away.
        await driven.press("/", *"ex_9")
        await driven.until(lambda: driven.table.cursor_key == "ex_9", "the only match")
        await driven.press(*["backspace"] * 4, *"status:failed")
        await driven.until(lambda: len(driven.table.rows) == len(failed), "the matches")
        assert driven.table.cursor_key == nearest


@pytest.mark.exhaustive
async def test_a_filter_that_finds_nothing_moves_no_pane(tmp_path: Path) -> None:
    runs = [run(f"ex_{number}", "completed", created_at=at(number)) for number in range(12)]
    async with console(ScriptedService(runs=runs), tmp_path, size=(100, 30), until="ex_11") as driven:
        panes = [driven.app.screen.query_one(id).region for id in ("#list", "#detail")]
        await driven.press("slash", *"zzzq", "enter")
        await driven.comes("0 of 12 match")
        await driven.settle()
        assert [driven.app.screen.query_one(id).region for id in ("#list", "#detail")] == panes


@pytest.mark.exhaustive
async def test_counts_have_signs_as_soon_as_the_list_is_too_narrow_for_their_words(tmp_path: Path) -> None:
    ends = ("failed", "expired", "cancelled", "completed")
    runs = [run(f"ex_{end}", end, created_at=at(number)) for number, end in enumerate(ends)]
    async with console(ScriptedService(runs=runs), tmp_path, size=(100, 30), until="cancelled 1") as driven:
        await driven.press("|")
        await driven.comes("● 0 · ✗ 1 · ◷ 1 · ⊘ 1 · ✓ 1")
        await driven.press("|")
        await driven.comes("expired 1 · cancelled 1")


@pytest.mark.parametrize("pressed", [*("full_stop", "i", "y", "V", "question_mark"), *"Dbfv<>", "Timeline"])
async def test_the_newest_run_is_followed_until_one_does_something_with_a_run(tmp_path: Path, pressed: str) -> None:
    async with console(service(), tmp_path, until="ex_live") as driven:
        table = driven.table
        await driven.until(lambda: table.follows_top, "the newest run to be followed")
        await (driven.click_text(pressed) if pressed == "Timeline" else driven.press(pressed))
        await driven.until(lambda: not table.follows_top, "the run to be held")
        await driven.press("escape")
        await driven.until(lambda: driven.focused is table, "the list")
        assert not table.follows_top
        await driven.press("g")
        await driven.until(lambda: table.follows_top, "the newest run to be followed")


@pytest.mark.exhaustive
async def test_an_order_is_kept_on_the_way_to_another_screen_and_back(tmp_path: Path) -> None:
    async with console(service(), tmp_path, until="ex_live") as driven:
        await driven.shows("live first, newest first")
        await driven.press("s")
        await driven.comes("sort status ▲")
        await driven.press("2")
        await driven.comes("Receipts")
        await driven.press("1")
        await driven.comes("sort status ▲")
        for _ in driven.table.shown_columns:
            await driven.press("s")
        await driven.comes("live first, newest first")


async def test_keys_of_the_list_follow_what_is_in_focus(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="runs") as driven:
        await driven.press("slash")
        await driven.type("status=runing")
        await driven.shows("did you mean status=running?")
        await driven.press("escape")
        await driven.select("ex_done")
        screen = driven.app.screen
        assert isinstance(screen, RunsScreen)
        screen.run_detail.choose("policy")
        screen.run_detail.focus_inside()
        await driven.until(lambda: driven.focused is not None and driven.focused.id == "policy", "the view")
        await driven.press("escape")
        await driven.select("ex_live")
        await driven.shows("X cancel")
        await driven.select("ex_done")
        await driven.hides("X cancel")
        await driven.reaches("enter apply  tab complete  esc clear", "slash")
        await driven.press("escape")
        rest = re.search(r"\+\d+", driven.lines[-1])
        assert rest is not None
        await driven.click_text(rest[0])
        await driven.shows("More keys")
        await driven.reaches("q again quits", "end", "enter")


@pytest.mark.parametrize(
    ("place", "key"), [("arms", "y"), ("arms", "Y"), ("problems", "y"), ("problems", "Y"), ("tail", "y")]
)
async def test_a_key_that_has_nothing_to_copy_says_so(tmp_path: Path, place: str, key: str) -> None:
    async with console(ScriptedService(account=account()), tmp_path, open_at=place) as driven:
        await driven.reaches("Nothing to copy.", key)


async def test_esc_ends_what_was_begun_and_never_leaves_a_view_that_was_named(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="receipts") as driven:
        await driven.press("1")
        await driven.select("ex_done")
        await driven.reaches("■", "space")
        await driven.filter("ex_")
        await driven.shows("filter ex_")
        await driven.press("escape")
        await driven.hides("filter ex_")
        assert driven.table.marks
        await driven.press("escape")
        assert not driven.table.marks
        assert "marked" not in driven.text
        await driven.reaches("Nothing is left to close here; [ goes to the view before.", "escape")
        assert isinstance(driven.app.screen, RunsScreen)
        await driven.reaches("Tail of 1 run", "L")
        await driven.opens(RunsScreen, "escape")


@pytest.mark.parametrize(("key", "shown"), [("v", '"ex_done"'), ("greater_than_sign", "Events │ Summary")])
async def test_a_hidden_detail_is_shown_before_a_key_turns_it(tmp_path: Path, key: str, shown: str) -> None:
    async with console(service(), tmp_path, size=(80, 24), open_at="runs") as driven:
        await driven.select("ex_done")
        await driven.reaches("Runs › ex_done", key)
        await driven.shows(shown)
        await driven.reaches("▸ ✓ completed", "escape")


async def test_the_path_names_the_record_at_the_cursor(tmp_path: Path) -> None:
    script = ScriptedService(account=account())
    arms = [dict(resources.arm(f"arm_{name}", display_name=name).raw) for name in ("one", "two")]
    script.say("GET", "/v1/arms", Said(200, {"arms": arms}))
    async with console(script, tmp_path, size=(100, 30), open_at="arms", until="two") as driven:
        await driven.select("arm_one")
        await driven.reaches("Saved models › one", "enter")
        await driven.press("tab", "j")
        await driven.shows("Saved models › two")


def detail_size(driven: Driven) -> tuple[int, int]:
    """Width and height of the detail in sight; zeros for none."""
    detail = driven.app.screen.query_one("#detail")
    return (detail.outer_size.width, detail.outer_size.height) if detail.display else (0, 0)


async def test_a_border_that_was_moved_comes_back_after_a_restart_and_a_small_window(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="arms") as driven:
        await driven.press("left_curly_bracket", "left_curly_bracket")
        wide, high = detail_size(driven)
        assert wide == 120
        await driven.pilot.resize_terminal(90, 26)
        await driven.until(lambda: detail_size(driven) == (0, 0), "the list alone")
        await driven.pilot.resize_terminal(120, 36)
        await driven.until(lambda: detail_size(driven) == (wide, high), "the border where it was")
        await driven.press("vertical_line")
        beside = detail_size(driven)
        assert beside[0] < wide
        assert beside[1] > high
        driven.app.exit()
    saved = load_session(tmp_path / "runwatch-data" / "session.toml")
    assert saved == (None, {"arms": PaneSplit("beside", below=driven.app.splits["arms"].below)})
    async with console(service(), tmp_path, open_at="arms") as driven:
        assert detail_size(driven) == beside
        await driven.press("vertical_line")
        assert detail_size(driven) == (wide, high)
        await driven.press(*["left_curly_bracket"] * 20)
        assert driven.app.screen.query_one("#list").outer_size.height == 6


@pytest.mark.exhaustive
async def test_a_filter_that_leaves_few_rows_gives_the_detail_their_room_once_it_is_typed(tmp_path: Path) -> None:
    runs = [run(f"ex_{n}", "failed" if n == 3 else "completed") for n in range(40)]
    async with console(ScriptedService(runs=runs), tmp_path, size=(120, 36)) as driven:
        await driven.shows("ex_3")
        before = detail_size(driven)
        await driven.press("slash")
        await driven.type("status:failed")
        await driven.until(lambda: len(driven.table.rows) == 1, "the match")
        assert detail_size(driven) == (before[0], before[1] - 1), "only the line of the filter takes room meanwhile"
        await driven.press("enter")
        await driven.until(lambda: detail_size(driven)[1] > before[1] + 5, "the room of the list")
        await driven.press("escape")
        await driven.until(lambda: detail_size(driven) == before, "the list as before")


@pytest.mark.exhaustive
async def test_a_detail_put_beside_a_list_that_needs_the_window_has_room_for_its_tabs(tmp_path: Path) -> None:
    async with console(ScriptedService(runs=[run("ex_1", "failed")]), tmp_path, size=(100, 30)) as driven:
        await driven.shows("ex_1")
        await driven.press("vertical_line")
        assert detail_size(driven)[0] == 44
        await driven.shows("Events Summary Timeline Policy Result")


async def test_a_detail_beside_a_list_has_its_lines_whole_before_the_list_has_its_widest_columns(
    tmp_path: Path,
) -> None:
    made = [dict(resources.deployment(f"mdep_{n:026}").raw) for n in range(2)]
    made[1].update(model_key="northwind/" + "m" * 24, source_id="s" * 20, upstream_ref="u" * 20)
    offered = ScriptedService(account=account())
    offered.say("GET", "/v1/model-deployments", Said(200, {"deployments": made, "next_cursor": None}))
    async with console(offered, tmp_path, size=(200, 50), open_at="deployments", until="mmmm") as driven:
        await driven.shows("northwind_direct")
        await driven.until(lambda: detail_size(driven)[0] == 72, f"room for the lines of the detail\n{driven.text}")
        await driven.shows("last_tested_at            2026-11-18T09:12:00Z (3d ago)")
        await driven.press("j")
        assert detail_size(driven)[0] == 72, "no pane moves from row to row"


async def test_where_only_one_pane_has_room_the_keys_of_the_split_say_so(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=(80, 24), open_at="arms") as driven:
        await driven.reaches("The detail needs 100 columns or 28 rows.", "vertical_line")
        await driven.reaches("There is no second pane in sight.", "right_curly_bracket")
        await driven.reaches("The detail needs 100 columns or 28 rows.", "p")
        await driven.press("g")
        assert "The detail needs" not in driven.text, "the next key ends what is said of the one before"


async def test_a_read_only_console_says_so_rather_than_open_a_menu_of_nothing(tmp_path: Path) -> None:
    offered = ScriptedService(account=account())
    async with console(offered, tmp_path, open_at="arms", settings="read_only = true\n") as driven:
        await driven.shows("Saved models")
        await driven.reaches("This profile is read-only; nothing can be sent.", "+")
        assert not driven.app.screen.query(Menu)


@pytest.mark.exhaustive
async def test_the_form_for_a_source_fits_the_smallest_window(tmp_path: Path) -> None:
    async with console(ScriptedService(account=account()), tmp_path, size=(80, 24), open_at="sources") as driven:
        await driven.opens(ActionForm, "+")
        await driven.shows("both prices or none")
        await driven.settle()
        assert driven.app.screen.query_one(FormFields).max_scroll_y == 0, driven.text
