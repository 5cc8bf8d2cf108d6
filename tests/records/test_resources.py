"""Records of runs, events, receipts, results, accounts and problems (manual: interface, "Resources")."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from runwatch.base.json import loads
from runwatch.records.error_codes import CODES, REASONS
from runwatch.records.event import RunEvent
from runwatch.records.problem import PROBLEM_BASE, Problem, synthetic_problem
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.records.states import FINAL_STATES, LIVE_STATES, is_final
from runwatch.records.verifier import Probe
from tests.support import builders, resources
from tests.support.parts import RECORDED_STATES

WHOLE = [
    builders.run(), builders.open_run(), builders.result(), builders.account(), builders.echo_receipt(),
    builders.live_receipt(), builders.baseline_receipt(), builders.ended_receipt("cancelled"),
    builders.ended_receipt("expired"), builders.problem("rate_limited", retry_after_s=20),
    builders.validation_problem(task__objective="Required."), *builders.echo_events(), *builders.live_events(),
    *[builders.recorded_event(1, state) for state in RECORDED_STATES], *resources.WHOLE,
]  # fmt: skip


@pytest.mark.parametrize("record", WHOLE, ids=lambda record: type(record).__name__)
def test_what_the_wire_reference_shows_has_no_flaw(record: Record) -> None:
    assert record.flaws() == ()


@pytest.mark.parametrize("record", resources.WHOLE, ids=lambda record: type(record).__name__)
def test_what_the_wire_reference_shows_is_declared_member_for_member(record: Record) -> None:
    assert record.unknown() == {}


def test_a_catalog_entry_is_named_by_its_deployment() -> None:
    assert resources.catalog_entry("mdep_1").id == "mdep_1"
    assert resources.catalog_entry("mdep_1", deployment=None).id == "mdep_1"
    assert resources.catalog_entry("mdep_1", deployment=3, arm_registration_template=None).id == ""


def test_a_probe_is_usable_only_where_its_answer_kept_the_contract() -> None:
    for reachable in (True, False):
        probe = resources.verifier_test(reachable=reachable).probe
        assert probe is not None
        assert probe.is_usable is reachable
    assert not Probe({}).is_usable


def test_the_four_final_states_end_a_run_and_nothing_else_does() -> None:
    assert {state for state in (*LIVE_STATES, *FINAL_STATES) if is_final(state)} == FINAL_STATES
    assert not any(is_final(state) for state in (*LIVE_STATES, "hovering", "Completed", "", None))
    assert builders.run(status="expired").is_final
    assert not builders.run(status="hovering").is_final
    assert not Run({}).is_final


def test_a_run_tells_its_slices_links_and_open_members() -> None:
    run = builders.open_run()
    assert run.slices is not None
    assert [(part.slice_id, part.capability, part.status) for part in run.slices] == [
        ("sl_1", "text.generate", "running")
    ]
    assert run.links is not None
    assert run.links.events == "/v1/executions/ex_01HXE/events"
    assert run.policy is not None
    assert run.policy.on_eval == ("gate", "fallback")
    assert run.policy.budget is not None
    assert run.policy.budget.max_cost_usd == Decimal("0.25")
    assert run.spend_usd == Decimal("0.0142")


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        (builders.event(7, "completed"), True),
        (builders.event(7, "expired", slice_id=None), True),
        (builders.slice_event(6, "completed"), False),
        (builders.event(6, "running"), False),
        (builders.event(6, "hovering"), False),
        (builders.recorded_event(5), False),
        (RunEvent({"type": "other", "state": "completed"}), False),
        (RunEvent({}), False),
    ],
)
def test_only_the_final_lifecycle_event_of_the_run_itself_ends_it(event: RunEvent, ends: bool) -> None:
    assert event.ends_run is ends


def test_an_event_keeps_its_own_text_where_it_has_one() -> None:
    text = '{"event_id":"e", "score":0.10}'
    assert RunEvent(loads(text), text).wire_text == text
    assert RunEvent(loads(text)).wire_text == '{"event_id":"e","score":0.10}'


def test_events_of_the_wire_reference_carry_their_payloads() -> None:
    check = builders.verification_event(6).verification_check
    assert check is not None
    assert (check.attempt, check.is_correct, check.quality_score) == (1, True, Decimal("0.86"))
    stated = builders.recorded_event(9, "customer_verdict").recorded_check
    assert stated is not None
    assert stated.anchor_results == {"five_bullets": True, "no_invented_version": True}


def test_the_receipt_of_a_test_run_has_the_constants_and_costs_nothing() -> None:
    receipt = builders.echo_receipt()
    assert receipt.slices is not None
    (part,) = receipt.slices
    assert part.route is not None
    assert part.route.ranking == "skipped_platform_proof"
    assert part.route.selected is None
    assert part.verifier is not None
    assert part.verifier.identity == "platform.echo"
    assert part.verifier.raw["id"] == "platform.echo"
    assert part.cost is not None
    assert part.cost.waiver is not None
    assert part.cost.waiver.reason == "sandbox_echo_d9"
    assert receipt.spend_usd == 0


@pytest.mark.parametrize(
    ("totals", "spend"),
    [
        ({"usd": 0.0142, "platform_fee_usd": 0.05, "runtime_s": 9.8}, Decimal("0.0642")),
        ({"usd": 1, "platform_fee_usd": 0.4, "review_composer_fee_usd": 0.4}, Decimal("1.4")),
        ({"usd": 0.0142}, None),
        ({"platform_fee_usd": 0.05}, None),
        ({"usd": "0.1", "platform_fee_usd": 0.05}, None),
        (None, None),
        ([], None),
    ],
)
def test_spend_is_usage_plus_fee_in_decimals_and_only_when_both_are_known(totals: Any, spend: Decimal | None) -> None:
    assert Receipt({"totals": totals}).spend_usd == spend


def test_the_largest_amounts_add_up_and_larger_ones_are_flaws() -> None:
    receipt = Receipt(loads('{"totals": {"usd": 9e999, "platform_fee_usd": 9e999}}'))
    assert receipt.spend_usd == Decimal("1.8E+1000")
    assert Receipt(loads('{"totals": {"usd": 1e1000, "platform_fee_usd": 1}}')).flaws() == ("totals.usd",)


@pytest.mark.parametrize(
    ("type_", "code"),
    [
        ("https://api.example.test/problems/rate_limited", "rate_limited"),
        ("https://api.example.test/problems/rate_limited//", "rate_limited"),
        ("rate_limited", "rate_limited"),
        ("about:blank", ""),
        ("https://api.example.test/problems/Rate-Limited", "https://api.example.test/problems/Rate-Limited"),
        ("urn:example:over-limit", "urn:example:over-limit"),
        ("urn:" + "x" * 300, "urn:" + "x" * 196),
        ("https://api.example.test/problems/x\n", ""),
        ("", ""),
        (None, ""),
        (5, ""),
    ],
)
def test_the_code_of_a_problem_is_the_last_segment_of_its_type(type_: object, code: str) -> None:
    assert Problem({"type": type_}).code == code


def test_a_problem_tells_its_fields() -> None:
    problem = builders.validation_problem(policy__budget="Must be greater than 0.", task__objective="Required.")
    assert problem.errors is not None
    assert [(error.field, error.message) for error in problem.errors] == [
        ("policy.budget", "Must be greater than 0."),
        ("task.objective", "Required."),
    ]


def test_a_problem_of_our_own_wording_claims_no_instance() -> None:
    problem = synthetic_problem("not_a_problem", "The answer did not come from the API", 502)
    assert problem.raw == {
        "type": f"{PROBLEM_BASE}not_a_problem", "title": "The answer did not come from the API", "status": 502,
    }  # fmt: skip
    assert problem.id == ""
    assert synthetic_problem("x", "X", 500, "why").detail == "why"


def test_codes_are_well_formed_and_eight_of_them_prove_that_no_run_was_accepted() -> None:
    assert all(Problem({"type": PROBLEM_BASE + code}).code == code for code in CODES)
    assert all(400 <= facts.status < 600 and facts.title.endswith(".") for facts in CODES.values())
    assert sum(facts.refuses_run for facts in CODES.values()) == 8
    assert len(set(REASONS)) == len(REASONS) == 16
