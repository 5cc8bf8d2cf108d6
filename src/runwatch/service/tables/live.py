"""Tables of live runs: the request's choices, the task, provider calls and results.

Prompts are only in ``tasks``; outputs are only in ``results`` and, until the run is final, in ``attempts.candidate``.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from runwatch.service.tables.columns import metadata, sequence_column, tenant_column

live_runs: Final = Table(
    "live_runs",
    metadata,
    Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
    Column("verifier_id", Text),
    Column("required_arm_id", Text),
    Column("review_composer", JSON),
    Column("options", JSON),
    Column("skill", JSON),
    Column("checks", JSON, nullable=False),
    Column("acted_on_eval", JSON),
)
"""State of a live run: choices of its request, ranked options, finished checks with their verdicts, and how the policy
reacted. Neither prompt nor output.
"""

tasks: Final = Table(
    "tasks",
    metadata,
    Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
    Column("body", Text, nullable=False),
)
"""Tasks of live runs, as exact JSON, until the run is final."""

attempts: Final = Table(
    "attempts",
    metadata,
    sequence_column(),
    Column("execution_id", Text, ForeignKey("runs.execution_id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("arm_id", Text, nullable=False),
    Column("skill_arm_id", Text),
    Column("phase", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("ended_at", Text),
    Column("reason", Text),
    Column("failure_kind", Text),
    Column("was_sent", Boolean, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("usd", Text, nullable=False),
    Column("pricing_basis", Text),
    Column("resolved", JSON),
    Column("candidate", Text),
    UniqueConstraint("execution_id", "number"),
    sqlite_autoincrement=True,
)
"""Provider calls. A row is written before its call starts. ``candidate`` is the model's output, kept for the check and
removed when the run is final.
"""

attempt_bounds: Final = Table(
    "attempt_bounds",
    metadata,
    Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("worst_usd", Text, nullable=False),
)
"""Highest possible cost of a provider call, written with its attempt. An attempt without a row has no bound."""

attempt_statuses: Final = Table(
    "attempt_statuses",
    metadata,
    Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("http_status", Integer, nullable=False),
)
"""HTTP status with which a provider refused a call, written with the attempt's outcome."""

results: Final = Table(
    "results",
    metadata,
    Column("execution_id", Text, ForeignKey("runs.execution_id"), primary_key=True),
    tenant_column(),
    Column("slice_id", Text, nullable=False),
    Column("final_text", Text, nullable=False),
    Column("model_provenance", JSON),
    Column("retention_expires_at", Text, nullable=False, index=True),
)
"""Outputs of completed live runs, for a limited time."""

arm_verdicts: Final = Table(
    "arm_verdicts",
    metadata,
    Column("arm_id", Text, ForeignKey("arms.arm_id"), primary_key=True),
    tenant_column(),
    Column("verdicts", Integer, nullable=False),
    Column("accepted", Integer, nullable=False),
    Index("arm_verdicts_by_tenant", "tenant_id"),
)
"""Number of verdicts by customers' checks on an arm's output, and how many accepted it."""
