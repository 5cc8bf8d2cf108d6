"""Account and usage in one place: periods by key, plots, ways to lists, and every state of a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.reports.usage import UsageScreen
from runwatch.view.reports.period import SHORT_PERIOD_HINT
from tests.support import resources
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden


def usage(**over: Any) -> dict[str, Any]:
    """A week of usage that the report sums up."""
    days = [("2026-11-15", 0.2, 4), ("2026-11-16", 0.0, 1), ("2026-11-18", 0.31, 9), ("2026-11-21", 0.0812, 3)]
    told = {
        "period": {"from": "2026-11-15", "to": "2026-11-21"},
        "by_day": [
            {"date": day, "executions": runs, "platform_usd": 0, "passthrough_usd": usd, "usd": usd}
            for day, usd, runs in days
        ],
        "by_arm": [
            {"arm_id": "arm_01HX7", "selected_count": 30, "fallback_count": 0, "usd": 0.4},
            {"arm_id": "arm_01HX8", "selected_count": 4, "fallback_count": 4, "usd": 0.12},
        ],
    }
    return {**resources.usage().raw, **told, **over}


def service(**said: Said) -> ScriptedService:
    """A service with reports; ``said`` answers other things in place of ``usage``, ``evals`` and ``compliance``."""
    made = noon.service()
    paths: Mapping[str, tuple[str, Any]] = {
        "usage": ("/v1/usage", usage()),
        "evals": ("/v1/eval-summary", resources.eval_summary()),
        "arms": ("/v1/arms", {"arms": resources.LISTS["arm"](), "next_cursor": None}),
        "keys": ("/v1/api-keys", {"api_keys": resources.LISTS["api_key"]()}),
        "verifiers": ("/v1/verifiers", {"verifiers": resources.LISTS["verifier"](), "next_cursor": None}),
    }
    for name, (path, value) in paths.items():
        made.say("GET", path, said.get(name, Said(200, _plain(value))))
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return dict(value.raw) if hasattr(value, "raw") else value


async def opened(driven: Driven) -> None:
    """Wait until both reports and the names are there."""
    await driven.comes("Spend by saved model")
    await driven.comes("Ember 7B")
    await driven.settle()


@pytest.mark.parametrize("size", [NARROW, (120, 36), WIDE], ids=lambda size: "x".join(map(str, size)))
async def test_what_is_left_and_what_was_used_stand_in_one_place(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(service(), tmp_path, size=size) as driven:
        await driven.press("U")
        assert isinstance(driven.app.screen, UsageScreen)
        await driven.comes("Used")
        await driven.pass_time(3)
        check_golden(f"{size[0]}x{size[1]}/usage", driven.text)


@pytest.mark.exhaustive
async def test_a_long_period_is_plotted_by_day_and_the_checks_have_their_trend(tmp_path: Path) -> None:
    asked = service(usage=Said(200, usage(period={"from": "2026-10-23", "to": "2026-11-21"})))
    async with console(asked, tmp_path, size=WIDE) as driven:
        await driven.press("U")
        await opened(driven)
        await driven.press("greater_than_sign", "z")
        await driven.comes("Output checks, pass rate by day")
        await driven.pass_time(3)
        check_golden("160x50/usage-30-days", driven.text)


def with_days() -> ScriptedService:
    days = [
        {"date": f"2026-11-{day:02}", "executions": day, "platform_usd": 1, "passthrough_usd": day, "usd": day + 1}
        for day in range(1, 22)
        if day != 2
    ]
    return service(usage=Said(200, usage(period={"from": "2026-11-01", "to": "2026-11-21"}, by_day=days)))


async def test_the_account_is_read_with_the_report_that_counts_the_same_runs(tmp_path: Path) -> None:
    told = service()
    async with console(told, tmp_path) as driven:
        await driven.pass_time(30)
        before = len(told.requests("GET", "/v1/account"))
        await driven.press("U")
        await opened(driven)
        await driven.pass_time(2)
        assert len(told.requests("GET", "/v1/account")) == before + 1
        await driven.press("greater_than_sign")
        await driven.comes("2026-10-23 to 2026-11-21")
        await driven.pass_time(2)
        assert len(told.requests("GET", "/v1/account")) == before + 1, "read just now"


@pytest.mark.exhaustive
async def test_a_plot_out_of_sight_comes_into_it_when_it_is_grouped(tmp_path: Path) -> None:
    async with console(with_days(), tmp_path, size=NARROW) as driven:
        await driven.press("U")
        await driven.comes("s group")
        await driven.reaches("by fee: █ usage 21.0000   ▒ fee 1.0000", "s")
        await driven.press("G")
        await driven.hides("by fee")
        await driven.reaches("not grouped; possible by fee", "s")
        await driven.press("g", "shift+tab")
        await driven.reaches("by fee: █ usage", "s")
        assert getattr(driven.focused, "id", "") == "usage-text", "the pane whose plot has changed"
        await driven.press("shift+tab", "z")
        await driven.hides("by fee")
        await driven.reaches("not grouped; possible by fee", "s")
        assert "Limits" not in driven.text, "the pane that has the focus fills the window"


@pytest.mark.exhaustive
async def test_a_period_without_a_plot_says_so_in_answer_to_the_key_that_groups(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        await driven.press("U")
        await driven.comes("Spend by model")
        assert "s group" not in driven.text
        await driven.reaches("This period has no plot to group", "s")


async def test_a_day_of_the_plot_is_chosen_told_grouped_and_opened(tmp_path: Path) -> None:
    async with console(with_days(), tmp_path, size=WIDE) as driven:
        await driven.press("U")
        await driven.comes("2026-11-21  22.0000  21 runs, 21.0000 + 1.0000 ▲")
        await driven.click_text("11-01  most")
        await driven.shows("▲ 2026-11-01  2.0000  1 run")
        await driven.reaches("▲ 2026-11-03  4.0000  3 runs", "right", "right")
        await driven.shows("not grouped; possible by fee", "left day before")
        await driven.press("tab")
        await driven.hides("day before")
        await driven.reaches("left day before", "tab")
        await driven.reaches("by fee: █ usage 3.0000   ▒ fee 1.0000", "s")
        await driven.reaches("2026-11-02  not in the report: nothing to open", "left", "enter")
        await driven.reaches("completed>=2026-11-01 completed<2026-11-02", "left", "enter")


async def test_the_period_is_chosen_by_key_or_typed_and_read_while_it_is_shown(tmp_path: Path) -> None:
    told = service()
    async with console(told, tmp_path) as driven:
        await driven.press("U")
        await opened(driven)
        await driven.press("greater_than_sign")
        await driven.comes("2026-10-23 to 2026-11-21")
        await driven.pass_time(2)
        await driven.press("less_than_sign", "less_than_sign")
        await driven.pass_time(2)
        asked = [dict(heard.head.query) for heard in told.requests("GET", "/v1/usage")]
        # A period that was only passed by is not asked for.
        assert asked == [
            {"from": "2026-11-15", "to": "2026-11-21"},
            {"from": "2026-10-23", "to": "2026-11-21"},
            {"from": "2026-11-21", "to": "2026-11-21"},
        ]
        await driven.filter("2026-13")
        await driven.shows("is not in the calendar")
        await driven.press(*["backspace"] * 2)
        await driven.type("10")
        await driven.reaches("2026-10-01 to 2026-10-31", "enter")
        await driven.pass_time(2)
        assert dict(told.requests("GET", "/v1/usage")[-1].head.query) == {"from": "2026-10-01", "to": "2026-10-31"}
        await driven.reaches("2026-10-01 to 2026-10-31", "slash", "escape")
        await driven.reaches("Runs", "1")
        before = len(told.requests("GET", "/v1/usage"))
        await driven.pass_time(70)
        assert len(told.requests("GET", "/v1/usage")) == before


@pytest.mark.exhaustive
async def test_examples_of_a_period_are_whole_in_80_columns(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        await driven.press("U")
        await driven.comes("Spend by model")
        await driven.press("slash")
        await driven.type("2026-11-01 2026-11-15")
        await driven.shows(SHORT_PERIOD_HINT)


@pytest.mark.exhaustive
@pytest.mark.parametrize("said", ["account 30d", "usage 30d"])
async def test_one_screen_is_found_under_both_names(tmp_path: Path, said: str) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say(said)
        await driven.shows("2026-10-23 to 2026-11-21")
        assert isinstance(driven.app.screen, UsageScreen)


@pytest.mark.exhaustive
async def test_an_invalid_period_is_put_right_where_periods_are_typed(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.say("account fortnight")
        await driven.shows("'fortnight' is not a period")


@pytest.mark.exhaustive
async def test_a_number_leads_to_its_list_and_back_leads_to_the_same_period_and_line(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("U")
        await opened(driven)
        await driven.press("greater_than_sign")
        await driven.comes("2026-10-23 to 2026-11-21")
        await driven.comes("Used")
        await driven.reaches("completed>=2026-11-15 completed<2026-11-22", "down", "down", "enter")
        assert isinstance(driven.app.screen, ResourceScreen)
        assert driven.app.screen.spec.name == "receipts"
        await driven.reaches("2026-10-23 to 2026-11-21", "left_square_bracket")
        await driven.comes("▸ runs")
        await driven.reaches("Compliance export   2026-10-23 to 2026-11-21", "G", "enter")
        await driven.reaches("▸ compliance export", "escape")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Said(404, problem("not_found")), "This service offers no usage."),
        (Said(403, problem("permission_denied")), "not authorised"),
        (Said(500, problem("internal")), "error 500"),
        (Said(200, []), "The answer is no report"),
    ],
)
async def test_a_report_that_does_not_come_leaves_the_account_in_sight(tmp_path: Path, said: Said, words: str) -> None:
    async with console(service(usage=said), tmp_path) as driven:
        await driven.press("U")
        await driven.comes(words, 30)
        assert "37 of 500" in driven.text


@pytest.mark.exhaustive
async def test_what_was_refused_is_asked_for_again_by_key(tmp_path: Path) -> None:
    async with console(service(usage=Said(404, problem("not_found"))), tmp_path) as driven:
        await driven.press("U")
        await driven.comes("This service offers no usage.")
        driven.service.say("GET", "/v1/usage", Said(200, usage()))
        await driven.press("r")
        await opened(driven)


async def test_raw_is_the_json_as_it_came_and_an_api_key_leads_to_its_record(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE) as driven:
        await driven.press("U")
        await opened(driven)
        await driven.reaches('"passthrough_usd": 0.52', "v")
        await driven.reaches("Spend by day", "v")
        row = next(number for number, row in enumerate(driven.lines) if "Spend by API key" in row)
        await driven.pilot.click(offset=(driven.lines[row].index("Spend by API key") + 3, row + 1), times=2)
        await driven.shows("API keys")
        await driven.comes("solverapi_live_a1b2")


@pytest.mark.exhaustive
async def test_tab_walks_both_panes_and_sample_credit_is_added_through_the_form(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await driven.press("U")
        await opened(driven)
        seen = []
        for _ in range(2):
            seen.append(before := driven.focused and driven.focused.id)
            await driven.press("slash", "escape")
            assert driven.focused is not None
            assert driven.focused.id == before, "the period is not of one pane"
            await driven.press("tab")
        assert set(seen) == {"account-text", "usage-text"}
        assert driven.app.console_screen.key_help("screen.new") == "Add sample credit."
        await driven.reaches("Add sample credit", "plus")
        await driven.shows("POST /v1/account/top-up-intents")
