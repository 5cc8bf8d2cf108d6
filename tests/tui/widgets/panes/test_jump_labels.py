"""Jump labels: letters that lead to everything in sight."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.tui.widgets.panes.jump_labels import LETTERS, JumpLabels, make_labels
from tests.support.builders import run
from tests.support.hostile import CORPUS
from tests.support.scripted import ScriptedService
from tests.tui import noon
from tests.tui.console import Driven, console


@pytest.mark.parametrize("count", [0, 1, 26, 27, 60, 676, 1_000])
def test_no_label_begins_another(count: int) -> None:
    labels = make_labels(count)
    assert len(labels) == min(count, len(LETTERS) ** 2)
    assert all(one == other or not other.startswith(one) for one in labels for other in labels)


async def labels_over(driven: Driven, place: str) -> str:
    """Show the labels, and return the one before a text on the screen."""
    y = next(number for number, row in enumerate(driven.lines) if place in row)
    x = driven.lines[y].index(place)
    await driven.press("semicolon")
    shown = driven.app.screen.query_one(JumpLabels)
    return max((at.x, label) for label, at in shown.targets.items() if at.y == y and at.x <= x)[1]


async def test_letters_lead_to_a_row_a_tab_and_a_pane(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(200, 50), until="Summary") as driven:
        await driven.type(await labels_over(driven, "✓ completed"))
        assert not driven.app.screen.query(JumpLabels)
        assert driven.table.cursor_key == noon.TEST
        await driven.type(await labels_over(driven, "Policy"))
        await driven.shows("max_runtime_s")
        assert driven.focused is driven.table
        await driven.shows(" 41e0…c2d4")
        await driven.type(await labels_over(driven, " 41e0…c2d4"))
        assert driven.focused is driven.app.screen.query_one("#policy")


@pytest.mark.exhaustive
async def test_labels_leave_a_cell_between_tabs_that_are_close_together(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(200, 50), until="Summary") as driven:
        driven.app.screen.query_one("#detail").styles.width = 54
        driven.app.screen.query_one("#detail").styles.max_width = 54
        await driven.shows("Events Summary Timeline")
        await driven.press("semicolon")
        row = next(row for row in driven.lines if "ummary" in row)
        assert re.search(r"│.Events .ummary .imeline ", row)


async def test_letters_open_a_link_and_esc_changes_nothing(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, open_at="receipts", until="completed   ›") as driven:
        before, focused = driven.lines, driven.focused
        await driven.press("semicolon")
        assert driven.lines[-1].startswith(" type the letters of a label")
        await driven.press("escape")
        assert (driven.lines, driven.focused) == (before, focused)
        await driven.type(await labels_over(driven, "completed   ›"))
        await driven.shows("Runs › 41e0…c2d4")


async def test_labels_cover_no_more_than_the_margin_of_hostile_rows(tmp_path: Path) -> None:
    service = ScriptedService(runs=[run(f"ex_{number}", entry.text) for number, entry in enumerate(CORPUS)])
    async with console(service, tmp_path, size=(80, 24), until="ex_1") as driven:
        before = driven.lines
        await driven.press("semicolon")
        labels = driven.app.screen.query_one(JumpLabels).targets
        assert len(labels) > driven.table.rows_in_sight
        assert [row[4:] for row in driven.lines[4:-1]] == [row[4:] for row in before[4:-1]]
