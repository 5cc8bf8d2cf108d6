"""Receipts of final runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.records.states import UNWANTED_STATES
from runwatch.view.receipts import lines
from runwatch.view.receipts.content_scan import find_content
from runwatch.view.runs.check_results import VERDICTS, receipt_finding
from runwatch.view.runs.decision_packet import (
    end_reason,
    end_reason_cell,
    parse_packet,
    run_outcome_cell,
    verdict_column,
)
from runwatch.view.runs.provider_calls import call_lines
from runwatch.view.runs.run_facts import find_selected_option
from runwatch.view.spec.members import column, field, id_column, member_lines, time_column
from runwatch.view.spec.resource import ComputedLine, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import AMOUNT_WORDS, DURATION_WORDS, RenderContext, listed_amount
from runwatch.view.text.glyphs import UNICODE, Role
from runwatch.view.text.member_format import (
    NO_CHARGE,
    duration_cell,
    model_cell,
    model_name,
    no_charge_cell,
    output_end,
)
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import CellText, StyledText


def _status(receipt: Receipt, context: RenderContext) -> CellText:
    return run_outcome_cell(receipt.status, parse_packet(receipt.decision_packet), context.glyphs)


def _reason(receipt: Receipt, context: RenderContext) -> CellText:
    return end_reason_cell(receipt.reason, parse_packet(receipt.decision_packet), receipt.status, context.glyphs)


def _verdict(receipt: Receipt) -> str | None:
    packet = parse_packet(receipt.decision_packet)
    return None if packet is None else packet.verdict


def _model(receipt: Receipt, context: RenderContext) -> CellText:
    model = find_selected_option(receipt).model_key
    if model is not None:
        return model_cell(model, context)
    # A receipt with slices but without a selected option means that no model was called.
    return StyledText(line(context.glyphs.nothing if receipt.slices else context.glyphs.unknown), Role.QUIET)


def _spend(receipt: Receipt, context: RenderContext) -> CellText:
    """Format the spend; that of a test run as the list of runs does, unless it has cost something."""
    if receipt.mode == "echo" and not receipt.spend_usd and not receipt.unknown_calls:
        return no_charge_cell()
    known = receipt.known_spend_usd
    if known is None:
        return line(context.glyphs.unknown)
    amount = listed_amount(known, receipt.unknown_calls, context.glyphs, is_estimated=receipt.is_estimated)
    return StyledText(amount, Role.WARN) if receipt.unknown_calls else amount


def _check(receipt: Receipt, context: RenderContext) -> CellText:
    finding = receipt_finding(receipt, context.glyphs)
    return line(context.glyphs.unknown) if finding is None else StyledText(finding.short, finding.role)


def _check_kind(receipt: Receipt) -> str | None:
    finding = receipt_finding(receipt, is_scored=False)
    return None if finding is None else finding.kind


def _shared_check_texts(receipt: Receipt) -> tuple[str, ...]:
    # Scores are not read, so that receipts that differ in them say the same.
    finding = receipt_finding(receipt, is_scored=False)
    if finding is None:
        return (UNICODE.unknown,)
    return (finding.kind,) if finding.kind in VERDICTS else (finding.kind, finding.short)


def _score(receipt: Receipt) -> list[Decimal]:
    found = (part.verifier and part.verifier.quality_score for part in receipt.slices or ())
    return [number for number in found if isinstance(number, Decimal)]


COLUMNS: Final = (
    column(
        "status", cell=_status, min_cells=11, max_cells=14, never_cut=True, whole_first=True, server_parameter="status"
    ),
    id_column("run|id|execution_id=id"),
    column(
        "reason|why", lambda it: end_reason(it.reason, parse_packet(it.decision_packet)), title="why", cell=_reason,
        min_cells=10, whole_first=True,
    ),
    column(
        "model", lambda it: find_selected_option(it).model_key, cell=_model,
        sort_key=lambda it: model_name(find_selected_option(it).model_key), min_cells=16, max_cells=32,
        elides_middle=True, keeps_difference=True,
    ),
    column("spend|cost=spend_usd", cell=_spend, align="right", min_cells=7, words=(*AMOUNT_WORDS, *NO_CHARGE.split())),
    column(
        "check", _check_kind, cell=_check, keeps_sign=True, shared_texts=_shared_check_texts, words=VERDICTS
    ),
    time_column("created|created_at|age=created_at", server_parameter="since", min_cells=7),
    column(
        "took=totals.runtime_s", format=duration_cell, align="right", hide_order=2, min_cells=6, words=DURATION_WORDS,
        value_type="seconds",
    ),
    column("provider", lambda it: find_selected_option(it).provider, hide_order=1, min_cells=10, is_extra=True),
)  # fmt: skip

SECTIONS: Final = (
    SectionSpec("Looks like content", (ComputedLine("members", lines.content_warning),)),
    SectionSpec(
        "Receipt",
        (
            *member_lines("execution_id status:state reason"),
            ComputedLine("why", lines.reason_meaning),
            MemberLine("mode"),
            ComputedLine("created_at", lines.created, shows=lines.shown_member("created_at")),
            ComputedLine("completed_at", lines.completed, shows=lines.shown_member("completed_at")),
        ),
    ),
    SectionSpec(
        "Slice",
        (
            MemberLine("capability"),
            ComputedLine("route", lines.route),
            ComputedLine("selected", lines.option),
            ComputedLine("output", output_end),
            ComputedLine("check", lines.slice_check),
            ComputedLine("checked by", lines.checked_by),
            ComputedLine("anchors", lines.anchors),
            ComputedLine("attempts", lines.attempts),
            ComputedLine("reaction", lines.reaction),
            ComputedLine("requested", lines.requested),
            ComputedLine("resolved", lines.resolved),
            ComputedLine("calls", lambda _, part, context: call_lines(part, context)),
            ComputedLine("cost", lines.cost),
        ),
        each="slices",
        item=ReceiptSlice,
        names="slice_id",
    ),
    SectionSpec(
        "Total",
        (
            ComputedLine("spend", lines.total),
            *member_lines("usd:usd platform_fee_usd:usd runtime_s:s", under="totals"),
        ),
    ),
    SectionSpec(
        "Every member of slice",
        member_lines("slice_id route cost verifier verification_checks recorded_check acted_on_eval model_provenance"),
        each="slices",
        item=ReceiptSlice,
        names="slice_id",
    ),
    SectionSpec("Decision", member_lines("decision_packet")),
)

RECEIPTS: Final = ResourceSpec[Receipt](
    record=Receipt,
    name="receipts",
    singular="receipt",
    title="Receipts",
    columns=COLUMNS,
    fields=(
        field("mode"),
        field("arm|arm_id", lambda it: find_selected_option(it).arm_id, server_parameter="arm_id"),
        verdict_column(_verdict),
        field("score", _score, value_type="number"),
        field("verifier|verifier_id", lines.last_check_id),
        field("completed|completed_at"),
    ),
    sections=SECTIONS,
    sort=(SortKey("created"),),
    empty="No receipts yet. A run has one once it has ended; a test run makes one at no cost.",
    note="Receipts hold neither prompt nor output.",
    flags={
        "final": lambda _: True,
        "live": lambda _: False,
        "problem": lambda it: it.status in UNWANTED_STATES,
        "test": lambda it: it.mode == "echo",
        "cut": lambda it: it.is_cut,
        "content": lambda it: any(True for _ in find_content(it.raw)),
    },
    facets=("status", "reason", "check", "verdict", "model", "provider", "mode"),
    links=(
        RecordLink("run", "run", lambda it: it.id),
        RecordLink("arm", "arm", lambda it: find_selected_option(it).arm_id),
        RecordLink("check", "verifier", lines.last_check_id),
        RecordLink("model", "model", lambda it: find_selected_option(it).model_deployment_id),
        RecordLink("described by", "definition", lambda it: find_selected_option(it).model_key),
        RecordLink("connection", "connection", lambda it: find_selected_option(it).connection_id),
    ),
)
