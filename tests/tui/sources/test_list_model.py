"""The rows of a list that is too long to be made, filtered and sorted in one go."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.sources import list_model
from runwatch.tui.sources.list_model import ListModel
from runwatch.view.resources.runs import RUNS
from runwatch.view.table.rows import MAX_SYNC_ROWS, build_rows_with
from tests.support.builders import run
from tests.support.scripted import ScriptedService
from tests.tui import noon
from tests.tui.console import console


async def test_a_list_too_long_for_one_go_is_sorted_in_the_background(tmp_path: Path) -> None:
    many = [run(f"ex_{number:05}", "completed", created_at=noon.at(number)) for number in range(MAX_SYNC_ROWS)]
    async with console(ScriptedService(runs=many[:90]), tmp_path, until="ex_00001") as driven:
        screen = driven.app.screen
        assert isinstance(screen, ListScreen)
        listing = screen.listing
        listing.all_rows = build_rows_with(listing.drawing, [*many, run("ex_last", "running", created_at=noon.at(5))])
        listing.update_rows(None, screen.spec.sort, 0.0)
        assert listing.is_under_way
        assert len(listing.shown_rows) == 90, "the rows of before stay until then"
        await driven.until(lambda: not listing.is_under_way, "the rows to be sorted")
        assert len(listing.shown_rows) == MAX_SYNC_ROWS + 1
        assert listing.shown_rows[0].id == "ex_last", "what is live stands first"


async def test_rows_of_the_same_value_stay_in_the_usual_order(tmp_path: Path) -> None:
    """The service lists them in another one."""
    runs = [
        run(f"ex_{at}", state, created_at=noon.at(at)) for at, state in ((2, "failed"), (3, "expired"), (1, "failed"))
    ]
    async with console(ScriptedService(runs=runs), tmp_path, until="ex_3") as driven:
        await driven.reaches("sort status", "s")
        screen = driven.app.screen
        assert isinstance(screen, ListScreen)
        assert [row.id for row in screen.listing.shown_rows] == ["ex_3", "ex_1", "ex_2"]


async def test_rows_that_take_long_are_made_again_after_a_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [run(f"ex_{number:05}", "completed", created_at=noon.at(number)) for number in range(MAX_SYNC_ROWS + 2)]
    monkeypatch.setattr(list_model, "RESTS_FROM_S", 0.0)
    monkeypatch.setattr(list_model, "REST_FACTOR", 1_000.0)
    async with console(ScriptedService(runs=many[:90]), tmp_path, until="ex_00001") as driven:
        readied: list[int] = []
        listing = ListModel(RUNS, driven.app.screen, lambda: readied.append(len(listing.all_rows)))
        listing.set_records(many[:-1])
        await driven.until(lambda: not listing.is_under_way, "the rows to be made")
        listing.set_records(many)
        assert not listing.is_under_way
        assert readied == [MAX_SYNC_ROWS + 1]
        listing._end_rest()
        assert len(readied) == 2
        listing.set_records(many)
        await driven.until(lambda: not listing.is_under_way, "the rows to be made")
        assert readied[-1] == MAX_SYNC_ROWS + 2


async def test_the_best_match_of_a_fuzzy_word_is_first_unless_a_column_was_chosen(tmp_path: Path) -> None:
    reasons = {"ex_1": "any_other_reason", "ex_2": "no_route", "ex_3": "timeout", "ex_4": "now_or"}
    runs = [run(run_id, "failed", reason=reason, created_at=noon.at(5)) for run_id, reason in reasons.items()]
    async with console(ScriptedService(runs=runs), tmp_path, until="ex_4") as driven:
        await driven.reaches("best match first", "/", *"~nor")
        screen = driven.app.screen
        assert isinstance(screen, ListScreen)
        assert [row.id for row in screen.listing.shown_rows] == ["ex_2", "ex_4", "ex_1"]
        assert screen.row is not None
        assert screen.row.id == "ex_2"
        await driven.reaches("sort", "enter", "s")
        assert "best match" not in driven.text
        assert {row.id for row in screen.listing.shown_rows} == {"ex_1", "ex_2", "ex_4"}
