"""A new resource is three edits away from its screen: its record, its specification, one line.

The first two are in :mod:`tests.support.three_edits`; the third is made for the time of a test.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.tui.app import commands
from runwatch.tui.screens.settings import settings
from runwatch.tui.widgets.panes.jump_labels import JumpLabels
from runwatch.view.resources import registry
from tests.support.hostile import ALL_AT_ONCE
from tests.support.screen import foreign_controls
from tests.support.scripted import Said
from tests.support.three_edits.spec import GADGETS
from tests.tui import noon
from tests.tui.console import Driven, console
from tests.tui.golden import check_golden
from tests.view import test_resources


@pytest.fixture(autouse=True)
def _in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third edit: one line in view/resource_index.py."""
    everything = (*registry.RESOURCES, GADGETS)
    for module in (registry, commands, settings):
        monkeypatch.setattr(module, "RESOURCES", everything)
    monkeypatch.setitem(registry._BY_NAME, GADGETS.name, GADGETS)
    monkeypatch.setitem(registry._BY_KIND, GADGETS.kind, GADGETS)


def gadget(number: int, status: str = "ready", **over: Any) -> dict[str, Any]:
    """One as the service sends it, with an undeclared member."""
    return {
        "gadget_id": f"gd_{number}", "status": status, "price_usd": number / 4, "made_at": noon.at(60 * number),
        "execution_id": noon.LIVE, "colour": "teal", **over,
    }  # fmt: skip


def service(*gadgets: dict[str, Any]) -> Any:
    made = noon.service()
    made.say("GET", "/v1/gadgets", Said(200, {"gadgets": list(gadgets), "next_cursor": None}))
    return made


async def gone_to(driven: Driven) -> None:
    """Go there as people do: by its name on the command line."""
    await driven.say("gadgets")
    await driven.comes("Gadgets   ")


async def test_it_has_a_screen_with_list_and_detail_unknown_members_last(tmp_path: Path) -> None:
    async with console(service(gadget(1), gadget(2, "broken")), tmp_path) as driven:
        await gone_to(driven)
        await driven.shows("gd_2")
        await driven.settle()
        check_golden("120x36/gadgets", driven.text)


@pytest.mark.exhaustive
async def test_it_is_filtered_by_its_own_fields_and_flags(tmp_path: Path) -> None:
    async with console(service(gadget(1), gadget(2, "broken"), gadget(3)), tmp_path, open_at="gadgets") as driven:
        await driven.comes("gd_3")
        await driven.press("slash")
        await driven.type("is:broken | price>0.7")
        await driven.shows("2 of 3")


@pytest.mark.exhaustive
async def test_its_list_is_read_while_it_is_shown_and_no_longer(tmp_path: Path) -> None:
    async with console(service(gadget(1)), tmp_path, open_at="gadgets") as driven:
        await driven.comes("gd_1")
        await driven.reaches("8f21", "1")
        read = len(driven.service.requests("GET", "/v1/gadgets"))
        await driven.pass_time(65)
        assert len(driven.service.requests("GET", "/v1/gadgets")) == read


@pytest.mark.exhaustive
async def test_it_leads_to_the_run_it_belongs_to(tmp_path: Path) -> None:
    async with console(service(gadget(1)), tmp_path, open_at="gadgets/gd_1") as driven:
        await driven.comes("Gadgets › gd_1")
        await driven.press("G", "enter")
        await driven.comes("Runs › 8f21…9b7e")


@pytest.mark.exhaustive
async def test_its_border_moves_letters_lead_to_its_link_and_its_marks_and_filter_are_undone(tmp_path: Path) -> None:
    async with console(service(gadget(1), gadget(2)), tmp_path, open_at="gadgets") as driven:
        await driven.comes("gd_2")
        detail = driven.app.screen.query_one("#detail")
        before = detail.outer_size
        await driven.press("space", "right_curly_bracket")
        await driven.until(lambda: detail.outer_size != before, "the border to move")
        await driven.filter("gd_2")
        await driven.reaches("Undone: the filter gd_2 is back", "escape", "backspace")
        await driven.reaches("Undone: filter gd_2", "backspace")
        await driven.reaches("Undone: mark of ", "backspace")
        await driven.say("open gd_1")
        await driven.press("semicolon")
        labels = driven.app.screen.query_one(JumpLabels).targets
        rows = [label for label, target in labels.items() if target.is_row]
        link = max((target.y, label) for label, target in labels.items() if label not in rows)[1]
        await driven.type(link)
        await driven.comes("8f21…9b7e  ● running")


@pytest.mark.exhaustive
async def test_a_service_without_it_says_so_and_the_other_screens_go_on(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, open_at="gadgets") as driven:
        await driven.comes("This service offers no list of gadgets.")
        await driven.press("1")
        await driven.comes("8f21")


@pytest.mark.exhaustive
async def test_hostile_values_do_nothing_on_its_screen(tmp_path: Path) -> None:
    bad = gadget(1, ALL_AT_ONCE.text, gadget_id=ALL_AT_ONCE.text, **{ALL_AT_ONCE.text: ALL_AT_ONCE.text})
    async with console(service(bad), tmp_path, open_at="gadgets") as driven:
        await driven.comes("Gadgets   1")
        await driven.press("enter", "v", "down", "escape")
        assert foreign_controls(driven.text.encode()) == []


SPEC_TESTS: Final = [
    check
    for name, check in inspect.getmembers(test_resources, inspect.isfunction)
    if name.startswith("test_") and list(inspect.signature(check).parameters) == ["spec"]
]


@pytest.mark.parametrize("check", SPEC_TESTS, ids=lambda check: check.__name__)
def test_it_passes_what_every_resource_has_to_pass(check: Any) -> None:
    check(GADGETS)


def test_there_are_tests_that_every_resource_has_to_pass() -> None:
    assert len(SPEC_TESTS) > 8


@pytest.mark.exhaustive
async def test_its_records_are_pinned_and_own_commands_run_with_them(tmp_path: Path) -> None:
    own = '[commands.show]\nrun = ["echo", "{kind}", "{id}", "{record.colour}"]\nkey = "f6"\nkinds = ["gadgets"]\n'
    async with console(service(gadget(1)), tmp_path, settings=own) as driven:
        await gone_to(driven)
        await driven.shows("gd_1")
        await driven.reaches("Pinned gadget gd_1; alt+1 goes there", "b")
        await driven.reaches("gadget gd_1 teal", "f6")
        await driven.reaches("8f21", "escape", "1")
        await driven.reaches("Gadgets › gd_1", "alt+1")
        await driven.reaches("Receipts", "2")
        await driven.say("pin: gadget gd_1")
        await driven.shows("Gadgets › gd_1")
        await driven.say("own: show")
        await driven.shows("gadget gd_1 teal")
