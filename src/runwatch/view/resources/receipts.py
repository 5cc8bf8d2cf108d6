"""Receipts of final runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.view.checks import receipt_finding
from runwatch.view.content_check import suspects
from runwatch.view.drawn import line
from runwatch.view.facts import selected
from runwatch.view.format import Context, money, spent
from runwatch.view.glyphs import Role
from runwatch.view.packet import outcome, packet_of
from runwatch.view.resource import (
    At,
    Column,
    Field,
    Link,
    ResourceSpec,
    SectionSpec,
    Shown,
    SortKey,
    Styled,
    Told,
)
from runwatch.view.resources import receipt_lines as lines
from runwatch.view.resources.common import (
    as_seconds,
    as_state,
    as_usd,
    elided,
    newest_first,
    output_end,
    span,
    when,
)


def _status(receipt: Receipt, context: Context) -> Shown:
    return outcome(receipt.status, packet_of(receipt.decision_packet), context.glyphs)


def _model(receipt: Receipt, context: Context) -> Shown:
    model = selected(receipt).model_key
    if model is not None:
        # The publisher's name in front would push the model's own out of a narrow column.
        return line(model.rpartition("/")[2] or model)
    # A receipt that names its slices and no selected option says that no model was called.
    return Styled(line("none called" if receipt.slices else context.glyphs.unknown), Role.QUIET)


def _spend(receipt: Receipt, context: Context) -> Shown:
    known = receipt.known_spend_usd
    if known is None:
        return line(context.glyphs.unknown)
    return Styled(spent(known, receipt.unknown_calls), Role.WARN) if receipt.unknown_calls else money(known)


def _check(receipt: Receipt, context: Context) -> Shown:
    finding = receipt_finding(receipt, context.glyphs)
    return line(context.glyphs.unknown) if finding is None else Styled(finding.short, finding.role)


def _check_kind(receipt: Receipt) -> str | None:
    finding = receipt_finding(receipt)
    return None if finding is None else finding.kind


def _score(receipt: Receipt) -> list[Decimal]:
    """Every quality score that stands in the receipt for a verdict."""
    found = (part.verifier and part.verifier.quality_score for part in receipt.slices or ())
    return [number for number in found if isinstance(number, Decimal)]


COLUMNS: Final = (
    Column[Receipt](
        id="status", title="status", value=lambda it: it.status, cell=_status, least=11, most=14, server="status"
    ),
    Column[Receipt](
        id="run", title="run", aliases=("id", "execution_id"), value=lambda it: it.id, format=elided, least=9,
        keeps_ends=True,
    ),
    Column[Receipt](
        id="model", title="model", value=lambda it: selected(it).model_key, cell=_model, leaves=6, least=11
    ),
    Column[Receipt](
        id="spend", title="spend", aliases=("cost",), value=lambda it: it.spend_usd, cell=_spend, align="right",
        leaves=8, least=7,
    ),
    Column[Receipt](id="check", title="check", value=_check_kind, cell=_check, leaves=7, least=8),
    Column[Receipt](id="mode", title="mode", value=lambda it: it.mode, leaves=5),
    Column[Receipt](id="provider", title="provider", value=lambda it: selected(it).provider, leaves=3, least=10),
    Column[Receipt](
        id="took", title="took", value=lambda it: it.totals and it.totals.runtime_s, format=span, align="right",
        leaves=2, least=6,
    ),
    Column[Receipt](id="reason", title="reason", value=lambda it: it.reason, leaves=4, least=12),
    Column[Receipt](
        id="created", title="created", aliases=("created_at", "age"), value=lambda it: it.created_at,
        format=when, is_whole=True, server="since", sort_key=lambda it: newest_first(it.created_at), leaves=1,
    ),
)  # fmt: skip

SECTIONS: Final = (
    SectionSpec("Looks like content", (Told("members", lines.flagged),)),
    SectionSpec(
        "Receipt",
        (
            At("execution_id"),
            At("status", format=as_state),
            At("reason"),
            Told("why", lines.why),
            At("mode"),
            Told("created_at", lines.created, shows=lines.shows("created_at")),
            Told("completed_at", lines.completed, shows=lines.shows("completed_at")),
        ),
    ),
    SectionSpec(
        "Slice",
        (
            At("capability"),
            Told("route", lines.route),
            Told("selected", lines.option),
            Told("output", output_end),
            Told("check", lines.slice_check),
            Told("checked by", lines.checked_by),
            Told("anchors", lines.anchors),
            Told("attempts", lines.attempts),
            Told("reaction", lines.reaction),
            Told("requested", lines.requested),
            Told("resolved", lines.resolved),
            Told("calls", lines.calls),
            Told("cost", lines.cost),
        ),
        each="slices",
        item=ReceiptSlice,
        names="slice_id",
    ),
    SectionSpec(
        "Total",
        (
            Told("spend", lines.total),
            At("totals.usd", "usd", as_usd),
            At("totals.platform_fee_usd", "platform_fee_usd", as_usd),
            At("totals.runtime_s", "runtime_s", as_seconds),
        ),
    ),
    SectionSpec(
        "Every member of slice",
        (
            At("slice_id"),
            At("route"),
            At("cost"),
            At("verifier"),
            At("verification_checks"),
            At("recorded_check"),
            At("acted_on_eval"),
            At("model_provenance"),
        ),
        each="slices",
        item=ReceiptSlice,
        names="slice_id",
    ),
    SectionSpec("Decision", (At("decision_packet"),)),
)

RECEIPTS: Final = ResourceSpec[Receipt](
    record=Receipt,
    name="receipts",
    singular="receipt",
    title="Receipts",
    columns=COLUMNS,
    fields=(
        Field[Receipt](id="arm", aliases=("arm_id",), value=lambda it: selected(it).arm_id, server="arm_id"),
        Field[Receipt](id="score", value=_score),
        Field[Receipt](id="verifier", aliases=("verifier_id",), value=lines.check_of),
        Field[Receipt](id="completed", aliases=("completed_at",), value=lambda it: it.completed_at),
    ),
    sections=SECTIONS,
    sort=(SortKey("created"),),
    empty="No receipts yet. A run has one once it has ended; `runwatch runs submit --mode echo` makes one at no cost.",
    note="Receipts hold neither prompt nor output.",
    flags={
        "final": lambda _: True,
        "live": lambda _: False,
        "problem": lambda it: it.status in {"failed", "expired"},
        "test": lambda it: it.mode == "echo",
        "cut": lambda it: it.is_cut,
        "content": lambda it: any(True for _ in suspects(it.raw)),
    },
    links=(
        Link("run", "run", lambda it: it.id),
        Link("arm", "arm", lambda it: selected(it).arm_id),
        Link("check", "verifier", lines.check_of),
        Link("model", "model", lambda it: selected(it).model_deployment_id),
        Link("described by", "definition", lambda it: selected(it).model_key),
        Link("connection", "connection", lambda it: selected(it).connection_id),
    ),
)
