"""Actions that register review agents and connect repositories (manual: interface, "Review agents"; manual: interface,
"Credentials, GitHub connections and webhooks").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.agent import ReviewAgent
from runwatch.records.arm import Arm
from runwatch.records.github import GithubConnection
from runwatch.view.actions.fields import ADDRESS, AUTH_REF, NAME, quote_name
from runwatch.view.actions.protected_keys import KeyedEndpoint, enter_key_action, promote_key_action, revoke_key_action
from runwatch.view.spec.action import Mutation, PrivatePageSpec, ResourceAction
from runwatch.view.spec.action_parts import FieldOption, FormField, IntentNote, Suggestions

RUNTIME_S: Final = 1800
"""Default time limit of an agent's run in seconds. Not in the specification."""

CONNECTION: Final = KeyedEndpoint(
    noun="review agent",
    verbs="agents",
    kind=ReviewAgent,
    read="getReviewComposerAgentsByArmIdConnection",
    begin="postReviewComposerAgentsByArmIdConnectionIntents",
    promote="postReviewComposerAgentsByArmIdConnectionTest",
    revoke="postReviewComposerAgentsByArmIdConnectionRevoke",
)


def _is_on(agent: ReviewAgent) -> bool:
    return agent.status != "disabled"


def _kept_intent(body: Mapping[str, Any], response: Mapping[str, Any]) -> IntentNote:
    facts = {name: response.get(name) for name in ("intent_id", "expires_at")}
    return IntentNote(GithubConnection.KIND, str(response.get("intent_id") or ""), {**body, **facts})


def _caution_ownerless(repository: str) -> str:
    """Return the caution of a repository without an owner, of which the interface only says how long it is (manual:
    interface, "Limits").
    """
    owner, _, name = repository.partition("/")
    return "" if (owner and name) or not repository else "Accepted, but at GitHub it has an owner, as in acme/widgets."


REGISTER: Final = ResourceAction[None](
    "register",
    "Register a review agent",
    "agents register",
    summary="register a review agent for a connected repository",
    mutation=Mutation(
        operation="postReviewComposerAgents",
        sentence=lambda _: (
            "Registers an agent for one connected repository. No job is given to it before its key was"
            " entered and tested."
        ),
        confirm_label="Register it",
        cancel_label="Do not register it",
        command_fields=(AUTH_REF,),
        fields=(
            FormField(
                path="repository", label="repository", hint="OWNER/NAME of a connected one", is_required=True,
                offer=Suggestions(kind=GithubConnection, value=lambda it: it.repository),
                option=FieldOption(name="--repository", metavar="REPOSITORY", help="the repository, as OWNER/NAME"),
            ),
            NAME,
            ADDRESS,
            FormField(
                path="max_runtime_s",
                label="max runtime s",
                kind="number",
                is_required=True,
                hint="the longest that one of its jobs may take, in whole seconds",
                start=lambda _: str(RUNTIME_S),
                option=FieldOption(
                    name="--max-runtime-s", metavar="SECONDS", is_whole=True, uses_start=True,
                    help=f"how long it may work on one run (default: {RUNTIME_S})",
                ),
            ),
        ),
        request="agent.AgentRequest",
        invalidates=(ReviewAgent, Arm),
    ),
)  # fmt: skip

DISABLE: Final = ResourceAction[ReviewAgent](
    "disable",
    "Disable it",
    "arms disable",
    is_destructive=True,
    enabled_when=_is_on,
    off_because="It is disabled already.",
    mutation=Mutation(
        operation="deleteArmsByArmId",
        sentence=lambda it: (
            f"Disables {quote_name(it)} for good: no job is given to it any more, and its key, if it has one, is"
            " destroyed."
        ),
        cancel_label="Keep it",
        invalidates=(ReviewAgent, Arm),
    ),
)

CONNECT: Final = enter_key_action(CONNECTION, _is_on, "It is disabled.")
PROMOTE: Final = promote_key_action(CONNECTION, _is_on, "It is disabled.")
REVOKE: Final = revoke_key_action(CONNECTION, _is_on, "It is disabled.")

AGENT_ACTIONS: Final = (CONNECT, PROMOTE, DISABLE, REVOKE)

CONNECT_REPOSITORY: Final = ResourceAction[None](
    "connect", "Connect a repository", "github connect",
    mutation=Mutation(
        operation="postGithubConnectionsIntents",
        sentence=lambda _: "Asks for a private page that connects the repository. Nothing is connected before that.",
        cancel_label="Do not connect it",
        fields=(
            FormField(path="repository", label="repository", is_required=True,
                hint="owner and name, such as acme/widgets, 3 to 255 characters", caution=_caution_ownerless),
        ),
        request="review.GithubIntentRequest",
        invalidates=(GithubConnection,),
        private_page=PrivatePageSpec(what="connect the repository", keeps=_kept_intent),
    ),
)  # fmt: skip

AGENT_MAKES: Final = (REGISTER,)
GITHUB_MAKES: Final = (CONNECT_REPOSITORY,)
