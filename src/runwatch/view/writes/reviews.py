"""Registering review agents and connecting repositories (wire reference 2.13 and 2.14)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.agent import ReviewAgent
from runwatch.records.arm import Arm
from runwatch.records.github import GithubConnection
from runwatch.view.mutation import Action, Ask, Entry, FieldOption, Kept, Mutation, Offer
from runwatch.view.writes.connections import Endpoint, connect, promote, revoke

RUNTIME_S: Final = 1800
"""How long an agent may work on a run unless it is said otherwise, in seconds; ours."""

CONNECTION: Final = Endpoint(
    noun="review agent",
    verbs="agents",
    parameter="arm_id",
    kind=ReviewAgent,
    read="getReviewComposerAgentsByArmIdConnection",
    begin="postReviewComposerAgentsByArmIdConnectionIntents",
    promote="postReviewComposerAgentsByArmIdConnectionTest",
    revoke="postReviewComposerAgentsByArmIdConnectionRevoke",
)


def _is_on(agent: ReviewAgent) -> bool:
    return agent.status != "disabled"


def _kept_intent(body: Mapping[str, Any], answer: Mapping[str, Any]) -> Kept:
    """What is remembered of an intent to connect a repository; never the address of its page."""
    facts = {name: answer.get(name) for name in ("intent_id", "expires_at")}
    return Kept(GithubConnection.KIND, str(answer.get("intent_id") or ""), {**body, **facts})


REGISTER: Final = Action[None](
    "register", "Register a review agent", "agents register",
    summary="register a review agent for a connected repository",
    mutation=Mutation(
        operation="postReviewComposerAgents",
        sentence=lambda _: "Registers an agent for one connected repository. No job is given to it before its key was"
        " entered and tested.",
        confirm="Register it",
        keep="Do not register it",
        verb_asks=(
            Ask(path="endpoint.auth_ref", label="credential", hint="a credential reference; never a key",
                option=FieldOption(name="--auth-ref", metavar="REF", uses_start=True,
                                   help="the id of a credential reference, never a key")),
        ),
        asks=(
            Ask(path="repository", label="repository", hint="a connected one, such as acme/widgets", is_required=True,
                offer=Offer(kind=GithubConnection, value=lambda it: it.repository),
                option=FieldOption(name="--repository", metavar="REPOSITORY", help="the repository, as OWNER/NAME")),
            Ask(path="display_name", label="name", hint="what people call it, up to 200 characters", is_required=True,
                option=FieldOption(name="--name", metavar="NAME", help="what it is to be called")),
            Ask(path="endpoint.url", label="address", hint="an absolute http or https URL", is_required=True,
                option=FieldOption(name="--url", metavar="URL", help="where it is reached")),
            Ask(path="max_runtime_s", label="max runtime s", kind="number", is_required=True,
                hint="the longest that one of its jobs may take, in whole seconds", start=lambda _: str(RUNTIME_S),
                option=FieldOption(name="--max-runtime-s", metavar="SECONDS", is_whole=True, uses_start=True,
                                   help=f"how long it may work on one run (default: {RUNTIME_S})")),
        ),
        request="agent.AgentRequest",
        reads=(ReviewAgent, Arm),
    ),
)  # fmt: skip

DISABLE: Final = Action[ReviewAgent](
    "disable", "Disable it", "arms disable", is_destructive=True, enabled_when=_is_on,
    off_because="It is disabled already.",
    mutation=Mutation(
        operation="deleteArmsByArmId",
        sentence=lambda it: f"Disables {it.display_name or it.id} for good: no job is given to it any more, and its key"
        " is destroyed.",
        confirm="Disable it",
        keep="Keep it",
        path=lambda it: {"arm_id": it.id},
        reads=(ReviewAgent, Arm),
    ),
)  # fmt: skip

CONNECT: Final = connect(CONNECTION, _is_on, "It is disabled.")
PROMOTE: Final = promote(CONNECTION)
REVOKE: Final = revoke(CONNECTION, _is_on, "It is disabled.")

AGENT_ACTIONS: Final = (CONNECT, PROMOTE, DISABLE, REVOKE)

CONNECT_REPOSITORY: Final = Action[None](
    "connect", "Connect a repository", "github connect",
    mutation=Mutation(
        operation="postGithubConnectionsIntents",
        sentence=lambda _: "Asks for a private page on which a person connects the repository. Nothing is connected"
        " before that.",
        confirm="Ask for the page",
        keep="Do not connect it",
        asks=(
            Ask(path="repository", label="repository", is_required=True,
                hint="owner and name, such as acme/widgets, 3 to 255 characters"),
        ),
        request="review.GithubIntentRequest",
        reads=(GithubConnection,),
        entry=Entry(what="connect the repository", keeps=_kept_intent),
    ),
)  # fmt: skip

AGENT_MAKES: Final = (REGISTER,)
GITHUB_MAKES: Final = (CONNECT_REPOSITORY,)
