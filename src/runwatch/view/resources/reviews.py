"""Review agents, credential references and GitHub connections."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.agent import ReviewAgent
from runwatch.records.credential import Credential
from runwatch.records.github import GithubConnection
from runwatch.settings.session import View
from runwatch.view.drawn import line
from runwatch.view.query_text import quoted
from runwatch.view.resource import At, Column, Field, Lead, Link, ResourceSpec, SectionSpec, SortKey
from runwatch.view.resources.common import as_moment, newest_first, when
from runwatch.view.resources.standing import as_standing, standing
from runwatch.view.writes.organization import CREDENTIAL_MAKES
from runwatch.view.writes.reviews import AGENT_ACTIONS, AGENT_MAKES, GITHUB_MAKES


def _its_repository(agent: ReviewAgent, _: object) -> Lead | None:
    """The GitHub connection of the repository that the agent works on."""
    if not agent.repository:
        return None
    return Lead(View("github", filter=f"repository={quoted(agent.repository)}"), line("GitHub connection"))


AGENTS: Final[ResourceSpec[Any]] = ResourceSpec[ReviewAgent](
    record=ReviewAgent,
    name="agents",
    singular="agent",
    title="Review agents",
    show_summary="show a review agent",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), least=10),
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, least=20),
        Column(id="repository", title="repository", value=lambda it: it.repository, leaves=4, least=20),
        Column(id="reason", title="reason", aliases=("status_reason",), value=lambda it: it.status_reason or None,
               leaves=3, least=10),
        Column(id="url", title="endpoint", aliases=("endpoint_url",), value=lambda it: it.endpoint_url, leaves=2,
               least=16, most=48),
        Column(id="agent", title="agent", aliases=("id", "arm_id"), value=lambda it: it.id, leaves=1, least=9,
               keeps_ends=True),
    ),
    sections=(
        SectionSpec(
            "Review agent",
            (
                At("arm_id"), At("display_name"), At("status", format=as_standing), At("status_reason"),
                At("repository", leads=_its_repository), At("endpoint_url"),
            ),
        ),
    ),
    sort=(SortKey("name"),),
    empty="No review agents yet. `runwatch github connect REPOSITORY` connects a repository, `runwatch agents register`"
    " registers an agent for it.",
    flags={
        "ready": lambda it: it.status == "ready",
        "problem": lambda it: it.status == "degraded",
    },
    links=(Link("saved as", "arm", lambda it: it.id or None),),
    actions=AGENT_ACTIONS,
    makes=AGENT_MAKES,
)  # fmt: skip

CREDENTIALS: Final[ResourceSpec[Any]] = ResourceSpec[Credential](
    record=Credential,
    name="credentials",
    singular="credential",
    title="Credential references",
    list_summary="list credential references; secrets are never shown",
    columns=(
        Column(id="name", title="name", aliases=("display_name",), value=lambda it: it.display_name, least=12),
        Column(id="credential", title="credential", aliases=("id", "credential_ref"), value=lambda it: it.id, least=9,
               keeps_ends=True),
        Column(id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at,
               format=when, is_whole=True, leaves=1, sort_key=lambda it: newest_first(it.created_at)),
    ),
    sections=(
        SectionSpec(
            "Credential reference", (At("credential_ref"), At("display_name"), At("created_at", format=as_moment))
        ),
    ),
    sort=(SortKey("created"),),
    empty="There are no credential references.",
    note="The secret itself never leaves the service.",
    makes=CREDENTIAL_MAKES,
)  # fmt: skip

GITHUB: Final[ResourceSpec[Any]] = ResourceSpec[GithubConnection](
    record=GithubConnection,
    name="github",
    singular="repository",
    title="GitHub connections",
    list_summary="list connected repositories",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), least=11),
        Column(id="repository", title="repository", value=lambda it: it.repository, least=14),
        Column(id="verification", title="verification", value=lambda it: it.verification,
               cell=lambda it, context: standing(it.verification, context), leaves=3, least=12),
        Column(id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at,
               format=when, is_whole=True, leaves=2, sort_key=lambda it: newest_first(it.created_at)),
        Column(id="connection", title="connection", aliases=("id", "connection_id"), value=lambda it: it.id, leaves=1,
               least=9, keeps_ends=True),
    ),
    fields=(Field(id="owner", value=lambda it: (it.repository or "").partition("/")[0] or None),),
    sections=(
        SectionSpec(
            "GitHub connection",
            (
                At("connection_id"), At("repository"), At("status", format=as_standing),
                At("verification", format=as_standing),
                At("created_at", format=as_moment),
            ),
        ),
    ),
    sort=(SortKey("repository"),),
    empty="No repository is connected. `runwatch github connect OWNER/NAME` begins it.",
    note="Without a GitHub App it is a person's word.",
    makes=GITHUB_MAKES,
)  # fmt: skip
