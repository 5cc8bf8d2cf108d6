"""Connections to model sources, and the sources that can be connected."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.source import EndpointPolicy, SourceConnection, SourceProfile
from runwatch.view.actions.sources import ACTIONS, MAKES, PROFILE_ACTIONS
from runwatch.view.spec.resource import Column, ComputedLine, Field, MemberLine, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import detail_time, newest_first_key, time_cell
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import detail_status, joined_cell, status_cell
from runwatch.view.text.styled_text import CellText, StyledText


def _standing(connection: SourceConnection) -> str | None:
    """Return the status of a connection in one word (manual: interface, "Sources, connections and credential
    handoffs").
    """
    if connection.is_usable:
        return "ready"
    if connection.revoked_at is not None or connection.status == "revoked":
        return "revoked"
    if connection.test_state in {"failed", "untested"}:
        return connection.test_state
    if connection.test_state == "passed":
        # Tested with an earlier key, or switched off since.
        return "untested" if connection.status == "active" else connection.status
    return connection.status


def _is_on(connection: SourceConnection) -> bool:
    return connection.revoked_at is None


def _means(connection: SourceConnection, _: object, __: RenderContext) -> CellText | None:
    if connection.is_usable:
        return StyledText(line("Its models can be run."), Role.GOOD)
    if not _is_on(connection):
        return StyledText(line("It is disconnected for good."), Role.OFF)
    return StyledText(line("No model can be run over it until a test passes with the key that it has now."), Role.WARN)


def _ids(profile: SourceProfile, member: str) -> tuple[str, ...] | None:
    listed = profile.auth_schemes if member == "auth_schemes" else profile.protocol_profiles
    found = None if listed is None else tuple(str(one.raw.get("id")) for one in listed)
    return found or None


SOURCES: Final[ResourceSpec[Any]] = ResourceSpec[SourceConnection](
    record=SourceConnection,
    name="sources",
    singular="connection",
    title="Sources · source connections",
    columns=(
        Column(
            id="status", title="status", value=_standing, cell=lambda it, context: status_cell(_standing(it), context),
            min_cells=10,
        ),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, min_cells=18),
        Column(
            id="source", title="source", aliases=("source_id",), value=lambda it: it.source_id, hide_order=5,
            min_cells=12,
        ),
        Column(
            id="auth", title="auth", aliases=("auth_scheme",), value=lambda it: it.auth_scheme, hide_order=2,
            min_cells=7,
        ),
        Column(
            id="error", title="error", aliases=("test_error",), hide_order=4, min_cells=11,
            value=lambda it: it.test_error or it.test_failure,
        ),
        Column(
            id="tested", title="tested", aliases=("last_tested_at",), value=lambda it: it.last_tested_at,
            format=time_cell, never_cut=True, hide_order=3, min_cells=6,
            sort_key=lambda it: newest_first_key(it.last_tested_at),
        ),
        Column(
            id="connection", title="connection", aliases=("id", "connection_id"), value=lambda it: it.id, hide_order=1,
            min_cells=9, elides_middle=True,
        ),
    ),
    fields=(
        Field(id="test", aliases=("test_state",), value=lambda it: it.test_state),
        Field(id="created", aliases=("created_at",), value=lambda it: it.created_at),
        Field(id="revision", aliases=("binding_revision",), value=lambda it: it.binding_revision),
    ),
    sections=(
        SectionSpec(
            "Connection",
            (
                MemberLine("connection_id"), MemberLine("display_name"), MemberLine("source_id"),
                MemberLine("status", format=detail_status), MemberLine("usable"), ComputedLine("means", _means),
                MemberLine("endpoint"), MemberLine("auth_scheme"), MemberLine("source_scope"),
                MemberLine("access_lane"), MemberLine("commercial_owner"), MemberLine("credential_owner"),
                MemberLine("customer_ref"),
            ),
        ),
        SectionSpec(
            "Test",
            (
                MemberLine("test_state", format=detail_status), MemberLine("test_error"), MemberLine("test_failure"),
                MemberLine("test_http_status"), MemberLine("test_suggestions"),
                MemberLine("last_tested_at", format=detail_time), MemberLine("tested_binding_revision"),
            ),
        ),
        SectionSpec(
            "Key",
            (
                MemberLine("auth_binding_ref"), MemberLine("binding_revision"),
                MemberLine("rotated_at", format=detail_time), MemberLine("revoked_at", format=detail_time),
                MemberLine("created_at", format=detail_time), MemberLine("updated_at", format=detail_time),
            ),
        ),
    ),
    sort=(SortKey("name"),),
    empty="No source is connected. `sources list --available` shows what can be, `sources connect"
    " --openai-compatible URL` connects any server that speaks that protocol.",
    flags={
        "ready": lambda it: it.is_usable, "problem": lambda it: it.test_state == "failed",
        "off": lambda it: not _is_on(it),
    },
    actions=ACTIONS,
    create_actions=MAKES,
)  # fmt: skip

PROFILES: Final[ResourceSpec[Any]] = ResourceSpec[SourceProfile](
    record=SourceProfile,
    name="profiles",
    singular="profile",
    title="Available sources · source profiles",
    columns=(
        Column(
            id="source", title="source", aliases=("id", "source_id"), value=lambda it: it.id, min_cells=12, max_cells=32
        ),
        Column(
            id="kind", title="kind", aliases=("source_kind",), value=lambda it: it.source_kind, hide_order=2,
            min_cells=8,
        ),
        Column(
            id="auth", title="auth", value=lambda it: _ids(it, "auth_schemes"), format=joined_cell, hide_order=3,
            min_cells=8,
        ),
        Column(
            id="protocols", title="protocols", value=lambda it: _ids(it, "protocol_profiles"), format=joined_cell,
            hide_order=1, min_cells=12, max_cells=60,
        ),
    ),
    fields=(Field(id="https", value=lambda it: (it.endpoint_policy or EndpointPolicy({})).https_required),),
    sections=(
        SectionSpec(
            "Source",
            (
                MemberLine("source_id"), MemberLine("display_name"), MemberLine("source_kind"),
                MemberLine("auth_schemes"), MemberLine("protocol_profiles"), MemberLine("endpoint_policy"),
                MemberLine("access_lane"), MemberLine("credential_owner"), MemberLine("commercial_owner"),
            ),
        ),
    ),
    sort=(SortKey("source"),),
    empty="The service knows no sources.",
    note="What is run here is paid by you, at the source.",
    actions=PROFILE_ACTIONS,
)  # fmt: skip
