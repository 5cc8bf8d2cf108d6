"""Output checks, their test results, and their protected connections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from runwatch.records.record import Record
from runwatch.records.verifier import ConnectionSummary, KeyConnection, Probe, RetiredKey, Verifier, VerifierTest
from runwatch.view.actions.verifiers import ACTIONS, MAKES
from runwatch.view.spec.resource import Column, ComputedLine, Field, MemberLine, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import detail_time
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import detail_status, joined_cell, status_cell
from runwatch.view.text.styled_text import CellText, StyledText

SOON_DAYS: Final = 14
"""A key that stops within this many days is shown as a warning."""


def _connection(verifier: Verifier) -> ConnectionSummary:
    return verifier.connection or ConnectionSummary({})


def _url(verifier: Verifier) -> str | None:
    return None if verifier.endpoint is None else verifier.endpoint.url


def _days(verifier: Verifier, context: RenderContext) -> CellText:
    days = _connection(verifier).days_remaining
    if days is None:
        return line(context.glyphs.nothing)
    return StyledText(grouped_number(days), Role.WARN if days <= SOON_DAYS else Role.PLAIN)


def _probe_lines(member: str) -> tuple[MemberLine | ComputedLine, ...]:
    """Return the lines for a probe's result; nothing is shown if the record has none."""

    def probe_of(record: Record) -> Probe | None:
        raw = record.raw.get(member)
        return Probe(raw) if isinstance(raw, dict) else None

    def headline(record: Record, _: object, context: RenderContext) -> CellText | None:
        """Format whether the check can be used, by the rule of the official clients (manual: interface, "Probing a
        check").
        """
        probe = probe_of(record)
        if probe is None:
            return None
        if probe.is_usable:
            return StyledText(line(f"{context.glyphs.good} the check can be used"), Role.GOOD)
        return StyledText(line(f"{context.glyphs.bad} the check cannot be used yet"), Role.BAD)

    def verdict(record: Record, _: object, __: RenderContext) -> CellText | None:
        """Explain the verdict of a probe, which looks negative but is as expected."""
        probe = probe_of(record)
        contract = None if probe is None else probe.contract
        result = None if contract is None else contract.verifier_result
        if not isinstance(result, dict) or result.get("is_correct") is not False:
            return None
        return line("A probe is never correct; the verdict only shows that the answer has the right form.")

    facts = (
        MemberLine(f"{member}.feedback.{fact}.{part}", f"{fact}.{part}", detail_status if part == "status" else None)
        for fact in ("reachability", "authentication", "response_compatibility")
        for part in ("status", "correction")
    )
    return (
        ComputedLine("result", headline),
        MemberLine(f"{member}.outcome", "outcome", detail_status),
        MemberLine(f"{member}.reason_code", "reason_code"),
        MemberLine(f"{member}.http_status", "http_status"),
        *facts,
        MemberLine(f"{member}.contract", "contract"),
        ComputedLine("means", verdict),
        MemberLine(f"{member}.detail", "detail"),
        MemberLine(f"{member}.checked_at", "checked_at", detail_time),
    )


_DECLARATION: Final = SectionSpec(
    "Declaration",
    (
        MemberLine("correctness_declaration.statement", "statement"),
        MemberLine("correctness_declaration.status", "status"),
        MemberLine("correctness_declaration.method", "method"),
        MemberLine("correctness_declaration.declared_at", "declared_at", detail_time),
    ),
)

VERIFIERS: Final[ResourceSpec[Any]] = ResourceSpec[Verifier](
    record=Verifier,
    name="verifiers",
    singular="verifier",
    title="Output checks · verifiers",
    show_summary="show an output check",
    id_help="the check's id",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), min_cells=10,
        ),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, min_cells=24),
        Column(id="version", title="version", value=lambda it: it.version, hide_order=2),
        Column(
            id="key", title="key", aliases=("connection",), value=lambda it: _connection(it).status,
            cell=lambda it, context: status_cell(_connection(it).status, context), hide_order=6, min_cells=9,
        ),
        Column(
            id="days", title="days", aliases=("days_remaining",), value=lambda it: _connection(it).days_remaining,
            cell=_days, align="right", hide_order=5,
        ),
        Column(
            id="classes", title="data classes", aliases=("input_data_classes",), value=lambda it: it.input_data_classes,
            format=joined_cell, hide_order=4, min_cells=12,
        ),
        Column(id="url", title="endpoint", value=_url, hide_order=1, min_cells=16, max_cells=48),
        Column(
            id="verifier", title="verifier", aliases=("id", "verifier_id"), value=lambda it: it.id, hide_order=3,
            min_cells=9, elides_middle=True,
        ),
    ),
    fields=(
        Field(id="reason", aliases=("status_reason",), value=lambda it: it.status_reason),
        Field(id="revision", value=lambda it: it.revision),
        Field(id="stops", aliases=("stop_at",), value=lambda it: _connection(it).stop_at),
    ),
    sections=(
        SectionSpec(
            "Check",
            (
                MemberLine("verifier_id"), MemberLine("display_name"), MemberLine("version"), MemberLine("revision"),
                MemberLine("status", format=detail_status), MemberLine("status_reason"), MemberLine("kind"),
                MemberLine("hash"), MemberLine("input_data_classes"), MemberLine("created_at", format=detail_time),
                MemberLine("updated_at", format=detail_time),
            ),
        ),
        SectionSpec("Endpoint", (MemberLine("endpoint.url", "url"), MemberLine("endpoint.auth_ref", "auth_ref"))),
        SectionSpec(
            "Key",
            (
                MemberLine("connection.status", "status", detail_status),
                MemberLine("connection.stop_at", "stop_at", detail_time),
                MemberLine("connection.stop_time_zone", "stop_time_zone"),
                MemberLine("connection.days_remaining", "days_remaining"),
                MemberLine("connection.stopped_at", "stopped_at", detail_time),
                MemberLine("connection.stop_reason", "stop_reason"),
            ),
        ),
        SectionSpec(
            "Scoring", (MemberLine("scoring.correctness", "correctness"), MemberLine("scoring.quality", "quality"))
        ),
        _DECLARATION,
    ),
    sort=(SortKey("name"),),
    empty="No output checks yet. `verifiers register` registers an endpoint that scores output.",
    note="A check can stop, retry or reroute a run.",
    flags={
        "ready": lambda it: it.status == "ready",
        "problem": lambda it: it.status == "degraded" or _connection(it).status in {"revoked", "expired"},
        "protected": lambda it: _connection(it).status not in {None, "unbound"},
    },
    actions=ACTIONS,
    create_actions=MAKES,
)  # fmt: skip

VERIFIER_TEST: Final[ResourceSpec[Any]] = ResourceSpec[VerifierTest](
    record=VerifierTest,
    name="tests",
    singular="test",
    title="Test of an output check",
    columns=(Column(id="verifier", title="verifier", aliases=("id",), value=lambda it: it.verifier_id),),
    sections=(
        SectionSpec(
            "Check",
            (MemberLine("verifier_id"), MemberLine("status", format=detail_status), MemberLine("status_reason")),
        ),
        SectionSpec("Probe", _probe_lines("probe")),
        _DECLARATION,
    ),
)
"""The result of a test. It is only printed and has no screen."""

VERIFIER_OUTCOME: Final[ResourceSpec[Any]] = replace(
    VERIFIERS, sections=(SectionSpec("Probe", _probe_lines("preflight")), *VERIFIERS.sections), note="", actions=()
)
"""The result of registering a check: the check as far as known, and its first probe."""

KEY_CONNECTION: Final[ResourceSpec[Any]] = ResourceSpec[KeyConnection](
    record=KeyConnection,
    name="connections",
    singular="connection",
    title="Protected connection",
    columns=(Column(id="status", title="status", value=lambda it: it.status),),
    sections=(
        SectionSpec(
            "Connection",
            (
                MemberLine("status", format=detail_status), MemberLine("origin"), MemberLine("handle"),
                MemberLine("generation"), MemberLine("projection_ack"), MemberLine("stop_at", format=detail_time),
                MemberLine("stop_time_zone"), MemberLine("days_remaining"),
                MemberLine("stopped_at", format=detail_time), MemberLine("stop_reason"),
            ),
        ),
        SectionSpec(
            "Entered and not in use",
            (
                MemberLine("pending_key.handle", "handle"),
                MemberLine("pending_key.captured_generation", "captured_generation"),
                MemberLine("pending_key.staged_until", "staged_until", detail_time),
            ),
        ),
        SectionSpec(
            "Last test",
            (
                MemberLine("last_test.outcome", "outcome", detail_status), MemberLine("last_test.reason", "reason"),
                MemberLine("last_test.handle", "handle"), MemberLine("last_test.at", "at", detail_time),
            ),
        ),
        SectionSpec("Replacement", (MemberLine("replacement"),)),
        SectionSpec(
            "Retired key",
            (
                MemberLine("handle"), MemberLine("state", format=detail_status), MemberLine("reason"),
                MemberLine("retired_at", format=detail_time), MemberLine("destroyed_at", format=detail_time),
            ),
            each="retired_keys",
            item=RetiredKey,
            names="handle",
        ),
        SectionSpec("Last operation", (MemberLine("last_operation"),)),
    ),
    note="Handles name keys; no key is ever shown.",
)  # fmt: skip
"""A protected connection of an output check or a review agent. It is only printed and has no screen."""
