"""Output checks, what their tests found, and their protected connections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from runwatch.records.record import Record
from runwatch.records.verifier import ConnectionSummary, KeyConnection, Probe, RetiredKey, Verifier, VerifierTest
from runwatch.view.drawn import line
from runwatch.view.format import Context, count
from runwatch.view.glyphs import Role
from runwatch.view.resource import (
    At,
    Column,
    Field,
    ResourceSpec,
    SectionSpec,
    Shown,
    SortKey,
    Styled,
    Told,
)
from runwatch.view.resources.common import as_moment
from runwatch.view.resources.standing import as_standing, standing, words
from runwatch.view.writes.verifiers import ACTIONS, MAKES

SOON_DAYS: Final = 14
"""From so many days on before a key stops, it is shown as something to see to."""


def _connection(verifier: Verifier) -> ConnectionSummary:
    return verifier.connection or ConnectionSummary({})


def _url(verifier: Verifier) -> str | None:
    return None if verifier.endpoint is None else verifier.endpoint.url


def _days(verifier: Verifier, context: Context) -> Shown:
    days = _connection(verifier).days_remaining
    if days is None:
        return line(context.glyphs.nothing)
    return Styled(count(days), Role.WARN if days <= SOON_DAYS else Role.PLAIN)


def _probe_lines(member: str) -> tuple[At | Told, ...]:
    """What a probe found; nothing at all where the record has none."""

    def probe_of(record: Record) -> Probe | None:
        raw = record.raw.get(member)
        return Probe(raw) if isinstance(raw, dict) else None

    def headline(record: Record, _: object, context: Context) -> Shown | None:
        """Whether the check can be used, as the official clients conclude it (wire reference 2.4)."""
        probe = probe_of(record)
        if probe is None:
            return None
        if probe.is_usable:
            return Styled(line(f"{context.glyphs.good} the check can be used"), Role.GOOD)
        return Styled(line(f"{context.glyphs.bad} the check cannot be used yet"), Role.BAD)

    def verdict(record: Record, _: object, __: Context) -> Shown | None:
        """A word on the verdict of the reserved probe, which looks bad and is right."""
        probe = probe_of(record)
        contract = None if probe is None else probe.contract
        result = None if contract is None else contract.verifier_result
        if not isinstance(result, dict) or result.get("is_correct") is not False:
            return None
        return line("A probe is never correct; the verdict only shows that the answer has the right form.")

    facts = (
        At(f"{member}.feedback.{fact}.{part}", f"{fact}.{part}", as_standing if part == "status" else None)
        for fact in ("reachability", "authentication", "response_compatibility")
        for part in ("status", "correction")
    )
    return (
        Told("result", headline), At(f"{member}.outcome", "outcome", as_standing),
        At(f"{member}.reason_code", "reason_code"), At(f"{member}.http_status", "http_status"), *facts,
        At(f"{member}.contract", "contract"), Told("means", verdict), At(f"{member}.detail", "detail"),
        At(f"{member}.checked_at", "checked_at", as_moment),
    )  # fmt: skip


_DECLARATION: Final = SectionSpec(
    "Declaration",
    (
        At("correctness_declaration.statement", "statement"),
        At("correctness_declaration.status", "status"),
        At("correctness_declaration.method", "method"),
        At("correctness_declaration.declared_at", "declared_at", as_moment),
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
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), least=10),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, least=24),
        Column(id="version", title="version", value=lambda it: it.version, leaves=2),
        Column(id="key", title="key", aliases=("connection",), value=lambda it: _connection(it).status,
               cell=lambda it, context: standing(_connection(it).status, context), leaves=6, least=9),
        Column(id="days", title="days", aliases=("days_remaining",),
               value=lambda it: _connection(it).days_remaining, cell=_days, align="right", leaves=5),
        Column(id="classes", title="data classes", aliases=("input_data_classes",),
               value=lambda it: it.input_data_classes, format=words, leaves=4, least=12),
        Column(id="url", title="endpoint", value=_url, leaves=1, least=16, most=48),
        Column(id="verifier", title="verifier", aliases=("id", "verifier_id"), value=lambda it: it.id, leaves=3,
               least=9, keeps_ends=True),
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
                At("verifier_id"), At("display_name"), At("version"), At("revision"),
                At("status", format=as_standing), At("status_reason"), At("kind"), At("hash"),
                At("input_data_classes"), At("created_at", format=as_moment), At("updated_at", format=as_moment),
            ),
        ),
        SectionSpec("Endpoint", (At("endpoint.url", "url"), At("endpoint.auth_ref", "auth_ref"))),
        SectionSpec(
            "Key",
            (
                At("connection.status", "status", as_standing),
                At("connection.stop_at", "stop_at", as_moment),
                At("connection.stop_time_zone", "stop_time_zone"),
                At("connection.days_remaining", "days_remaining"),
                At("connection.stopped_at", "stopped_at", as_moment),
                At("connection.stop_reason", "stop_reason"),
            ),
        ),
        SectionSpec("Scoring", (At("scoring.correctness", "correctness"), At("scoring.quality", "quality"))),
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
    actions=ACTIONS,
    makes=MAKES,
)  # fmt: skip

VERIFIER_TEST: Final[ResourceSpec[Any]] = ResourceSpec[VerifierTest](
    record=VerifierTest,
    name="tests",
    singular="test",
    title="Test of an output check",
    columns=(Column(id="verifier", title="verifier", aliases=("id",), value=lambda it: it.verifier_id),),
    sections=(
        SectionSpec("Check", (At("verifier_id"), At("status", format=as_standing), At("status_reason"))),
        SectionSpec("Probe", _probe_lines("probe")),
        _DECLARATION,
    ),
)  # fmt: skip
"""What a test found; it is printed and has no screen."""

VERIFIER_OUTCOME: Final[ResourceSpec[Any]] = replace(
    VERIFIERS, sections=(SectionSpec("Probe", _probe_lines("preflight")), *VERIFIERS.sections), note="", actions=()
)
"""What came of registering a check: the check as far as the service tells of it, and its first probe."""

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
                At("status", format=as_standing), At("origin"), At("handle"), At("generation"), At("projection_ack"),
                At("stop_at", format=as_moment), At("stop_time_zone"), At("days_remaining"),
                At("stopped_at", format=as_moment), At("stop_reason"),
            ),
        ),
        SectionSpec(
            "Entered and not in use",
            (
                At("pending_key.handle", "handle"),
                At("pending_key.captured_generation", "captured_generation"),
                At("pending_key.staged_until", "staged_until", as_moment),
            ),
        ),
        SectionSpec(
            "Last test",
            (
                At("last_test.outcome", "outcome", as_standing), At("last_test.reason", "reason"),
                At("last_test.handle", "handle"), At("last_test.at", "at", as_moment),
            ),
        ),
        SectionSpec("Replacement", (At("replacement"),)),
        SectionSpec(
            "Retired key",
            (
                At("handle"), At("state", format=as_standing), At("reason"), At("retired_at", format=as_moment),
                At("destroyed_at", format=as_moment),
            ),
            each="retired_keys", item=RetiredKey, names="handle",
        ),
        SectionSpec("Last operation", (At("last_operation"),)),
    ),
    note="Handles name keys; no key is ever shown.",
)  # fmt: skip
"""A protected connection of an output check or a review agent; it is printed and has no screen."""
