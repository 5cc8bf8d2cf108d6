"""Which columns a list has at which width: wider shows more, and none comes or goes while one scrolls or labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.json import loads
from runwatch.tui.widgets.lists.event_log import EventLog
from tests.support import resources
from tests.support.builders import live_receipt, problem, run
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import Driven, console
from tests.tui.noon import at

SIZES = [(80, 24), (100, 30), (120, 36), (200, 50)]
NEEDED = {"status", "run", "reason", "model", "cost", "started", "took"}


def service() -> ScriptedService:
    facts: dict[str, Any] = {"reason": "dispatch_network_error", "policy": {"data_classes": ["tenant_internal"]}}
    ended = [run(f"ex_01HXE{number:021}", "failed", **facts) for number in range(150)]
    return ScriptedService(
        runs=[run("ex_live"), *ended], receipts=[live_receipt(one.id) for one in ended], account=None
    )


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_list_of_runs_says_what_matters_at_every_width_and_models_come_unasked(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with console(service(), tmp_path, size=size) as driven:
        await driven.comes("atlas-12b")
        await driven.shows("dispatch_network_" + "error" * (size[0] > 80))
        before = driven.table.shown_columns
        assert set(before) >= NEEDED
        await driven.press("end")
        assert driven.table.shown_columns == before
        await driven.press("home", "down", "i")
        await driven.type("nightly")
        await driven.press("enter")
        await driven.comes("nigh")
        assert driven.table.shown_columns == before


async def test_a_filter_that_leaves_the_same_rows_moves_no_column(tmp_path: Path) -> None:
    """A number that is scrolled to has widened its column."""
    runs = [
        run(f"ex_{number:03}", spend_usd=10**8 if number == 149 else 1, created_at=at(number)) for number in range(150)
    ]
    async with console(ScriptedService(runs=runs, account=None), tmp_path, size=SIZES[0]) as driven:
        await driven.shows("ex_000")
        await driven.reaches("100000000", "end")
        await driven.reaches("ex_000", "home")
        before = columns_at(driven)
        await driven.press("slash")
        assert columns_at(driven) == before
        await driven.type("ex_")
        await driven.shows("filter ex_")
        assert columns_at(driven) == before


@pytest.mark.exhaustive
async def test_at_80_columns_a_long_reason_leaves_models_and_short_ids(tmp_path: Path) -> None:
    models = ("cedar-standard", "claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929")
    reason = "needs_review · sources_without_verdict"
    runs = [
        run(f"ex_01HXE{number:021}", "failed", reason=reason, current={"model_key": f"acme/{model}"})
        for number, model in enumerate(models)
    ]
    async with console(ScriptedService(runs=runs, account=None), tmp_path, size=SIZES[0]) as driven:
        await driven.shows("cedar-standard", "claude-opus-4-5…", "ex_…0002 needs_review · so… claude-sonnet-4…")
        assert set(driven.table.shown_columns) == NEEDED
        await driven.press("t")
        await driven.shows("Times are shown as local")
        assert set(driven.table.shown_columns) == NEEDED, "a whole time takes no column away"


@pytest.mark.exhaustive
async def test_a_wider_window_has_every_column_of_a_narrower_one_and_whole_ids(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZES[0]) as driven:
        await driven.comes("atlas-12b")
        shown: set[str] = set()
        for size in (*SIZES, (300, 50)):
            await driven.pilot.resize_terminal(*size)
            await driven.until(lambda: len(driven.lines[2]) == driven.app.size.width, "the window to be drawn")
            if size[0] >= 120:
                await driven.shows("ex_01HXE" + "0" * 21)
            assert shown <= set(driven.table.shown_columns)
            shown = set(driven.table.shown_columns)
        assert shown >= {"provider", "class"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("zeros", "reason", "cells"), [(21, "no_arm", 76), (27, "a_reason_of_as_many_cells_as_may_be_here", 200)]
)
async def test_a_detail_has_the_room_that_its_list_does_not_need(
    tmp_path: Path, zeros: int, reason: str, cells: int
) -> None:
    """Where that is too little, it is below the list."""
    receipt = live_receipt(f"ex_01HXE{'0' * zeros}", reason=reason)
    offered = ScriptedService(runs=[run(receipt.id)], receipts=[receipt], account=None)
    async with console(offered, tmp_path, size=SIZES[-1], open_at="receipts") as driven:
        await driven.comes("atlas-12b")
        detail = driven.app.screen.query_one("#detail")
        await driven.until(lambda: detail.outer_size.width == cells, f"a detail of {cells} cells")


@pytest.mark.exhaustive
async def test_proposals_say_the_name_of_their_saved_model_and_are_found_by_it(tmp_path: Path) -> None:
    offered = service()
    shown = [
        resources.proposal("prop_1", arm_id="arm_1"),
        resources.proposal("prop_2", arm_id="arm_unknown_0123456789"),
    ]
    offered.say("GET", "/v1/proposals", Said(200, {"proposals": [dict(one.raw) for one in shown], "next_cursor": None}))
    arms = [dict(resources.arm("arm_1", display_name="Release notes").raw)]
    offered.say("GET", "/v1/arms", Said(200, {"arms": arms, "next_cursor": None}))
    async with console(offered, tmp_path, size=SIZES[0], open_at="proposals") as driven:
        await driven.comes("Release notes")
        await driven.shows("arm_…6789")
        for filter in ("Release", "arm:release", "/Release n/", "arm=arm_1"):
            await driven.filter(filter)
            await driven.until(lambda: [row.key for row in driven.table.rows] == ["prop_1"], f"what {filter} finds")
        await driven.press("enter")
        await driven.shows("arm_1")


@pytest.mark.exhaustive
async def test_a_wider_window_never_has_narrower_lines_of_events(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=(120, 36), until="Summary") as driven:
        widths = [cells_of_events(driven)]
        for width in (199, 200, 299, 300, 400):
            await driven.pilot.resize_terminal(width, 50)
            await driven.until(lambda: len(driven.lines[2]) == driven.app.size.width, "the window to be drawn")
            widths.append(cells_of_events(driven))
        at_120, *wider = widths
        assert all(cells >= at_120 for cells in wider), widths
        assert driven.app.screen.query_one("#list").region.right == 280, "from 300 on they are beside the list"


def columns_at(driven: Driven) -> list[tuple[str, int]]:
    """The columns of the list, and where each begins."""
    return [(placed.column.id, placed.start) for placed in driven.table._scroll.placed]


def cells_of_events(driven: Driven) -> int:
    return driven.app.screen.query_one(EventLog).cells


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_problems_say_time_status_and_path_at_every_width(tmp_path: Path, size: tuple[int, int]) -> None:
    refusing = service()
    refusing.say("GET", "/v1/account", Said(403, problem("permission_denied")))
    async with console(refusing, tmp_path, size=size, open_at="problems") as driven:
        await driven.comes("GET /v1/account")
        assert set(driven.table.shown_columns) >= {"time", "code", "http", "request", "instance"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", SIZES[:2])
async def test_a_long_reason_that_is_scrolled_to_or_sorted_up_cuts_no_id(tmp_path: Path, size: tuple[int, int]) -> None:
    shown = [run(f"ex_01HXE{number:021}", created_at=f"2026-11-21T11:{59 - number}:00Z") for number in range(40)]
    reason = "needs_review_of_sources_without_verdict"
    rest = [
        run(f"ex_02HXE{number:021}", "failed", reason=reason, created_at="2026-11-01T00:00:00Z") for number in range(80)
    ]
    async with console(ScriptedService(runs=[*shown, *rest], account=None), tmp_path, size=size) as driven:
        await driven.comes("…0003 " if size[0] < 100 else shown[3].id)
        head = driven.lines[3]
        await driven.press("end")
        await driven.comes("needs_review_of_")
        await driven.shows("…0079 " if size[0] < 100 else rest[-1].id)
        assert driven.lines[3] == head
        await driven.press("home")
        await driven.hides("needs_review_of_")
        assert driven.lines[3] == head
        await driven.press("s", "s", "s", "home")
        await driven.shows("sort why ▲", "needs_review_of_")
        await driven.shows("…0000 " if size[0] < 100 else rest[0].id)
        assert driven.lines[3].replace(" ▲", "  ") == head


async def test_a_label_without_room_for_the_id_behind_it_has_both_in_the_frame_at_the_cursor(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZES[0]) as driven:
        await driven.comes("dispatch_network_")
        head, frame = driven.lines[3], driven.lines[2]
        await driven.press("down", "i")
        await driven.type("nightly batch")
        await driven.press("enter")
        await driven.comes(re.compile(r"✗ block +nightly… "))
        row_id = driven.table.cursor_key
        await driven.shows(f"━ nightly batch ex_…{str(row_id)[-4:]}  live first, newest first ━")
        assert driven.lines[3] == head, "no column moves"
        await driven.press("down")
        await driven.hides("nightly batch")
        assert driven.lines[2] == frame, "a row without a label shows its id"


async def test_receipts_say_outcome_reason_and_model_whole_in_80_columns_and_the_check_by_its_sign(
    tmp_path: Path,
) -> None:
    failed = {"recorded_check": {"state": "customer_unavailable"}, "slice_id": "sl_1"}
    little = {"usd": loads("0.00002"), "platform_fee_usd": 0}
    receipts = [
        live_receipt(f"ex_01HXE{0:021}", slices=[failed], totals=little),
        live_receipt(
            f"ex_01HXE{1:021}", reason="dispatch_internal_error", decision_packet={"verdict": "no_verdict"}
        ),
    ]  # fmt: skip
    async with console(ScriptedService(receipts=receipts, account=None), tmp_path, size=SIZES[0]) as driven:
        await driven.press("2")
        await driven.comes("dispatch_internal_error ")
        await driven.shows("no verdict ", "ex_…0001 ", "atlas-12b ", "– ", "spend ✓ created", "<0.0001 ◷ ", "0.0642 ✓ ")
        await driven.press("W", *"lll")
        await driven.shows("check", "◷ no verdict", "✓ 0.86")


@pytest.mark.exhaustive
async def test_names_of_models_are_whole_at_80_columns_before_others_have_room_and_else_lose_their_middle(
    tmp_path: Path,
) -> None:
    offered = service()
    names = ["hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", f"{'a' * 40}{'b' * 40}"]
    made = [dict(resources.catalog_entry(f"mdep_{name[0]}", model={"model_key": name}).raw) for name in names]
    offered.say("GET", "/v1/model-catalog", Said(200, {"models": made, "next_cursor": None}))
    async with console(offered, tmp_path, size=SIZES[0], open_at="models") as driven:
        await driven.shows(f"{names[0]} ", "aa…bb", "standing")
        assert "northwind" not in driven.text.split("Models   2")[1].split("updated")[0]


@pytest.mark.exhaustive
async def test_what_a_model_can_do_is_whole_where_the_row_has_room(tmp_path: Path) -> None:
    can = ["text.generate", "text.summarize", "code.review"]
    offered = service()
    models = [dict(resources.definition("river/river-pro", capabilities=can).raw)]
    offered.say("GET", "/v1/model-definitions", Said(200, {"models": models, "next_cursor": None}))
    async with console(offered, tmp_path, size=SIZES[2], open_at="definitions") as driven:
        await driven.shows("river/river-pro")
        row = next(row for row in driven.lines if "▸ river/river-pro" in row)
        assert "text.generate, text.summarize, code.review" in row
