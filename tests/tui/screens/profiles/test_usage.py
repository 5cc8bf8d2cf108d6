"""What several profiles have used, side by side: own numbers, own age, own failure, and a total of what is alike."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.json import loads
from runwatch.tui.screens.profiles.usage import MultiProfileUsageScreen
from runwatch.tui.screens.reports.usage import UsageScreen
from tests.support import resources
from tests.support.builders import account, problem
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import KEY, NARROW, WIDE
from tests.tui.golden import check_golden
from tests.tui.several import HOME_KEY, LateService, below_bar, both, command, offering, rows_of, together

USAGE = "/v1/usage"
WEEK = {"from": "2026-11-15", "to": "2026-11-21"}


def using(totals: dict[str, Any], **over: Any) -> ScriptedService:
    """A service that tells these sums of a week."""
    made = offering(account=account(quota={"executions": {"limit": 500, "used": totals.get("executions", 0)}}))
    report = resources.usage(period=WEEK, totals=totals, **over)
    made.say("GET", USAGE, Said(200, dict(report.raw)))
    made.say("GET", "/v1/eval-summary", Said(200, dict(resources.eval_summary().raw)))
    return made


def work_service() -> ScriptedService:
    return using({"executions": 37, "usd": 1.62, "platform_usd": 1.1, "passthrough_usd": 0.52})


def home_service(**over: Any) -> ScriptedService:
    return using({"executions": 402, "usd": 14.2107, "platform_usd": 12.06, "passthrough_usd": 2.1507}, **over)


def usage_of_both(tmp_path: Path, work: ScriptedService, home: ScriptedService, size: tuple[int, int] = WIDE) -> Any:
    """A console on the usage of the profile ``work``."""
    return both(tmp_path, work, home, size=size, open_at="account", shows="Used")


@pytest.mark.parametrize("size", [NARROW, (120, 36)], ids=lambda size: "x".join(map(str, size)))
async def test_each_profile_has_a_row_and_the_total_adds_them_up(tmp_path: Path, size: tuple[int, int]) -> None:
    async with usage_of_both(tmp_path, work_service(), home_service(), size) as driven:
        await together(driven)
        await driven.comes("14.2107")
        assert rows_of(driven) == [("work", "work"), ("home", "home")]
        await driven.shows("2 profiles: 439 runs, 2.6707 usage + 13.16 fee = 15.8307 USD")
        check_golden(f"{size[0]}x{size[1]}/profiles-usage", below_bar(driven))


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [NARROW, (120, 36)], ids=lambda size: "x".join(map(str, size)))
async def test_a_profile_that_fails_keeps_its_row_and_leaves_the_total(tmp_path: Path, size: tuple[int, int]) -> None:
    home = home_service()
    home.say("GET", USAGE, Said(403, problem("permission_denied")))
    async with usage_of_both(tmp_path, work_service(), home, size) as driven:
        await together(driven)
        await driven.comes("home: This API key may not do that")
        assert rows_of(driven) == [("work", "work"), ("home", "home")]
        assert "profiles:" not in driven.text, "one report is no total"
        check_golden(f"{size[0]}x{size[1]}/profiles-usage-refused", below_bar(driven))


async def test_a_profile_that_is_not_connected_says_so_in_its_row_and_is_tried_again(tmp_path: Path) -> None:
    async with usage_of_both(tmp_path, work_service(), home_service()) as driven:
        (tmp_path / "home.key").unlink()
        await together(driven)
        await driven.shows("not connected")
        await driven.reaches("home is not connected: ", "down", "enter")
        assert driven.app.profile_name == "work"
        (tmp_path / "home.key").write_text(f"{HOME_KEY}\n", "utf-8")
        await driven.press("r")
        await driven.until(lambda: driven.app.profiles.session("home") is not None, "the profile to open")
        await driven.comes("14.2107")


async def test_a_service_that_does_not_answer_keeps_nobody_waiting(tmp_path: Path) -> None:
    silent = LateService()
    async with usage_of_both(tmp_path, work_service(), silent, NARROW) as driven:
        await command(driven, "across all")
        await driven.until(lambda: silent.is_called, "the service to be asked")
        await driven.comes(re.compile("work .* 37 of 500"))
        check_golden("80x24/profiles-usage-connecting", below_bar(driven))
        await driven.reaches("home is still connecting", "down", "enter")


@pytest.mark.exhaustive
async def test_one_profile_alone_has_no_total(tmp_path: Path) -> None:
    home = home_service()
    async with usage_of_both(tmp_path, work_service(), home, NARROW) as driven:
        await together(driven, "work")
        await driven.shows("1 profile")
        assert rows_of(driven) == [("work", "work")]
        assert home.requests() == []
        check_golden("80x24/profiles-usage-one", below_bar(driven))


@pytest.mark.exhaustive
async def test_the_details_below_the_profiles_have_the_whole_width(tmp_path: Path) -> None:
    async with usage_of_both(tmp_path, work_service(), home_service(), (200, 50)) as driven:
        await together(driven)
        await driven.comes("14.2107")
        assert driven.app.screen.query_one("#detail").outer_size.width == 200


@pytest.mark.exhaustive
async def test_enter_goes_to_the_page_of_the_profile_with_the_same_period(tmp_path: Path) -> None:
    work, home = work_service(), home_service()
    async with usage_of_both(tmp_path, work, home) as driven:
        await driven.press("greater_than_sign")
        await together(driven)
        await driven.comes("14.2107")
        asked = [dict(heard.head.query) for heard in home.requests("GET", USAGE)]
        assert asked == [{"from": "2026-10-23", "to": "2026-11-21"}]
        await driven.opens(UsageScreen, "down", "enter")
        assert driven.app.profile_name == "home"
        await driven.shows("Switched to profile home")
        assert isinstance(driven.app.screen, UsageScreen)
        assert driven.app.screen.period_text == "30d"
        await driven.shows("402")
    assert {heard.head.header("authorization") for heard in work.requests()} == {f"Bearer {KEY}"}
    assert {heard.head.header("authorization") for heard in home.requests()} == {f"Bearer {HOME_KEY}"}


@pytest.mark.exhaustive
async def test_the_period_of_all_is_chosen_by_key_or_typed(tmp_path: Path) -> None:
    work, home = work_service(), home_service()
    async with usage_of_both(tmp_path, work, home, (120, 36)) as driven:
        await together(driven)
        await driven.comes("14.2107")
        await driven.reaches("Usage   2026-11-21", "less_than_sign")
        await driven.filter("2026-13")
        await driven.shows("is not in the calendar")
        await driven.press(*["backspace"] * 2)
        await driven.type("10")
        await driven.reaches("Usage   2026-10-01 to 2026-10-31", "enter")
        await driven.pass_time(2.0)
        october = {"from": "2026-10-01", "to": "2026-10-31"}
        for service in (work, home):
            assert dict(service.requests("GET", USAGE)[-1].head.query) == october
        assert isinstance(driven.app.screen, MultiProfileUsageScreen)


@pytest.mark.exhaustive
async def test_going_back_leaves_the_page_being_read(tmp_path: Path) -> None:
    work = work_service()
    async with usage_of_both(tmp_path, work, home_service()) as driven:
        await together(driven)
        await driven.comes("14.2107")
        await driven.press("escape")
        assert isinstance(driven.app.screen, UsageScreen)
        before = len(work.requests("GET", USAGE))
        await driven.pass_time(70)
        await driven.until(lambda: len(work.requests("GET", USAGE)) > before, "the next read of the report")


@pytest.mark.exhaustive
async def test_what_is_exported_is_what_was_told_with_its_profile(tmp_path: Path) -> None:
    home = home_service()
    home.say("GET", USAGE, Said(403, problem("permission_denied")))
    async with usage_of_both(tmp_path, work_service(), home) as driven:
        await together(driven)
        await driven.comes("home: This API key may not do that")
        file = tmp_path / "out.json"
        await command(driven, f"export {file}")
        await driven.until(file.exists, "the file")
        (only,) = loads(file.read_text("utf-8"))
        assert (only["profile"], only["record"]["period"]) == ("work", WEEK)
