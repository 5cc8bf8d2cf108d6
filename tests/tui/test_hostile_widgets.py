"""No text of a service crashes a widget, acts in it, or reaches the terminal as anything but text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.view.text.safe_text import line
from tests.support.environment import clean_environment
from tests.support.hostile import ALL_AT_ONCE, CORPUS, Hostile
from tests.support.screen import foreign_controls
from tests.support.terminal import Terminal
from tests.tui.hostile_stage import LAST, HostileStage
from tests.tui.look import text_of

ROOT = Path(__file__).resolve().parents[2]
LONG = [hostile for hostile in CORPUS if hostile.name.startswith("long")]


def assert_clean(app: HostileStage, name: str) -> None:
    """What the screen shows now holds nothing that a terminal acts on, no link and no action."""
    assert foreign_controls(text_of(app).encode()) == [], name
    for strip in app.screen._compositor.render_strips():
        assert strip.cell_length == app.size.width, name
        for segment in strip:
            style = segment.style
            if style is not None:
                assert style.link is None, name
                assert "@click" not in (style.meta or {}), name


@pytest.mark.exhaustive
async def test_every_text_in_every_widget() -> None:
    app = HostileStage()
    async with app.run_test(size=(120, 40)) as pilot:
        for number, hostile in enumerate(CORPUS):
            app.show(hostile.text)
            if number % 10 == 0:
                await pilot.pause()
            assert_clean(app, hostile.name)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_all_texts_at_once_at_other_sizes_and_under_every_key(size: tuple[int, int]) -> None:
    app = HostileStage()
    async with app.run_test(size=size) as pilot:
        app.show(ALL_AT_ONCE.text)
        for key in ("tab", "down", "G", "space", "w", "s", "right", "tab", "f", "k", "tab", "down", "tab", "y"):
            await pilot.press(key)
        await pilot.pause()
        assert_clean(app, "all at once")


@pytest.mark.parametrize("hostile", [ALL_AT_ONCE, *LONG], ids=lambda hostile: str(hostile.name))
async def test_the_dialog_shows_them_too(hostile: Hostile) -> None:
    name, text = hostile.name, hostile.text
    app = HostileStage()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = app.dialog(text)
        await app.push_screen(dialog)
        await pilot.pause()
        assert_clean(app, name)
        dialog.show_outcome(text, line(text))
        dialog.show_unknown_outcome(line(text))
        await pilot.pause()
        assert_clean(app, name)
        dialog.show_refusal(app.problem(text), next_step=line(text))
        await pilot.pause()
        assert_clean(app, name)
        assert isinstance(app.screen, ConfirmDialog)


@pytest.mark.exhaustive
def test_nothing_but_the_renderers_own_reaches_a_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.tui.hostile_stage"]
    with Terminal(command, env=clean_environment(tmp_path), columns=120, rows=40, cwd=ROOT) as terminal:
        terminal.wait_until(lambda: LAST.encode() in terminal.raw, "the last text to show", timeout=120)
        assert terminal.ends("ctrl+c") == 130
        assert foreign_controls(bytes(terminal.raw), renderer=True) == []
        assert terminal.screen.bells == 0
