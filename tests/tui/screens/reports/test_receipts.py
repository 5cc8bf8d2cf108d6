"""Receipts: filtered by the service, added up in sight, compared with usage, and checked for content."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from runwatch.records.receipt import Receipt
from runwatch.tui.screens.reports.receipts import ReceiptsScreen
from runwatch.tui.sources.receipt_totals import MAX_SYNC_RECEIPTS
from runwatch.tui.sources.server_filter_source import ServerFilterSource
from runwatch.tui.widgets.lists.detail_view import DetailView
from tests.support.builders import echo_receipt, live_receipt, problem
from tests.support.scripted import Heard, Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden

MIDDLE = (120, 36)


def usage(*days: tuple[str, Any]) -> dict[str, Any]:
    """A usage report with these days, and their sum."""
    return {
        "period": {"from": days[0][0], "to": days[-1][0]},
        "totals": {"usd": sum(usd for _, usd in days)},
        "by_day": [{"date": name, "usd": usd} for name, usd in days],
    }


def service(
    receipts: Iterable[Any] | None = None, *, days: tuple[tuple[str, Any], ...] | None = None
) -> ScriptedService:
    """The ordinary noon, with a usage report that tells of these days."""
    found = noon.service() if receipts is None else noon.service(receipts=receipts)
    if days is not None:
        found.say("GET", "/v1/usage", Said(200, usage(*days)))
    return found


AGREES = (("2026-11-21", 0.1172),)
"""What the receipts of the ordinary noon add up to."""


class Picky(ScriptedService):
    """A service that lists receipts and takes no filter."""

    def _operation(self, heard: Heard) -> Said:
        if heard.head.path == "/v1/receipts" and "status" in heard.head.query:
            return Said(400, problem("validation_failed", status=400))
        return super()._operation(heard)


def screen(driven: Driven) -> ReceiptsScreen:
    found = driven.app.screen
    assert isinstance(found, ReceiptsScreen)
    return found


def asked(service: ScriptedService) -> list[dict[str, str]]:
    """The queries with which receipts were read, without those that ask for everything."""
    return [dict(heard.head.query) for heard in service.requests("GET", "/v1/receipts") if heard.head.query]


async def filtered(driven: Driven, text: str) -> None:
    await driven.filter(text)


# The service filters.


@pytest.mark.exhaustive
async def test_what_the_service_can_filter_is_sent_when_the_filter_is_kept(tmp_path: Path) -> None:
    told = service()
    async with console(told, tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await driven.reaches("PAUSED", "P")
        await driven.press("slash")
        await driven.type("status=failed arm=arm_01HX7 created<7d")
        await driven.pass_time(1)
        assert asked(told) == [], "nothing is asked for while somebody types"
        await driven.press("enter")
        await driven.comes("sent: since 7 days, status failed, arm")
        assert "PAUSED" not in driven.text, "what the service finds is not among the rows of a paused list"
        assert "created<7d  · sent to the service" in driven.lines[1]
        await driven.until(lambda: bool(asked(told)), "the service to be asked")
        assert asked(told)[0] == {"status": "failed", "arm_id": "arm_01HX7", "since": "2026-11-14T12:04:32.000Z"}


@pytest.mark.exhaustive
async def test_a_filter_that_only_the_console_knows_is_not_sent(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await filtered(driven, "check=rejected|is:test")
        await driven.shows("Receipts   1 of 6")
        await driven.pass_time(5)
        assert asked(driven.service) == []
        assert "sent to the service" not in driven.text


async def test_the_whole_list_is_kept_and_comes_back_with_escape(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await filtered(driven, "status=failed")
        await driven.comes("Receipts   2 ")
        assert len(driven.session.store.collection(driven.session.scope.profile, Receipt.KIND).by_id) == 6
        assert "list receipt" not in driven.session.live.scheduler
        await driven.press("escape")
        await driven.comes("Receipts   6")
        assert "sent to the service" not in driven.text
        assert "list receipt" in driven.session.live.scheduler
        assert not [kind for _, kind in driven.app.store._collections if " where " in kind], "nothing is left behind"


@pytest.mark.exhaustive
async def test_the_filtered_list_is_read_again_and_the_span_moves_on(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await filtered(driven, "created<7d")
        await driven.comes("sent to the service")
        await driven.until(lambda: len(asked(driven.service)) == 1, "the first read")
        await driven.pass_time(40)
        await driven.until(lambda: len(asked(driven.service)) >= 2, "the second read")
        first, second = (query["since"] for query in asked(driven.service)[:2])
        assert first < second
        await driven.press("r")
        await driven.until(lambda: len(asked(driven.service)) >= 3, "a person's own read")


@pytest.mark.exhaustive
async def test_a_filter_that_the_service_refuses_is_done_here_and_the_frame_says_so(tmp_path: Path) -> None:
    told = Picky(runs=noon.runs(), receipts=noon.receipts())
    async with console(told, tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await filtered(driven, "status=failed")
        await driven.comes("refused, filtered here: status failed")
        await driven.shows("Receipts   2 of 6", "5c9d…77aa")
        await driven.pass_time(2)
        assert len(told.requests("GET", "/v1/receipts")) < 8, "the whole list is read once more and not again and again"


@pytest.mark.exhaustive
async def test_a_filter_put_aside_is_put_aside_at_the_service_too(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await filtered(driven, "status=failed")
        await driven.comes("Receipts   2 ")
        await driven.press("backslash")
        await driven.comes("Receipts   6")
        assert not isinstance(screen(driven)._source, ServerFilterSource)
        await driven.press("backslash")
        await driven.comes("Receipts   2 ")


@pytest.mark.exhaustive
async def test_leaving_the_screen_ends_the_reading_of_the_filtered_list(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await filtered(driven, "status=failed")
        await driven.comes("Receipts   2 ")
        jobs = driven.session.live.scheduler._jobs
        assert "list receipt where status=failed" in jobs
        await driven.reaches("Credential references", "8")
        assert not [job for job in jobs if "where" in job]


# What they add up to.


async def test_the_frame_adds_up_what_is_shown(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.shows("spend 0.1172 USD")
        await filtered(driven, "model:atlas")
        await driven.shows("spend 0.0642 USD")


@pytest.mark.exhaustive
async def test_many_receipts_are_added_up_in_the_background(tmp_path: Path) -> None:
    many = [live_receipt(f"ex_{number:05}") for number in range(MAX_SYNC_RECEIPTS + 300)]
    async with console(service(many), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.shows("spend 51.36 USD")
        await filtered(driven, "run:ex_0000")
        await driven.shows("spend 0.642 USD")


async def test_the_sums_are_by_day_and_by_model_and_lead_to_their_receipts(tmp_path: Path) -> None:
    days = [
        live_receipt(f"ex_{day}", completed_at=f"2026-11-{day}T10:00:00Z", created_at=f"2026-11-{day}T09:59:00Z")
        for day in (18, 19, 20)
    ]
    async with console(service(days), tmp_path, size=WIDE, open_at="receipts", until="Receipts   3") as driven:
        await driven.reaches("Spend by day (UTC)", "dollar_sign")
        assert "Spend by model" in driven.text
        assert "platform fee" in driven.text
        assert "0.1926 USD in 3 receipts" in driven.text
        for _ in range(5):
            await driven.press("down")
        await driven.reaches("filter completed>=2026-11-20 completed<2026-11-21", "enter")
        await driven.shows("Receipts   1 of 3", "0.0642 USD in 1 receipt")
        await driven.reaches("Receipts hold neither prompt nor output.", "dollar_sign")


async def test_the_receipts_and_the_usage_report_agree(tmp_path: Path) -> None:
    async with console(service(days=AGREES), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.shows("✓ agrees: 0.1172 USD, of 2026-11-21 (UTC)")
        query = driven.service.requests("GET", "/v1/usage")[0].head.query
        assert dict(query) == {"from": "2026-11-21", "to": "2026-11-21"}
        await driven.reaches("agrees: 0.1172 USD", "dollar_sign")

        def asked_by(*keys: str) -> list[str]:
            return [heard.head.path for heard in driven.service.heard[len(before) :] if heard.head.path in keys]

        before = list(driven.service.heard)
        await driven.press("r")
        await driven.until(lambda: len(asked_by("/v1/receipts", "/v1/usage")) == 2, "both reads")
        assert asked_by("/v1/receipts", "/v1/usage")[0] == "/v1/receipts", "the list comes before the report"
        await driven.press("$")
        before = list(driven.service.heard)
        await driven.press("r")
        await driven.until(lambda: bool(asked_by("/v1/receipts")), "the list to be read")
        await driven.settle()
        assert asked_by("/v1/usage") == [], "the report is compared with what is not shown"


@pytest.mark.exhaustive
async def test_the_hints_are_those_of_the_pane_with_the_focus(tmp_path: Path) -> None:
    async with console(service(days=AGREES), tmp_path, size=MIDDLE, open_at="receipts") as driven:
        await driven.shows("spend 0.1172 USD", "enter open  / filter", "space mark")
        await driven.reaches("esc list  / filter", "tab")
        assert "space mark" not in driven.text
        await driven.reaches("$ receipt  esc list", "dollar_sign")
        assert "enter filter by it" not in driven.text, "the sum opens nothing"
        await driven.reaches("v has no use here", "v")
        await driven.reaches("D has no use here", "D")
        await driven.reaches("Nothing to pin here", "b")
        await driven.reaches("value under the cursor", "down", "y")
        assert driven.app.console_screen.key_help("screen.spend").startswith("Show the receipt")
        await driven.reaches("space mark", "tab")
        assert "$ receipt" in driven.text


@pytest.mark.exhaustive
async def test_receipts_that_were_never_read_have_no_sum(tmp_path: Path) -> None:
    broken = service()
    broken.say("GET", "/v1/receipts", Said(500, problem("internal_error")))
    async with console(broken, tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.comes("error 500")
        await driven.press("dollar_sign")
        await driven.comes(re.compile("━ Spend ━.*Nothing is read yet", re.DOTALL))
        assert "0.00 USD" not in driven.text


async def test_without_a_receipt_the_totals_say_so(tmp_path: Path) -> None:
    async with console(ScriptedService(), tmp_path, size=NARROW, open_at="receipts") as driven:
        await driven.comes("spend 0.00 USD")
        await driven.reaches("not compared: there is no receipt", "dollar_sign")
        assert "filter by it" not in driven.text
        assert driven.lines[1].strip() == "Receipts › Spend"
        assert "updated just now" in driven.text
        assert "$ receipt" not in driven.text
        await driven.press("dollar_sign")
        await driven.until(lambda: driven.lines[1].strip() == "Receipts", "the list to be there again")
        assert "nothing selected" not in driven.text


async def test_a_difference_from_the_usage_report_is_told_to_the_digit(tmp_path: Path) -> None:
    async with console(service(days=(("2026-11-21", 0.12),)), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.shows("✗ differs by 0.0028 USD: usage 0.12, receipts 0.1172")


@pytest.mark.exhaustive
async def test_usage_that_is_older_than_a_new_receipt_does_not_differ_yet(tmp_path: Path) -> None:
    async with console(service(days=AGREES), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.comes("✓ agrees: 0.1172 USD")
        costly = next(receipt for receipt in driven.service.receipts if receipt["totals"]["usd"])
        driven.service.receipts.append(dict(costly, execution_id="ex_new"))
        await driven.comes("not compared: usage 0.1172 and receipts", within_s=50)


@pytest.mark.exhaustive
async def test_a_filter_does_not_change_what_is_compared(tmp_path: Path) -> None:
    async with console(service(days=AGREES), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.comes("agrees: 0.1172 USD")
        await filtered(driven, "status=completed model:atlas")
        await driven.comes("spend 0.0642 USD")
        await driven.shows("agrees: 0.1172 USD")


async def test_a_service_without_usage_reports_is_no_failure_of_the_screen(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.comes(re.compile("usage +not compared: "))
        assert "Receipts   6" in driven.text


# One receipt.


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (noon.TEST, "test run · no verdict"),
        (noon.DONE, "your check accepted the output  0.86"),
        (noon.CANCELLED, "output seen, correctness not"),
        (noon.EXPIRED, "ended before any check"),
    ],
)
async def test_a_verdict_a_technical_failure_and_no_check_are_never_confused(
    tmp_path: Path, key: str, words: str
) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at=f"receipts/{key}") as driven:
        await driven.shows(words)
        others = {"test run · no verdict", "your check accepted", "output seen, correctness", "ended before any check"}
        assert [word for word in others if word in driven.text] == [word for word in others if words.startswith(word)]


async def test_an_attempt_that_failed_for_a_technical_reason_names_the_class(tmp_path: Path) -> None:
    check = {"activity": "customer", "outcome": "technical_failure", "failure_class": "timeout", "arm_id": "arm_1"}
    part = {**live_receipt().raw["slices"][0], "verification_checks": [check], "recorded_check": None}
    async with console(service([live_receipt(slices=[part])]), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.shows("1 ◷ no verdict timeout arm_1")


async def test_a_member_that_looks_like_content_is_flagged(tmp_path: Path) -> None:
    leaky = live_receipt(noon.DONE, output="The notes say that nothing has changed.")
    async with console(service([leaky, echo_receipt()]), tmp_path, size=WIDE, open_at="receipts") as driven:
        await driven.shows("Receipts   2")
        await filtered(driven, "is:content")
        await driven.shows("Receipts   1 of 2", "Looks like content")
        await driven.shows("output  39 characters", "Receipts hold neither prompt nor output.")


async def test_a_receipt_leads_to_its_run_its_saved_model_its_check_and_its_model(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at=f"receipts/{noon.DONE}", until="3fd2") as driven:
        for label in ("status", "selected", "checked by", "requested"):
            assert any(re.search(f"{label} +.*›", row) for row in driven.lines), label
        await driven.reaches("connection", "enter", "G")
        for label in ("run", "arm", "check", "model", "described by", "connection"):
            assert any(re.search(f"{label} +.*›", row) for row in driven.lines), label
        await driven.reaches("Saved models", "up", "up", "up", "up", "enter")


@pytest.mark.exhaustive
async def test_dates_name_their_source(tmp_path: Path) -> None:
    undated = live_receipt(noon.DONE, created_at=None, completed_at=None)
    async with console(
        service([undated, echo_receipt()]), tmp_path, size=WIDE, open_at=f"receipts/{noon.DONE}"
    ) as driven:
        await driven.shows("6m ago, from the run")
        await driven.shows("completed_at   not before 2026-11-20T10:05:00.000Z (1d ago), its last")


@pytest.mark.exhaustive
async def test_the_spend_is_plotted_for_the_width_at_which_it_is_shown(tmp_path: Path) -> None:
    """A narrow window hides the detail, which then keeps the width of an earlier layout."""
    async with console(service(days=AGREES), tmp_path, size=NARROW, open_at="receipts") as driven:
        await driven.shows("spend 0.1172 USD")
        await driven.press("dollar_sign")
        for columns, bar_cells in ((80, 38), (95, 53)):
            await driven.pilot.resize_terminal(columns, 24)
            await driven.shows(re.compile(rf"2026-11-21   █{{{bar_cells}}}  0\.1172  6 receipts   ›"))
        assert driven.lines[1].strip() == "Receipts › Spend"


@pytest.mark.exhaustive
async def test_the_spend_beside_the_list_has_half_of_the_window_and_a_receipt_what_the_list_leaves(
    tmp_path: Path,
) -> None:
    async with console(service(days=AGREES), tmp_path, size=MIDDLE, open_at="receipts") as driven:
        await driven.shows("spend 0.1172 USD")
        detail = driven.app.screen.query_one("#detail")

        async def has(columns: int) -> None:
            await driven.until(lambda: detail.outer_size.width == columns, f"{columns} columns")

        for key, columns in (("vertical_line", 44), ("dollar_sign", 60), ("dollar_sign", 44), ("dollar_sign", 60)):
            await driven.press(key)
            await has(columns)
        await driven.press("escape")
        await has(44)


@pytest.mark.exhaustive
async def test_the_plotted_spend_is_reached_with_down_and_its_keys_are_hints(tmp_path: Path) -> None:
    receipts = [echo_receipt(f"ex_{day}", completed_at=f"2026-11-{day}T12:00:00Z") for day in range(11, 19)]
    async with console(service(receipts, days=AGREES), tmp_path, size=MIDDLE, open_at="receipts") as driven:
        await driven.shows("ex_11")
        await driven.press("dollar_sign")
        await driven.until(lambda: isinstance(driven.focused, DetailView), "the totals to have the focus")
        assert "day before" not in driven.text, "these keys fold here"
        await driven.reaches("day before", *["down"] * 7)
        await driven.reaches(re.compile("2026-11-17  0.*▲|▲ 2026-11-17"), "left")


# As the user sees it.


@pytest.mark.parametrize("size", [NARROW, MIDDLE], ids=["80x24", "120x36"])
async def test_the_screen_looks_as_it_was_looked_at(tmp_path: Path, size: tuple[int, int]) -> None:
    name = f"{size[0]}x{size[1]}/receipts"
    async with console(service(days=AGREES), tmp_path, size=size, open_at="receipts") as driven:
        await driven.shows("spend 0.1172 USD")
        await driven.select(noon.DONE)
        await driven.press("enter")
        await driven.comes("neither prompt nor output")
        await driven.pass_time(2)
        check_golden(f"{name}-detail", driven.text)
        await driven.reaches("Spend by model", "dollar_sign")
        await driven.shows("agrees: 0.1172 USD")
        check_golden(f"{name}-spend", driven.text)


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [NARROW, MIDDLE], ids=["80x24", "120x36"])
async def test_a_filter_at_work_looks_as_it_was_looked_at(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(service(days=AGREES), tmp_path, size=size, open_at="receipts") as driven:
        await driven.shows("spend 0.1172 USD")
        await filtered(driven, "status=failed created<7d")
        await driven.comes("spend 0.00 USD")
        await driven.comes("Receipts   2 ")
        await driven.pass_time(2)
        check_golden(f"{size[0]}x{size[1]}/receipts-filtered", driven.text)
