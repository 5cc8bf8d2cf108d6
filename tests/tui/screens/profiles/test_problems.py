"""Problems of several profiles: one journal, each problem with its profile, and its run opened where it belongs."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.records.problem import Problem
from runwatch.tui.screens.problems.problems import ProblemsScreen
from runwatch.tui.screens.profiles.problems import MultiProfileProblemsScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.screens.templates.templates import TemplatesScreen
from tests.support.builders import problem, run, validation_problem
from tests.support.scripted import ScriptedService
from tests.tui.console import NARROW, Driven
from tests.tui.golden import check_golden
from tests.tui.samples import NOON
from tests.tui.several import LateService, below_bar, both, command, offering, rows_of

AT_WORK = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"
AT_HOME = "7c1e0d52-3b9a-4a55-8f00-1d2c3b4a5f69"
AT_LAB = "e5a90c1d-77aa-4be1-8c43-90cc1f000042"


def met(driven: Driven, profile: str, problem: Problem, *, minutes: float, **over: Any) -> None:
    """Have a profile meet a problem, this many minutes ago."""
    exchange: dict[str, Any] = {
        "at": NOON - timedelta(minutes=minutes), "operation": "getExecutions", "method": "GET",
        "path": "/v1/executions", "query": "", "status": problem.status, "elapsed_s": 0.1, "attempt": 1, "key": None,
        "sent_bytes": 0, "received_bytes": 0, "error": None, "problem": problem, "profile": profile,
        "origin": "https://service.example.test",
    }  # fmt: skip
    driven.session.journal.note(RequestAttempt(**{**exchange, **over}))


def problems_of(tmp_path: Path, home: ScriptedService, size: tuple[int, int] = (120, 36)) -> Any:
    """A console on the problems, with the profile ``work``."""
    return both(tmp_path, offering(), home, size=size, open_at="problems", shows="No problems recorded")


async def three(driven: Driven) -> None:
    """Have three profiles meet a problem each; the last one is in no settings file."""
    met(driven, "work", problem("rate_limited", instance=AT_WORK), minutes=2)
    met(driven, "home", problem("not_found", instance=AT_HOME), minutes=9, path="/v1/executions/ex_home")
    met(driven, "lab", problem("not_found", instance=AT_LAB), minutes=300, path="/v1/executions/ex_lab")


async def across(driven: Driven, which: str, number: int) -> None:
    """List the problems of several profiles."""
    await command(driven, f"across {which}")
    await driven.shows(re.compile(rf"Problems   {number} "))


@pytest.mark.parametrize("size", [NARROW, (120, 36)], ids=lambda size: "x".join(map(str, size)))
async def test_each_problem_is_beside_its_profile(tmp_path: Path, size: tuple[int, int]) -> None:
    async with problems_of(tmp_path, offering(), size) as driven:
        await three(driven)
        await across(driven, "all", 3)
        assert rows_of(driven) == [("work", AT_WORK), ("home", AT_HOME), ("lab", AT_LAB)]
        assert driven.table.column_ids[:2] == ("profile", "time")
        await driven.shows("work 1, last 2m   home 1, last 9m   lab 1, last 5h")
        check_golden(f"{size[0]}x{size[1]}/profiles-problems", below_bar(driven))


async def test_only_those_of_the_chosen_profiles_are_listed(tmp_path: Path) -> None:
    async with problems_of(tmp_path, offering(), NARROW) as driven:
        await three(driven)
        await across(driven, "home", 1)
        assert rows_of(driven) == [("home", AT_HOME)]
        await across(driven, "work,home", 2)
        assert rows_of(driven) == [("work", AT_WORK), ("home", AT_HOME)]


@pytest.mark.exhaustive
async def test_without_any_problem_every_profile_says_nought(tmp_path: Path) -> None:
    async with problems_of(tmp_path, offering(), NARROW) as driven:
        await across(driven, "all", 0)
        await driven.shows("work 0   home 0")
        check_golden("80x24/profiles-problems-none", below_bar(driven))


async def test_nothing_is_asked_of_any_service(tmp_path: Path) -> None:
    home = offering()
    async with problems_of(tmp_path, home) as driven:
        await three(driven)
        await across(driven, "all", 3)
        assert driven.app.profiles.session("home") is None
        assert home.requests() == []


@pytest.mark.exhaustive
async def test_an_id_is_found_whatever_profile_is_chosen(tmp_path: Path) -> None:
    async with problems_of(tmp_path, offering()) as driven:
        await three(driven)
        await across(driven, "work", 1)
        await driven.press("slash")
        await driven.type("3b9a-4a55")
        await driven.shows("1 found by its id")
        assert rows_of(driven) == [("home", AT_HOME)]
        await driven.press("enter", "escape")
        await driven.until(lambda: rows_of(driven) == [("work", AT_WORK)], "the rows of before")


@pytest.mark.exhaustive
async def test_the_run_of_a_problem_is_opened_in_its_own_profile(tmp_path: Path) -> None:
    home = offering(runs=[run("ex_home", "running")])
    async with problems_of(tmp_path, home) as driven:
        await three(driven)
        await across(driven, "all", 3)
        await driven.reaches("enter goes to home", "down", "enter")
        await follow(driven, "run")
        await driven.opens(RunsScreen)
        assert driven.app.profile_name == "home"
        await driven.shows("Switched to profile home")
        await driven.comes("ex_home")


@pytest.mark.exhaustive
async def test_a_profile_that_answers_late_takes_nobody_away(tmp_path: Path) -> None:
    late = LateService(runs=[run("ex_home", "running")])
    async with problems_of(tmp_path, late) as driven:
        await three(driven)
        await across(driven, "all", 3)
        await driven.reaches("enter goes to home", "down", "enter")
        await follow(driven, "run")
        await driven.until(lambda: late.is_called, "the service to be called")
        await driven.opens(TemplatesScreen, "6")
        late.may_answer.set()
        await driven.until(lambda: driven.app.profiles.session("home") is not None, "the profile to open")
        await driven.settle()
        assert driven.app.profile_name == "work"
        assert isinstance(driven.app.screen, TemplatesScreen)


@pytest.mark.exhaustive
async def test_the_run_of_a_profile_that_is_gone_stays_where_it_is(tmp_path: Path) -> None:
    async with problems_of(tmp_path, offering()) as driven:
        await three(driven)
        await across(driven, "all", 3)
        await driven.reaches("enter goes to lab", "G", "enter")
        await follow(driven, "run")
        await driven.shows("lab is no longer a profile of the settings file.")
        assert driven.app.profile_name == "work"


@pytest.mark.exhaustive
async def test_a_refused_submit_of_another_profile_leads_to_no_form_of_this_one(tmp_path: Path) -> None:
    async with problems_of(tmp_path, offering()) as driven:
        refused = validation_problem(objective="Must not be empty.")
        for minutes, profile in enumerate(("work", "home")):
            met(driven, profile, refused, minutes=minutes, operation="postExecutions", method="POST")
        await across(driven, "all", 2)
        await driven.shows("enter goes to the first")
        await driven.press("down")
        await driven.until(lambda: "enter goes to the first" not in driven.text, "another next step")


@pytest.mark.exhaustive
async def test_the_way_back_leads_to_all_problems(tmp_path: Path) -> None:
    async with problems_of(tmp_path, offering()) as driven:
        await three(driven)
        await across(driven, "home", 1)
        assert isinstance(driven.app.screen, MultiProfileProblemsScreen)
        await driven.press("escape")
        assert type(driven.app.screen) is ProblemsScreen
        await driven.shows("Problems   3 ")


async def follow(driven: Driven, label: str) -> None:
    """Stand on a line of the detail, and open what it leads to."""
    for _ in range(40):
        if re.search(rf"▸.? ?{label} ", driven.text):
            await driven.press("enter")
            return
        await driven.press("down")
    raise AssertionError(f"no line {label}:\n{driven.text}")
