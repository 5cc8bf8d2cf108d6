"""Review Composer: the verdict and its action outrank the word "completed"."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.registry import resource_named
from runwatch.view.runs.decision_packet import parse_packet, run_outcome_cell, run_outcome_title
from runwatch.view.runs.run_facts import RunFacts, SubmittedRequest
from runwatch.view.table import rows
from runwatch.view.text.glyphs import ASCII, UNICODE, Role
from tests.support import builders
from tests.support.rows import cells_of, roles_of
from tests.view.strategies import CONTEXT

RUNS = resource_named("runs")


def decided(**packet: Any) -> RunFacts:
    return RunFacts(builders.run(status="completed", decision_packet=packet))


@pytest.mark.parametrize(
    ("verdict", "shown", "role"),
    [
        ("pass", "✓ pass", Role.GOOD),
        ("block", "✗ block", Role.BAD),
        ("no_verdict", "◷ no verdict", Role.WARN),
        ("approve", "✓ approve", Role.GOOD),
        ("request_changes", "✗ request changes", Role.BAD),
        ("comment", "◷ comment", Role.WARN),
        ("hold", "? hold", Role.PLAIN),
    ],
)
def test_a_verdict_takes_the_place_of_completed(verdict: str, shown: str, role: Role) -> None:
    found = run_outcome_cell("completed", parse_packet({"verdict": verdict}), UNICODE)
    assert (found.text, found.role) == (shown, role)
    assert run_outcome_cell("completed", parse_packet({"verdict": verdict}), ASCII).text.isascii()


@pytest.mark.parametrize("packet", [None, {}, {"verdict": None, "action": "gate"}, {"verdict": 5}])
def test_without_a_verdict_the_status_stays(packet: dict[str, Any] | None) -> None:
    assert run_outcome_cell("completed", parse_packet(packet), UNICODE).text == "✓ completed"


def test_a_pass_that_the_user_has_to_look_at_is_not_green() -> None:
    found = run_outcome_title("completed", parse_packet({"verdict": "pass", "action": "needs_review"}), UNICODE)
    assert (found.text, found.role) == ("✓ pass · needs_review", Role.WARN)


def test_a_run_without_a_reason_has_that_of_its_packet_in_runs_and_receipts() -> None:
    packet = {"verdict": "no_verdict", "action": "needs_review", "reason": "sources_without_verdict"}
    receipt = builders.live_receipt(decision_packet=packet)
    for spec, subject in ((RUNS, decided(**packet)), (resource_named("receipts"), receipt)):
        (row,) = rows.build_rows(spec, [subject], CONTEXT)
        assert cells_of(row)["reason"] == "needs_review · sources_without_verdict"
        assert roles_of(row)["reason"] is Role.WARN
        assert parse_filter("reason=sources_without_verdict has:reason", spec).matches(row)


def test_a_list_of_runs_shows_verdict_and_action() -> None:
    (row,) = rows.build_rows(RUNS, [decided(verdict="block", action="gate", reason="veto_source_blocked")], CONTEXT)
    assert cells_of(row)["status"] == "✗ block"
    assert roles_of(row)["status"] is Role.BAD
    assert cells_of(row)["reason"] == "gate · veto_source_blocked"


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("is:composer", True),
        ("is:problem", True),
        ("verdict=block", True),
        ("action=gate", True),
        ("status=completed", True),
        ("is:review", False),
    ],
)
def test_a_filter_finds_decided_runs(text: str, is_kept: bool) -> None:
    (row,) = rows.build_rows(RUNS, [decided(verdict="block", action="gate")], CONTEXT)
    assert parse_filter(text, RUNS).matches(row) is is_kept


def test_a_live_composer_run_is_known_by_the_request_that_was_sent_from_here() -> None:
    live = RunFacts(builders.run(), SubmittedRequest({"review_composer": {"version": "v1"}}))
    assert live.is_composer
    assert not RunFacts(builders.run(), SubmittedRequest({})).is_composer


def test_the_receipt_knows_the_decision_where_the_run_does_not_tell_it() -> None:
    receipt = builders.ended_receipt("completed", decision_packet={"verdict": "pass"})
    facts = RunFacts(builders.run(status="completed"), receipt=receipt)
    assert facts.packet.source == "receipt"
    assert facts.packet.value is not None
    assert facts.packet.value.verdict == "pass"
