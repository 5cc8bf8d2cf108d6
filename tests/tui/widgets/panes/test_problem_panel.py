"""A problem has one form, and its instance is one key away."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.records.problem import Problem, synthetic_problem
from runwatch.tui.core.key_bindings import KeyMap
from runwatch.tui.core.messages import CopyRequested, PanelClosed
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.text.safe_text import line
from tests.support.problems import entry_from_problem
from tests.tui import samples
from tests.tui.look import Stage, lines_of, running, text_of


def entry(**members: Any) -> ProblemEntry:
    body = {"type": "https://x.invalid/problems/not_found", "title": "There is no such run.", "status": 404, **members}
    return entry_from_problem(
        Problem(body), time=samples.NOON, method="GET", path="/v1/executions/ex_1", profile="local"
    )


async def test_the_whole_panel() -> None:
    async with running(Stage(panel := ProblemPanel()), (100, 20)) as (app, pilot):
        panel.show(samples.refused(), next_step=line("enter goes to the first field"))
        await pilot.pause()
        rows = [row.strip("│┃▸ ") for row in lines_of(app)]
        assert rows[0].startswith("┏━ ✗ validation_failed · HTTP 400 · The request is invalid. ━")
        assert rows[2] == "instance   0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11   y copy   Y support block"
        assert rows[3] == "request    POST /v1/executions   12:04:31 UTC   143 ms   attempt 1   key 7c1e…"
        assert rows[4] == "effect     Nothing was accepted or charged."
        assert rows[6] == "fields     policy.budget.max_cost_usd   Must be greater than 0."
        assert rows[7] == "task.objective               Required."
        assert rows[9] == "next       enter goes to the first field"
        assert rows[-1].startswith("┗━ local · 127.0.0.1:40213 ━")


async def test_a_message_that_is_wrapped_stays_in_its_column() -> None:
    async with running(Stage(panel := ProblemPanel()), (80, 30)) as (app, pilot):
        errors = [
            {"field": "tags", "message": "May only name capabilities for which the deployment is certified now."},
            {"field": "a_very_long_name_of_a_field_that_leaves_no_room", "message": "Required."},
        ]
        panel.show(entry(errors=errors[:1]))
        await pilot.pause()
        at = next(number for number, row in enumerate(lines_of(app)) if "fields" in row)
        first, second = lines_of(app)[at : at + 2]
        assert first.index("May only") == second.index("certified now")
        panel.show(entry(errors=errors))
        await pilot.pause()
        assert "Required." in text_of(app)


async def test_keys_copy_the_instance_and_the_support_block() -> None:
    async with running(Stage(panel := ProblemPanel()), (100, 20)) as (app, pilot):
        panel.has_next_step = True
        panel.show(samples.refused())
        panel.query_one(DetailView).focus()
        await pilot.press("y", "Y", "enter", "escape")
        await pilot.pause()
        first, second = app.told_of(CopyRequested)
        assert (first.what, first.text, first.several_lines) == (
            "instance", "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11", False,
        )  # fmt: skip
        assert (second.what, second.several_lines) == ("support block", True)
        assert "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11" in second.text
        assert "7c1e" not in second.text
        assert [message.entry for message in app.told_of(ProblemPanel.NextStepRequested)] == [panel.entry]
        assert len(app.told_of(PanelClosed)) == 1


async def test_a_problem_of_a_read_has_no_effect() -> None:
    async with running(Stage(panel := ProblemPanel()), (100, 20)) as (app, pilot):
        panel.show(entry(instance="7c1e", detail="one\ntwo [/]"))
        await pilot.pause()
        assert "effect" not in text_of(app)
        assert "detail     one" in text_of(app)
        assert "two [/]" in text_of(app)


async def test_what_is_no_problem_of_the_service_has_no_instance_and_copies_none() -> None:
    async with running(Stage(panel := ProblemPanel()), (100, 20)) as (app, pilot):
        problem = synthetic_problem("bad_gateway", "The answer is a page of HTML.", 502)
        panel.show(entry_from_problem(problem, time=samples.NOON))
        panel.query_one(DetailView).focus()
        await pilot.press("y")
        await pilot.pause()
        assert "instance   none: this response did not come from the API" in text_of(app)
        assert "y copy" not in text_of(app)
        assert app.told_of(CopyRequested) == []


async def test_without_a_response_nothing_is_said_of_an_instance() -> None:
    async with running(Stage(panel := ProblemPanel()), (100, 20)) as (app, pilot):
        panel.show(ProblemEntry({"title": "Nothing responds at this address", "method": "GET", "path": "/v1/account"}))
        await pilot.pause()
        assert "instance" not in text_of(app)
        assert "request   GET /v1/account" in text_of(app)


@pytest.mark.parametrize(
    "members", [{"type": 7}, {"title": None}, {"status": "x"}, {"errors": "x"}, {"errors": [{}, 3]}]
)
async def test_members_of_the_wrong_type_do_no_harm(members: dict[str, Any]) -> None:
    async with running(Stage(panel := ProblemPanel())) as (app, pilot):
        panel.show(entry(instance="7c1e", **members))
        await pilot.pause()
        assert "instance   7c1e" in text_of(app)


async def test_the_hints_name_the_keys_of_the_settings() -> None:
    async with running(Stage(panel := ProblemPanel(), keys=KeyMap({"screen.copy": "f8"})), (100, 20)) as (app, pilot):
        panel.show(samples.refused())
        await pilot.pause()
        assert "f8 copy   Y support block" in text_of(app)
