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
    TableClause,
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
from sqlalchemy.types import TypeEngine

_TYPES: Final[dict[str, type[TypeEngine[Any]]]] = {
    "int": Integer,
    "bool": Boolean,
    "json": JSON,
    "bytes": LargeBinary,
    "": Text,
}
_WORD: Final = re.compile(r"(\w+)(?:>(\w+))?(?::(\w+))?([?*]?)")


def _add_table(op: Operations, name: str, words: str) -> None:
    """Add a table with the columns of these words: ``name``, ``>table`` of a foreign key, ``:type``, ``?`` or ``*``."""
    columns = []
    for column_name, parent, kind, mark in _WORD.findall(words):
        keys = [ForeignKey(f"{parent}.{column_name}")] if parent else []
        columns.append(Column(column_name, _TYPES[kind], *keys, primary_key=mark == "*", nullable=mark == "?"))
    op.create_table(name, *columns, if_not_exists=True)


def _adds(**tables: str) -> Callable[[Operations], None]:
    """Return the revision that only adds these tables."""

    def revise(op: Operations) -> None:
        for name, words in tables.items():
            _add_table(op, name, words)

    return revise


def _known(name: str, words: str) -> TableClause:
    """Return a table as a revision finds it, with the columns that the revision reads or changes."""
    return table(name, *(column(column_name, _TYPES[kind]) for column_name, _, kind, _ in _WORD.findall(words)))


_ARMS: Final = _known("arms", "arm_id kind status status_reason artifact:json")


def degrade_skills_without_regions(op: Operations) -> None:
    """Mark skills without their declared regions degraded; version 0.1.0 marked every skill ready."""
    connection = op.get_bind()
    ready = select(_ARMS.c.arm_id, _ARMS.c.artifact).where(_ARMS.c.kind == "skill", _ARMS.c.status == "ready")
    for arm_id, artifact in connection.execute(ready).all():
        missing = [name for name in artifact["editable_regions"] if not _has_region(artifact["content"], name)]
        if missing:
            reason = (
                f"The text does not mark these editable regions: {', '.join(map(repr, missing))}. "
                "A region begins with a line [[region:NAME]]."
            )
            change = update(_ARMS).where(_ARMS.c.arm_id == arm_id).values(status="degraded", status_reason=reason)
            connection.execute(change)


def _has_region(content: str, name: str) -> bool:
    mark = re.escape(name)
    region = rf"^\[\[region:{mark}\]\][ \t]*\n(.*?)^\[\[/region:{mark}\]\]"
    return re.search(region, content, re.DOTALL | re.MULTILINE) is not None


_RUNS: Final = _known("runs", "execution_id tenant_id status created_at slices:json")
_ATTEMPTS: Final = _known(
    "attempts", "execution_id state failure_kind was_sent:bool input_tokens:int output_tokens:int pricing_basis"
)
_REFUSALS: Final = (
    "authentication", "permission", "model_not_found", "request_refused", "rate_limited", "capacity",
    "provider_insufficient_funds",
)  # fmt: skip


def add_provider_messages(op: Operations) -> None:
    """Add what providers said on failed calls, and to earlier runs the counts of calls of unknown or estimated cost."""
    _add_table(op, "provider_messages", "execution_id>runs* number:int* message retention_expires_at")
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


_COUNTS: Final = _known("run_counts", "tenant_id month submitted:int ended:int")


def add_run_counts(op: Operations) -> None:
    """Add how many runs were submitted in each month and how many of these have ended, and count all runs."""
    _add_table(op, "run_counts", "tenant_id>tenants* month* submitted:int ended:int")
    month = func.substr(_RUNS.c.created_at, 1, 7).label("month")
    ended = case((_RUNS.c.status.in_(("completed", "failed", "cancelled", "expired")), 1), else_=0)
    counts = select(_RUNS.c.tenant_id, month, func.count(), func.sum(ended)).group_by(_RUNS.c.tenant_id, "month")
    op.execute(delete(_COUNTS))
    op.execute(insert(_COUNTS).from_select(["tenant_id", "month", "submitted", "ended"], counts))


REVISIONS: Final[tuple[Callable[[Operations], None], ...]] = (
    _adds(service_keys="name* key:bytes"),
    degrade_skills_without_regions,
    _adds(attempt_bounds="execution_id>runs* number:int* worst_usd"),
    _adds(proposal_artifacts="proposal_id>proposals* content artifact_hash"),
    _adds(key_expiries="api_key_id>api_keys* expires_at", key_uses="api_key_id>api_keys* last_used_at"),
    _adds(attempt_statuses="execution_id>runs* number:int* http_status:int"),
    add_provider_messages,
    _adds(attempt_answers="execution_id>runs* number:int* retry_after_s:int? body_kind? content_type?"),
    _adds(run_claims="execution_id>runs* fence:int"),
    _adds(sealed_secrets="handle* sealed:bytes created_at"),
    _adds(rate_windows="name* recent:json"),
    add_run_counts,
    _adds(start_balances="tenant_id>tenants* amount_usd"),
)
"""Each leads to the next schema version, the first from 1 to 2."""
