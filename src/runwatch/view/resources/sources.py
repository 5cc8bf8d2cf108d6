"""Connections to model sources, and the sources that can be connected."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.source import EndpointPolicy, SourceConnection, SourceProfile
from runwatch.view.drawn import line
from runwatch.view.format import Context
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
from runwatch.view.resources.common import as_moment, newest_first, when
from runwatch.view.resources.standing import as_standing, standing, words
from runwatch.view.writes.sources import ACTIONS, MAKES, PROFILE_ACTIONS


def _standing(connection: SourceConnection) -> str | None:
    """One word for what the rule on usable connections says (wire reference 2.6)."""
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


def _means(connection: SourceConnection, _: object, __: Context) -> Shown | None:
    if connection.is_usable:
        return Styled(line("Its models can be run."), Role.GOOD)
    if not _is_on(connection):
        return Styled(line("It is disconnected for good."), Role.OFF)
    return Styled(line("No model can be run over it until a test passes with the key that it has now."), Role.WARN)


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
        Column(id="status", title="status", value=_standing,
               cell=lambda it, context: standing(_standing(it), context), least=10),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, least=18),
        Column(id="source", title="source", aliases=("source_id",), value=lambda it: it.source_id, leaves=5, least=12),
        Column(id="auth", title="auth", aliases=("auth_scheme",), value=lambda it: it.auth_scheme, leaves=2, least=7),
        Column(id="error", title="error", aliases=("test_error",), leaves=4, least=11,
               value=lambda it: it.test_error or it.test_failure),
        Column(id="tested", title="tested", aliases=("last_tested_at",), value=lambda it: it.last_tested_at,
               format=when, is_whole=True, leaves=3, least=6, sort_key=lambda it: newest_first(it.last_tested_at)),
        Column(id="connection", title="connection", aliases=("id", "connection_id"), value=lambda it: it.id, leaves=1,
               least=9, keeps_ends=True),
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
                At("connection_id"), At("display_name"), At("source_id"), At("status", format=as_standing),
                At("usable"), Told("means", _means), At("endpoint"), At("auth_scheme"), At("source_scope"),
                At("access_lane"), At("commercial_owner"), At("credential_owner"), At("customer_ref"),
            ),
        ),
        SectionSpec(
            "Test",
            (
                At("test_state", format=as_standing), At("test_error"), At("test_failure"),
                At("test_http_status"), At("test_suggestions"),
                At("last_tested_at", format=as_moment), At("tested_binding_revision"),
            ),
        ),
        SectionSpec(
            "Key",
            (
                At("auth_binding_ref"), At("binding_revision"), At("rotated_at", format=as_moment),
                At("revoked_at", format=as_moment), At("created_at", format=as_moment),
                At("updated_at", format=as_moment),
            ),
        ),
    ),
    sort=(SortKey("name"),),
    empty="No source is connected. `runwatch sources list --available` shows what can be, `runwatch sources connect"
    " --openai-compatible URL` connects any server that speaks that protocol.",
    flags={
        "ready": lambda it: it.is_usable,
        "problem": lambda it: it.test_state == "failed",
        "off": lambda it: not _is_on(it),
    },
    actions=ACTIONS,
    makes=MAKES,
)  # fmt: skip

PROFILES: Final[ResourceSpec[Any]] = ResourceSpec[SourceProfile](
    record=SourceProfile,
    name="profiles",
    singular="profile",
    title="Available sources · source profiles",
    columns=(
        Column(id="source", title="source", aliases=("id", "source_id"), value=lambda it: it.id, least=12, most=32),
        Column(id="kind", title="kind", aliases=("source_kind",), value=lambda it: it.source_kind, leaves=2, least=8),
        Column(id="auth", title="auth", value=lambda it: _ids(it, "auth_schemes"), format=words, leaves=3, least=8),
        Column(id="protocols", title="protocols", value=lambda it: _ids(it, "protocol_profiles"), format=words,
               leaves=1, least=12, most=60),
    ),
    fields=(
        Field(id="https", value=lambda it: (it.endpoint_policy or EndpointPolicy({})).https_required),
    ),
    sections=(
        SectionSpec(
            "Source",
            (
                At("source_id"), At("display_name"), At("source_kind"), At("auth_schemes"), At("protocol_profiles"),
                At("endpoint_policy"), At("access_lane"), At("credential_owner"), At("commercial_owner"),
            ),
        ),
    ),
    sort=(SortKey("source"),),
    empty="The service knows no sources.",
    note="What is run here is paid by you, at the source.",
    actions=PROFILE_ACTIONS,
)  # fmt: skip
