"""What runwatch can do about a next action of the service; one table for the console and the commands.

The interface names the types of next actions and what most of them require (manual: interface, "Tenant templates"). Not
in the specification: ``connect_source``, ``test_source_connection``, ``test_connection``, ``sync_source_deployments``,
``enter_credential`` and ``select_model``. An action without an operation, such as asking an owner for a role, is
copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from runwatch.records.source import SourceConnection
from runwatch.records.template import Application, Blocker, NextAction, Template
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.spec.resource import LineTarget
from runwatch.view.text.safe_text import line

StepKind = Literal["plan", "apply", "resume", "select", "record", "make"]
"""Plan or apply a template, resume or select its application, act on another record, or create one."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """A next action that has an operation.

    Attributes:
        action: The resume action; empty for other kinds.
        resource: Noun of the resource whose action performs it; empty for the template itself.
        words: What following it does, for the screen.
        is_sync: Whether it needs a usable connection.
    """

    kind: StepKind
    action: str = ""
    resource: str = ""
    operation: str = ""
    words: str = "enter runs it"
    is_sync: bool = False


AUTHORIZE: Final = "authorize_live_proof"
"""The resume action that spends money."""

_AUTHORIZE_IT: Final = NextStep("resume", AUTHORIZE, words="enter asks before it spends")
_TEST_IT: Final = NextStep("record", resource="sources", operation="postSourceConnectionsByConnectionIdTest")

STEPS: Final[Mapping[str, NextStep]] = {
    "approve_plan": NextStep("plan", words="enter shows the plan"),
    "connect_source": NextStep("make", resource="sources", operation="postSourceCredentialHandoffs"),
    "test_source_connection": _TEST_IT,
    "test_connection": _TEST_IT,
    "sync_source_deployments": NextStep(
        "record", resource="sources", operation="postSourceConnectionsByConnectionIdDeploymentsSync", is_sync=True
    ),
    "top_up_in_billing": NextStep(
        "make", resource="account", operation="postAccountTopUpIntents", words="enter tops it up"
    ),
    "retry_consent": NextStep("resume", "retry_consent"),
    "enter_credential": NextStep("resume", "poll_consent", words="enter checks whether it was entered"),
    "poll_consent": NextStep("resume", "poll_consent"),
    "retry_connection_test": NextStep("resume", "retry_connection_test"),
    "retry_deployment_sync": NextStep("resume", "retry_deployment_sync"),
    "refresh_pool_readiness": NextStep("resume", "refresh_pool_readiness"),
    "refresh_byok_readiness": NextStep("resume", "refresh_byok_readiness"),
    "authorize_pool_live_proof": _AUTHORIZE_IT,
    "authorize_byok_live_proof": _AUTHORIZE_IT,
    AUTHORIZE: _AUTHORIZE_IT,
    "select_model": NextStep("select"),
}

APPLY_STEP: Final = NextStep("apply", words="enter applies it")

NO_ACTION_TYPES: Final = frozenset({"wait", "none"})
COPY_HINT: Final = "enter copies it"
_READ_ONLY: Final = "not on a read-only profile"
_IN_FILE: Final = "not in a file"


@dataclass(frozen=True, slots=True)
class NextActionTarget:
    """A next action that is a link target.

    Attributes:
        step: How runwatch performs it; ``None`` if only the user can, so it is copied.
        template_id: Its template; empty for an application's next action.
        blocker: The blocker that it clears; ``None`` for any other next action.
    """

    action: NextAction
    step: NextStep | None
    template_id: str = ""
    blocker: Blocker | None = None

    @property
    def text(self) -> str:
        return self.action.detail or self.action.type or ""


def find_step(action: NextAction | None) -> NextStep | None:
    """Return the step for a next action; ``None`` if runwatch has none."""
    return None if action is None else STEPS.get(action.type or "")


def find_action_target(
    action: NextAction | None, template_id: str = "", blocker: Blocker | None = None
) -> LineTarget | None:
    """Return the link target of a line with a next action; ``None`` if there is nothing to do and nothing to copy."""
    if action is None or action.type in NO_ACTION_TYPES or not (action.type or action.detail):
        return None
    step = find_step(action)
    return LineTarget(
        NextActionTarget(action, step, template_id, blocker), line(COPY_HINT if step is None else step.words)
    )


def without_changes(sections: Iterable[DetailSection], *, of_file: bool = False) -> list[DetailSection]:
    """Return the sections for a read-only profile: a next action that changes something opens nothing, and says why.

    In an opened file none can be followed, not even one that only asks the service for a plan.
    """
    does = _IN_FILE if of_file else _READ_ONLY

    def changes(shown: DetailLine) -> bool:
        step = shown.target.step if isinstance(shown.target, NextActionTarget) else None
        return step is not None and (of_file or step.kind != "plan")

    return [
        replace(
            section, lines=tuple(replace(it, target=None, does=does) if changes(it) else it for it in section.lines)
        )
        for section in sections
    ]


def resume_action(application: Application) -> str | None:
    """Return the resume action for a waiting application; ``None`` if resuming has no effect."""
    if application.state == "consent_pending":
        return "poll_consent"
    step = find_step(application.next_action)
    return step.action if step is not None and step.kind == "resume" else None


def find_blocked_connection(
    template: Template, blocker: Blocker | None, known: Iterable[SourceConnection], *, is_sync: bool = False
) -> str | None:
    """Find the connection that a blocker refers to, for a next action that names none.

    It is the connection of the template's catalog row. Without a row (not in the specification): one named in the
    blocker's text, else the only candidate: not usable yet for a test, usable for a sync of its models.

    Returns:
        Its id, or ``None`` if it is ambiguous.
    """
    row = template.catalog_row
    if row is not None:
        if row.connection is not None and row.connection.connection_id:
            return row.connection.connection_id
        source = None if row.provenance is None else row.provenance.source
        if source is not None and source.connection_id:
            return source.connection_id
    alive = [connection for connection in known if connection.id and connection.raw.get("revoked_at") is None]
    action = None if blocker is None else blocker.next_action
    said = "" if blocker is None else f"{blocker.detail} {'' if action is None else action.detail}"
    named = [connection.id for connection in alive if connection.id in said]
    if named:
        # The text also contains an id that is a prefix of another, so take the longest.
        return max(named, key=len)
    candidates = [connection.id for connection in alive if connection.is_usable is is_sync]
    return candidates[0] if len(candidates) == 1 else None
