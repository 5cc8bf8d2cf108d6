"""A record in sections: nothing hidden, nothing claimed that is not so."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.records.problem import NOT_A_PROBLEM, Problem, synthetic_problem
from runwatch.records.run import Run
from runwatch.view.detail.sections import (
    NO_VALUE,
    OTHER_MEMBERS,
    TYPE_MISMATCH,
    DetailLine,
    DetailSection,
    build_sections,
)
from runwatch.view.problems.explanations import NOTHING_ACCEPTED, OUTCOME_UNKNOWN
from runwatch.view.resources.registry import resource_named
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from tests.support import builders
from tests.support.problems import entry_from_problem
from tests.view.strategies import CONTEXT, NOW

RUNS = resource_named("runs")


def detail(name: str, item: Any, context: RenderContext = CONTEXT) -> dict[str, dict[str, DetailLine]]:
    found: list[DetailSection] = build_sections(resource_named(name), item, context)
    return {section.title: {line.label: line for line in section.lines} for section in found}


def test_unknown_members_come_last_whole_and_by_their_paths() -> None:
    run = builders.run(novel={"deep": [{"x": 1}, {"y": None}]}, other=True)
    titles = [section.title for section in build_sections(RUNS, run, CONTEXT)]
    assert titles[-1] == OTHER_MEMBERS
    rest = detail("runs", run)[OTHER_MEMBERS]
    assert {label: line.text for label, line in rest.items()} == {
        "novel.deep[0].x": "1", "novel.deep[1].y": "–", "other": "true",
    }  # fmt: skip


def test_the_saved_model_of_a_run_is_a_link() -> None:
    assert detail("runs", builders.open_run(current={"arm_id": "arm_1"}))["Run"]["arm_id"].target == ("arm", "arm_1")
    assert detail("runs", builders.open_run(current=None))["Run"]["arm_id"].target is None


def test_a_value_of_the_wrong_type_is_shown_as_it_came_and_says_so() -> None:
    shown = detail("runs", builders.run(created_at=12, slices=[{"slice_id": 7}, "no object"]))
    created = shown["Run"]["created_at"]
    assert (created.text, created.note, created.role) == ("12", TYPE_MISMATCH, Role.WARN)
    assert shown["Slice 7"]["slice_id"].note == TYPE_MISMATCH
    assert shown[OTHER_MEMBERS]["slices[1]"].text == "no object"
    assert shown[OTHER_MEMBERS]["slices[1]"].note == TYPE_MISMATCH


def test_a_sound_record_has_no_flaw() -> None:
    for name, item in (
        ("runs", builders.open_run()),
        ("receipts", builders.live_receipt()),
        ("account", builders.account()),
        ("events", builders.recorded_event()),
    ):
        assert not [line for section in detail(name, item).values() for line in section.values() if line.note]


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_missing_null_and_empty_have_one_sign(value: object) -> None:
    shown = detail("runs", builders.run(novel=value))[OTHER_MEMBERS]["novel"]
    assert (shown.text, shown.role) == ("–", Role.QUIET)
    assert detail("receipts", builders.echo_receipt())["Receipt"]["reason"].text == "–"


def test_a_list_of_plain_values_is_shown_without_the_marks_of_json() -> None:
    shown = detail("runs", builders.run(novel=["text.generate", 1.50, True, None]))[OTHER_MEMBERS]["novel"]
    assert shown.text == "text.generate, 1.5, true, null"


def test_a_section_that_could_only_say_nothing_is_left_out() -> None:
    assert "Now" not in detail("runs", builders.run())
    assert "Now" not in detail("runs", builders.open_run(current=None))
    assert detail("runs", builders.open_run(current=None))[OTHER_MEMBERS][NO_VALUE].text == "current"
    assert detail("runs", builders.open_run())["Now"]["current.phase"].text == "candidate"


def test_a_reason_is_explained_with_its_next_step() -> None:
    shown = detail("runs", builders.run(status="failed", reason="no_eligible_arms"))["Run"]
    assert shown["reason"].text == "no_eligible_arms  (run)"
    assert shown["why"].text == "No saved model may run this: none is ready and granted all requested data classes."
    assert shown["next"].text.startswith("Save a model")


def test_a_status_that_is_behind_its_final_event_is_shown_beside_the_newer_one() -> None:
    shown = detail("runs", RunFacts(builders.run(), last_event=builders.event(7, "expired")))
    assert shown["Run"]["status"].text == "◷ expired"
    assert shown[OTHER_MEMBERS]["status"].text == "running"


def test_moments_are_shown_as_sent_with_their_age_and_in_the_local_zone_where_asked() -> None:
    run = builders.run(created_at="2026-11-20T12:00:00+02:00")
    assert detail("runs", run)["Run"]["created_at"].text == "2026-11-20T12:00:00+02:00 (1d ago)"
    local = detail("runs", run, RenderContext(NOW, time="local", zone=NOW.tzinfo))["Run"]["created_at"]
    assert local.text == "2026-11-20T12:00:00+02:00 (2026-11-20 10:00:00, 1d ago)"


def test_the_receipt_of_a_test_run_claims_no_model_and_no_charge() -> None:
    shown = detail("receipts", builders.echo_receipt())
    assert shown["Slice sl_1"]["selected"].text == "none, no model was called"
    assert shown["Slice sl_1"]["check"].text == "test run · no verdict"
    assert shown["Slice sl_1"]["cost"].text == "usage 0 USD · waived: sandbox_echo_d9"
    assert shown["Total"]["spend"].text == "test run, no charge"


def test_the_receipt_of_a_live_run_tells_its_slices_in_words() -> None:
    shown = detail("receipts", builders.live_receipt())["Slice sl_1"]
    assert shown["route"].text == "2 ranked · fallback used"
    assert shown["selected"].text == "contoso/atlas-12b · arm_01HX8 · openrouter · byok"
    assert shown["anchors"].text == "five_bullets ✓   no_invented_version ✓"
    assert shown["reaction"].text == "fallback → fell_back"
    assert shown["requested"].text == "contoso/atlas-12b"
    assert shown["resolved"].text == "contoso/atlas-12b-20260312"
    assert shown["cost"].text == "usage 0.0142 USD · 1,830 in · 412 out · 2 calls · waived: none"


def test_a_cost_that_a_call_never_told_is_no_plain_zero() -> None:
    (part,) = builders.live_receipt().raw["slices"]
    part = {**part, "cost": {"usd": 0, "calls": 1, "usage": "unknown"}}
    shown = detail("receipts", builders.live_receipt(slices=[part]))["Slice sl_1"]
    assert shown["cost"].text == "usage unknown · tokens unknown · 1 call · what a call used is not known"
    assert shown["cost"].role == Role.WARN


def test_a_problem_puts_the_instance_first_and_tells_effect_and_next_step() -> None:
    problem = builders.validation_problem(task__objective="Required.")
    entry = entry_from_problem(
        problem, time=NOW, method="POST", path="/v1/executions", operation="postExecutions", attempt=1, elapsed_s=0.143
    )
    first = next(iter(build_sections(resource_named("problems"), entry, CONTEXT)))
    assert [line.label for line in first.lines] == [
        "instance", "problem", "detail", "request", "effect", "fields", "means", "next",
    ]  # fmt: skip
    shown: dict[str, str] = {line.label: line.text for line in first.lines}
    assert shown["instance"] == problem.instance
    assert shown["problem"] == "✗ validation_failed · HTTP 400 · The request is not valid."
    assert shown["request"] == "POST /v1/executions  ·  143 ms  ·  attempt 1"
    assert shown["effect"] == "Nothing was accepted or charged."
    assert shown["fields"] == "task.objective  Required."


@pytest.mark.parametrize(
    ("raw", "status", "is_refusal"),
    [
        ({"title": "Over the limit", "status": 422}, 422, True),
        ({"type": "about:blank", "status": 422}, 422, True),
        ({"title": "Over the limit", "status": 400}, 422, False),
        ({"status": 422}, 422, False),
        (synthetic_problem(NOT_A_PROBLEM, "The answer did not come from the API", 422).raw, 422, False),
    ],
)
def test_the_list_of_problems_tells_a_refusal_by_what_the_service_said(
    raw: dict[str, Any], status: int, is_refusal: bool
) -> None:
    entry = entry_from_problem(
        Problem(raw), time=NOW, method="POST", path="/v1/executions", operation="postExecutions", status=status
    )
    effect = detail("problems", entry)["Problem"]["effect"].text
    assert effect == (NOTHING_ACCEPTED if is_refusal else OUTCOME_UNKNOWN)


def test_a_problem_of_a_read_claims_no_effect() -> None:
    entry = entry_from_problem(builders.problem(), time=NOW, method="GET", path="/v1/account", operation="getAccount")
    assert "effect" not in detail("problems", entry)["Problem"]


def test_a_foreign_error_says_that_it_has_no_instance() -> None:
    entry = entry_from_problem(builders.problem("not_a_problem", status=502, instance=None), time=NOW)
    assert detail("problems", entry)["Problem"]["instance"].text.startswith("none")


def test_the_account_shows_what_is_left_against_its_limits() -> None:
    shown = detail("account", builders.account())["Limits"]
    assert shown["runs"].text == "37 of 500  ▕█░░░░░░░░░▏ 7 %"
    assert shown["live now"].text == "1 of 4  ▕██░░░░░░░░▏ 25 %"
    assert shown["balance"].text == "18.4 USD"


def test_a_bare_record_still_has_a_detail() -> None:
    assert detail("runs", Run({}))["Run"]["mode"].text == "?"
