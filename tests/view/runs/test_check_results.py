"""What is said about output checks: verdicts, failures, baselines and silence never look alike."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.records.check import BASELINE_VERIFIER, RecordedCheck, VerificationCheck
from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.view.export import text_output
from runwatch.view.export.receipt_rows import csv_rows
from runwatch.view.problems.explanation_texts import CHECK_TEXTS
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.runs.check_results import (
    describe_attempt,
    describe_failure_class,
    describe_recorded_check,
    receipt_finding,
    slice_finding,
)
from runwatch.view.text.glyphs import ASCII, Role
from tests.support import builders
from tests.support.parts import RECORDED_STATES, recorded_check, verification_check
from tests.support.receipts import live_receipt
from tests.view.strategies import CONTEXT


@pytest.mark.parametrize(
    ("check", "kind", "short", "words", "role"),
    [
        (
            recorded_check("customer_verdict"),
            "accepted", "✓ 0.86", "your check accepted the output  0.86", Role.GOOD,
        ),
        (
            recorded_check("customer_verdict", is_correct=False, quality_score=0.31),
            "rejected", "✗ 0.31", "your check rejected the output  0.31", Role.BAD,
        ),
        (
            recorded_check("customer_verdict", is_correct=None),
            "unknown", "?", "a verdict that says neither yes nor no", Role.PLAIN,
        ),
        (
            recorded_check("customer_unavailable"),
            "unavailable", "◷ no verdict",
            "the check could not run: timeout (the check's endpoint did not answer in time); no verdict", Role.WARN,
        ),
        (
            recorded_check("baseline"),
            "baseline", "– output seen",
            "output seen, correctness not checked", Role.PLAIN,
        ),
        (
            recorded_check("baseline", output_present=False),
            "baseline", "◷ no output",
            "no output, correctness not checked", Role.WARN,
        ),
        (recorded_check("platform_test"), "test", "– test run", "test run · no verdict", Role.TEST),
        (
            recorded_check("pending_evaluation"),
            "pending", "● pending", "check still pending", Role.LIVE,
        ),
        (
            recorded_check("terminal_no_evaluation"),
            "unchecked", "– no check", "ended before any check (cancelled)", Role.OFF,
        ),
        (
            recorded_check("missing_evidence"),
            "no_evidence", "? no evidence", "the evidence of the check is not available", Role.WARN,
        ),
        (
            recorded_check("unknown_evidence"),
            "no_evidence", "? no evidence", "the evidence of the check is not available", Role.WARN,
        ),
    ],
)  # fmt: skip
def test_each_recorded_state_has_its_own_words(
    check: dict[str, Any], kind: str, short: str, words: str, role: Role
) -> None:
    finding = describe_recorded_check(RecordedCheck(check))
    assert (finding.kind, finding.short, finding.text, finding.role) == (kind, short, words, role)


def test_every_state_of_the_interface_is_known() -> None:
    assert all(
        describe_recorded_check(RecordedCheck(recorded_check(state))).kind != "unknown" for state in RECORDED_STATES
    )


def test_an_unknown_state_is_shown_as_it_came() -> None:
    finding = describe_recorded_check(RecordedCheck({"state": "vibe_checked", "mood": "fine"}))
    assert finding.kind == "unknown"
    assert finding.text == '{"state":"vibe_checked","mood":"fine"}'


@pytest.mark.parametrize("failure_class", CHECK_TEXTS)
def test_a_known_failure_class_is_named_and_explained(failure_class: str) -> None:
    check = VerificationCheck(verification_check(outcome="technical_failure", failure_class=failure_class))
    finding = describe_attempt(check)
    assert finding.kind == "unavailable"
    assert finding.role is Role.WARN
    assert f"{failure_class} ({CHECK_TEXTS[failure_class]})" in finding.text
    assert finding.text.endswith("no verdict")


def test_an_unknown_failure_class_is_shown_as_it_came() -> None:
    assert describe_failure_class("gremlins") == "gremlins"
    assert describe_failure_class(None) == "no reason given"


@pytest.mark.parametrize(
    ("over", "kind"),
    [
        ({}, "accepted"),
        ({"is_correct": False}, "rejected"),
        ({"outcome": "technical_failure", "failure_class": "network", "is_correct": None}, "unavailable"),
        ({"outcome": None, "failure_class": "network"}, "unavailable"),
        ({"activity": "platform_baseline"}, "baseline"),
        ({"activity": "platform_echo"}, "test"),
        ({"activity": "unknown", "is_correct": None}, "unknown"),
    ],
)
def test_an_attempt_is_read_by_its_activity_and_its_outcome(over: dict[str, Any], kind: str) -> None:
    assert describe_attempt(VerificationCheck(verification_check(**over))).kind == kind


@pytest.mark.parametrize(
    ("part", "mode", "kind"),
    [
        ({"recorded_check": recorded_check("customer_verdict")}, "echo", "accepted"),
        ({"verifier": {"is_correct": True}}, "echo", "test"),
        ({"verifier": {"id": "vrf_builtin_baseline", "is_correct": True}}, "live", "baseline"),
        ({"verifier": {"verifier_id": "vrf_builtin_baseline", "is_correct": True}}, "live", "baseline"),
        ({"verifier": {"id": "vrf_7c1e", "is_correct": False}}, "live", "rejected"),
        ({"verifier": {"id": ["vrf_7c1e"], "is_correct": False}}, "live", "rejected"),
        (
            {"verification_checks": [verification_check(outcome="technical_failure", failure_class="timeout")]},
            "live", "unavailable",
        ),
        ({"verification_checks": [verification_check()]}, "live", "unrecorded"),
        ({}, "live", "unrecorded"),
        ({}, None, "unrecorded"),
    ],
)  # fmt: skip
def test_an_older_receipt_is_asked_in_the_agreed_order_and_silence_is_no_verdict(
    part: dict[str, Any], mode: str | None, kind: str
) -> None:
    assert slice_finding(ReceiptSlice(part), mode).kind == kind


def test_a_list_shows_the_most_serious_of_several_slices() -> None:
    good = {"recorded_check": recorded_check("customer_verdict")}
    bad = {"recorded_check": recorded_check("customer_verdict", is_correct=False, quality_score=0.2)}
    finding = receipt_finding(Receipt({"mode": "live", "slices": [good, bad, good]}))
    assert finding is not None
    assert (finding.short, finding.role) == ("✗ 0.2 +2", Role.BAD)


def test_a_receipt_without_slices_tells_nothing_about_checks() -> None:
    assert receipt_finding(Receipt({"mode": "live"})) is None


def test_every_kind_of_receipt_looks_different_from_the_others() -> None:
    receipts = [
        builders.live_receipt(), builders.echo_receipt(), builders.baseline_receipt(), builders.ended_receipt(),
        Receipt({"mode": "live", "slices": [{"verification_checks": []}]}),
    ]  # fmt: skip
    shorts = [finding.short for receipt in receipts if (finding := receipt_finding(receipt)) is not None]
    assert len(set(shorts)) == len(receipts)


def test_the_ascii_set_reaches_every_finding() -> None:
    for state in RECORDED_STATES:
        finding = describe_recorded_check(RecordedCheck(recorded_check(state)), ASCII)
        assert (finding.short + finding.text).isascii()


def test_the_presence_of_output_never_looks_like_a_verdict() -> None:
    verifier = {"id": BASELINE_VERIFIER, "verifier_id": BASELINE_VERIFIER, "is_correct": True, "quality_score": 1}
    check = verification_check(activity="platform_baseline", is_correct=True, quality_score=1)
    part = {**live_receipt().raw["slices"][0], "verifier": verifier, "verification_checks": [check]}
    part["recorded_check"] = recorded_check("baseline")
    receipt = live_receipt(slices=[part])
    shown = [line for line in text_output.detail_lines(RECEIPTS, receipt, CONTEXT) if "is_correct" in line]
    assert [line.endswith("true (of the presence of output)") for line in shown] == [True, True]
    (row,) = csv_rows(Receipt, receipt.raw)
    assert (row["check"], row["is_correct"], row["quality_score"]) == (BASELINE_VERIFIER, None, None)
