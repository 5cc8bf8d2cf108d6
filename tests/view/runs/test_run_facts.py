"""What is known of a run from everywhere, with its source; the unknown stays unknown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.state.collection import StoredRecord
from runwatch.view.runs.run_facts import (
    COUNTS_ON,
    FROM_EVENTS,
    FROM_RECEIPT,
    FROM_REQUEST,
    FROM_RUN,
    NO_SOURCE,
    RunFacts,
    SourcedValue,
    SubmittedRequest,
    parse_submitted_request,
)
from tests.support import builders

FACTS = (
    "mode", "max_cost_usd", "max_runtime_s", "data_classes", "cost_usd", "reason", "provider", "model", "arm_id",
    "connection_id", "verifier_id", "ended_at", "took_s", "cancelled_by",
)  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_a_bare_run_tells_nothing_and_nothing_is_guessed(name: str) -> None:
    assert getattr(RunFacts(Run({"execution_id": "ex_1", "status": "completed"})), name) == SourcedValue(
        None, NO_SOURCE
    )


def test_a_run_without_a_mode_is_neither_live_nor_a_test() -> None:
    facts = RunFacts(builders.run())
    assert facts.mode.value is None
    assert not facts.is_test


def test_the_own_request_fills_in_mode_and_policy() -> None:
    facts = RunFacts(builders.run(), SubmittedRequest(builders.full_request_body()))
    assert facts.mode == SourcedValue("live", FROM_REQUEST)
    assert facts.max_cost_usd == SourcedValue(Decimal("0.25"), FROM_REQUEST)
    assert facts.max_runtime_s == SourcedValue(Decimal(60), FROM_REQUEST)
    assert facts.data_classes == SourcedValue(("public", "tenant_internal"), FROM_REQUEST)


def test_what_the_run_says_itself_counts_more_than_the_request() -> None:
    run = builders.open_run(policy={"budget": {"max_cost_usd": 1}})
    facts = RunFacts(run, SubmittedRequest(builders.full_request_body()))
    assert facts.max_cost_usd == SourcedValue(Decimal(1), FROM_RUN)
    assert facts.max_runtime_s == SourcedValue(Decimal(60), FROM_REQUEST)


def test_the_receipt_tells_cost_model_provider_and_time() -> None:
    facts = RunFacts(builders.run(status="completed"), receipt=builders.live_receipt())
    assert facts.cost_usd == SourcedValue(Decimal("0.0642"), FROM_RECEIPT)
    assert facts.model == SourcedValue("contoso/atlas-12b", FROM_RECEIPT)
    assert facts.provider == SourcedValue("openrouter", FROM_RECEIPT)
    assert facts.arm_id == SourcedValue("arm_01HX8", FROM_RECEIPT)
    assert facts.took_s == SourcedValue(Decimal("9.8"), FROM_RECEIPT)
    assert facts.mode == SourcedValue("live", FROM_RECEIPT)


def test_the_receipt_counts_more_than_the_running_spend_of_the_run() -> None:
    facts = RunFacts(builders.open_run(spend_usd=0.01), receipt=builders.live_receipt())
    assert facts.cost_usd == SourcedValue(Decimal("0.0642"), FROM_RECEIPT)


def test_the_final_event_tells_reason_end_and_who_cancelled() -> None:
    event = builders.event(7, "cancelled", reason="cancelled", acted_by="key_A1")
    facts = RunFacts(builders.run(status="cancelled"), last_event=event)
    assert facts.reason == SourcedValue("cancelled", FROM_EVENTS)
    assert facts.cancelled_by == SourcedValue("key_A1", FROM_EVENTS)
    assert facts.ended_at == SourcedValue(event.at, FROM_EVENTS)
    assert facts.took_s.source == FROM_EVENTS


def test_an_event_that_does_not_end_the_run_gives_it_no_reason() -> None:
    event = builders.slice_event(7, "failed", reason="dispatch_timeout")
    facts = RunFacts(builders.run(), last_event=event)
    assert facts.reason == SourcedValue(None, NO_SOURCE)
    assert facts.ended_at == SourcedValue(None, NO_SOURCE)


def test_a_final_event_or_receipt_is_newer_than_a_read_that_says_live() -> None:
    assert RunFacts(builders.run(), last_event=builders.event(7, "expired")).status == "expired"
    assert RunFacts(builders.run(), receipt=builders.ended_receipt("failed")).status == "failed"
    assert RunFacts(builders.run(status="completed"), last_event=builders.event(7, "expired")).status == "completed"
    assert RunFacts(builders.run(status="hovering"), last_event=builders.event(3, "running")).status == "hovering"


def test_what_is_at_work_now_comes_from_the_run() -> None:
    facts = RunFacts(builders.open_run(current={"arm_id": "arm_1", "model_key": "m", "provider": "p"}))
    assert (facts.arm_id, facts.model, facts.provider) == (
        SourcedValue("arm_1", FROM_RUN), SourcedValue("m", FROM_RUN), SourcedValue("p", FROM_RUN),
    )  # fmt: skip
    assert RunFacts(builders.open_run(current="sl_1")).arm_id == SourcedValue(None, NO_SOURCE)


def test_amounts_that_would_overflow_are_not_added_up() -> None:
    huge = Receipt({"totals": {"usd": 1e300, "platform_fee_usd": 1e300, "runtime_s": 1}})
    assert RunFacts(builders.run(), receipt=huge).cost_usd.value == Decimal("2E+300")


def test_a_request_body_that_is_no_object_is_no_request() -> None:
    assert parse_submitted_request([1]) is None
    assert parse_submitted_request({"mode": "echo"}) == SubmittedRequest({"mode": "echo"})


def test_the_time_of_a_live_run_waits_for_the_next_read_and_never_runs_back() -> None:
    created = datetime(2026, 11, 21, 12, tzinfo=UTC)
    run = builders.run(created_at="2026-11-21T12:00:00Z")
    stored = StoredRecord(run, created, 0.0)
    facts = RunFacts(run, stored=stored)
    shown = []
    for second in range(60):
        if second == 40:
            stored.seen_at = created + timedelta(seconds=second)
        shown.append(facts.running_s(created + timedelta(seconds=second)))
    pause = COUNTS_ON.total_seconds()
    assert shown[:11] == list(range(11))
    assert set(shown[10:40]) == {pause}
    assert shown[40:51] == list(range(40, 51))
    assert shown[-1] == 40 + pause


def test_an_event_says_that_a_run_is_live_and_a_run_just_read_counts_on() -> None:
    created = datetime(2026, 11, 21, 12, tzinfo=UTC)
    run = builders.run(created_at="2026-11-21T12:00:00Z")
    later = builders.event(1, at="2026-11-21T12:00:30Z")
    stored, now = StoredRecord(run, created, 0.0), created + timedelta(hours=1)
    assert RunFacts(run, last_event=later, stored=stored).running_s(now) == 30 + COUNTS_ON.total_seconds()
    # Where the service is lost, it stops there, but not before what is known.
    lost = created + timedelta(seconds=34)
    assert RunFacts(run, last_event=later, stored=stored).running_s(now, lost) == 34
    assert RunFacts(run, last_event=later, stored=stored).running_s(now, lost - timedelta(seconds=20)) == 30
    assert RunFacts(run).running_s(now) == 3600
    assert RunFacts(Run({"execution_id": "ex_1"}), stored=stored).running_s(now) is None
