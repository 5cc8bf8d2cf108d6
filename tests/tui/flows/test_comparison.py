"""Any two records of a list are compared value by value."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.tui.flows.comparison import CompareScreen, ComparisonSide, open_comparison
from runwatch.tui.screens.reports.receipts import ReceiptsScreen
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.lists.diff_view import DiffView
from runwatch.view.text.safe_text import line
from tests.support.builders import live_receipt
from tests.tui import noon
from tests.tui.console import NARROW, Driven, console
from tests.tui.golden import check_golden

MIDDLE = (120, 36)


async def compared(driven: Driven) -> DiffView:
    """The comparison, when it is there."""
    await driven.opens(CompareScreen)
    await driven.shows("differ" if driven.app.screen.query(DiffView) else "")
    return driven.app.screen.query_one(DiffView)


@pytest.mark.parametrize("size", [NARROW, MIDDLE], ids=["80x24", "120x36"])
async def test_one_row_and_then_another_are_compared(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(noon.service(), tmp_path, size=size, open_at="receipts", until="Receipts   6") as driven:
        await driven.select(noon.DONE)
        await driven.reaches("Comparing receipt 3fd2…9911; press D on another row", "D")
        await driven.select(noon.CANCELLED)
        await driven.press("D")
        await compared(driven)
        check_golden(f"{size[0]}x{size[1]}/compare-changed", driven.text)
        await driven.reaches("everything", "v")
        check_golden(f"{size[0]}x{size[1]}/compare-everything", driven.text)
        await driven.press("escape")
        assert isinstance(driven.app.screen, ReceiptsScreen)
        assert driven.app.screen.compared is None


async def test_two_marked_rows_are_compared_at_once_and_the_same_row_takes_the_left_side_back(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, open_at="receipts", until="Receipts   6") as driven:
        await driven.reaches("Comparison cancelled.", "D", "D")
        assert isinstance(driven.app.screen, ReceiptsScreen)
        await driven.press("space", "space", "D")
        await compared(driven)
        assert "receipt 41e0…c2d4" in driven.text
        assert "receipt 5c9d…77aa" in driven.text


@pytest.mark.exhaustive
async def test_of_more_than_two_marked_rows_none_is_chosen(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, open_at="receipts") as driven:
        await driven.shows("Receipts   6")
        await driven.reaches("Two rows can be compared; 3 are marked.", "space", "space", "space", "D")


async def test_every_resource_can_be_compared_and_esc_takes_the_left_side_back(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, open_at="runs", until="Runs   9") as driven:
        await driven.press("D", "down", "D")
        await compared(driven)
        assert "execution_id" in driven.text
        await driven.press("escape")
        await driven.reaches("Receipts   6", "2")
        await driven.reaches("Comparing receipt", "D")
        await driven.reaches("Comparison cancelled.", "escape")
        screen = driven.app.screen
        assert isinstance(screen, ReceiptsScreen)
        assert screen.compared is None
        await driven.reaches("▸ ✗ failed", "escape", "j")
        assert driven.app.screen is screen


async def test_an_empty_list_has_nothing_to_compare(tmp_path: Path) -> None:
    async with console(noon.service(receipts=()), tmp_path, open_at="receipts") as driven:
        await driven.shows("Receipts   0")
        await driven.reaches("Nothing to compare.", "D")


async def test_what_is_the_same_or_on_one_side_only_is_said(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path) as driven:
        raw = live_receipt().raw
        screen = driven.app.screen
        assert isinstance(screen, ConsoleScreen)
        open_comparison(screen, ComparisonSide(line("then"), raw), ComparisonSide(line("now"), dict(raw)))
        await driven.shows("The two records are identical.", "members are the same")
        await driven.reaches("then", "v")
        assert "execution_id" in driven.text
        await driven.press("escape")
        screen = driven.app.screen
        assert isinstance(screen, ConsoleScreen)
        open_comparison(
            screen, ComparisonSide(line("then"), {"a": None, "b": 1}), ComparisonSide(line("now"), {"b": 1, "c": {}})
        )
        await driven.shows("2 of 3 members differ")
        rows = [" ".join(row.strip("┃ ▸").split()) for row in driven.lines if "≠" in row]
        assert rows == ["≠ a null (none)", "≠ c (none) {}"]


async def test_both_values_are_copied_with_their_path(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, settings='clipboard = "osc52"\n') as driven:
        driven.app._write_to_terminal = lambda _: None  # type: ignore[method-assign, assignment]
        screen = driven.app.screen
        assert isinstance(screen, ConsoleScreen)
        open_comparison(screen, ComparisonSide(line("then"), {"a": 1}), ComparisonSide(line("now"), {"a": 2}))
        await driven.shows("1 of 1 members differ")
        await driven.reaches("Copied both values by OSC 52: path: a left: 1 right: 2", "y")


@pytest.mark.exhaustive
async def test_values_are_two_cells_apart_where_two_ids_have_room(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(100, 30)) as driven:
        screen = driven.app.screen
        assert isinstance(screen, ConsoleScreen)
        open_comparison(screen, ComparisonSide(line("l"), {"a": "l" * 90}), ComparisonSide(line("r"), {"a": "r" * 90}))
        await driven.shows("lll  rrr")


@pytest.mark.exhaustive
async def test_the_cursor_stays_on_its_value_when_everything_is_shown(tmp_path: Path) -> None:
    left, right = {f"m{number}": number for number in range(30)}, {f"m{number}": number % 3 for number in range(30)}
    async with console(noon.service(), tmp_path) as driven:
        screen = driven.app.screen
        assert isinstance(screen, ConsoleScreen)
        open_comparison(screen, ComparisonSide(line("l"), left), ComparisonSide(line("r"), right))
        view = await compared(driven)
        await driven.press("down", "down", "down")
        assert view.value is not None
        before = view.value.path
        await driven.reaches("everything", "v")
        assert view.value is not None
        assert view.value.path == before
