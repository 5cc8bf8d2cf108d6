"""Facets above the catalog and the saved models: counts that are filters of one key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runwatch.tui.screens.base import facet_menu
from tests.support import resources
from tests.support.builders import run
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden


def service() -> ScriptedService:
    """A service with two lanes in its catalog, and saved models on two pages."""
    made = noon.service()
    models = [
        *resources.LISTS["model"](),
        resources.catalog_entry("mdep_03", connection={"access_lane": "millwork_pool", "connection_id": None}),
    ]
    arms = [dict(arm.raw) for arm in resources.LISTS["arm"]()]
    made.say("GET", "/v1/model-catalog", Said(200, {"models": [dict(model.raw) for model in models]}))
    made.say("GET", "/v1/arms", Said(200, {"arms": arms, "next_cursor": None}))
    return made


async def came(driven: Driven, screen: str) -> None:
    """Go to a screen and wait for its rows."""
    await driven.app.go_to(screen)
    for _ in range(20):
        if driven.table.rows:
            return
        await driven.pass_time(0.5)
    raise AssertionError(driven.text)


async def test_rows_are_counted_above_them_and_lead_to_what_uses_them(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE) as driven:
        await came(driven, "models")
        await driven.comes("Used by")
        await driven.pass_time(2)
        check_golden("160x50/models-facets", driven.text)
        await came(driven, "arms")
        await driven.shows("kind: model 2 agent 1")
        await driven.click_text("agent 1")
        await driven.shows("filter kind=agent")
        assert len(driven.table.rows) == 1
        await driven.press("escape")
        await came(driven, "arms")
        await driven.press("enter")
        await driven.reaches("filter arm=arm_01HX8", "down", "enter")
        await driven.shows("Runs")


async def test_a_facet_is_a_filter_of_one_key_and_goes_the_same_way(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await came(driven, "models")
        await driven.shows("lane: byok 2 millwork_pool 1")
        await driven.reaches("Keep the rows with", "F")
        await driven.reaches("filter lane=millwork_pool", "down", "enter")
        assert len(driven.table.rows) == 1
        await driven.reaches("on; removes it", "F")
        await driven.press("down", "enter")
        await driven.until(lambda: len(driven.table.rows) == 3, "all rows")


@pytest.mark.exhaustive
async def test_a_counted_word_that_no_row_says_names_the_filter_that_finds_it(tmp_path: Path) -> None:
    made = service()
    models = [
        resources.catalog_entry(f"mdep_{number}", model={"release_license": {"identifier": "unknown"}})
        for number in range(2)
    ]
    made.say("GET", "/v1/model-catalog", Said(200, {"models": [dict(model.raw) for model in models]}))
    async with console(made, tmp_path, size=WIDE) as driven:
        await came(driven, "models")
        await driven.shows("licence: unknown 2")
        await driven.press("slash")
        await driven.type("unknown")
        await driven.shows("0 of 2 match unknown", "licence=unknown finds 2")


@pytest.mark.exhaustive
async def test_equal_names_end_with_their_ids_and_a_reason_of_the_route_follows_its_word(tmp_path: Path) -> None:
    made, route = service(), {"status": "deprecated", "reason": "provider_deprecated", "since": None, "until": None}
    arms = [
        resources.arm("arm_01HX700AAAA", display_name="A name of thirty-six characters, two"),
        resources.arm("arm_01HX700BBBB", display_name="A name of thirty-six characters, two"),
        resources.arm("arm_01HX700CCCC", display_name="Alone", route_availability=route),
    ]
    made.say("GET", "/v1/arms", Said(200, {"arms": [dict(arm.raw) for arm in arms], "next_cursor": None}))
    async with console(made, tmp_path, size=NARROW) as driven:
        await came(driven, "arms")
        await driven.shows(re.compile(r"A name of \S+… · arm_…AAAA "), re.compile(r"A name of \S+… · arm_…BBBB "))
        await driven.shows(re.compile(r"Alone +deprecated: "))


async def test_runs_and_receipts_have_facets_without_a_line_above_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facet_menu, "MAX_COUNTED_ROWS", 2)
    monkeypatch.setattr(facet_menu, "MAX_VALUES", 1)
    async with console(service(), tmp_path, size=(120, 44), until="8f21") as driven:
        await driven.reaches("Keep the rows with (counted in the first 2)", "F")
        await driven.shows("status     ● queued", "1 more", "/ status=VALUE filters by one of them")
        await driven.reaches("filter status=queued", "enter")
        assert len(driven.table.rows) == 1
        await came(driven, "receipts")
        await driven.reaches("Keep the rows with", "F")
        await driven.shows("check ")


@pytest.mark.exhaustive
async def test_counts_of_facets_are_right_aligned(tmp_path: Path) -> None:
    runs = [run(f"ex_{number}", "completed" if number else "failed") for number in range(11)]
    async with console(ScriptedService(runs=runs), tmp_path, open_at="runs") as driven:
        await driven.shows("ex_10")
        await driven.reaches("Keep the rows with", "F")
        values = ("✓ completed", "✗ failed")
        done, failed = (next(row for row in driven.lines if re.search(f"status +{value} ", row)) for value in values)
        assert done.index("10") + 1 == failed.index("1 ")


@pytest.mark.exhaustive
async def test_without_rows_there_is_nothing_to_choose(tmp_path: Path) -> None:
    empty = noon.service()
    empty.say("GET", "/v1/arms", Said(200, {"arms": [], "next_cursor": None}))
    async with console(empty, tmp_path) as driven:
        await driven.press("4")
        await driven.comes("Nothing is saved yet")
        await driven.reaches("No rows to count.", "F")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "record_id"), [("arm", "arm_01HX7")])
async def test_an_entry_leads_to_what_was_saved_of_it(tmp_path: Path, kind: str, record_id: str) -> None:
    async with console(service(), tmp_path, size=WIDE) as driven:
        await came(driven, "models")
        await driven.comes("Used by")
        await driven.press("down", "enter")
        await driven.pass_time(1)
        view = driven.app.screen.query_one("#fields")
        targets = [row.target for row in view._rows if row.target is not None]  # type: ignore[attr-defined]
        assert (kind, record_id) in targets
