"""Live runs from submit to receipt, with scripted providers and checks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table

from runwatch.base.clock import format_iso
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run, RunResult
from runwatch.service.execution import live_steps
from runwatch.service.execution.live import provider_call
from runwatch.service.execution.live.live_rows import RETENTION
from runwatch.service.execution.retries import RETRY_S
from runwatch.service.tables import (
    arms_table,
    attempt_answers_table,
    attempt_statuses_table,
    attempts_table,
    connections_table,
    results_table,
    tasks_table,
)
from runwatch.service.transaction import Row, Transaction
from tests.service.conftest import Json, Serving, echo_body
from tests.service.live_work import (
    ACCEPTED,
    REJECTED,
    UNAVAILABLE,
    FakeJudge,
    FakeProviders,
    LiveWork,
    add_model,
    add_skill,
    add_verifier,
    failure,
    in_short,
    live_body,
    only_slice,
    outcomes,
    said,
    scripted,
    work,
)
from tests.support.clock import START
from tests.support.problems import check

__all__ = ["scripted", "work"]

STARTED = ["accepted", "queued", "running", "slice running"]


async def events_of(work: LiveWork, run: Json) -> list[str]:
    return in_short(await work.service.events(run["execution_id"]))


async def test_a_live_run_without_a_check_completes_with_its_output(work: LiveWork) -> None:
    arm_id = await work.having(add_model, "ember")
    run = await work.done(live_body())
    assert (run["status"], run["reason"], run["spend_usd"], run["current"]) == ("completed", None, 0.0071, None)
    assert await events_of(work, run) == [
        *STARTED, "slice check 1 candidate True", "slice baseline", "slice completed", "completed",
    ]  # fmt: skip
    receipt = await work.receipt(run)
    assert not Receipt(receipt).flaws()
    part = only_slice(receipt)
    assert part["recorded_check"]["output_present"] is True
    assert part["verifier"]["verifier_id"] == "vrf_builtin_baseline"
    assert part["cost"] == {
        "usd": 0.0071, "input_tokens": 915, "output_tokens": 206, "calls": 1, "pricing_basis": "source_reported",
    }  # fmt: skip
    assert part["route"]["selected"]["arm_id"] == arm_id
    assert part["route"]["selected"]["model_key"] == "northwind/ember"
    assert part["model_provenance"]["resolved"] == {
        "upstream_ref": "served-by", "source_request_id": "req_88", "attestation": "source_response",
    }  # fmt: skip
    assert receipt["totals"] == {"usd": 0.0071, "platform_fee_usd": 0, "runtime_s": 0}
    result = await work.service.get(f"/v1/executions/{run['execution_id']}/result")
    assert not RunResult(result).flaws()
    assert (result["final_text"], result["retention_expires_at"]) == ("Five points.", format_iso(START + RETENTION))
    assert result["model_provenance"] == part["model_provenance"]
    (call,) = work.providers.calls
    assert (call.model, call.objective, call.inputs["json"]) == (
        "ember", "sentinel-objective", {"notes": "sentinel-inputs"},
    )  # fmt: skip
    assert call.timeout_s == 60


async def test_steps_before_the_first_response_read_no_responses(
    work: LiveWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    await work.having(add_model, "ember")
    read: list[str] = []
    list_all = Transaction.list_all

    def note(transaction: Transaction, table: Table, where: Mapping[str, object]) -> Sequence[Row]:
        read.append(f"{table.name} after {len(work.providers.calls)} calls")
        return list_all(transaction, table, where)

    monkeypatch.setattr(Transaction, "list_all", note)
    await work.done(live_body())
    assert f"{attempt_answers_table.name} after 1 calls" in read
    assert f"{attempt_answers_table.name} after 0 calls" not in read
    assert f"{attempt_statuses_table.name} after 0 calls" not in read


async def test_an_output_that_was_cut_is_marked_on_run_and_receipt(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    work.providers.script("ember", replace(said(), finish_reason="length"))
    run = await work.done(live_body())
    assert only_slice(run)["finish_reason"] == "length"
    assert only_slice(await work.receipt(run))["finish_reason"] == "length"


async def test_of_two_outputs_the_last_one_says_how_it_ended(work: LiveWork) -> None:
    verifier_id = await work.having(add_verifier)
    for model, reason in (("ember", "length"), ("brook", "stop")):
        await work.having(add_model, model)
        work.providers.script(model, replace(said(), finish_reason=reason))
    work.judge.steps.append(REJECTED)
    run = await work.done(live_body(["fallback"], verifier_id=verifier_id))
    assert [call.model for call in work.providers.calls] == ["ember", "brook"]
    assert only_slice(run)["finish_reason"] == "stop"


async def test_a_rejected_output_falls_back_to_the_next_option(work: LiveWork) -> None:
    first = await work.having(add_model, "ember", cost_class="economy")
    second = await work.having(add_model, "atlas", source_kind="gateway")
    verifier_id = await work.having(add_verifier)
    work.judge.script(REJECTED, ACCEPTED)
    run = await work.done(live_body(["gate", "fallback"], verifier_id=verifier_id))
    events = await work.service.events(run["execution_id"])
    assert in_short(events) == [
        *STARTED, "slice pending_evaluation", "slice check 1 candidate False", "slice progress fallback",
        "slice check 2 candidate True", "slice customer_verdict", "slice completed", "completed",
    ]  # fmt: skip
    assert not any(RunEvent(event).flaws() for event in events)
    assert [event["arm_id"] for event in events if event.get("state") == "progress"] == [second]
    receipt = await work.receipt(run)
    assert not Receipt(receipt).flaws()
    part = only_slice(receipt)
    assert [(entry["arm_id"], entry["rank"], entry["outcome"]) for entry in part["route"]["ranking"]] == [
        (first, 1, "rejected_by_check"), (second, 2, "selected"),
    ]  # fmt: skip
    assert part["route"]["fallback_used"] is True
    assert part["route"]["selected"]["arm_id"] == second
    assert [entry["attempt"] for entry in part["verification_checks"]] == [1, 2]
    assert part["verifier"]["anchor_results"] == {"five_bullets": True}
    assert part["verifier"]["correctness_declaration"]["verifier_revision"] == 3
    assert part["recorded_check"]["check_id"] == part["verification_checks"][1]["check_id"]
    assert part["acted_on_eval"] == {"action": "fallback", "outcome": "fell_back"}
    assert part["model_provenance"]["resolved"]["attestation"] == "gateway_response"
    assert (part["cost"]["calls"], receipt["totals"]["usd"]) == (2, 0.0142)
    found = await work.service.get("/v1/receipts", arm_id=second)
    assert [entry["execution_id"] for entry in found["receipts"]] == [run["execution_id"]]
    assert work.judge.candidates == ["Five points.", "Five points."]


@pytest.mark.parametrize(
    ("on_eval", "verdict", "status", "reason", "acted"),
    [
        (["gate"], ACCEPTED, "completed", None, {"action": "gate", "outcome": "passed_gate"}),
        (["gate"], REJECTED, "failed", "rejected_by_check", None),
        (None, REJECTED, "completed", None, None),
        (None, UNAVAILABLE, "completed", None, None),
        (["gate"], UNAVAILABLE, "failed", "check_unavailable", None),
        (["fallback"], UNAVAILABLE, "failed", "check_unavailable", None),
        (["fallback"], REJECTED, "failed", "fallback_exhausted", None),
        (["repair_retry"], REJECTED, "failed", "rejected_by_check", None),
        (["gate"], ValueError("sentinel-output"), "failed", "check_unavailable", None),
    ],
)
async def test_the_policy_reacts_to_the_verdict(
    work: LiveWork, on_eval: list[str] | None, verdict: Any, status: str, reason: str | None, acted: Json | None
) -> None:
    await work.having(add_model, "ember")
    work.judge.script(verdict)
    run = await work.done(live_body(on_eval, verifier_id=await work.having(add_verifier)))
    assert (run["status"], run["reason"]) == (status, reason)
    part = only_slice(await work.receipt(run))
    assert part.get("acted_on_eval") == acted
    expected = "customer_verdict" if verdict in (ACCEPTED, REJECTED) else "customer_unavailable"
    assert part["recorded_check"]["state"] == expected
    result = await work.service.http.get(f"/v1/executions/{run['execution_id']}/result")
    assert result.status_code == (200 if status == "completed" else 409)


async def test_an_output_of_nothing_does_not_pass_the_gate(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    work.providers.script("ember", said(" \n"), said(" \n"))
    run = await work.done(live_body(["gate"]))
    assert (run["status"], run["reason"]) == ("failed", "rejected_by_check")
    assert only_slice(await work.receipt(run))["recorded_check"]["output_present"] is False
    assert (await work.done(live_body()))["status"] == "completed"


@pytest.mark.parametrize(
    ("step", "reason", "kind", "calls"),
    [
        (failure("timeout"), "dispatch_timeout", "timeout", 1),
        (failure("network", was_sent=False), "dispatch_network_error", "network", 0),
        (failure("source_5xx"), "dispatch_internal_error", "source_5xx", 1),
        (failure("authentication"), "dispatch_internal_error", "authentication", 1),
        (failure("response_too_large"), "response_too_large", "response_too_large", 1),
        (said("x" * (provider_call.CANDIDATE_BYTES + 1)), "candidate_too_large", "candidate_too_large", 1),
        (KeyError("sentinel-output"), "dispatch_internal_error", "internal", 1),
    ],
)
async def test_a_call_that_fails_ends_the_run_with_its_reason(
    work: LiveWork, step: Any, reason: str, kind: str, calls: int, caplog: pytest.LogCaptureFixture
) -> None:
    await work.having(add_model, "ember")
    work.providers.script("ember", step)
    run = await work.done(live_body(["gate"], max_runtime_s=3600))
    assert (run["status"], run["reason"]) == ("failed", reason)
    part = only_slice(await work.receipt(run))
    (attempt,) = part["attempts"]
    assert (attempt["outcome"], attempt["reason"], attempt["failure_kind"]) == ("failed", reason, kind)
    assert part["cost"]["calls"] == calls
    is_known = kind in {"network", "candidate_too_large", "authentication"}
    assert part["cost"].get("usage") == (None if is_known else "unknown")
    assert part["cost"].get("unknown_calls") == (None if is_known else 1)
    assert (attempt["usd"] is None) is not is_known
    # A refused call costs nothing, and the provider did not say so.
    assert "pricing_basis" not in part["cost"] or kind == "candidate_too_large"
    assert (attempt["pricing_basis"] is None) is (kind != "candidate_too_large")
    assert part["recorded_check"]["state"] == "terminal_no_evaluation"
    assert part["route"]["selected"]["model_key"] == "northwind/ember"
    assert "sentinel" not in caplog.text


async def test_a_key_that_cannot_be_opened_is_not_reported_as_refused(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    closed = {"secret_handle": f"cred_v_{'0' * 32}"}
    await work.service.context.database.write(
        lambda transaction: transaction.change(connections_table, {"display_name": "ember"}, **closed)
    )
    run = await work.done(live_body(["gate"]))
    (attempt,) = only_slice(await work.receipt(run))["attempts"]
    assert attempt["failure_kind"] == "credential_unavailable"
    assert work.providers.calls == []


async def test_a_call_that_fails_goes_on_with_the_next_option_where_the_policy_says_so(work: LiveWork) -> None:
    for model in ("ember", "atlas", "boreal"):
        await work.having(add_model, model)
    work.providers.script("ember", failure("rate_limited"))
    run = await work.done(live_body(["fallback"]))
    assert run["status"] == "completed"
    assert (await events_of(work, run))[4] == "slice progress fallback"
    part = only_slice(await work.receipt(run))
    assert [entry["outcome"] for entry in part["route"]["ranking"]] == [
        "dispatch_internal_error", "selected", "not_tried",
    ]  # fmt: skip
    # No output was rejected, so nothing acted on an evaluation.
    assert "acted_on_eval" not in part
    for model in ("ember", "atlas", "boreal"):
        work.providers.script(model, failure("capacity"))
    run = await work.done(live_body(["fallback"]))
    assert (run["status"], run["reason"], len(work.providers.calls)) == ("failed", "fallback_exhausted", 5)


async def test_a_model_that_did_not_answer_is_not_selected_beside_the_verdict_of_another(work: LiveWork) -> None:
    first = await work.having(add_model, "ember")
    await work.having(add_model, "atlas")
    work.providers.script("atlas", failure("timeout"))
    work.judge.script(REJECTED)
    run = await work.done(live_body(["fallback"], verifier_id=await work.having(add_verifier)))
    assert (run["reason"], run["selected"]["arm_id"]) == ("fallback_exhausted", first)
    part = only_slice(await work.receipt(run))
    assert part["route"]["selected"]["arm_id"] == part["verification_checks"][0]["arm_id"] == first
    assert (
        part["model_provenance"]["deployment"]["model_deployment_id"]
        == (part["route"]["selected"]["model_deployment_id"])
    )
    assert len({attempt["connection_id"] for attempt in part["attempts"]}) == 2


async def test_nothing_is_called_once_the_spend_has_reached_the_cap(work: LiveWork) -> None:
    for model in ("ember", "atlas"):
        await work.having(add_model, model)
    work.providers.script("ember", said(usd="0.25"))
    work.judge.script(REJECTED)
    run = await work.done(live_body(["fallback"], verifier_id=await work.having(add_verifier)))
    assert (run["status"], run["reason"], run["spend_usd"]) == ("failed", "cost_budget_exhausted", 0.25)
    assert len(work.providers.calls) == 1
    assert only_slice(await work.receipt(run))["recorded_check"]["state"] == "customer_verdict"
    # A call in progress is never undone: an output that cost more than the cap is still an output.
    work.providers.script("ember", said(usd="9"))
    work.providers.script("atlas", said(usd="9"))
    run = await work.done(live_body(["fallback"]))
    assert (run["status"], run["spend_usd"]) == ("completed", 9)


@pytest.mark.exhaustive
async def test_a_required_arm_runs_alone(work: LiveWork) -> None:
    await work.having(add_model, "ember", cost_class="economy")
    arm_id = await work.having(add_model, "atlas", cost_class="premium")
    work.judge.script(REJECTED)
    run = await work.done(live_body(["fallback"], arm_id=arm_id, verifier_id=await work.having(add_verifier)))
    assert (run["status"], run["reason"]) == ("failed", "fallback_exhausted")
    assert [call.model for call in work.providers.calls] == ["atlas"]
    part = only_slice(await work.receipt(run))
    assert (part["route"]["ranking"], part["route"]["selected"]["arm_id"]) == ("required_arm", arm_id)
    await work.change(arms_table, {"arm_id": arm_id}, status="degraded")
    run = await work.done(live_body(arm_id=arm_id))
    assert (run["status"], run["reason"]) == ("failed", "arm_not_ready")
    assert (run["required_arm"]["arm_id"], run["required_arm"]["status"]) == (arm_id, "degraded")
    part = only_slice(await work.receipt(run))
    assert (part["route"]["selected"], part["cost"]["calls"], part["model_provenance"]) == (None, 0, None)
    assert part["recorded_check"] == {
        "state": "terminal_no_evaluation", "no_evaluation_attempted": True, "reason": "arm_not_ready",
        "recorded_at": part["recorded_check"]["recorded_at"],
    }  # fmt: skip


async def test_a_run_without_an_eligible_arm_fails(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    await work.change(connections_table, {}, test_state="failed")
    run = await work.done(live_body())
    assert (run["status"], run["reason"]) == ("failed", "no_eligible_arms")
    assert await events_of(work, run) == [
        "accepted", "queued", "slice terminal_no_evaluation", "slice failed no_eligible_arms",
        "failed no_eligible_arms",
    ]  # fmt: skip


async def test_an_option_that_is_lost_after_the_ranking_is_not_called(work: LiveWork) -> None:
    first = await work.having(add_model, "ember", cost_class="economy")
    second = await work.having(add_model, "atlas")

    async def lose(*_: Any) -> Any:
        await work.change(arms_table, {"arm_id": second}, status="disabled")
        return REJECTED

    work.service.context.engine.runner.judge = lose
    run = await work.done(live_body(["fallback"], verifier_id=await work.having(add_verifier)))
    assert (run["status"], run["reason"]) == ("failed", "fallback_exhausted")
    part = only_slice(await work.receipt(run))
    assert [(entry["arm_id"], entry["outcome"]) for entry in part["route"]["ranking"]] == [
        (first, "rejected_by_check"), (second, "arm_not_ready"),
    ]  # fmt: skip
    assert [call.model for call in work.providers.calls] == ["ember"]
    assert part["cost"]["calls"] == 1


async def test_a_run_that_is_being_called_for_says_with_whom(work: LiveWork) -> None:
    arm_id = await work.having(add_model, "ember")
    held = asyncio.Event()
    work.providers.script("ember", held)
    run_id = (await work.service.submit(live_body()))["execution_id"]
    await work.providers.begun.wait()
    run = await work.service.get(f"/v1/executions/{run_id}")
    assert not Run(run).flaws()
    assert run["status"] == "running"
    assert run["current"] == {
        "slice_id": run["slices"][0]["slice_id"], "capability": "text.generate", "arm_id": arm_id,
        "provider": "northwind_direct", "model_key": "northwind/ember", "phase": "candidate",
    }  # fmt: skip
    # What the call under way costs is not known yet.
    assert (run["spend_usd"], run["known_spend_usd"], run["unknown_calls"]) == (None, 0, 1)
    (attempt,) = await work.rows(attempts_table)
    assert (attempt["state"], attempt["candidate"]) == ("started", None)
    held.set()
    ended = await work.service.finished(run_id)
    assert (ended["status"], ended["spend_usd"], ended["current"]) == ("completed", 0.0071, None)
    assert ended["selected"] == {"arm_id": arm_id, "provider": "northwind_direct", "model_key": "northwind/ember"}


async def test_cancelling_during_a_call_hangs_up_and_says_that_it_is_not_reversed(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    work.providers.script("ember", asyncio.Event())
    run_id = (await work.service.submit(live_body()))["execution_id"]
    await work.providers.begun.wait()
    answer = await work.service.http.post(f"/v1/executions/{run_id}/cancel")
    assert answer.json()["status"] == "cancelled"
    run = await work.service.finished(run_id)
    assert work.providers.hung_up == 1
    events = await work.service.events(run_id)
    assert in_short(events)[4:] == [
        "slice terminal_no_evaluation", "slice cancelled cancelled", "cancelled cancelled",
    ]  # fmt: skip
    assert "could not be reversed" in events[-2]["note"]
    receipt = await work.receipt(run)
    part = only_slice(receipt)
    (attempt,) = part["attempts"]
    assert (attempt["outcome"], attempt["usage"], attempt["usd"]) == ("cancelled_in_flight", "unknown", None)
    assert "could not be reversed" in attempt["note"]
    assert (part["cost"]["usage"], part["cost"]["calls"], receipt["totals"]["usd"]) == ("unknown", 1, 0)


async def test_cancelling_during_a_check_keeps_what_the_call_cost(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    work.judge.script(asyncio.Event())
    run_id = (await work.service.submit(live_body(verifier_id=await work.having(add_verifier))))["execution_id"]
    await work.judge.begun.wait()
    await work.service.http.post(f"/v1/executions/{run_id}/cancel")
    run = await work.service.finished(run_id)
    assert (run["status"], run["spend_usd"]) == ("cancelled", 0.0071)
    receipt = await work.receipt(run)
    part = only_slice(receipt)
    assert part["recorded_check"]["state"] == "pending_evaluation"
    assert (outcomes(receipt), part["cost"].get("usage")) == ([("candidate", "answered")], None)
    assert "note" not in (await work.service.events(run_id))[-2]


async def test_a_call_has_no_more_time_than_the_run(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    work.providers.script("ember", failure("timeout", is_deadline=True))
    run = await work.done(live_body(["fallback"], max_runtime_s=20))
    assert work.providers.calls[0].timeout_s == 20
    assert (run["status"], run["reason"]) == ("expired", "runtime_exceeded")
    receipt = await work.receipt(run)
    assert outcomes(receipt) == [("candidate", "expired_in_flight")]
    assert only_slice(receipt)["cost"]["usage"] == "unknown"


async def test_an_answer_after_the_time_is_over_is_paid_and_not_used(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    clock = work.service.fake_clock

    def late() -> Any:
        clock.advance(21)
        return said()

    work.providers.script("ember", late)
    run = await work.done(live_body(max_runtime_s=20))
    assert (run["status"], run["reason"], run["spend_usd"]) == ("expired", "runtime_exceeded", 0.0071)
    assert outcomes(await work.receipt(run)) == [("candidate", "answered")]


async def test_a_check_that_takes_longer_than_the_run_may_expires_it(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    clock = work.service.fake_clock

    def slow() -> Any:
        clock.advance(59.99)
        return said()

    work.providers.script("ember", slow)
    work.judge.script(asyncio.Event())
    run = await work.done(live_body(["gate"], verifier_id=await work.having(add_verifier)))
    assert (run["status"], run["reason"]) == ("expired", "runtime_exceeded")
    recorded = only_slice(await work.receipt(run))["recorded_check"]
    assert (recorded["state"], bool(recorded["attempted_verifier_id"])) == ("pending_evaluation", True)


async def test_an_answer_that_cannot_be_written_is_written_later_and_not_asked_for_again(
    work: LiveWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    await work.having(add_model, "ember")
    failures = iter([True, True])
    answered = live_steps.record_response

    def flaky(*arguments: Any, **named: Any) -> Any:
        if next(failures, False):
            raise OSError("no space left on device")
        return answered(*arguments, **named)

    monkeypatch.setattr(live_steps, "record_response", flaky)
    run = await work.done(live_body())
    assert (run["status"], len(work.providers.calls)) == ("completed", 1)
    assert [seconds for seconds in work.service.fake_clock.sleeps if seconds >= 1] == [*RETRY_S[:2]]


async def test_a_result_is_kept_for_seven_days(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    run = await work.done(live_body())
    path = f"/v1/executions/{run['execution_id']}/result"
    clock = work.service.fake_clock
    clock.advance((RETENTION - timedelta(seconds=1)).total_seconds())
    assert (await work.service.http.get(path)).status_code == 200
    clock.advance(1)
    check(await work.service.http.get(path), "not_found")
    await work.done(live_body())
    assert len(await work.rows(results_table)) == 1


async def test_no_result_before_the_end_nor_of_a_test_run(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    held = asyncio.Event()
    work.providers.script("ember", held)
    run_id = (await work.service.submit(live_body()))["execution_id"]
    await work.providers.begun.wait()
    check(await work.service.http.get(f"/v1/executions/{run_id}/result"), "invalid_state")
    held.set()
    await work.service.finished(run_id)
    echo = await work.done(echo_body())
    check(await work.service.http.get(f"/v1/executions/{echo['execution_id']}/result"), "invalid_state")
    check(await work.service.http.get("/v1/executions/ex_none/result"), "not_found")


async def test_a_skill_that_does_the_work_better_is_accepted(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    skill_id = await work.having(add_skill)
    work.judge.script(REJECTED, ACCEPTED)
    run = await work.done(live_body(["repair_retry"], verifier_id=await work.having(add_verifier)))
    receipt = await work.receipt(run)
    assert run["status"] == "completed"
    assert (await events_of(work, run))[6:9] == [
        "slice progress repair_retry", "slice check 2 skill_baseline True", "slice customer_verdict",
    ]  # fmt: skip
    part = only_slice(receipt)
    assert part["acted_on_eval"] == {"action": "repair_retry", "outcome": "skill_accepted"}
    assert [entry["arm_id"] == skill_id for entry in part["verification_checks"]] == [False, True]
    assert work.providers.calls[1].objective.startswith("Write plainly.")
    assert work.providers.calls[1].objective.endswith("sentinel-objective")


async def test_a_repaired_skill_becomes_a_proposal_without_prompt_or_output(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    skill_id = await work.having(add_skill)
    work.providers.script(
        "ember", said("sentinel-output"), said("sentinel-output"), said("Use five bullets.\ud800"), said()
    )
    work.judge.script(REJECTED, REJECTED, ACCEPTED)
    run = await work.done(live_body(["repair_retry"], verifier_id=await work.having(add_verifier)))
    assert run["status"] == "completed"
    receipt = await work.receipt(run)
    assert [phase for phase, _ in outcomes(receipt)] == [
        "candidate", "skill_baseline", "skill_draft", "skill_repair",
    ]  # fmt: skip
    part = only_slice(receipt)
    assert [attempt["attempt"] for attempt in part["attempts"]] == [1, 2, 3, 3], "the rewriting is part of the third"
    assert [entry["attempt"] for entry in part["verification_checks"]] == [1, 2, 3]
    acted = only_slice(receipt)["acted_on_eval"]
    assert (acted["action"], acted["outcome"]) == ("repair_retry", "proposal_created")
    proposal = await work.service.get(f"/v1/proposals/{acted['proposal_id']}")
    assert (proposal["arm_id"], proposal["execution_id"]) == (skill_id, run["execution_id"])
    assert (proposal["parent_score"], proposal["candidate_score"]) == (0.31, 0.86)
    assert proposal["diff"] == "@@ region:tone @@\n@@ -1 +1 @@\n-Be brief.\n+Use five bullets.?"
    draft, repair = work.providers.calls[2], work.providers.calls[3]
    assert "sentinel" not in draft.objective
    assert draft.inputs is None
    assert "five_bullets" in draft.objective
    assert "Use five bullets.?\n[[/region:tone]]\nNo jargon.\n\nsentinel-objective" in repair.objective


@pytest.mark.exhaustive
async def test_the_next_run_uses_the_skill_that_an_approval_has_repaired(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    skill_id = await work.having(add_skill)
    verifier_id = await work.having(add_verifier)
    work.providers.script("ember", said("bad"), said("bad"), said("Use five bullets."), said())
    work.judge.script(REJECTED, REJECTED, ACCEPTED)
    receipt = await work.receipt(await work.done(live_body(["repair_retry"], verifier_id=verifier_id)))
    part = only_slice(receipt)
    path = f"/v1/proposals/{part['acted_on_eval']['proposal_id']}"
    proposal = await work.service.get(path)
    parent, candidate = proposal["parent_artifact_id"], proposal["candidate_artifact_id"]
    assert [attempt["artifact_id"] for attempt in part["attempts"]] == [None, parent, parent, candidate]

    async def next_run() -> tuple[str, list[str | None], list[str | None]]:
        work.judge.script(REJECTED, ACCEPTED)
        run = await work.done(live_body(["repair_retry"], verifier_id=verifier_id))
        attempts = only_slice(await work.receipt(run))["attempts"]
        events = await work.service.events(run["execution_id"])
        told = [event.get("artifact_id") for event in events if event.get("state") == "progress"]
        return work.providers.calls[-1].objective, [attempt["artifact_id"] for attempt in attempts], told

    objective, used, told = await next_run()
    assert ("Be brief." in objective, used, told) == (True, [None, parent], [parent])
    assert (await work.service.http.post(f"{path}/approve")).json()["status"] == "approved"
    objective, used, told = await next_run()
    assert ("Use five bullets." in objective, used, told) == (True, [None, candidate], [candidate])
    assert (await work.service.get(f"/v1/arms/{skill_id}"))["artifact_hash"] == candidate


async def test_a_repair_that_is_rejected_ends_the_run(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    await work.having(add_skill)
    work.judge.script(REJECTED, REJECTED, REJECTED)
    run = await work.done(live_body(["repair_retry", "gate"], verifier_id=await work.having(add_verifier)))
    assert (run["status"], run["reason"]) == ("failed", "rejected_by_check")
    part = only_slice(await work.receipt(run))
    assert part["acted_on_eval"] == {"action": "repair_retry", "outcome": "repair_rejected"}
    assert await work.service.get("/v1/proposals") == {"proposals": [], "next_cursor": None}


async def test_prompt_and_output_are_nowhere_but_in_task_and_result(
    serving: Serving,
    scripted: tuple[FakeProviders, FakeJudge],
    data_dir: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    providers, judge = scripted
    caplog.set_level(logging.DEBUG)
    async with serving() as service:
        work = LiveWork(service, providers, judge)
        await work.having(add_model, "ember")
        await work.having(add_skill)
        verifier_id = await work.having(add_verifier)
        providers.script("ember", *[said("sentinel-output")] * 3)
        judge.script(REJECTED, REJECTED, REJECTED)
        run = await work.done(live_body(["repair_retry"], verifier_id=verifier_id))
        assert run["status"] == "failed"
        receipt = (await service.http.get(f"/v1/receipts/{run['execution_id']}")).text
        events = (await service.http.get(f"/v1/executions/{run['execution_id']}/events")).text
        assert "sentinel" not in receipt + events + caplog.text
        assert await work.rows(tasks_table) == []
        assert [row["candidate"] for row in await work.rows(attempts_table)] == [None] * 4
    kept = b"".join(file.read_bytes() for file in data_dir.rglob("*") if file.is_file())
    assert b"sentinel" not in kept
