"""A run request while it is filled in, and one that begins from an earlier run."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.base.json import encode_body, loads
from runwatch.view.actions.run_form import (
    FIELDS,
    FORM,
    RunPrefill,
    prefill_from_run,
    start_values,
    values_from_body,
)
from runwatch.view.problems.explanation_texts import WHEN_CHECKED
from runwatch.view.runs.run_facts import RunFacts, parse_submitted_request
from tests.support.builders import ABSENT, echo_receipt, full_request_body, open_run, request_body, run


def like(facts: RunFacts, **typed: str) -> dict[str, Any]:
    """The request that the form makes of an earlier run, with what the user types over it."""
    return FORM.body({**prefill_from_run(facts).values, **typed})


def plain_request() -> dict[str, Any]:
    """A live request of which the form can send every member."""
    sent = full_request_body(compose=ABSENT)
    del sent["task"]["inputs_ref"]
    return sent


def test_the_form_begins_with_a_test_run_that_lacks_only_its_objective() -> None:
    body = FORM.body(start_values())
    assert body["mode"] == "echo"
    assert list(FORM.validate_body(body)) == ["objective"]
    assert FORM.validate_body(FORM.body({**start_values(), "objective": "Say hello."})) == {}


@pytest.mark.parametrize("literal", ["0.10", "1e-7", "0.25", "100", "0.1000000000000000055511151231257827"])
def test_a_number_of_an_earlier_request_keeps_its_digits(literal: str) -> None:
    sent = loads(f'{{"policy": {{"budget": {{"max_cost_usd": {literal}}}}}}}')
    assert values_from_body(sent)["max_cost_usd"] == literal


def test_a_run_that_was_sent_from_here_gives_its_whole_request_back() -> None:
    sent = plain_request()
    known = prefill_from_run(RunFacts(run(), request=parse_submitted_request(loads(encode_body(sent)))))
    assert known.unknown == known.left_out == ()
    assert known.note == ""
    assert FORM.body(known.values) == sent


def test_what_the_form_cannot_send_again_is_named() -> None:
    policy = full_request_body()["policy"]
    more = {**policy, "budget": {**policy["budget"], "max_tokens": 5}}
    sent = full_request_body(compose=ABSENT, priority="high", policy=more)
    known = prefill_from_run(RunFacts(run(), request=parse_submitted_request(sent)))
    assert known.left_out == ("task.inputs_ref", "policy.budget.max_tokens", "priority")
    assert known.note == (
        "The earlier request also had task.inputs_ref, policy.budget.max_tokens, priority, which this form does not"
        " send. The interface does not define priority; it may have no effect; did you mean 'policy'? The interface"
        " does not define policy.budget.max_tokens; it may have no effect; did you mean 'max_cost_usd'?"
    )


def test_a_run_of_somebody_else_gives_its_mode_and_its_policy() -> None:
    facts = RunFacts(open_run())
    known = prefill_from_run(facts)
    assert known.unknown == ("objective", "output check", "saved model")
    assert known.note == "Not known of the earlier run: objective, output check, saved model."
    sent = full_request_body()
    assert like(facts, objective="Say hello.") == {
        "mode": "live", "task": {"objective": "Say hello."}, "policy": sent["policy"],
    }  # fmt: skip


def test_a_live_run_without_limits_stays_a_live_run() -> None:
    known = prefill_from_run(RunFacts(open_run(mode="live", policy=ABSENT)))
    assert known.values["mode"] == "live"
    assert {"max cost USD", "max runtime s"} <= set(known.unknown)


def test_a_policy_without_a_member_had_none() -> None:
    policy = request_body()["policy"]
    known = prefill_from_run(RunFacts(open_run(policy=policy, mode="live")))
    assert "price/quality" not in known.unknown
    assert known.values["cost_coefficient"] == known.values["on_eval"] == ""


def test_the_mode_may_be_known_from_the_receipt_and_a_test_run_has_no_output_check() -> None:
    known = prefill_from_run(RunFacts(run(status="completed"), receipt=echo_receipt()))
    assert known.values["mode"] == "echo"
    assert "mode" not in known.unknown
    assert "output check" not in known.unknown


def test_a_run_that_tells_nothing_begins_as_a_test_run_and_says_what_is_not_known() -> None:
    known = prefill_from_run(RunFacts(run("ex_1")))
    assert known == RunPrefill("ex_1", start_values(), tuple(field.label for field in FIELDS))
    assert known.values["mode"] == "echo"


@pytest.mark.parametrize("odd", [7, None, [], "text", {"data_classes": 1, "budget": []}])
def test_a_policy_of_another_shape_gives_what_can_be_read_of_it(odd: object) -> None:
    known = prefill_from_run(RunFacts(run(policy=odd, mode=["live"])))
    assert known.values["mode"] == "echo"
    assert set(known.values) == {field.id for field in FIELDS}


def test_advice_calls_the_policy_as_the_form_does() -> None:
    label = next(field.label for field in FIELDS if field.path == "policy.on_eval")
    assert f'"{label}"' in WHEN_CHECKED


def test_every_label_fits_beside_its_field() -> None:
    assert [field.label for field in FIELDS if len(field.label) > 13] == []
