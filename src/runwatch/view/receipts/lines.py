"""Lines of a receipt's detail: what happened to each slice, what it cost, and content that should not be there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from runwatch.records.check import VerificationCheck
from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.records.spend import unknown_calls
from runwatch.view.receipts.content_scan import find_content
from runwatch.view.runs.check_results import customer_check_id, describe_attempt, slice_finding
from runwatch.view.runs.provider_calls import end_reason_text
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext, counted, estimated, grouped_number, spent_amount, tokens
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import detail_time, whole_model
from runwatch.view.text.safe_text import block, iso_text, json_text, line, plain_decimal
from runwatch.view.text.styled_text import CellText, StyledText, with_role


def route(_: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText | None:
    """Describe how the option was chosen. The ranking may be a text, an array or an object (manual: interface, "Receipt
    fields").
    """
    route = part.route
    if route is None:
        return None
    ranking = route.ranking
    words = []
    if isinstance(ranking, str):
        words.append(line(ranking))
    elif isinstance(ranking, (list, dict)):
        words.append(line(f"{len(ranking)} ranked" if ranking else "none ranked"))
    if route.fallback_used is not None:
        words.append(line("fallback used" if route.fallback_used else "no fallback"))
    return line(f" {context.glyphs.dot} ".join(words)) if words else None


def option(_: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText | None:
    """Describe the selected option: model, saved model, provider and lane."""
    if part.route is None:
        return None
    option = part.route.selected
    if option is None:
        return StyledText(line("none, no model was called"), Role.QUIET)
    words = (whole_model(option.model_key), option.arm_id, option.provider, option.access_lane)
    return line(f" {context.glyphs.dot} ".join(line(word) for word in words if word) or context.glyphs.unknown)


def slice_check(receipt: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText:
    """Describe the check: a verdict, a technical failure or no check."""
    finding = slice_finding(part, receipt.mode, context.glyphs)
    return StyledText(finding.text, finding.role)


def checked_by(_: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText | None:
    """Return the check that judged the output, or failed to."""
    id = customer_check_id(part)
    return None if id is None else line(id)


def anchors(_: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText | None:
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


def attempts(_: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText | None:
    """List every attempt of the check with its result."""
    checks = part.verification_checks
    if not checks:
        return None
    return block("\n".join(_attempt(number, check, context) for number, check in enumerate(checks, 1)))


def _attempt(position: int, check: VerificationCheck, context: RenderContext) -> str:
    finding = describe_attempt(check, context.glyphs)
    words = (
        line(check.attempt if check.attempt is not None else position, 12),
        finding.short,
        # A technical failure is identified by its class, which a verdict does not have.
        line(check.failure_class or "", 60) if finding.kind == "unavailable" else "",
        line(check.arm_id or "", 60),
        line(check.phase or "", 40) if check.phase != "candidate" else "",
    )
    return " ".join(word for word in words if word)


def reaction(_: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText | None:
    """Describe the policy's reaction to a verdict."""
    acted = part.acted_on_eval
    if acted is None:
        return None
    return line(f"{line(acted.action)} {context.glyphs.arrow} {line(acted.outcome)}")


def requested(_: Receipt, part: ReceiptSlice, __: RenderContext) -> CellText | None:
    return _reference(part, "requested")


def resolved(_: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText | None:
    """Return the model that the provider reports; often it reports none."""
    if part.model_provenance is None:
        return None
    return _reference(part, "resolved") or StyledText(line(context.glyphs.unknown), Role.QUIET)


def _reference(part: ReceiptSlice, side: str) -> CellText | None:
    found = json_paths.get_at(part.model_provenance or {}, (side, "upstream_ref"))
    return line(found) if isinstance(found, str) else None


def cost(_: Receipt, part: ReceiptSlice, context: RenderContext) -> CellText | None:
    """Describe the usage of the slice, and why it was waived if so."""
    cost = part.cost
    if cost is None:
        return None
    lacking = unknown_calls(part.raw)
    known = cost.usd is not None or lacking
    amount = spent_amount(cost.usd, lacking, is_exact=True, is_estimated=cost.is_estimated)
    words = [line(f"usage {amount}")] if known else []
    is_partial = cost.usage == "unknown"
    if used := tokens(cost.input_tokens, cost.output_tokens, context.glyphs, is_partial=is_partial):
        words.append(used)
    if cost.calls is not None:
        words.append(counted(cost.calls, "call"))
    if cost.waiver is not None:
        words.append(line(f"waived: {line(cost.waiver.reason)}"))
    if is_partial:
        words.append(line("what a call used is not known"))
    role = Role.WARN if is_partial or lacking else Role.PLAIN
    return StyledText(line(f" {context.glyphs.dot} ".join(words)), role) if words else None


def content_warning(_: Receipt, record: Receipt, __: RenderContext) -> CellText | None:
    """List the members that look like content, which a receipt must not contain."""
    found = list(find_content(record.raw))
    if not found:
        return None
    words = [f"{line(text.path)}  {grouped_number(text.length)} characters" for text in found]
    return StyledText(block("\n".join(["A receipt holds none; look at:", *words])), Role.BAD)


def created(receipt: Receipt, _: object, context: RenderContext) -> CellText | None:
    """Return when the run was submitted, with its source."""
    return _dated(receipt, "created_at", receipt.created_at, context)


def completed(receipt: Receipt, _: object, context: RenderContext) -> CellText | None:
    """Return when the run ended; if unknown, the time of its last recorded check, which is earlier."""
    if receipt.raw.get("completed_at") is None:
        recorded = [part.recorded_check.recorded_at for part in receipt.slices or () if part.recorded_check is not None]
        latest = max((at for at in recorded if at is not None), default=None)
        if latest is not None:
            return line(f"not before {detail_time(iso_text(latest), context)}, its last recorded check", None)
    return _dated(receipt, "completed_at", receipt.completed_at, context)


def _dated(receipt: Receipt, name: str, at: datetime | None, context: RenderContext) -> CellText | None:
    value = receipt.raw.get(name)
    if at is None:
        # An invalid time is listed with the other members, with a note.
        return line(context.glyphs.nothing) if name in receipt.raw and value is None else None
    return with_role(detail_time(value, context))


def shown_member(name: str) -> Callable[[Receipt], str]:
    """Return the member that a time line shows, if the receipt has it in valid form."""
    return lambda receipt: name if name in receipt.raw and name not in receipt.flaws() else ""


def total(receipt: Receipt, _: object, __: RenderContext) -> CellText | None:
    """Show usage and fee and their sum."""
    totals = receipt.totals
    if totals is None or totals.usd is None or totals.platform_fee_usd is None:
        return None
    if receipt.mode == "echo" and receipt.spend_usd == 0:
        return StyledText(line("test run, no charge"), Role.TEST)
    usage, fee = plain_decimal(totals.usd), plain_decimal(totals.platform_fee_usd)
    known = totals.usd + totals.platform_fee_usd
    lacking = receipt.unknown_calls
    if not lacking:
        amount = line(f"{usage} usage + {fee} fee = {plain_decimal(known)} USD")
        return estimated(amount, is_estimated=receipt.is_estimated)
    amount = spent_amount(known, lacking, is_exact=True, is_estimated=receipt.is_estimated)
    return StyledText(line(f"{amount}: the cost of {counted(lacking, 'call')} is not known"), Role.WARN)


def reason_meaning(receipt: Receipt, _: object, __: RenderContext) -> CellText | None:
    return None if receipt.reason is None else end_reason_text(receipt.reason, receipt)


def last_check_id(receipt: Receipt) -> str | None:
    """Return the check of the last slice that has one."""
    return next((id for part in reversed(receipt.slices or ()) if (id := customer_check_id(part)) is not None), None)
