"""Review composer runs, with decisions made from recorded observations (manual: interface, "Review agents").

The specification does not define the protocol that gives an agent its job, and a private service has no GitHub App. So
no agent is called, nothing is observed, and a run ends with a packet in which no source has a verdict and the user has
to review. The decision logic is complete and ready for recorded observations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps
from runwatch.records.requests.composer import ReviewComposerRequest
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.execution import runs, state_machine
from runwatch.service.execution.live import live_rows
from runwatch.service.execution.state_machine import RunState, Transition
from runwatch.service.models import agents, github
from runwatch.service.organization.wallet import PLATFORM_FEE_USD
from runwatch.service.transaction import Transaction

CONNECTORS: Final = {"github": "github-app/v1", "coderabbit": "github-pr/v1", "agent": agents.PROTOCOL}
"""Protocol versions of the observers and of the agent."""

NOTHING_RECORDED: Final = "nothing_recorded"
"""Why a source has no verdict. Not in the specification."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one source reports about the agent's work.

    Attributes:
        status: ``pass``, ``block`` or ``no_verdict``.
        evidence_id: The record that supports the status.
    """

    status: str = "no_verdict"
    reason: str = NOTHING_RECORDED
    evidence_id: str | None = None
    observed_at: str | None = None


_AGENTS: Final = "`runwatch agents list` shows them, with their repositories and what makes each ready."


def require_agent(transaction: Transaction, tenant_id: str, request: ReviewComposerRequest) -> None:
    """Check that the agent and the repository named by a run exist and are ready.

    Raises:
        RefusalError: ``validation_failed`` for an unknown agent or one of another repository; ``invalid_state`` for an
            agent that is not ready or a repository that is not connected.
    """
    if github.find(transaction, tenant_id, request.repository) is None:
        raise RefusalError(
            "invalid_state", "The repository is not connected. Connect it with `runwatch github connect`."
        )
    try:
        agent = agents.find(transaction, tenant_id, request.agent_arm_id)
    except RefusalError:
        raise make_validation_error(
            ("review_composer.agent_arm_id", f"There is no such review agent. {_AGENTS}")
        ) from None
    if agent["repository"].lower() != request.repository.lower():
        raise make_validation_error(
            ("review_composer.agent_arm_id", f"This agent works on another repository. {_AGENTS}")
        )
    if agents.find_status(transaction, agent)[0] != "ready":
        raise RefusalError("invalid_state", f"The review agent is not ready. {_AGENTS}")


def build_packet(request: ReviewComposerRequest, observed: Mapping[str, Observation], now: datetime) -> dict[str, Any]:
    """Build the decision packet.

    A veto source that blocks decides alone. Otherwise, with ``all``, one source that blocks is enough to block, and all
    must pass to pass; with ``any``, one that passes is enough, and all must block to block. Everything else needs a
    review. The specification names the words; where it leaves their combination open, these rules are this service's
    choice.

    Args:
        observed: Observations by source id; a missing source has no verdict.
    """
    found = {source.id: observed.get(source.id, Observation()) for source in request.sources}
    verdict, reason = _verdict(request, {name: observation.status for name, observation in found.items()})
    policy = {
        "combine": request.combine,
        "veto_sources": request.veto_sources,
        "sources": [source.id for source in request.sources],
    }
    exact = {**policy, "sources": [source.model_dump(exclude_unset=True) for source in request.sources]}
    return {
        "version": request.version,
        "verdict": verdict,
        "reason": reason,
        "action": "needs_review" if verdict == "no_verdict" else "gate",
        "policy_hash": f"sha256:{hashlib.sha256(dumps(exact).encode('ascii')).hexdigest()}",
        "connector_versions": CONNECTORS,
        "policy": policy,
        "artifact": {
            "repository": request.repository,
            "base_ref": request.base_ref,
            "base_sha": request.base_sha,
            # No agent has made a branch. The specification shows strings here; null says that there is none.
            "branch": None,
            "final_sha": None,
            "pr_number": None,
            "pr_url": None,
            "pr_opened_by": None,
        },
        "sources": [{"id": name, **asdict(observation)} for name, observation in found.items()],
        "decided_at": format_iso(now),
        "agent_usage_usd": 0,
        "platform_fee_usd": int(PLATFORM_FEE_USD),
    }


def _verdict(request: ReviewComposerRequest, status: Mapping[str, str]) -> tuple[str, str]:
    if any(status[name] == "block" for name in request.veto_sources):
        return "block", "veto_source_blocked"
    said = set(status.values())
    decisive, other = ("block", "pass") if request.combine == "all" else ("pass", "block")
    if decisive in said:
        return decisive, f"source_{'blocked' if decisive == 'block' else 'passed'}"
    if said == {other}:
        return other, f"every_source_{'blocked' if other == 'block' else 'passed'}"
    return "no_verdict", "sources_without_verdict"


def take_composer_step(transaction: Transaction, execution_id: str) -> RunState:
    """Take the run's next step and return the updated run, or the unchanged run when its turn has not come."""
    run = runs.load(transaction, execution_id)
    if run.is_final or (run.status == "queued" and not runs.is_next(transaction, run)):
        return run
    if run.time_left(transaction.now) <= 0:
        return runs.end(transaction, execution_id, "expired", "runtime_exceeded")
    return runs.record(transaction, _next_transition(transaction, run))


def _next_transition(transaction: Transaction, run: RunState) -> Transition:
    now = transaction.now
    if run.status == "accepted":
        return state_machine.queue(run, now)
    if run.status == "queued":
        return state_machine.start(run, now)
    if run.slices[0].status == "queued":
        return state_machine.start_slice(run, now)
    request = ReviewComposerRequest.model_validate(live_rows.find_review_composer(transaction, run.execution_id))
    decided = replace(run.slices[0], packet=build_packet(request, {}, now))
    unchecked = {
        "state": "terminal_no_evaluation",
        "no_evaluation_attempted": True,
        "reason": "review_composer",
        "recorded_at": format_iso(now),
    }
    return state_machine.complete(replace(run, slices=(decided,)), unchecked, now)
