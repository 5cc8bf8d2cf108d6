"""Output checks, their test results, and their protected connections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from runwatch.records.record import Record
from runwatch.records.verifier import ConnectionSummary, KeyConnection, Probe, RetiredKey, Verifier, VerifierTest
from runwatch.view.actions.verifiers import ACTIONS, MAKES
from runwatch.view.detail.sections import DetailSection, build_sections, text_line
from runwatch.view.problems.status_reasons import detail_status_reason, status_reason_cell
from runwatch.view.spec.members import column, fields, id_column, member_lines, status_column
from runwatch.view.spec.resource import ComputedLine, DetailTab, MemberLine, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import joined_cell
from runwatch.view.text.styled_text import CellText, StyledText, signed

SOON_DAYS: Final = 14
"""A key that stops within this many days is shown as a warning, and is an issue of the overview."""


def _connection(verifier: Verifier) -> ConnectionSummary:
    return verifier.connection or ConnectionSummary({})


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
        """Format whether the check can be used, as the official clients decide it (manual: interface, "Verifiers")."""
        probe = probe_of(record)
        if probe is None:
            return None
        if probe.is_usable:
            return signed("the check can be used", Role.GOOD, context.glyphs)
        return signed("the check cannot be used yet", Role.BAD, context.glyphs)

    def verdict(record: Record, _: object, __: RenderContext) -> CellText | None:
        """Explain the verdict of a probe, which looks negative but is as expected."""
        probe = probe_of(record)
        contract = None if probe is None else probe.contract
        result = None if contract is None else contract.verifier_result
        if not isinstance(result, dict) or result.get("is_correct") is not False:
            return None
        return line("A probe is never correct; the verdict only shows that the answer has the right form.")

    return (
        ComputedLine("result", headline),
        *member_lines("outcome:status reason_code http_status", under=member),
        *member_lines(
            "reachability.status:status reachability.correction authentication.status:status authentication.correction "
            "response_compatibility.status:status response_compatibility.correction",
            under=f"{member}.feedback",
        ),
        MemberLine(f"{member}.contract", "contract"),
        ComputedLine("means", verdict),
        *member_lines("detail checked_at:time", under=member),
    )


def connection_tab(operation: str, note: str = "") -> DetailTab:
    """Return the tab of a protected connection, with a sentence above its fields."""

    def sections(connection: KeyConnection, context: RenderContext) -> list[DetailSection]:
        head = [DetailSection(line(""), (text_line("", note, Role.QUIET),))] if note else []
        return [*head, *build_sections(KEY_CONNECTION, connection, context)]

    return DetailTab("connection", "Connection", operation, KeyConnection, sections)


_STATUS_REASON: Final = MemberLine("status_reason", format=detail_status_reason)

_DECLARATION: Final = SectionSpec(
    "Declaration", member_lines("statement status method declared_at:time", under="correctness_declaration")
)

VERIFIERS: Final[ResourceSpec[Any]] = ResourceSpec[Verifier](
    record=Verifier,
    name="verifiers",
    singular="output check",
    name_of=lambda it: it.display_name,
    title="Output checks",
    show_summary="show an output check",
    id_help="the check's id",
    columns=(
        status_column("status", min_cells=10),
        column("name|display_name", min_cells=24, whole_first=True),
        column(
            "reason|status_reason", format=status_reason_cell, hide_order=7, min_cells=12, whole_first=True,
            hide_if_empty=True,
        ),
        column("version", hide_order=2, is_extra=True),
        status_column("key|connection=connection.status", hide_order=6, min_cells=9),
        column(
            "days|days_remaining=connection.days_remaining", title="days left", cell=_days, align="right", hide_order=5,
            min_cells=9,
        ),
        column(
            "classes|input_data_classes", title="data classes", format=joined_cell, hide_order=4, min_cells=12,
            is_extra=True,
        ),
        column(
            "url=endpoint.url", title="endpoint", hide_order=1, min_cells=16, max_cells=48, keeps_difference=True,
            is_extra=True,
        ),
        id_column("verifier|id|verifier_id=id", hide_order=3, whole_first=False, is_extra=True),
    ),
    fields=fields("revision stops|stop_at=connection.stop_at"),
    sections=(
        SectionSpec("Check", (
            *member_lines("verifier_id display_name version revision status:status"), _STATUS_REASON,
            *member_lines("kind hash input_data_classes created_at:time updated_at:time"),
        )),
        SectionSpec("Endpoint", member_lines("url auth_ref", under="endpoint")),
        SectionSpec("Key", member_lines(
            "status:status stop_at:time stop_time_zone days_remaining stopped_at:time stop_reason", under="connection"
        )),
        SectionSpec("Scoring", member_lines("correctness quality", under="scoring")),
        _DECLARATION,
    ),
    sort=(SortKey("name"),),
    empty="No output checks yet. `runwatch verifiers register` registers an endpoint that scores output.",
    note="A check can stop, retry or reroute a run.",
    flags={
        "ready": lambda it: it.status == "ready",
        "problem": lambda it: it.status == "degraded" or _connection(it).status in {"revoked", "expired"},
        "protected": lambda it: _connection(it).status not in {None, "unbound"},
    },
    tabs=(connection_tab(
        "getVerifiersByVerifierIdConnection",
        "The key is entered on a private page; this console never sees it.",
    ),),
    actions=ACTIONS,
    create_actions=MAKES,
)  # fmt: skip

VERIFIER_TEST: Final[ResourceSpec[Any]] = ResourceSpec[VerifierTest](
    record=VerifierTest,
    name="tests",
    singular="test",
    title="Test of an output check",
    columns=(column("verifier|id=verifier_id"),),
    sections=(
        SectionSpec("Check", (*member_lines("verifier_id status:status"), _STATUS_REASON)),
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
    columns=(column("status"),),
    sections=(
        SectionSpec("Connection", member_lines(
            "status:status origin handle generation projection_ack stop_at:time stop_time_zone days_remaining "
            "stopped_at:time stop_reason"
        )),
        SectionSpec("Entered and not in use", member_lines(
            "handle captured_generation staged_until:time", under="pending_key"
        )),
        SectionSpec("Last test", member_lines("outcome:status reason handle at:time", under="last_test")),
        SectionSpec("Replacement", member_lines("replacement")),
        SectionSpec(
            "Retired key", member_lines("handle state:status reason retired_at:time destroyed_at:time"),
            each="retired_keys", item=RetiredKey, names="handle",
        ),
        SectionSpec("Last operation", member_lines("last_operation")),
    ),
    note="Handles name keys; no key is ever shown.",
)  # fmt: skip
"""A protected connection of an output check or a review agent. It is only printed and has no screen."""
