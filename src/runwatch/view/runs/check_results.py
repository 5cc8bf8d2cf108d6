"""Texts for output checks, shared by timelines, receipts and lists.

A verdict, a technical failure, a baseline, a test run and "nothing recorded" always look different, and none is
inferred from the absence of another (manual: interface, "Receipt fields").
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final, NamedTuple

from runwatch.records.check import BASELINE_VERIFIER, RecordedCheck, VerificationCheck, is_baseline
from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.view.problems.explanation_texts import CHECK_TEXTS
from runwatch.view.text.glyphs import UNICODE, Glyphs, Role
from runwatch.view.text.safe_text import SafeText, json_value, line, plain_decimal


class CheckFinding(NamedTuple):
    """What is known about the check of one output.

    Attributes:
        kind: ``accepted``, ``rejected``, ``unavailable``, ``baseline``, ``test``, ``pending``, ``unchecked``,
            ``no_evidence``, ``unrecorded`` or ``unknown``.
        short: A few cells for a list: a sign, and what it means here.
        text: A sentence without its final period.
    """

    kind: str
    short: SafeText
    text: SafeText
    role: Role

    def words(self, glyphs: Glyphs) -> str:
        """Return a verdict as its sign and its word, anything else in its short form."""
        return f"{glyphs.sign(self.role)} {self.kind}" if self.kind in VERDICTS else self.short


# Most serious first; a list shows the first of several slices.
_WEIGHT: Final = (
    "rejected", "unavailable", "unknown", "no_evidence", "unrecorded", "unchecked", "pending", "accepted", "baseline",
    "test",
)  # fmt: skip

VERDICTS: Final = ("accepted", "rejected")
"""The kinds that have a score."""


def describe_failure_class(failure_class: str | None, http_status: int | None = None) -> SafeText:
    """Format a failure class as sent, with its meaning if known, and the status that the check answered."""
    if not failure_class:
        return line("no reason given")
    meaning = CHECK_TEXTS.get(failure_class)
    meanings = ": ".join(filter(None, ["" if http_status is None else f"HTTP {http_status}", meaning]))
    return line(f"{failure_class} ({meanings})" if meanings else failure_class)


def format_score(value: Decimal | None) -> SafeText:
    """Format a quality score with the digits as sent; empty if there is none."""
    return line("" if value is None else plain_decimal(value), 12)


def describe_attempt(check: VerificationCheck, glyphs: Glyphs = UNICODE) -> CheckFinding:
    match check.activity:
        case "platform_echo":
            return _test(glyphs)
        case "platform_baseline":
            return _baseline(check.is_correct, glyphs)
    if check.outcome == "technical_failure" or (check.outcome is None and check.failure_class is not None):
        return _unavailable(check.failure_class, check.http_status, glyphs)
    return _verdict(check.is_correct, check.quality_score, glyphs)


def describe_recorded_check(check: RecordedCheck, glyphs: Glyphs = UNICODE, *, is_scored: bool = True) -> CheckFinding:
    """Describe the latest statement about a slice's check. The score is not even read unless it is asked for."""
    match check.state:
        case "customer_verdict":
            return _verdict(check.is_correct, check.quality_score if is_scored else None, glyphs)
        case "customer_unavailable":
            return _unavailable(check.failure_class, check.http_status, glyphs)
        case "baseline":
            return _baseline(check.output_present, glyphs)
        case "platform_test":
            return _test(glyphs)
        case "pending_evaluation":
            words = "check still pending"
            return CheckFinding("pending", line(f"{glyphs.live} pending"), line(words), Role.LIVE)
        case "terminal_no_evaluation":
            reason = f" ({check.reason})" if check.reason else ""
            return CheckFinding(
                "unchecked", line(f"{glyphs.nothing} no check"), line(f"ended before any check{reason}"), Role.OFF
            )
        case "missing_evidence" | "unknown_evidence":
            words = "the evidence of the check is not available"
            return CheckFinding("no_evidence", line(f"{glyphs.unknown} no evidence"), line(words), Role.WARN)
    return CheckFinding("unknown", line(glyphs.unknown), json_value(check.raw), Role.PLAIN)


def slice_finding(
    part: ReceiptSlice, mode: str | None, glyphs: Glyphs = UNICODE, *, is_scored: bool = True
) -> CheckFinding:
    """Describe what a receipt says about the check of one slice.

    Older receipts have no ``recorded_check``. For them, the mode, the verdict and the last technical failure of a
    customer check are used, in this order (manual: interface, "Receipt fields").
    """
    if part.recorded_check is not None:
        return describe_recorded_check(part.recorded_check, glyphs, is_scored=is_scored)
    if mode == "echo":
        return _test(glyphs)
    verifier = part.verifier
    if verifier is not None:
        if is_baseline(verifier.raw):
            return _baseline(verifier.is_correct, glyphs)
        return _verdict(verifier.is_correct, verifier.quality_score if is_scored else None, glyphs)
    for check in reversed(part.verification_checks or ()):
        if check.activity == "customer" and check.outcome == "technical_failure":
            return describe_attempt(check, glyphs)
    return CheckFinding("unrecorded", line(f"{glyphs.nothing} none recorded"), line("no check recorded"), Role.PLAIN)


def customer_check_id(part: ReceiptSlice) -> str | None:
    """Return the customer's check of a slice, with or without a verdict; ``None`` for the platform's own."""
    recorded = part.recorded_check
    named = (
        recorded and (recorded.verifier_id or recorded.attempted_verifier_id),
        part.verifier and part.verifier.verifier_id,
        *(check.verifier_id for check in reversed(part.verification_checks or ())),
    )
    return next((id for id in named if id and id != BASELINE_VERIFIER), None)


def receipt_finding(receipt: Receipt, glyphs: Glyphs = UNICODE, *, is_scored: bool = True) -> CheckFinding | None:
    """Return the most serious finding of a receipt, for a list, with the number of other slices; ``None`` without
    slices.

    No score is read unless it is asked for.
    """
    parts = receipt.slices or ()
    return _most_serious([slice_finding(part, receipt.mode, glyphs, is_scored=is_scored) for part in parts])


def _most_serious(findings: Iterable[CheckFinding]) -> CheckFinding | None:
    ordered = sorted(findings, key=lambda finding: _WEIGHT.index(finding.kind))
    if len(ordered) < 2:
        return ordered[0] if ordered else None
    worst = ordered[0]
    return CheckFinding(worst.kind, line(f"{worst.short} +{len(ordered) - 1}"), worst.text, worst.role)


def _verdict(is_correct: bool | None, quality: Decimal | None, glyphs: Glyphs) -> CheckFinding:
    if is_correct is None:
        return CheckFinding("unknown", line(glyphs.unknown), line("a verdict that says neither yes nor no"), Role.PLAIN)
    number = format_score(quality)
    tail = f"  {number}" if number else ""
    if is_correct:
        short, words = f"{glyphs.good} {number or 'accepted'}", f"your check accepted the output{tail}"
        return CheckFinding("accepted", line(short), line(words), Role.GOOD)
    short, words = f"{glyphs.bad} {number or 'rejected'}", f"your check rejected the output{tail}"
    return CheckFinding("rejected", line(short), line(words), Role.BAD)


def _unavailable(failure_class: str | None, http_status: int | None, glyphs: Glyphs) -> CheckFinding:
    words = f"the check could not run: {describe_failure_class(failure_class, http_status)}; no verdict"
    return CheckFinding("unavailable", line(f"{glyphs.warn} no verdict"), line(words), Role.WARN)


def _baseline(present: bool | None, glyphs: Glyphs) -> CheckFinding:
    found = {True: "output seen", False: "no output", None: "unknown whether there is output"}[present]
    sign = {True: glyphs.nothing, False: glyphs.warn, None: glyphs.unknown}[present]
    short = f"{sign} {'baseline' if present is None else found}"
    words = f"{found}, correctness not checked"
    return CheckFinding("baseline", line(short), line(words), Role.WARN if present is False else Role.PLAIN)


def _test(glyphs: Glyphs) -> CheckFinding:
    return CheckFinding(
        "test", line(f"{glyphs.nothing} test run"), line(f"test run {glyphs.dot} no verdict"), Role.TEST
    )
