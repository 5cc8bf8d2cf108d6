"""Connections to model sources, and the sources that can be connected."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.failed_calls import describe_body
from runwatch.records.source import SourceConnection, SourceProfile
from runwatch.view.actions.sources import ACTIONS, MAKES, PROFILE_ACTIONS, connection_status
from runwatch.view.problems.source_failures import explain_failure
from runwatch.view.runs.provider_calls import complete_advice
from runwatch.view.spec.members import column, fields, id_column, member_lines, status_column, time_column
from runwatch.view.spec.resource import ComputedLine, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, duration
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import joined_cell, status_cell
from runwatch.view.text.styled_text import CellText, StyledText


def _status(connection: SourceConnection, _: object, context: RenderContext) -> CellText:
    return status_cell(connection_status(connection), context)


def _status_member(connection: SourceConnection) -> str:
    """Return the member that the status replaces; another word of the service is listed with the other members."""
    sent = connection.raw.get("status")
    return "status" if sent is None or sent in ("active", connection_status(connection)) else ""


def _means(connection: SourceConnection, _: object, context: RenderContext) -> CellText | None:
    if connection.is_usable:
        failed = [f"{model.model} ({model.why})" for model in connection.failed_models or ()]
        removed = connection.removed_models or ()
        off = f" Removed by your organization: {', '.join(removed)}." if removed else ""
        if failed:
            return StyledText(line(f"Its saved models can be run, except {', '.join(failed)}.{off}"), Role.WARN)
        return StyledText(line(f"Its models can be saved and run.{off}"), Role.GOOD)
    if connection.revoked_at is not None:
        return StyledText(line("It is permanently disconnected."), Role.OFF)
    sentence = "No model of it can run until a test passes with its current key."
    if connection.test_state == "failed":
        why, advice = explain_failure(connection)
        sentence = f"{sentence} The last test failed: {why}. {complete_advice(advice, context)}"
    return StyledText(line(sentence, None), Role.WARN)


def _answer(connection: SourceConnection, _: object, __: RenderContext) -> CellText | None:
    """Say how long the source asked to wait, and what came in place of its answer, where it did."""
    wait = connection.test_retry_after_s
    body = describe_body(connection.test_body_kind, connection.test_content_type)
    asked = None if wait is None else f"it asked to wait {duration(wait)}"
    return line("; ".join(filter(None, (body, asked)))) if body or asked else None


def _ids(profile: SourceProfile, member: str) -> tuple[str, ...] | None:
    listed = profile.auth_schemes if member == "auth_schemes" else profile.protocol_profiles
    found = None if listed is None else tuple(str(model.raw.get("id")) for model in listed)
    return found or None


SOURCES: Final[ResourceSpec[Any]] = ResourceSpec[SourceConnection](
    record=SourceConnection,
    name="sources",
    singular="connection",
    name_of=lambda it: it.display_name,
    title="Sources",
    columns=(
        status_column("status", connection_status, min_cells=10),
        column("name|display_name", min_cells=18, whole_first=True),
        column("source|source_id", hide_order=5, min_cells=12, elides_middle=True, keeps_difference=True),
        column("auth|auth_scheme", hide_order=2, min_cells=7),
        column(
            "error|test_error", lambda it: it.test_error or it.test_failure, hide_order=4, min_cells=11,
            whole_first=True,
        ),
        time_column("tested|last_tested_at", hide_order=3, min_cells=6),
        id_column("connection|id|connection_id=id", hide_order=1, whole_first=False, is_extra=True),
    ),
    fields=fields("test|test_state created|created_at revision|binding_revision"),
    sections=(
        SectionSpec(
            "Connection",
            (
                *member_lines("connection_id display_name source_id"),
                ComputedLine("status", _status, _status_member),
                *member_lines("usable"),
                ComputedLine("means", _means),
                *member_lines(
                    "auth_scheme source_scope access_lane commercial_owner credential_owner customer_ref"
                ),
            ),
        ),
        SectionSpec("Endpoint", (), tree="endpoint"),
        SectionSpec("Test", (
            *member_lines(
                "test_state:status test_error test_failure test_models test_http_status test_message test_was_sent"
            ),
            ComputedLine("answered with", _answer),
            *member_lines("test_suggestions last_tested_at:time tested_binding_revision"),
        )),
        SectionSpec("Key", member_lines(
            "auth_binding_ref binding_revision rotated_at:time revoked_at:time created_at:time updated_at:time"
        )),
    ),
    sort=(SortKey("name"),),
    empty="No source is connected. `runwatch sources list --available` shows what can be, `runwatch sources connect"
    " --openai-compatible URL` connects any server that speaks that protocol.",
    flags={
        "ready": lambda it: it.is_usable, "problem": lambda it: it.test_state == "failed",
        "off": lambda it: it.revoked_at is not None,
    },
    actions=ACTIONS,
    create_actions=MAKES,
)  # fmt: skip

PROFILES: Final[ResourceSpec[Any]] = ResourceSpec[SourceProfile](
    record=SourceProfile,
    name="profiles",
    singular="source",
    name_of=lambda it: it.id,
    title="Available sources",
    columns=(
        column("source|id|source_id=id", min_cells=12, max_cells=32),
        column("kind|source_kind", hide_order=1, min_cells=8),
        column("auth", lambda it: _ids(it, "auth_schemes"), format=joined_cell, hide_order=3, min_cells=8),
        column(
            "protocols", lambda it: _ids(it, "protocol_profiles"), format=joined_cell, hide_order=2, min_cells=12,
            max_cells=60, whole_first=True,
        ),
    ),
    fields=fields("https=endpoint_policy.https_required"),
    sections=(
        SectionSpec("Source", member_lines(
            "source_id display_name source_kind auth_schemes protocol_profiles endpoint_policy access_lane "
            "credential_owner commercial_owner"
        )),
    ),
    sort=(SortKey("source"),),
    empty="The service lists no sources.",
    note="You pay for these runs, directly at the source.",
    actions=PROFILE_ACTIONS,
)  # fmt: skip
