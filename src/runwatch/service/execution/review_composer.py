"""Review composer runs (manual: interface, "Review agents").

The specification does not define the protocol that gives an agent its job, and a private service has no GitHub App. So
no agent is called, nothing is observed, and a run ends with a packet in which no source has a verdict and the user has
to review.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps
from runwatch.records.requests.composer import ReviewComposerRequest
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.execution import state_machine
from runwatch.service.execution.state_machine import RunState, Transition
from runwatch.service.models import agents, github
from runwatch.service.organization.wallet import PLATFORM_FEE_USD
from runwatch.service.transaction import Transaction

CONNECTORS: Final = {"github": "github-app/v1", "coderabbit": "github-pr/v1", "agent": agents.PROTOCOL}
"""Protocol versions of the observers and of the agent."""

NOTHING_RECORDED: Final = "nothing_recorded"
"""Why a source has no verdict. Not in the specification."""


_AGENTS: Final = "`runwatch agents list` shows them, with their repositories and what makes each ready."


def require_agent(transaction: Transaction, tenant_id: str, request: ReviewComposerRequest) -> None:
    """Check that the agent and the repository named by a run exist and are ready.

    Refuses with ``validation_failed`` for an unknown agent or one of another repository; ``invalid_state`` for an agent
    that is not ready or a repository that is not connected.
    """
    github.require(transaction, tenant_id, request.repository)
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


def decide(run: RunState, composer: Mapping[str, Any], now: datetime) -> Transition:
    request = ReviewComposerRequest.model_validate(composer)
    decided = replace(run.slices[0], packet=build_packet(request, now))
    unchecked = state_machine.no_evaluation("review_composer", now)
    return state_machine.complete(replace(run, slices=(decided,)), unchecked, now)


def build_packet(request: ReviewComposerRequest, now: datetime) -> dict[str, Any]:
    """Build the decision packet of a run in which nothing was observed."""
    policy = {
        "combine": request.combine,
        "veto_sources": request.veto_sources,
        "sources": [source.id for source in request.sources],
    }
    exact = {**policy, "sources": [source.model_dump(exclude_unset=True) for source in request.sources]}
    unseen = {"status": "no_verdict", "reason": NOTHING_RECORDED, "evidence_id": None, "observed_at": None}
    return {
        "version": request.version,
        "verdict": "no_verdict",
        "reason": "sources_without_verdict",
        "action": "needs_review",
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
        "sources": [{"id": source.id, **unseen} for source in request.sources],
        "decided_at": format_iso(now),
        "agent_usage_usd": 0,
        "platform_fee_usd": int(PLATFORM_FEE_USD),
    }
