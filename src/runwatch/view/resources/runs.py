"""Runs (API name: executions)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from runwatch.records.arm import Arm
from runwatch.records.packet import DecisionPacket
from runwatch.records.run import CallError, Run, Slice
from runwatch.records.states import LIVE_STATES, UNWANTED_STATES
from runwatch.view.runs.decision_packet import (
    NEEDS_REVIEW,
    end_reason,
    end_reason_cell,
    is_rejected,
    run_outcome_cell,
    run_outcome_title,
    verdict_column,
)
from runwatch.view.runs.run_facts import FROM_RUN, NO_SOURCE, RunFacts, SourcedValue
from runwatch.view.spec.action import ResourceAction
from runwatch.view.spec.members import column, field, id_column, member_lines
from runwatch.view.spec.resource import (
    ComputedLine,
    LineTarget,
    MemberLine,
    RecordLink,
    ResourceSpec,
    SectionSpec,
    SortKey,
)
from runwatch.view.text import json_paths
from runwatch.view.text.format import (
    AMOUNT_WORDS,
    DURATION_WORDS,
    RenderContext,
    duration,
    elapsed_clock,
    estimated,
    gauge,
    listed_amount,
    money_exact,
    over_limit,
    percent,
    short_ago,
    short_id,
    spent_amount,
    state_cell,
    time_of_day,
    usage_ratio,
    usage_role,
)
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import (
    NO_CHARGE,
    model_cell,
    model_name,
    newest_first_key,
    no_charge_cell,
    output_end,
    time_cell,
    whole_model,
)
from runwatch.view.text.safe_text import SafeText, block, iso_text, line, plain_decimal, truncate
from runwatch.view.text.status_format import joined_cell
from runwatch.view.text.styled_text import CellText, StyledText


def _status_line(facts: RunFacts, _: object, context: RenderContext) -> StyledText:
    """Return the state; one that is missing, no text or an unknown word says how it counts."""
    status = state_cell(facts.status, context.glyphs)
    if facts.is_final or facts.status in LIVE_STATES:
        return status
    return StyledText(line(f"{status.text} (unknown state, counts as live)", None), status.role)


def _waits(facts: RunFacts, _: object, context: RenderContext) -> CellText | None:
    """Say that a queued run waits for its turn, since when, and for how many others."""
    if facts.status != "queued":
        return None
    last = facts.last_event
    since = last.at if last is not None and last.state == "queued" and last.at is not None else facts.run.created_at
    words = "for its turn in the queue" + ("" if since is None else f" since {time_of_day(since, context)}")
    if facts.queue is not None:
        running, queued = facts.queue
        words += f"; {running} running, {queued} queued"
    return line(words)


def _outcome(facts: RunFacts, context: RenderContext) -> StyledText:
    return run_outcome_cell(facts.status, facts.packet.value, context.glyphs)


def _run(facts: RunFacts, context: RenderContext) -> CellText:
    """Format the id, or the user's label before the short id in the same number of cells."""
    shown = line(facts.id)
    if not facts.label:
        return shown
    short = short_id(facts.id, context.glyphs)
    label = truncate(line(facts.label), max(_LABEL_CELLS, len(shown) - len(short) - 1), context.glyphs.ellipsis)
    return line(f"{label} {short}")


def _elapsed(facts: RunFacts, context: RenderContext) -> CellText:
    seconds = facts.took_s.value if facts.is_final else facts.running_s(context.now, context.lost_at)
    return line(context.glyphs.unknown) if seconds is None else elapsed_clock(seconds)


def _took_so_far(facts: RunFacts) -> float | Decimal | None:
    """Return how long a run took, a live one up to when it was read, in seconds."""
    if facts.is_final:
        return facts.took_s.value
    return None if facts.stored is None else facts.running_s(facts.stored.seen_at)


def _started(facts: RunFacts, context: RenderContext) -> CellText:
    """Format when the run was created: ``42s ago``, or the time in the other time modes."""
    created = facts.run.created_at
    if created is None:
        return line(context.glyphs.unknown)
    return short_ago(created, context.now) if context.time == "relative" else time_cell(created, context)


def _mode(facts: RunFacts, context: RenderContext) -> CellText:
    mode = facts.mode.value
    return StyledText(line(mode or context.glyphs.unknown), Role.TEST if facts.is_test else Role.PLAIN)


def _arm(facts: RunFacts, context: RenderContext) -> CellText:
    arm = facts.arm_id.value
    return line(context.glyphs.nothing) if arm is None else short_id(arm, context.glyphs)


def _packet(facts: RunFacts) -> DecisionPacket:
    return facts.packet.value or _UNDECIDED


def _cost(facts: RunFacts, context: RenderContext) -> CellText:
    """Format the spend, in the colour of its part of the cap while the run is live."""
    if facts.is_test:
        return no_charge_cell()
    cost = facts.known_cost_usd.value
    if cost is None and not facts.unknown_calls:
        return line(context.glyphs.unknown)
    if facts.is_cost_open:
        return StyledText(line(context.glyphs.nothing), Role.QUIET)
    amount = listed_amount(cost, facts.unknown_calls, context.glyphs, is_estimated=facts.is_estimated)
    if facts.unknown_calls:
        return StyledText(amount, Role.WARN)
    part = None if facts.is_final else usage_ratio(cost, facts.max_cost_usd.value)
    role = usage_role(part)
    # A colour alone would not show that the cap is near.
    return StyledText(line(f"{amount} {percent(part)}") if part is not None and role is not Role.GOOD else amount, role)


def _used_part(facts: RunFacts) -> Decimal | None:
    return None if facts.is_test or facts.is_final else usage_ratio(facts.cost_usd.value, facts.max_cost_usd.value)


def _used_gauge(facts: RunFacts, context: RenderContext) -> CellText:
    part = _used_part(facts)
    return line(context.glyphs.nothing) if part is None else _gauge(part, 5, context)


def _gauge(part: Decimal, cells: int, context: RenderContext) -> StyledText:
    return StyledText(line(f"{gauge(part, cells, context.glyphs)} {percent(part)}"), usage_role(part))


# Below, what only a detail or an event shows is imported where it is used, because the list is painted first.


def _last_event(facts: RunFacts) -> str | None:
    from runwatch.view.runs.event_lines import last_event_text

    return None if facts.last_event is None else last_event_text(facts.last_event)


def _last(facts: RunFacts, context: RenderContext) -> CellText:
    event, ended = facts.last_event, facts.ended_at.value
    if facts.is_final and ended is not None:
        return short_ago(ended, context.now)
    if event is not None:
        return line(f"{_last_event(facts)} {short_ago(event.at, context.now) if event.at else ''}".rstrip())
    created = facts.run.created_at
    return line(context.glyphs.unknown if created is None else f"started {short_ago(created, context.now)}")


def _reason(facts: RunFacts, context: RenderContext) -> CellText:
    """Format why the run ended, or the result of a review. Of a live run, say whether it is being cancelled; else it
    needs no reason, nor does a completed one.
    """
    if facts.is_cancelling is not None and not facts.is_final:
        return StyledText(line("cancelling" if facts.is_cancelling else "cancel waits"), Role.WARN)
    return end_reason_cell(facts.reason.value, facts.packet.value, facts.status, context.glyphs)


def _no_result_text(facts: RunFacts) -> str | None:
    if facts.is_test:
        return "No result: a test run calls no model."
    return None if facts.is_final else "No result yet: the run is still running."


def _verdict(facts: RunFacts, _: object, context: RenderContext) -> CellText | None:
    packet = facts.packet
    if packet.value is None:
        return None
    return _known(packet, run_outcome_title(facts.status, packet.value, context.glyphs), context)


def _known(fact: SourcedValue[Any], text: CellText, context: RenderContext) -> CellText:
    """Format a value with its source, or the glyph for unknown."""
    if fact.source == NO_SOURCE:
        return StyledText(line(context.glyphs.unknown), Role.QUIET)
    drawn, role = text if isinstance(text, StyledText) else StyledText(text)
    return StyledText(line(f"{drawn}  ({fact.source})"), role)


def _its_arm(facts: RunFacts, _: object) -> LineTarget | None:
    arm_id = facts.arm_id.value
    return LineTarget((Arm.KIND, arm_id), line("")) if arm_id else None


def _fact_line(
    name: str,
    path: str,
    draw: Callable[[Any], CellText] = line,
    *,
    is_none: Callable[[RunFacts], bool] = lambda _: False,
) -> ComputedLine:
    """Return a line for one value.

    Args:
        path: The run's member for it.
        is_none: Returns whether a run without the value is known to have none.
    """

    def shown(facts: RunFacts, _: object, context: RenderContext) -> CellText:
        fact: SourcedValue[Any] = getattr(facts, name)
        if fact.source == NO_SOURCE and is_none(facts):
            return StyledText(line(context.glyphs.nothing), Role.QUIET)
        return _known(fact, draw(fact.value), context)

    def shows(facts: RunFacts) -> str:
        # A null member is like a missing one, and the line shows that.
        is_stated = (
            getattr(facts, name).source == FROM_RUN or json_paths.get_at(facts.raw, json_paths.parse_path(path)) is None
        )
        return path if is_stated else ""

    return ComputedLine(name, shown, shows)


def _called_none(facts: RunFacts) -> bool:
    """Return whether a run without a known model called none: a test run, or one whose receipt names none."""
    return facts.is_test or (facts.is_final and facts.receipt is not None)


def _joined(words: Sequence[str] | None) -> SafeText:
    return line(None if words is None else ", ".join(line(word) for word in words))


def _seconds(value: Decimal | None) -> SafeText:
    return line(None if value is None else f"{plain_decimal(value)} s")


def _cost_line(facts: RunFacts, _: object, context: RenderContext) -> CellText:
    known = facts.known_cost_usd
    if facts.is_cost_open:
        return StyledText(line(f"{context.glyphs.nothing}  not known yet"), Role.QUIET)
    amount = spent_amount(known.value, facts.unknown_calls, is_exact=True, is_estimated=facts.is_estimated)
    over = over_limit(known.value, facts.max_cost_usd.value)
    return _known(known, StyledText(line(f"{amount}{over}"), Role.WARN) if over else amount, context)


def _shows_cost(facts: RunFacts) -> str:
    """Return the member shown by the cost line: ``spend_usd`` if it is a number, else the known part."""
    if facts.known_cost_usd.source == FROM_RUN and facts.run.spend_usd is None:
        return "known_spend_usd"
    return "" if facts.run.spend_usd is None and facts.raw.get("spend_usd") is not None else "spend_usd"


def _lacking(facts: RunFacts, _: object, __: RenderContext) -> CellText | None:
    if not facts.unknown_calls:
        return None
    yet = "" if facts.is_final else " so far"
    return StyledText(line(f"{facts.unknown_calls} of unknown cost{yet}"), Role.WARN if facts.is_final else Role.QUIET)


def _guessed(facts: RunFacts, _: object, __: RenderContext) -> CellText | None:
    calls = facts.run.estimated_calls
    return line(f"{calls} of estimated cost") if calls else None


def _provider_errors(facts: RunFacts, _: object, context: RenderContext) -> CellText | None:
    """Quote how providers refused calls, a line a call, with how long their words are kept."""
    errors = [_provider_error(error, context) for error in facts.provider_errors]
    return StyledText(block("\n".join(errors)), Role.WARN) if errors else None


def _provider_error(error: CallError, context: RenderContext) -> str:
    from runwatch.view.runs.provider_calls import provider_error_text

    number = context.glyphs.unknown if error.attempt is None else error.attempt
    arm = f" of {line(error.arm_id)}" if error.arm_id else ""
    at = f" at {iso_text(error.at)}" if error.at is not None else ""
    kept = error.retention_expires_at
    until = "" if kept is None else f" (kept until {iso_text(kept)})"
    return f"call {number}{arm}{at}: {provider_error_text(error)}{until}"


def _shows_lacking(facts: RunFacts) -> str:
    return "unknown_calls" if facts.run.unknown_calls == facts.unknown_calls else ""


def _shows_errors(facts: RunFacts) -> str:
    """Return ``provider_errors`` unless it should be listed again, because it holds what no line above quotes."""
    errors = facts.run.provider_errors or ()
    is_odd = any(flaw.startswith("provider_errors") for flaw in facts.run.flaws())
    is_quoted = bool(errors) and not is_odd and not any(error.unknown() for error in errors)
    return "provider_errors" if is_quoted else ""


def _used(facts: RunFacts, _: object, context: RenderContext) -> CellText | None:
    part = None if facts.is_test else usage_ratio(facts.cost_usd.value, facts.max_cost_usd.value)
    return None if part is None else _gauge(part, 10, context)


def _took(facts: RunFacts, _: object, context: RenderContext) -> CellText | None:
    if facts.is_final:
        return _known(facts.took_s, duration(facts.took_s.value), context)
    running = facts.running_s(context.now, context.lost_at)
    return None if running is None else elapsed_clock(running)


def _own_status(facts: RunFacts) -> str:
    """Return ``status`` unless it should be listed again, because the final event or receipt is newer or it is not
    text.
    """
    own = facts.run.status
    return "status" if own is not None and own == facts.status else ""


def _reason_line(facts: RunFacts, _: object, context: RenderContext) -> CellText | None:
    text = _reason(facts, context)
    if text == context.glyphs.nothing:
        return None
    return text if facts.reason.source == NO_SOURCE else _known(facts.reason, text, context)


def _cancelled_by(facts: RunFacts, _: object, context: RenderContext) -> CellText | None:
    by = facts.cancelled_by
    return None if by.value is None else _known(by, line(by.value), context)


def _why(facts: RunFacts, _: object, __: RenderContext) -> CellText | None:
    from runwatch.view.runs.provider_calls import end_reason_text

    reason = facts.reason.value
    return None if reason is None else end_reason_text(reason, facts.receipt, states=facts.states)


def next_step_text(facts: RunFacts, context: RenderContext) -> SafeText | None:
    """Return what to do after a run has ended; ``None`` if it is not known why it ended."""
    from runwatch.view.runs.provider_calls import arm_step_text, end_advice_text

    reason, arm = facts.reason.value, facts.run.required_arm
    if reason == "arm_not_ready" and arm is not None and arm.arm_id:
        return arm_step_text(arm, context)
    if facts.found_no_arm and (granted := facts.granted_arm) is not None:
        return arm_step_text(granted, context)
    spent, cap = facts.known_cost_usd.value, facts.max_cost_usd.value
    if reason == "cost_budget_exhausted" and None not in {spent, cap} and not facts.unknown_calls:
        amount = estimated(money_exact(spent), is_estimated=facts.is_estimated)
        return line(f"Its calls cost {amount}, and its cap is {money_exact(cap)}. Submit again with a higher cap.")
    if reason is None:
        return None
    return end_advice_text(reason, facts.receipt, facts.provider_errors, context, states=facts.states)


def find_connection(facts: RunFacts) -> str | None:
    """Return the connection that the run called last; ``None`` as long as its receipt names none."""
    from runwatch.view.runs.provider_calls import find_called_connection

    return find_called_connection(facts.receipt)


def may_have_called(facts: RunFacts) -> bool:
    """Whether the run called a connection, or its receipt was not read yet and may name one."""
    return find_connection(facts) is not None or (facts.receipt is None and facts.is_final and not facts.is_test)


def _shows_arm(facts: RunFacts) -> str:
    """Return ``required_arm`` unless it should be listed again, because no line above shows it."""
    return "required_arm" if facts.reason.value == "arm_not_ready" and not facts.run.flaws() else ""


_UNDECIDED: Final = DecisionPacket({})

_NO_RECEIPT_YET: Final = "No receipt yet: the run has not ended."

_COST_WORDS: Final = (*AMOUNT_WORDS, *NO_CHARGE.split(), "limit")
_LABEL_CELLS: Final = 8
"""Minimum cells of a label in a list."""

COLUMNS: Final = (
    column(
        "status", cell=_outcome, min_cells=11, max_cells=14, never_cut=True, whole_first=True, server_parameter="status"
    ),
    id_column("run|id|execution_id=id", cell=_run),
    column(
        "reason|why", lambda run: end_reason(run.reason.value, run.packet.value), title="why", cell=_reason,
        min_cells=10, whole_first=True,
    ),
    column(
        "model=model.value", format=model_cell, sort_key=lambda run: model_name(run.model.value),
        min_cells=16, max_cells=32, hide_if_empty=True, elides_middle=True,
        keeps_difference=True,
    ),
    column("cost|spend=cost_usd.value", cell=_cost, align="right", min_cells=7, words=_COST_WORDS),
    column(
        "started|created|created_at|age=run.created_at", cell=_started, never_cut=True,
        sort_key=lambda run: newest_first_key(run.run.created_at), server_parameter="since", min_cells=6,
        puts_newest_first=True, words=DURATION_WORDS, searched="nothing",
    ),
    column(
        "took=took_s.value", cell=_elapsed, sort_key=_took_so_far, align="right", min_cells=4,
        words=DURATION_WORDS, value_type="seconds",
    ),
    column("provider=provider.value", hide_order=2, min_cells=8, max_cells=24, hide_if_empty=True, is_extra=True),
    column(
        "class|data_class|data_classes=data_classes.value", title="data class", format=joined_cell, hide_order=1,
        min_cells=8, max_cells=24, hide_if_empty=True, is_extra=True,
    ),
)  # fmt: skip

FIELDS: Final = (
    # Columns that a list shows only if the settings name them.
    column("label", lambda run: run.label or None, min_cells=8, max_cells=24),
    column("last", _last_event, cell=_last, min_cells=8, keeps_last_words=True),
    column("used", _used_part, title="of cap", cell=_used_gauge, min_cells=11, value_type="number"),
    column("mode=mode.value", cell=_mode),
    id_column("arm|arm_id=arm_id.value", cell=_arm),
    column("source", lambda run: ", ".join(run.reason_sources) or None, title="reason from", min_cells=7, max_cells=20),
    field("cap=max_cost_usd.value", value_type="number"),
    field("runtime_cap=max_runtime_s.value", value_type="seconds"),
    verdict_column(lambda run: _packet(run).verdict),
    field("action", lambda run: _packet(run).action),
    field("note", lambda run: run.note or None),
    field("connection|connection_id=connection_id.value"),
    field("check|verifier_id=verifier_id.value"),
    field("ended|completed_at=ended_at.value"),
    field("by|cancelled_by=cancelled_by.value"),
    field("final=is_final"),
)  # fmt: skip

SECTIONS: Final = (
    SectionSpec(
        "Run",
        (
            MemberLine("execution_id"),
            ComputedLine("label", lambda facts, _, __: line(facts.label) if facts.label else None),
            ComputedLine("note", lambda facts, _, __: block(facts.note) if facts.note else None),
            ComputedLine("verdict", _verdict),
            ComputedLine("status", _status_line, _own_status), ComputedLine("waits", _waits),
            _fact_line("reason", "reason")._replace(draw=_reason_line), ComputedLine("why", _why),
            ComputedLine("next", lambda facts, _, context: next_step_text(facts, context), _shows_arm),
            ComputedLine("provider_errors", _provider_errors, _shows_errors),
            _fact_line("mode", "mode"), *member_lines("created_at:time completed_at:time"),
            ComputedLine("took", _took), ComputedLine("cost_usd", _cost_line, _shows_cost),
            ComputedLine("unknown_calls", _lacking, _shows_lacking),
            ComputedLine("estimated_calls", _guessed, lambda _: "estimated_calls"), ComputedLine("of the cap", _used),
            _fact_line("provider", "current.provider", is_none=_called_none),
            _fact_line("model", "current.model_key", whole_model, is_none=_called_none),
            _fact_line("arm_id", "current.arm_id", is_none=_called_none)._replace(leads=_its_arm),
            _fact_line("cancelled_by", "cancelled_by")._replace(draw=_cancelled_by),
        ),
    ),
    SectionSpec("Now", member_lines("current")),
    SectionSpec(
        "Policy",
        (
            _fact_line("data_classes", "policy.data_classes", _joined),
            _fact_line("max_cost_usd", "policy.budget.max_cost_usd", money_exact),
            _fact_line("max_runtime_s", "policy.budget.max_runtime_s", _seconds),
            *member_lines("cost_coefficient on_eval", under="policy"),
        ),
    ),
    SectionSpec(
        "Slice",
        (*member_lines("slice_id capability status:state"), ComputedLine("output", output_end)),
        each="slices", item=Slice, names="slice_id",
    ),
    SectionSpec("Links", member_lines("status events receipt", under="links")),
)  # fmt: skip

RUNS: Final = ResourceSpec[RunFacts](
    record=Run,
    name="runs",
    singular="run",
    title="Runs",
    columns=COLUMNS,
    fields=FIELDS,
    sections=SECTIONS,
    sort=(SortKey("final", words="live first"), SortKey("started")),
    empty="No runs yet. A test run costs nothing: `runwatch runs submit --help`. `runwatch runs add ID` watches a run.",
    flags={
        "final": lambda run: run.is_final,
        "live": lambda run: not run.is_final,
        "done": lambda run: run.status == "completed",
        "problem": lambda run: run.status in UNWANTED_STATES or is_rejected(run.packet.value),
        "broken": lambda run: run.status in UNWANTED_STATES,
        "composer": lambda run: run.is_composer,
        "review": lambda run: _packet(run).action == NEEDS_REVIEW,
        "test": lambda run: run.is_test,
        "cut": lambda run: run.run.is_cut,
    },
    actions=(
        ResourceAction("watch", "Follow its events", "runs watch", "getExecutionsByExecutionIdEvents"),
        ResourceAction(
            "cancel", "Cancel the run", "runs cancel", "postExecutionsByExecutionIdCancel", is_destructive=True,
            enabled_when=lambda run: not run.is_final, off_because="The run has already ended.",
        ),
        ResourceAction(
            "result", "Read its result", "runs result", "getExecutionsByExecutionIdResult",
            enabled_when=lambda run: run.has_result,
            off_because="No result: only a completed run has one.", off_for=_no_result_text,
        ),
        ResourceAction(
            "receipt", "Show its receipt", "receipts show", "getReceiptsByExecutionId",
            enabled_when=lambda run: run.is_final, off_because=_NO_RECEIPT_YET,
        ),
        ResourceAction(
            "connection", "Show the source it called", "", enabled_when=may_have_called,
            off_because="No provider call of it is known.",
            off_for=lambda run: None if run.is_final else _NO_RECEIPT_YET,
        ),
        ResourceAction("label", "Label and note", ""),
        ResourceAction("again", "Run it again", "", "postExecutions"),
    ),
    facets=("status", "reason", "verdict", "model", "provider", "class", "mode"),
    links=(RecordLink("receipt", "receipt", lambda run: run.id if run.is_final else None),),
    subject=RunFacts,
)  # fmt: skip
