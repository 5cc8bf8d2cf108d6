"""Records with several tabs: a tab reads only while it is shown, and has its own pane states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runwatch.tui.screens.base.tabbed_screen import TabbedScreen
from tests.support import resources
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden

CONNECTION = "/v1/verifiers/vrf_90aa/connection"


def service() -> ScriptedService:
    """A service with checks, agents and webhooks, and what can be read of each."""
    made = noon.service()
    days = [
        {"day": f"2026-11-{day:02}", "verifier_id": "vrf_90aa", "activity": "customer", "attempted_checks": 5,
         "technical_failures": day % 2, "total": 4, "passed": day % 5, "pass_rate": (day % 5) / 4}
        for day in range(14, 20)
    ]  # fmt: skip
    delivered = [
        resources.delivery(),
        resources.delivery(
            "dlv_02", status="failed", status_code=500, error="http_error", attempts=5, delivered_at=None
        ),
        resources.delivery("dlv_03", status="pending", attempts=1, next_attempt_at="2026-11-21T12:14:31Z"),
    ]
    told: dict[str, Any] = {
        "/v1/verifiers": {"verifiers": listed("verifier"), "next_cursor": None},
        CONNECTION: resources.key_connection(),
        "/v1/eval-summary": dict(resources.eval_summary(pass_rate_trend=days).raw),
        "/v1/review-composer/agents": {"agents": listed("agent")},
        "/v1/review-composer/agents/[^/]+/connection": resources.key_connection(),
        "/v1/webhooks": {"webhooks": listed("webhook")},
        "/v1/webhooks/[^/]+/deliveries": {"deliveries": [dict(one.raw) for one in delivered], "next_cursor": "more"},
        "/v1/github-connections": {"connections": listed("github")},
    }
    for path, value in told.items():
        made.say("GET", path, Said(200, value))
    return made


def listed(kind: str) -> list[dict[str, Any]]:
    """The records of a list as they come."""
    return [dict(record.raw) for record in resources.LISTS[kind]()]


async def side(driven: Driven, screen: str, label: str) -> None:
    """Go to a screen and show a side of its first record."""
    await driven.app.go_to(screen)
    await rows(driven)
    front = driven.app.screen
    assert isinstance(front, TabbedScreen)
    for _ in front.tabs:
        if dict(front.tabs)[front.tab] == label:
            break
        await driven.press("greater_than_sign")
    assert dict(front.tabs)[front.tab] == label


async def rows(driven: Driven) -> None:
    """Let time go by until the list has rows."""
    for _ in range(20):
        if driven.table.rows:
            return
        await driven.pass_time(0.5)
    raise AssertionError(driven.text)


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [NARROW, WIDE], ids=lambda size: "x".join(map(str, size)))
async def test_the_trend_of_a_check_is_in_its_detail(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(service(), tmp_path, size=size) as driven:
        await side(driven, "verifiers", "Trend")
        await driven.comes("Verdicts on live runs")
        await driven.pass_time(2)
        check_golden(f"{size[0]}x{size[1]}/verifiers-trend", driven.text)


@pytest.mark.exhaustive
async def test_a_side_is_read_only_while_it_is_shown(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE) as driven:
        await side(driven, "verifiers", "Record")
        assert not driven.service.requests("GET", CONNECTION)
        await side(driven, "verifiers", "Connection")
        await driven.comes("The key is entered on a private page")
        await driven.shows("generation")
        await driven.press("less_than_sign")
        count = len(driven.service.requests("GET", CONNECTION))
        assert count == 1
        await driven.pass_time(200)
        assert len(driven.service.requests("GET", CONNECTION)) == count


@pytest.mark.exhaustive
async def test_a_side_that_is_refused_says_why_and_the_list_goes_on(tmp_path: Path) -> None:
    told = service()
    told.say("GET", CONNECTION, Said(403, problem("permission_denied")))
    async with console(told, tmp_path, size=WIDE) as driven:
        await side(driven, "verifiers", "Connection")
        await driven.comes("not authorised")
        assert "Five bullets" in driven.text
        told.say("GET", CONNECTION, Said(200, resources.key_connection()))
        await driven.press("r")
        await driven.comes("generation")


@pytest.mark.exhaustive
async def test_sides_of_checks_and_agents_say_what_is_missing_and_lead_on(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE) as driven:
        await side(driven, "verifiers", "Test")
        await driven.shows("Not tested from here yet.", "T tests it.")
        await side(driven, "agents", "Connection")
        await driven.comes("generation")
        await driven.reaches("degraded: no response", "j")
        await side(driven, "agents", "Record")
        await driven.press("enter", *["down"] * 20)
        view = driven.app.screen.query_one("#fields")
        target = next(row.target for row in view._rows if row.target is not None)  # type: ignore[attr-defined]
        assert (target.screen, target.filter) == ("github", "repository=acme/widgets")
        await driven.app.go_to_view(target)
        await driven.comes("connected")


async def test_what_a_test_found_stays_beside_its_check(tmp_path: Path) -> None:
    told = service()
    told.say("POST", "/v1/verifiers/vrf_90aa/test", Said(200, resources.verifier_test()))
    async with console(told, tmp_path, size=WIDE) as driven:
        await side(driven, "verifiers", "Test")
        await driven.reaches("POST /v1/verifiers/vrf_90aa/test", "T")
        await driven.reaches("done", "tab", "enter")
        await driven.reaches("tested from here", "escape")
        await driven.shows("response_compatibility")


async def test_deliveries_are_beside_their_webhook_and_can_be_made_again(tmp_path: Path) -> None:
    told = service()
    told.say("POST", "/v1/webhooks/deliveries/dlv_01/replay", Said(200, resources.delivery("dlv_09", status="pending")))
    async with console(told, tmp_path, size=WIDE) as driven:
        await side(driven, "webhooks", "Deliveries")
        await driven.comes("http_error")
        await driven.pass_time(2)
        check_golden("160x50/webhooks-deliveries", driven.text)
        await driven.press("enter")
        await driven.reaches("Deliver", "down", "enter")
        await driven.shows("POST /v1/webhooks/deliveries/dlv_01/replay")
        await driven.reaches("done", "tab", "enter")
        (sent,) = told.requests("POST", "/v1/webhooks/deliveries/.*")
        assert sent.head.header("idempotency-key")


@pytest.mark.exhaustive
async def test_in_a_narrow_window_a_side_opens_the_detail(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        await side(driven, "agents", "Connection")
        await driven.comes("generation")
        await driven.reaches("Patch agent", "escape")
        await driven.reaches("Stop using its key", "X")
        shown = next(row for row in driven.lines if "Stop using its key" in row)
        assert "X" not in shown, "the key of all that this menu has, which opens it"


@pytest.mark.exhaustive
async def test_the_key_of_tabs_is_named_where_tabs_are_in_sight(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=NARROW) as driven:
        await driven.app.go_to("verifiers")
        await rows(driven)
        assert "next tab" not in driven.lines[-1]
        await driven.press("enter")
        await driven.shows("> next tab")
