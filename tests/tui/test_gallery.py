"""Every page of the gallery fits every size, looks the same in every theme, and works with the keyboard."""

from __future__ import annotations

import subprocess
import sys

import pytest
from textual.widget import Widget

from runwatch.tui.core.themes import PLAIN
from runwatch.tui.widgets.inputs.line_input import LineInput
from tests.tui.gallery import PAGES, Gallery
from tests.tui.look import lines_of

HEAVY = (
    "pydantic", "httpx", "sqlalchemy", "starlette", "uvicorn", "tomlkit", "cryptography", "textual.widgets._markdown",
)  # fmt: skip


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
@pytest.mark.parametrize("page", PAGES)
async def test_a_page_fits_and_tab_comes_round(page: str, size: tuple[int, int]) -> None:
    app = Gallery(page)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert len(lines_of(app)) == size[1]
        assert all(strip.cell_length == size[0] for strip in app.screen._compositor.render_strips())
        start = app.focused
        assert start is not None
        seen: list[Widget] = []
        while not seen or seen[-1] is not start:
            if isinstance(app.focused, LineInput):
                # There tab completes what is typed.
                app.screen.focus_next()
            else:
                await pilot.press("tab")
            assert app.focused is not None
            assert app.focused not in seen
            seen.append(app.focused)
        assert set(seen) == set(app.screen.focus_chain)


@pytest.mark.parametrize("theme", ["runwatch-light", PLAIN.name])
@pytest.mark.parametrize("page", PAGES)
async def test_a_page_says_the_same_in_every_theme(page: str, theme: str) -> None:
    shown = []
    for name in ("runwatch-dark", theme):
        app = Gallery(page, name)
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.pause()
            shown.append(lines_of(app))
    assert shown[0] == shown[1]


def test_the_widgets_bring_nothing_heavy_with_them() -> None:
    program = (
        "import importlib, pkgutil, sys, runwatch.tui.core.widget_app, runwatch.tui.widgets as place\n"
        "for found in pkgutil.iter_modules(place.__path__):\n"
        "    importlib.import_module(f'runwatch.tui.widgets.{found.name}')\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
