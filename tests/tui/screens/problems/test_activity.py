"""Looking around a moment on screen, and problems by their code."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.records.problem import Problem
from runwatch.tui.screens.problems.activity import ActivityScreen
from runwatch.tui.screens.problems.problem_codes import ProblemCodesScreen
from runwatch.tui.screens.problems.problems import ProblemsScreen
from tests.support.builders import account, problem
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import NARROW, Driven, console
from tests.tui.every_screen import keep_still
from tests.tui.golden import check_golden
from tests.tui.samples import NOON

INSTANCE = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"
OTHER = "7c1e0d52-3b9a-4a55-8f00-1d2c3b4a5f69"
LOOKUPS = "/v1/problem-lookups"

MISSING = "/v1/executions/ex_1"


@pytest.fixture(autouse=True)
def _nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_still(monkeypatch)


def service() -> ScriptedService:
    return ScriptedService(account=account())


def met(driven: Driven, said: Problem | None, *, minutes: float, path: str = "/v1/executions") -> None:
    """Have the console send a request, this many minutes ago, and meet a problem with it."""
    driven.session.journal.note(
        RequestAttempt(
            at=NOON - timedelta(minutes=minutes), operation="getExecutions", method="GET", path=path, query="",
            status=said.status if said else 200, elapsed_s=0.1, attempt=1, key=None, sent_bytes=0, received_bytes=0,
            error=None, problem=said, profile="local", origin="http://127.0.0.1:1",
        )
    )  # fmt: skip


async def three(driven: Driven) -> None:
    met(driven, problem("not_found", instance=INSTANCE), minutes=90, path=MISSING)
    met(driven, None, minutes=88, path="/v1/account")
    met(driven, problem("rate_limited", instance=OTHER), minutes=2)
    await driven.session.journal.flush()


async def ask(driven: Driven, question: str) -> None:
    """Type a question on the command line."""
    await driven.say(f"around {question}")
    await driven.opens(ActivityScreen)


async def test_what_happened_around_a_time_or_a_row_is_listed_in_order_and_a_miss_names_the_neighbours(
    tmp_path: Path,
) -> None:
    async with console(service(), tmp_path, open_at="problems") as driven:
        await three(driven)
        await ask(driven, "10:35 within 3m")
        await driven.shows("Around a time   3 ")
        assert "around 2026-11-21 10:35:00 UTC, within 3 min" in driven.lines[1]
        screen = driven.app.screen
        assert isinstance(screen, ActivityScreen)
        assert [row.subject.what for row in screen.rows_to_export()] == ["problem", "request", "request"]
        assert "problems 1 · requests 2" in driven.text
        assert INSTANCE in driven.text
        await driven.reaches("Problems   2", "0")
        await driven.reaches("Around a time   3 ", "down", "at")
        assert driven.table.cursor_key is not None
        assert INSTANCE in driven.table.cursor_key, "the cursor begins at the moment itself"
        await driven.opens(ProblemsScreen, "left_square_bracket")
        await driven.reaches("Around a time   3 ", "right_square_bracket")
        await ask(driven, "11:20")
        await driven.shows("Nothing recorded at that time.")
        for words in ("Searched 2026-11-21 11:15:00 UTC", "the journal of this machine (2 problems", "Nearest entries:",
                      "rate_limited"):  # fmt: skip
            assert words in driven.text
        assert "not running" in driven.text


@pytest.mark.exhaustive
async def test_the_moment_is_in_sight_where_more_was_found_than_the_window_shows(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="problems", size=NARROW) as driven:
        for number in range(60):
            met(driven, problem("not_found"), minutes=90 - number / 10, path=MISSING)
        await driven.session.journal.flush()
        await ask(driven, "10:37 within 5m")
        await driven.shows(re.compile(r"▸ 10:3[67]:"))


@pytest.mark.exhaustive
async def test_the_local_service_is_asked_for_causes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = service()
    monkeypatch.setattr("runwatch.store.service_problems.is_local_service", lambda _: True)
    met: dict[str, Any] = {
        "instance": INSTANCE, "at": "2026-11-21T10:34:31.000Z", "code": "not_found", "method": "GET",
        "path": "/v1/executions/ex_1", "principal_id": "key_1", "cause": "the row was swept", "problem": {},
    }  # fmt: skip
    unmet = {**met, "instance": OTHER, "cause": "a guess", "at": "2026-11-21T10:33:30.000Z"}
    told.say("GET", LOOKUPS, Said(200, {"problems": [met, unmet], "kept": 9, "oldest_at": None, "newest_at": None}))
    async with console(told, tmp_path, open_at="problems") as driven:
        await three(driven)
        await ask(driven, "10:34 within 1m")
        await driven.shows("Around a time   3 ", "a guess")
        await driven.reaches("the row was swept", "down")
        before = len(told.requests("GET", LOOKUPS))
        await driven.pass_time(3)
        assert len(told.requests("GET", LOOKUPS)) == before == 1, "looking is no reason to look again"


@pytest.mark.exhaustive
async def test_a_question_is_explained_while_it_is_typed(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="problems") as driven:
        await three(driven)
        await driven.opens(ActivityScreen, "at")
        await driven.shows("no time given yet")
        await driven.until(lambda: driven.focused is not driven.table, "the line to be open")
        await driven.type("10:35 in Europe/Berlim")
        await driven.shows("There is no time zone named")
        await driven.press("backspace")
        await driven.type("n")
        await driven.shows("2026-11-21 09:35:00 UTC, within 5 min")
        await driven.reaches("Nothing recorded at that time.", "enter")
        # What is typed replaces the last question.
        await driven.press("slash")
        await driven.type("2026-10-25T02:30 in Europe/Berlin")
        await driven.reaches("clocks moved back: 00:30 UTC and 01:30 UTC", "enter")


@pytest.mark.exhaustive
async def test_the_list_of_problems_takes_the_question_too(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="problems") as driven:
        await three(driven)
        await driven.say("problems around 10:35 within 3m")
        await driven.shows("Around a time   3 ")


@pytest.mark.exhaustive
async def test_a_problem_and_a_run_are_reached_from_what_happened(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="problems") as driven:
        await three(driven)
        await ask(driven, "10:34 within 1m not_found")
        await driven.shows("Around a time   1 ")
        await driven.press("enter")
        await driven.pilot.pause()
        await driven.opens(ProblemsScreen, "G", "enter")
        await driven.shows("There is no such resource")


@pytest.mark.parametrize("size", [NARROW, (120, 36), (200, 50)], ids=lambda size: "x".join(map(str, size)))
async def test_around_a_time_as_it_was_looked_at(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(service(), tmp_path, open_at="problems", size=size) as driven:
        await three(driven)
        await ask(driven, "10:35 within 3m")
        await driven.shows("Around a time   3 ")
        check_golden(f"{size[0]}x{size[1]}/around", driven.text)


@pytest.mark.exhaustive
async def test_codes_are_counted_and_lead_to_their_problems(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="problems") as driven:
        await three(driven)
        met(driven, problem("not_found"), minutes=1, path=MISSING)
        met(driven, Problem({"title": "cut", "status": 502}), minutes=1)
        await driven.reaches("Problems   4", "0")
        await driven.reaches("Problems by code   3", "C")
        assert isinstance(driven.app.screen, ProblemCodesScreen)
        rows = [row for row in driven.lines if "✗ " in row.partition("┃│")[0]]
        assert [row.split("✗ ")[1].split()[0] for row in rows] == ["not_found", "no", "rate_limited"]
        await driven.reaches("filter code=not_found", "enter")
        await driven.shows("Problems   2 of 4")
        await driven.reaches("Problems by code   3", "C")
        await driven.reaches("Problems   1 of 4", "down", "enter")
        await driven.reaches("Problems   4", "C", "C")


@pytest.mark.exhaustive
async def test_a_code_of_long_ago_is_listed_though_it_is_not_among_the_newest(tmp_path: Path) -> None:
    async with console(service(), tmp_path, open_at="problems") as driven:
        met(driven, problem("quota_exceeded", instance=INSTANCE), minutes=900)
        for number in range(520):
            met(driven, problem("not_found"), minutes=800 - number, path=MISSING)
        await driven.reaches("Problems   500 so far", "0")
        await driven.reaches("quota_exceeded", "C")
        await driven.reaches("Problems   1 of 521 ", "G", "enter")
        await driven.shows(INSTANCE)


@pytest.mark.parametrize("size", [NARROW, (120, 36)], ids=lambda size: "x".join(map(str, size)))
async def test_codes_as_they_were_looked_at(tmp_path: Path, size: tuple[int, int]) -> None:
    async with console(service(), tmp_path, open_at="problems", size=size) as driven:
        await three(driven)
        await driven.reaches("Problems by code   2", "0", "C")
        check_golden(f"{size[0]}x{size[1]}/codes", driven.text)
