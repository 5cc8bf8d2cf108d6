"""Runs (API name: executions)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from runwatch.records.packet import DecisionPacket
from runwatch.records.run import Run, Slice
from runwatch.records.states import is_final
from runwatch.view import flat
from runwatch.view.calls import why
from runwatch.view.drawn import Drawn, block, decimal_text, line
from runwatch.view.explain import explain_reason
from runwatch.view.facts import FROM_RUN, NOWHERE, Fact, RunFacts, run_facts
from runwatch.view.format import (
    Context,
    age,
    clock,
    duration,
    gauge,
    guessed,
    money,
    money_exact,
    percent,
    seconds_since,
    share,
    share_role,
    short_id,
    spent,
    state,
)
from runwatch.view.glyphs import Role, state_glyph
from runwatch.view.mutation import Action
from runwatch.view.packet import NEEDS_REVIEW, is_against, outcome, outcome_and_action, ruling
from runwatch.view.resource import At, Column, Field, Link, ResourceSpec, SectionSpec, Shown, SortKey, Styled, Told
from runwatch.view.resources.common import as_moment, as_state, newest_first, no_charge, output_end, when
from runwatch.view.timeline import last_words


def _status(facts: RunFacts, context: Context) -> Styled:
    return Styled(state(facts.status, context.glyphs), state_glyph(facts.status, context.glyphs)[1])


def _outcome(facts: RunFacts, context: Context) -> Styled:
    return outcome(facts.status, facts.packet.value, context.glyphs)


def _run(facts: RunFacts, context: Context) -> Shown:
    return short_id(facts.id, context.glyphs)


def _age(facts: RunFacts, context: Context) -> Shown:
    """How long a live run has been under way, and how long an ended one took."""
    if facts.is_final:
        took = facts.took_s.value
        return line(context.glyphs.unknown) if took is None else clock(took)
    created = facts.run.created_at
    return line(context.glyphs.unknown) if created is None else clock(max(seconds_since(created, context.now), 0))


def _mode(facts: RunFacts, context: Context) -> Shown:
    mode = facts.mode.value
    return Styled(line(mode or context.glyphs.unknown), Role.TEST if facts.is_test else Role.PLAIN)


def _arm(facts: RunFacts, context: Context) -> Shown:
    arm = facts.arm_id.value
    return line(context.glyphs.nothing) if arm is None else short_id(arm, context.glyphs)


def _packet(facts: RunFacts) -> DecisionPacket:
    return facts.packet.value or _UNDECIDED


def _cost(facts: RunFacts, context: Context) -> Shown:
    """What was spent; a gauge against the cap while that can still change."""
    if facts.is_test:
        return no_charge()
    cost = facts.known_cost_usd.value
    if facts.unknown_calls:
        return Styled(spent(cost, facts.unknown_calls), Role.WARN)
    if cost is None:
        return line(context.glyphs.unknown)
    part = share(cost, facts.max_cost_usd.value)
    if part is None or facts.is_final:
        return money(cost)
    limit = f" {percent(part)}" if part >= 1 else ""
    return Styled(line(f"{gauge(part, 5, context.glyphs)} {money(cost)}{limit}"), share_role(part))


def _last(facts: RunFacts, context: Context) -> Shown:
    """The newest event and its age; for an ended run how long ago that was."""
    event, ended = facts.last_event, facts.ended_at.value
    if facts.is_final and ended is not None:
        return age(ended, context.now)
    if event is not None:
        return line(f"{last_words(event)} {age(event.at, context.now) if event.at else ''}".rstrip())
    created = facts.run.created_at
    return line(context.glyphs.unknown) if created is None else line(f"sent {age(created, context.now)}")


def _reason(facts: RunFacts, context: Context) -> Shown:
    """Why the run ended, or what a review comes to; a live or completed one needs no reason."""
    reason, decided = facts.reason.value, ruling(facts.packet.value, context.glyphs)
    if decided is not None and not reason:
        return decided
    needs_none = not facts.is_final or facts.status == "completed"
    return line(reason or (context.glyphs.nothing if needs_none else context.glyphs.unknown))


def _label(facts: RunFacts, _: Context) -> Shown:
    return line(facts.label)


def _note(facts: RunFacts, _: object, __: Context) -> Shown | None:
    return block(facts.note) if facts.note else None


def _verdict(facts: RunFacts, _: object, context: Context) -> Shown | None:
    packet = facts.packet
    if packet.value is None:
        return None
    return _known(packet, outcome_and_action(facts.status, packet.value, context.glyphs), context)


def _known(fact: Fact[Any], text: Shown, context: Context) -> Shown:
    """A fact with its source, or the sign for unknown."""
    if fact.source == NOWHERE:
        return Styled(line(context.glyphs.unknown), Role.QUIET)
    drawn, role = text if isinstance(text, Styled) else Styled(text)
    return Styled(line(f"{drawn}  ({fact.source})"), role)


def _told(name: str, path: str, draw: Callable[[Any], Shown] = line) -> Told:
    """A line for one fact; ``path`` is the run's own member for it."""

    def shown(facts: RunFacts, _: object, context: Context) -> Shown:
        fact: Fact[Any] = getattr(facts, name)
        return _known(fact, draw(fact.value), context)

    def shows(facts: RunFacts) -> str:
        # A member that is null tells as little as a missing one, and the line says so.
        is_told = getattr(facts, name).source == FROM_RUN or flat.at(facts.raw, flat.split(path)) is None
        return path if is_told else ""

    return Told(name, shown, shows)


def _seconds(value: Decimal | None) -> Drawn:
    return line(None if value is None else f"{decimal_text(value)} s")


def _cost_line(facts: RunFacts, _: object, context: Context) -> Shown:
    known = facts.known_cost_usd
    told = guessed(spent(known.value, facts.unknown_calls, money_exact), is_estimated=facts.is_estimated)
    return _known(known, told, context)


def _shows_cost(facts: RunFacts) -> str:
    """The member whose value the cost line shows: a number in ``spend_usd``, or else the known part beside it."""
    if facts.known_cost_usd.source == FROM_RUN and facts.run.spend_usd is None:
        return "known_spend_usd"
    return "" if facts.run.spend_usd is None and facts.raw.get("spend_usd") is not None else "spend_usd"


def _lacking(facts: RunFacts, _: object, __: Context) -> Shown | None:
    if not facts.unknown_calls:
        return None
    return Styled(line(f"{facts.unknown_calls} of unknown cost"), Role.WARN)


def _shows_lacking(facts: RunFacts) -> str:
    return "unknown_calls" if facts.run.unknown_calls == facts.unknown_calls else ""


def _used(facts: RunFacts, _: object, context: Context) -> Shown | None:
    part = None if facts.is_test else share(facts.cost_usd.value, facts.max_cost_usd.value)
    if part is None:
        return None
    return Styled(line(f"{gauge(part, 10, context.glyphs)} {percent(part)}"), share_role(part))


def _took(facts: RunFacts, _: object, context: Context) -> Shown | None:
    if facts.is_final:
        return _known(facts.took_s, duration(facts.took_s.value), context)
    created = facts.run.created_at
    return None if created is None else clock(max(seconds_since(created, context.now), 0))


def _own_status(facts: RunFacts) -> str:
    """The run's own status is listed again where its final event or receipt is newer, and where it is no text."""
    own = facts.run.status
    return "status" if own is not None and own == facts.status else ""


def _reason_line(facts: RunFacts, _: object, context: Context) -> Shown:
    text = _reason(facts, context)
    return text if facts.reason.source == NOWHERE else _known(facts.reason, text, context)


def _why(facts: RunFacts, _: object, __: Context) -> Shown | None:
    reason = facts.reason.value
    return None if reason is None else why(reason, facts.receipt)


def _next(facts: RunFacts, _: object, __: Context) -> Shown | None:
    reason = facts.reason.value
    return None if reason is None else line(explain_reason(reason).next_step)


_UNDECIDED: Final = DecisionPacket({})

COLUMNS: Final = (
    Column[RunFacts](
        id="status", title="status", value=lambda run: run.status, cell=_outcome, least=11, most=14, server="status"
    ),
    Column[RunFacts](
        id="run", title="run", aliases=("id", "execution_id"), value=lambda run: run.id, cell=_run, least=9,
        keeps_ends=True,
    ),
    Column[RunFacts](
        id="age", title="age", aliases=("created_at",), value=lambda run: run.run.created_at, cell=_age, align="right",
        sort_key=lambda run: newest_first(run.run.created_at), server="since", leaves=11, least=5,
    ),
    Column[RunFacts](
        id="label", title="label", value=lambda run: run.label or None, cell=_label, leaves=9, least=8, most=24,
        only_used=True,
    ),
    Column[RunFacts](id="mode", title="mode", value=lambda run: run.mode.value, cell=_mode, leaves=6),
    Column[RunFacts](
        id="cost", title="cost / cap", aliases=("spend",), value=lambda run: run.cost_usd.value, cell=_cost, leaves=8,
        least=14,
    ),
    Column[RunFacts](
        id="last", title="last", value=lambda run: last_words(run.last_event) if run.last_event else None, cell=_last,
        leaves=10, least=8,
    ),
    Column[RunFacts](id="reason", title="reason", value=lambda run: run.reason.value, cell=_reason, leaves=7, least=12),
    Column[RunFacts](id="model", title="model", value=lambda run: run.model.value, leaves=5, least=12, most=32),
    Column[RunFacts](id="provider", title="provider", value=lambda run: run.provider.value, leaves=4, least=10, most=24,
           only_used=True),
    Column[RunFacts](
        id="arm", title="arm", aliases=("arm_id",), value=lambda run: run.arm_id.value, cell=_arm, leaves=3, least=9,
        keeps_ends=True, only_used=True,
    ),
    Column[RunFacts](
        id="source", title="told by", value=lambda run: ", ".join(run.told_by) or None, leaves=2, least=7, most=20,
        only_used=True,
    ),
    Column[RunFacts](
        id="created", title="created", value=lambda run: run.run.created_at, format=when, is_whole=True, leaves=1
    ),
)  # fmt: skip

FIELDS: Final = (
    Field[RunFacts](id="took", value=lambda run: run.took_s.value),
    Field[RunFacts](id="cap", value=lambda run: run.max_cost_usd.value),
    Field[RunFacts](id="runtime_cap", value=lambda run: run.max_runtime_s.value),
    Field[RunFacts](id="verdict", value=lambda run: _packet(run).verdict),
    Field[RunFacts](id="action", value=lambda run: _packet(run).action),
    Field[RunFacts](id="note", value=lambda run: run.note or None),
    Field[RunFacts](id="connection", aliases=("connection_id",), value=lambda run: run.connection_id.value),
    Field[RunFacts](id="check", aliases=("verifier_id",), value=lambda run: run.verifier_id.value),
    Field[RunFacts](id="ended", aliases=("completed_at",), value=lambda run: run.ended_at.value),
    Field[RunFacts](id="class", aliases=("data_class", "data_classes"), value=lambda run: run.data_classes.value),
    Field[RunFacts](id="by", aliases=("cancelled_by",), value=lambda run: run.cancelled_by.value),
    Field[RunFacts](id="final", value=lambda run: run.is_final),
)

SECTIONS: Final = (
    SectionSpec(
        "Run",
        (
            At("execution_id"),
            Told("label", lambda facts, _, __: line(facts.label) if facts.label else None),
            Told("note", _note),
            Told("verdict", _verdict),
            Told("status", lambda facts, _, context: _status(facts, context), _own_status),
            _told("reason", "reason")._replace(draw=_reason_line),
            Told("why", _why),
            Told("next", _next),
            _told("mode", "mode"),
            At("created_at", format=as_moment),
            At("completed_at", format=as_moment),
            Told("took", _took),
            Told("cost_usd", _cost_line, _shows_cost),
            Told("unknown_calls", _lacking, _shows_lacking),
            Told("of the cap", _used),
            _told("provider", "current.provider"),
            _told("model", "current.model_key"),
            _told("arm_id", "current.arm_id"),
            At("cancelled_by"),
        ),
    ),
    SectionSpec("Now", (At("current"),)),
    SectionSpec(
        "Policy",
        (
            _told("data_classes", "policy.data_classes"),
            _told("max_cost_usd", "policy.budget.max_cost_usd", money_exact),
            _told("max_runtime_s", "policy.budget.max_runtime_s", _seconds),
            At("policy.cost_coefficient", "cost_coefficient"),
            At("policy.on_eval", "on_eval"),
        ),
    ),
    SectionSpec(
        "Slice",
        (At("slice_id"), At("capability"), At("status", format=as_state), Told("output", output_end)),
        each="slices", item=Slice, names="slice_id",
    ),
    SectionSpec("Links", (At("links.status", "status"), At("links.events", "events"), At("links.receipt", "receipt"))),
)  # fmt: skip

RUNS: Final = ResourceSpec[RunFacts](
    record=Run,
    name="runs",
    singular="run",
    title="Runs · executions",
    columns=COLUMNS,
    fields=FIELDS,
    sections=SECTIONS,
    sort=(SortKey("final"), SortKey("age")),
    empty=(
        "No runs yet. `runwatch runs submit --mode echo` starts a test run, `runwatch runs add ID` watches one that is"
        " known by its id."
    ),
    flags={
        "final": lambda run: run.is_final,
        "live": lambda run: not run.is_final,
        "problem": lambda run: run.status in {"failed", "expired"} or is_against(run.packet.value),
        "broken": lambda run: run.status in {"failed", "expired"},
        "composer": lambda run: run.is_composer,
        "review": lambda run: _packet(run).action == NEEDS_REVIEW,
        "test": lambda run: run.is_test,
        "cut": lambda run: run.run.is_cut,
    },
    actions=(
        Action("watch", "Follow its events", "runs watch", "getExecutionsByExecutionIdEvents"),
        Action(
            "cancel", "Cancel the run", "runs cancel", "postExecutionsByExecutionIdCancel", is_destructive=True,
            enabled_when=lambda run: not run.is_final, off_because="The run has ended, and a final run never changes.",
        ),
        Action(
            "result", "Read its result", "runs result", "getExecutionsByExecutionIdResult",
            enabled_when=lambda run: run.status == "completed" and not run.is_test,
            off_because="Only a completed live run has a result; a test run calls no model.",
        ),
        Action(
            "receipt", "Show its receipt", "receipts show", "getReceiptsByExecutionId",
            enabled_when=lambda run: is_final(run.status), off_because="A run has a receipt once it has ended.",
        ),
        Action("label", "Label and note", ""),
        Action("again", "Run it again", "", "postExecutions"),
    ),
    links=(Link("receipt", "receipt", lambda run: run.id if run.is_final else None),),
    subject=run_facts,
)  # fmt: skip
