"""The revisions of the database, in the order of the schema versions, from version 0.1.0 to the current tables.

A released revision never changes, and imports nothing of ``runwatch``, because that does change. Tables are added only
where they are missing: unreleased versions added some without raising the schema version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from alembic.operations import Operations
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    Text,
    case,
    column,
    delete,
    func,
    insert,
    select,
    table,
    update,
)


def add_service_keys(op: Operations) -> None:
    """Add keys that the service makes for itself."""
    op.create_table(
        "service_keys",
        Column("name", Text, primary_key=True),
        Column("key", LargeBinary, nullable=False),
        if_not_exists=True,
    )


_ARMS: Final = table(
    "arms",
    column("arm_id", Text),
    column("kind", Text),
    column("status", Text),
    column("status_reason", Text),
    column("artifact", JSON),
)


def degrade_skills_without_regions(op: Operations) -> None:
    """Mark skills without their declared regions degraded; version 0.1.0 marked every skill ready."""
    connection = op.get_bind()
    ready = select(_ARMS.c.arm_id, _ARMS.c.artifact).where(_ARMS.c.kind == "skill", _ARMS.c.status == "ready")
    for arm_id, artifact in connection.execute(ready).all():
        if missing := _missing(artifact):
            reason = (
                f"The text does not mark these editable regions: {', '.join(map(repr, missing))}. "
                "A region begins with a line [[region:NAME]]."
            )
            change = update(_ARMS).where(_ARMS.c.arm_id == arm_id).values(status="degraded", status_reason=reason)
            connection.execute(change)


def _missing(artifact: dict[str, Any]) -> list[str]:
    return [name for name in artifact["editable_regions"] if not _has_region(artifact["content"], re.escape(name))]


def _has_region(content: str, mark: str) -> bool:
    region = rf"^\[\[region:{mark}\]\][ \t]*\n(.*?)^\[\[/region:{mark}\]\]"
    return re.search(region, content, re.DOTALL | re.MULTILINE) is not None


def add_attempt_bounds(op: Operations) -> None:
    """Add the highest possible cost of a provider call."""
    op.create_table(
        "attempt_bounds",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("worst_usd", Text, nullable=False),
        if_not_exists=True,
    )


def add_proposal_artifacts(op: Operations) -> None:
    """Add the whole skill text that a proposal would install."""
    op.create_table(
        "proposal_artifacts",
        Column("proposal_id", Text, ForeignKey("proposals.proposal_id"), primary_key=True),
        Column("content", Text, nullable=False),
        Column("artifact_hash", Text, nullable=False),
        if_not_exists=True,
    )


def add_key_expiries_and_uses(op: Operations) -> None:
    """Add expiry and last use of API keys."""
    for name, moment in (("key_expiries", "expires_at"), ("key_uses", "last_used_at")):
        op.create_table(
            name,
            Column("api_key_id", Text, ForeignKey("api_keys.api_key_id"), primary_key=True),
            Column(moment, Text, nullable=False),
            if_not_exists=True,
        )


def add_attempt_statuses(op: Operations) -> None:
    """Add the HTTP status with which a provider refused a call."""
    op.create_table(
        "attempt_statuses",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("http_status", Integer, nullable=False),
        if_not_exists=True,
    )


_RUNS: Final = table(
    "runs",
    column("execution_id", Text),
    column("tenant_id", Text),
    column("status", Text),
    column("created_at", Text),
    column("slices", JSON),
)
_ATTEMPTS: Final = table(
    "attempts",
    column("execution_id", Text),
    column("state", Text),
    column("failure_kind", Text),
    column("was_sent", Boolean),
    column("input_tokens", Integer),
    column("output_tokens", Integer),
    column("pricing_basis", Text),
)
_REFUSALS: Final = (
    "authentication", "permission", "model_not_found", "request_refused", "rate_limited", "capacity",
    "provider_insufficient_funds",
)  # fmt: skip


def add_provider_messages(op: Operations) -> None:
    """Add what providers said on failed calls, and to earlier runs the counts of calls of unknown or estimated cost."""
    op.create_table(
        "provider_messages",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("message", Text, nullable=False),
        Column("retention_expires_at", Text, nullable=False),
        if_not_exists=True,
    )
    op.create_index(
        "ix_provider_messages_retention_expires_at",
        "provider_messages",
        ["retention_expires_at"],
        if_not_exists=True,
    )
    connection = op.get_bind()
    unknown: Counter[str] = Counter()
    estimated: Counter[str] = Counter()
    for call in connection.execute(select(_ATTEMPTS)).mappings():
        is_refused = call["failure_kind"] in _REFUSALS and call["input_tokens"] == 0 == call["output_tokens"]
        is_known = not call["was_sent"] or call["pricing_basis"] is not None or is_refused
        unknown[call["execution_id"]] += call["state"] != "started" and not is_known
        estimated[call["execution_id"]] += call["pricing_basis"] == "estimated"
    for execution_id in sorted({*(+unknown), *(+estimated)}):
        mine = _RUNS.c.execution_id == execution_id
        first, *others = connection.execute(select(_RUNS.c.slices).where(mine)).scalar_one()
        first |= {"unknown_calls": unknown[execution_id], "estimated_calls": estimated[execution_id]}
        connection.execute(update(_RUNS).where(mine).values(slices=[first, *others]))


def add_attempt_answers(op: Operations) -> None:
    """Add how long a provider asked to wait, and what came in place of its answer."""
    op.create_table(
        "attempt_answers",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("retry_after_s", Integer),
        Column("body_kind", Text),
        Column("content_type", Text),
        if_not_exists=True,
    )


def add_run_claims(op: Operations) -> None:
    """Add fencing numbers of runs."""
    op.create_table(
        "run_claims",
        Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
        Column("fence", Integer, nullable=False),
        if_not_exists=True,
    )


def add_sealed_secrets(op: Operations) -> None:
    """Add secrets of a service of several processes."""
    op.create_table(
        "sealed_secrets",
        Column("handle", Text, primary_key=True),
        Column("sealed", LargeBinary, nullable=False),
        Column("created_at", Text, nullable=False),
        if_not_exists=True,
    )


def add_rate_windows(op: Operations) -> None:
    """Add the requests of the last minute by key, for a service of several processes."""
    op.create_table(
        "rate_windows",
        Column("name", Text, primary_key=True),
        Column("recent", JSON, nullable=False),
        if_not_exists=True,
    )


_COUNTS: Final = table("run_counts", *(column(name) for name in ("tenant_id", "month", "submitted", "ended")))


def add_run_counts(op: Operations) -> None:
    """Add how many runs were submitted in each month and how many of these have ended, and count all runs."""
    op.create_table(
        "run_counts",
        Column("tenant_id", Text, ForeignKey("tenants.tenant_id"), primary_key=True),
        Column("month", Text, primary_key=True),
        Column("submitted", Integer, nullable=False),
        Column("ended", Integer, nullable=False),
        if_not_exists=True,
    )
    month = func.substr(_RUNS.c.created_at, 1, 7).label("month")
    ended = case((_RUNS.c.status.in_(("completed", "failed", "cancelled", "expired")), 1), else_=0)
    counts = select(_RUNS.c.tenant_id, month, func.count(), func.sum(ended)).group_by(_RUNS.c.tenant_id, "month")
    op.execute(delete(_COUNTS))
    op.execute(insert(_COUNTS).from_select(["tenant_id", "month", "submitted", "ended"], counts))


def add_start_balances(op: Operations) -> None:
    """Add the balances that starts have named, so that the next start with the same one refills nothing."""
    op.create_table(
        "start_balances",
        Column("tenant_id", Text, ForeignKey("tenants.tenant_id"), primary_key=True),
        Column("amount_usd", Text, nullable=False),
        if_not_exists=True,
    )


REVISIONS: Final[tuple[Callable[[Operations], None], ...]] = (
    add_service_keys,
    degrade_skills_without_regions,
    add_attempt_bounds,
    add_proposal_artifacts,
    add_key_expiries_and_uses,
    add_attempt_statuses,
    add_provider_messages,
    add_attempt_answers,
    add_run_claims,
    add_sealed_secrets,
    add_rate_windows,
    add_run_counts,
    add_start_balances,
)
"""Each leads to the next schema version, the first from 1 to 2."""
