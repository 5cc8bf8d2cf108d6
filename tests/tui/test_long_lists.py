"""A list that is longer than its polled part goes on at its end, and for a filter."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.sources.list_model import FILTER_AGAIN_S
from tests.support.builders import account, run
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import console
from tests.tui.noon import at


def many(failed: int) -> ScriptedService:
    """A service with 450 runs, of which one has failed."""
    return ScriptedService(
        runs=[
            run(f"ex_{number:04}", "failed" if number == failed else "completed", created_at=at(60 + number))
            for number in range(450)
        ],
        account=account(),
    )


async def test_the_last_row_reads_one_page_and_the_end_key_all(tmp_path: Path) -> None:
    async with console(many(failed=0), tmp_path, open_at="runs") as driven:
        await driven.shows("100 so far")
        await driven.press("pagedown", "pagedown", "pagedown", "pagedown", "pagedown", "pagedown", "pagedown")
        await driven.comes("200 so far")
        await driven.press("G")
        await driven.comes("Runs   450 ")
        await driven.comes("▸ ✓ completed  ex_0449")


async def test_a_filter_looks_in_the_rest_of_the_list(tmp_path: Path) -> None:
    async with console(many(failed=420), tmp_path, open_at="runs") as driven:
        await driven.shows("100 so far")
        await driven.press("/", *"status:failed")
        await driven.comes("0 of 100 read · service has more")
        await driven.press("enter")
        await driven.comes("1 of 450 ")
        await driven.comes("▸ ✗ failed")
        screen = driven.app.screen
        assert isinstance(screen, ListScreen)
        listing, sort = screen.listing, screen.spec.sort
        await driven.until(lambda: not listing.is_under_way, "the search to end")
        ages_since = driven.clock.monotonic() // FILTER_AGAIN_S * FILTER_AGAIN_S
        listing.update_rows(screen._query, sort, ages_since + 0.9 * FILTER_AGAIN_S)
        assert not listing.is_under_way, "a long list is not searched again every second"


@pytest.mark.exhaustive
async def test_esc_stops_reading_on_before_it_clears_the_filter(tmp_path: Path) -> None:
    service = many(failed=0)
    async with console(service, tmp_path, open_at="runs") as driven:
        await driven.shows("100 so far")
        service.say("GET", "/v1/executions", Said(502, b"<html>gone</html>", content_type="text/html"))
        await driven.reaches("reading on, esc stops", "/", *"status:failed", "enter")
        await driven.press("escape")
        await driven.hides("reading on")
        await driven.shows("1 of 100 read")
        await driven.reaches("100 so far", "escape")


async def test_a_gap_between_two_rows_is_named_and_read_where_the_cursor_gets_to_it(tmp_path: Path) -> None:
    runs = [run(f"ex_{number:04}", "completed", created_at=at(60 + number)) for number in range(450)]
    service = ScriptedService(runs=runs, account=account(quota=None))
    async with console(service, tmp_path, open_at="runs") as driven:
        await driven.shows("100 so far")
        new = [run(f"ex_new{number:04}", "completed", created_at=at(number / 60)) for number in range(3_000)]
        service.runs[:0] = [dict(one.raw) for one in new]
        await driven.comes("some are missing, G reads them")
        screen = driven.app.screen
        assert isinstance(screen, ListScreen)
        (rest,) = screen.continuations()
        await driven.until(lambda: rest.gap_after in {row.key for row in screen.table.rows}, "the rows to be there")
        screen.table.select(rest.gap_after)
        await driven.hides("some are missing")
        await driven.comes("3,100 so far")
        assert not rest.has_gap
