"""Receipts of final runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.view import flat
from runwatch.view.checks import attempt, receipt_finding, slice_finding
from runwatch.view.drawn import block, decimal_text, json_text, line
from runwatch.view.explain import explain_reason
from runwatch.view.facts import selected
from runwatch.view.format import Context, count, money, money_exact, state
from runwatch.view.glyphs import Role, state_glyph
from runwatch.view.resource import At, Column, Field, Link, ResourceSpec, SectionSpec, Shown, SortKey, Styled, Told
from runwatch.view.resources.common import as_moment, as_seconds, as_state, as_usd, elided, newest_first, span, when


def _status(receipt: Receipt, context: Context) -> Shown:
    return Styled(state(receipt.status, context.glyphs), state_glyph(receipt.status, context.glyphs)[1])


def _model(receipt: Receipt, context: Context) -> Shown:
    model = selected(receipt).model_key
    if model is not None:
        return line(model)
    # A receipt that names its slices and no selected option says that no model was called.
    return Styled(line("none called" if receipt.slices else context.glyphs.unknown), Role.QUIET)


def _spend(receipt: Receipt, context: Context) -> Shown:
    spend = receipt.spend_usd
    return line(context.glyphs.unknown) if spend is None else money(spend)


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


def _route(_: Receipt, part: ReceiptSlice, context: Context) -> Shown | None:
    """How the option was chosen; the ranking may be a text, an array or an object (wire reference 3.4)."""
    route = part.route
    if route is None:
        return None
    ranking = route.ranking
    words = []
    if isinstance(ranking, str):
        words.append(line(ranking))
    elif isinstance(ranking, list):
        words.append(line(f"{len(ranking)} ranked" if ranking else "none ranked"))
    if route.fallback_used:
        words.append(line("fallback used"))
    return line(f" {context.glyphs.dot} ".join(words)) if words else None


def _option(_: Receipt, part: ReceiptSlice, context: Context) -> Shown | None:
    if part.route is None:
        return None
    option = part.route.selected
    if option is None:
        return Styled(line("none, no model was called"), Role.QUIET)
    words = (option.model_key, option.arm_id, option.provider, option.access_lane)
    return line(f" {context.glyphs.dot} ".join(line(word) for word in words if word) or context.glyphs.unknown)


def _slice_check(receipt: Receipt, part: ReceiptSlice, context: Context) -> Shown:
    finding = slice_finding(part, receipt.mode, context.glyphs)
    return Styled(finding.words, finding.role)


def _anchors(_: Receipt, part: ReceiptSlice, context: Context) -> Shown | None:
    stated = part.recorded_check.anchor_results if part.recorded_check is not None else None
    anchors = stated or (part.verifier.anchor_results if part.verifier is not None else None)
    if not anchors:
        return None
    marks = {True: context.glyphs.good, False: context.glyphs.bad}
    shown = [
        f"{line(name)} {marks[met] if isinstance(met, bool) else line(json_text(met), 40)}"
        for name, met in anchors.items()
    ]
    return line("   ".join(shown), None)


def _attempts(_: Receipt, part: ReceiptSlice, context: Context) -> Shown | None:
    checks = part.verification_checks
    if not checks:
        return None
    shown = [
        f"{line(check.attempt if check.attempt is not None else position, 12)}"
        f" {attempt(check, context.glyphs).short} {line(check.arm_id or '', 60)}".rstrip()
        for position, check in enumerate(checks, 1)
    ]
    return block("\n".join(shown))


def _reaction(_: Receipt, part: ReceiptSlice, context: Context) -> Shown | None:
    acted = part.acted_on_eval
    if acted is None:
        return None
    return line(f"{line(acted.action)} {context.glyphs.arrow} {line(acted.outcome)}")


def _requested(_: Receipt, part: ReceiptSlice, __: Context) -> Shown | None:
    return _reference(part, "requested")


def _resolved(_: Receipt, part: ReceiptSlice, context: Context) -> Shown | None:
    """The model that the provider says it ran; often it does not say."""
    if part.model_provenance is None:
        return None
    return _reference(part, "resolved") or Styled(line(context.glyphs.unknown), Role.QUIET)


def _reference(part: ReceiptSlice, side: str) -> Shown | None:
    found = flat.at(part.model_provenance or {}, (side, "upstream_ref"))
    return line(found) if isinstance(found, str) else None


def _cost(_: Receipt, part: ReceiptSlice, context: Context) -> Shown | None:
    cost = part.cost
    if cost is None:
        return None
    words = [money_exact(cost.usd)] if cost.usd is not None else []
    words += [
        line(f"{count(number)} {unit}")
        for number, unit in ((cost.input_tokens, "in"), (cost.output_tokens, "out"), (cost.calls, "calls"))
        if number is not None
    ]
    if cost.waiver is not None:
        words.append(line(f"waived: {line(cost.waiver.reason)}"))
    dot = f" {context.glyphs.dot} "
    if cost.usage == "unknown":
        return Styled(line(dot.join([*words, "what a call used is not known"])), Role.WARN)
    return line(dot.join(words)) if words else None


def _total(receipt: Receipt, _: object, __: Context) -> Shown | None:
    totals = receipt.totals
    if totals is None or totals.usd is None or totals.platform_fee_usd is None:
        return None
    if receipt.mode == "echo" and receipt.spend_usd == 0:
        return Styled(line("test run, no charge"), Role.TEST)
    usage, fee = decimal_text(totals.usd), decimal_text(totals.platform_fee_usd)
    spend = decimal_text(totals.usd + totals.platform_fee_usd)
    return line(f"{usage} usage + {fee} fee = {spend} USD")


def _why(receipt: Receipt, _: object, __: Context) -> Shown | None:
    return None if receipt.reason is None else line(explain_reason(receipt.reason).sentence)


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
        leaves=8, least=6,
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
        id="created", title="created", aliases=("created_at", "age"), value=lambda it: it.created_at, format=when,
        server="since", sort_key=lambda it: newest_first(it.created_at), leaves=1, least=8,
    ),
)  # fmt: skip

SECTIONS: Final = (
    SectionSpec(
        "Receipt",
        (
            At("execution_id"),
            At("status", format=as_state),
            At("reason"),
            Told("why", _why),
            At("mode"),
            At("created_at", format=as_moment),
            At("completed_at", format=as_moment),
        ),
    ),
    SectionSpec(
        "Slice",
        (
            At("capability"),
            Told("route", _route),
            Told("selected", _option),
            Told("check", _slice_check),
            Told("anchors", _anchors),
            Told("attempts", _attempts),
            Told("reaction", _reaction),
            Told("requested", _requested),
            Told("resolved", _resolved),
            Told("cost", _cost),
        ),
        each="slices",
        item=ReceiptSlice,
        names="slice_id",
    ),
    SectionSpec(
        "Total",
        (
            Told("spend", _total),
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
    },
    links=(Link("run", "run", lambda it: it.id),),
)
