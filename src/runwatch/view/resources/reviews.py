"""Review agents, credential references and GitHub connections."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.agent import ReviewAgent
from runwatch.records.credential import Credential
from runwatch.records.github import GithubConnection
from runwatch.settings.view_state import ViewState
from runwatch.view.actions.organization import CREDENTIAL_MAKES
from runwatch.view.actions.reviews import AGENT_ACTIONS, AGENT_MAKES, GITHUB_MAKES
from runwatch.view.query.parser import build_field_filter
from runwatch.view.spec.resource import (
    Column,
    Field,
    LineTarget,
    MemberLine,
    RecordLink,
    ResourceSpec,
    SectionSpec,
    SortKey,
)
from runwatch.view.text.member_format import detail_time, newest_first_key, time_cell
from runwatch.view.text.safe_text import line
from runwatch.view.text.status_format import detail_status, status_cell


def _its_repository(agent: ReviewAgent, _: object) -> LineTarget | None:
    """Return a link to the GitHub connection of the agent's repository."""
    kept = build_field_filter("repository", agent.repository) if agent.repository else ""
    return LineTarget(ViewState("github", filter=kept), line("GitHub connection")) if kept else None


AGENTS: Final[ResourceSpec[Any]] = ResourceSpec[ReviewAgent](
    record=ReviewAgent,
    name="agents",
    singular="agent",
    title="Review agents",
    show_summary="show a review agent",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), min_cells=10,
        ),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, min_cells=20),
        Column(id="repository", title="repository", value=lambda it: it.repository, hide_order=4, min_cells=20),
        Column(
            id="reason", title="reason", aliases=("status_reason",), value=lambda it: it.status_reason or None,
            hide_order=3, min_cells=10,
        ),
        Column(
            id="url", title="endpoint", aliases=("endpoint_url",), value=lambda it: it.endpoint_url, hide_order=2,
            min_cells=16, max_cells=48,
        ),
        Column(
            id="agent", title="agent", aliases=("id", "arm_id"), value=lambda it: it.id, hide_order=1, min_cells=9,
            elides_middle=True,
        ),
    ),
    sections=(
        SectionSpec(
            "Review agent",
            (
                MemberLine("arm_id"), MemberLine("display_name"), MemberLine("status", format=detail_status),
                MemberLine("status_reason"), MemberLine("repository", leads=_its_repository),
                MemberLine("endpoint_url"),
            ),
        ),
    ),
    sort=(SortKey("name"),),
    empty="No review agents yet. `github connect REPOSITORY` connects a repository, `agents register`"
    " registers an agent for it.",
    flags={"ready": lambda it: it.status == "ready", "problem": lambda it: it.status == "degraded"},
    links=(RecordLink("saved as", "arm", lambda it: it.id or None),),
    actions=AGENT_ACTIONS,
    create_actions=AGENT_MAKES,
)  # fmt: skip

CREDENTIALS: Final[ResourceSpec[Any]] = ResourceSpec[Credential](
    record=Credential,
    name="credentials",
    singular="credential",
    title="Credential references",
    list_summary="list credential references; secrets are never shown",
    columns=(
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, min_cells=12),
        Column(
            id="credential", title="credential", aliases=("id", "credential_ref"), value=lambda it: it.id, min_cells=9,
            elides_middle=True,
        ),
        Column(
            id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at, format=time_cell,
            never_cut=True, hide_order=1, sort_key=lambda it: newest_first_key(it.created_at),
        ),
    ),
    sections=(
        SectionSpec(
            "Credential reference",
            (MemberLine("credential_ref"), MemberLine("display_name"), MemberLine("created_at", format=detail_time)),
        ),
    ),
    sort=(SortKey("created"),),
    empty="There are no credential references.",
    note="The secret itself never leaves the service.",
    create_actions=CREDENTIAL_MAKES,
)  # fmt: skip

GITHUB: Final[ResourceSpec[Any]] = ResourceSpec[GithubConnection](
    record=GithubConnection,
    name="github",
    singular="repository",
    title="GitHub connections",
    list_summary="list connected repositories",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), min_cells=11,
        ),
        Column(id="repository", title="repository", value=lambda it: it.repository, min_cells=14),
        Column(
            id="verification", title="verification", value=lambda it: it.verification,
            cell=lambda it, context: status_cell(it.verification, context), hide_order=3, min_cells=12,
        ),
        Column(
            id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at, format=time_cell,
            never_cut=True, hide_order=2, sort_key=lambda it: newest_first_key(it.created_at),
        ),
        Column(
            id="connection", title="connection", aliases=("id", "connection_id"), value=lambda it: it.id, hide_order=1,
            min_cells=9, elides_middle=True,
        ),
    ),
    fields=(Field(id="owner", value=lambda it: (it.repository or "").partition("/")[0] or None),),
    sections=(
        SectionSpec(
            "GitHub connection",
            (
                MemberLine("connection_id"), MemberLine("repository"), MemberLine("status", format=detail_status),
                MemberLine("verification", format=detail_status), MemberLine("created_at", format=detail_time),
            ),
        ),
    ),
    sort=(SortKey("repository"),),
    empty="No repository is connected. `github connect OWNER/NAME` begins it.",
    note="Without a GitHub App it is a person's word.",
    create_actions=GITHUB_MAKES,
)  # fmt: skip
