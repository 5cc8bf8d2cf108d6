"""Review agents, credential references and GitHub connections."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.agent import ReviewAgent
from runwatch.records.credential import Credential
from runwatch.records.github import GithubConnection
from runwatch.settings.view_state import ViewState
from runwatch.view.actions.organization import CREDENTIAL_MAKES
from runwatch.view.actions.reviews import AGENT_ACTIONS, AGENT_MAKES, GITHUB_MAKES
from runwatch.view.problems.status_reasons import detail_status_reason, status_reason_cell
from runwatch.view.query.parser import build_field_filter
from runwatch.view.resources.verifiers import connection_tab
from runwatch.view.spec.members import column, field, id_column, member_lines, status_column, time_column
from runwatch.view.spec.resource import LineTarget, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.safe_text import line


def _its_repository(agent: ReviewAgent, _: object) -> LineTarget | None:
    kept = build_field_filter("repository", agent.repository) if agent.repository else ""
    return LineTarget(ViewState("github", filter=kept), line("enter opens its GitHub connection")) if kept else None


AGENTS: Final[ResourceSpec[Any]] = ResourceSpec[ReviewAgent](
    record=ReviewAgent,
    name="agents",
    singular="review agent",
    name_of=lambda it: it.display_name,
    title="Review agents",
    show_summary="show a review agent",
    columns=(
        status_column("status", min_cells=10),
        column("name|display_name", min_cells=20, whole_first=True),
        column("repository", hide_order=3, min_cells=12, elides_middle=True, keeps_difference=True),
        column(
            "reason|status_reason", lambda it: it.status_reason or None, format=status_reason_cell, hide_order=4,
            min_cells=10, whole_first=True,
        ),
        column(
            "url|endpoint_url", title="endpoint", hide_order=2, min_cells=16, max_cells=48, keeps_difference=True,
            is_extra=True,
        ),
        id_column("agent|id|arm_id=id", hide_order=1, whole_first=False, is_extra=True),
    ),
    sections=(
        SectionSpec(
            "Review agent",
            (
                *member_lines("arm_id display_name status:status"),
                MemberLine("status_reason", format=detail_status_reason),
                MemberLine("repository", leads=_its_repository), MemberLine("endpoint_url"),
            ),
        ),
    ),
    sort=(SortKey("name"),),
    empty="No review agents yet. `runwatch github connect REPOSITORY` connects a repository, `runwatch agents register`"
    " registers an agent for it.",
    flags={"ready": lambda it: it.status == "ready", "problem": lambda it: it.status == "degraded"},
    links=(RecordLink("saved as", "arm", lambda it: it.id or None),),
    tabs=(connection_tab("getReviewComposerAgentsByArmIdConnection"),),
    actions=AGENT_ACTIONS,
    create_actions=AGENT_MAKES,
)  # fmt: skip

CREDENTIALS: Final[ResourceSpec[Any]] = ResourceSpec[Credential](
    record=Credential,
    name="credentials",
    singular="credential",
    name_of=lambda it: it.display_name,
    title="Credential references",
    list_summary="list credential references; secrets are never shown",
    columns=(
        column("name|display_name", min_cells=12),
        id_column("credential|id|credential_ref=id"),
        time_column("created|created_at", hide_order=1),
    ),
    sections=(
        SectionSpec("Credential reference", member_lines("credential_ref display_name created_at:time")),
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
    name_of=lambda it: it.repository,
    title="GitHub connections",
    list_summary="list connected repositories",
    columns=(
        status_column("status", min_cells=11),
        column("repository", min_cells=20, whole_first=True),
        status_column("verification", hide_order=3, min_cells=12),
        time_column("created|created_at", hide_order=2),
        id_column("connection|id|connection_id=id", hide_order=1, whole_first=False),
    ),
    fields=(field("owner", lambda it: (it.repository or "").partition("/")[0] or None),),
    sections=(
        SectionSpec("GitHub connection", member_lines(
            "connection_id repository status:status verification:status created_at:time"
        )),
    ),
    sort=(SortKey("repository"),),
    empty="No repository is connected. `runwatch github connect OWNER/NAME` begins it.",
    note="Unverified: recorded by the owner, without a GitHub App.",
    create_actions=GITHUB_MAKES,
)  # fmt: skip
