"""The catalog row of a template is a tree that shows all of it and folds."""

from __future__ import annotations

import time
import unicodedata
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.records.template import Template
from runwatch.tui.widgets.lists.detail_view import DetailView
from tests.support import hostile, resources
from tests.support.builders import account
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden

ROW: Final[dict[str, Any]] = {
    **resources.catalog_entry().raw,
    "unheard_of": {"members": [{"of": "a newer service"}, [], {}, None]},
    "evidence": [f"evd_resolution_{number:04}" for number in range(6)],
}

reviewing = partial(console, open_at="templates")


def service_with(row: object) -> ScriptedService:
    """A service with one template, based on this catalog row."""
    script = ScriptedService(account=account())
    found = Template(dict(resources.template().raw) | {"catalog_row": row})
    script.say("GET", "/v1/tenant-templates", Said(200, {"templates": [dict(found.raw)]}))
    return script


async def at_tree(driven: Driven) -> DetailView:
    """Open the template, and put the cursor on the heading of the tree."""
    await driven.comes("starter")
    await driven.settle()
    await driven.press("enter")
    await driven.until(lambda: isinstance(driven.focused, DetailView), "the detail to have the focus")
    view = driven.focused
    assert isinstance(view, DetailView)
    await driven.press("g")
    heading = next(index for index, row in enumerate(view._rows) if row.head and row.head.key == ("Catalog row",))
    view.move_cursor(heading)
    await driven.pilot.pause()
    return view


def shown(view: DetailView) -> str:
    """Every row of the view, those outside of the window too."""
    return "\n".join("".join(text for text, _ in row.pieces) for row in view._rows)


@pytest.mark.parametrize("size", [NARROW, (120, 36), WIDE], ids=["80x24", "120x36", "160x50"])
async def test_the_tree_looks_as_approved(tmp_path: Path, size: tuple[int, int]) -> None:
    async with reviewing(service_with(ROW), tmp_path, size=size) as driven:
        await at_tree(driven)
        await driven.press("G")
        check_golden(f"{size[0]}x{size[1]}/template-tree", driven.text)
        # From the last line of the tree to the head of the list, which is folded there; then another two above it.
        await driven.press("k", "k", "k", "k", "h", "h", "k", "h", "h", "k", "k", "k", "h", "h")
        check_golden(f"{size[0]}x{size[1]}/template-tree-folded", driven.text)


@pytest.mark.exhaustive
async def test_the_tree_keeps_to_ascii_where_the_glyphs_do(tmp_path: Path) -> None:
    async with reviewing(service_with(ROW), tmp_path, settings='glyphs = "ascii"\n') as driven:
        view = await at_tree(driven)
        await driven.press("G")
        _, _, tree = shown(view).partition("Catalog row")
        assert tree.isascii()
        check_golden("120x36/template-tree-ascii", driven.text)


async def test_every_member_is_in_the_tree_and_no_terminal_acts_on_any(tmp_path: Path) -> None:
    row = {**ROW, "hostile": {entry.text: [entry.text] for entry in hostile.CORPUS}}
    async with reviewing(service_with(row), tmp_path, size=WIDE) as driven:
        view = await at_tree(driven)
        text = shown(view)
        assert all(word in text for word in ("a newer service", "evd_resolution_0005", "resolution_evidence_ref"))
        assert {unicodedata.category(character) for character in text.replace("\n", "")}.isdisjoint({"Cc", "Cf", "Cs"})
        await driven.press("G", "space", "space")
        assert driven.app.is_running


@pytest.mark.exhaustive
async def test_what_is_folded_stays_folded_on_other_records_and_after_other_screens(tmp_path: Path) -> None:
    async with reviewing(service_with(ROW), tmp_path) as driven:
        view = await at_tree(driven)
        whole = view.line_count()
        await driven.press("space")
        assert view.line_count() < whole
        await driven.shows("lines hidden")
        await driven.app.go_to("models")
        await driven.app.go_to("templates")
        again = await at_tree(driven)
        assert "publisher_id" not in shown(again)
        await driven.press("enter")
        assert "publisher_id" in shown(again)


@pytest.mark.exhaustive
@pytest.mark.parametrize("wide", [False, True], ids=["a hundred levels", "five thousand lines"])
async def test_deep_and_wide_rows_are_drawn_and_walked_through(tmp_path: Path, wide: bool) -> None:
    row: Any = {"the innermost": "value"}
    if wide:
        row = {"many": {f"member {number}": number for number in range(5_000)}, "one": 1}
    else:
        for number in range(100):
            row = {f"level {number}": row}
    async with reviewing(service_with(row), tmp_path, size=NARROW) as driven:
        view = await at_tree(driven)
        if wide:
            assert "5000 lines hidden" in shown(view), "what is very long is folded at first"
            await driven.press("down", "l")
            assert view.line_count() > 5_000
        await driven.press("G", "k", "k")
        assert "value" in shown(view) or "member 4999" in shown(view)
        before = time.process_time()
        await driven.press("h", "h", "Z", "Z")
        assert time.process_time() - before < 20, "walking and folding are quick, also on a busy machine"
