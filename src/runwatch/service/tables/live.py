"""Tables of live runs: the request's choices, the task, provider calls and results.

Prompts are only in ``tasks``; outputs are only in ``results`` and, until the run is final, in ``attempts.candidate``.
``provider_messages`` may repeat a part of a prompt.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Index, UniqueConstraint

from runwatch.service.tables.columns import table

live_runs_table: Final = table(
    "live_runs",
    "execution_id>runs* verifier_id? required_arm_id? review_composer:json? options:json? skill:json? checks:json "
    "acted_on_eval:json?",
)
"""State of a live run: choices of its request, ranked options, finished checks with their verdicts, and how the policy
reacted. Neither prompt nor output.
"""

tasks_table: Final = table("tasks", "execution_id>runs* body")
"""Tasks of live runs, as exact JSON, until the run is final."""

attempts_table: Final = table(
    "attempts",
    "sequence:int* execution_id>runs number:int arm_id skill_arm_id? phase state started_at ended_at? reason? "
    "failure_kind? was_sent:bool input_tokens:int? output_tokens:int? usd pricing_basis? resolved:json? candidate?",
    UniqueConstraint("execution_id", "number"),
)
"""Provider calls. A row is written before its call starts. ``candidate`` is the model's output, kept for the check and
removed when the run is final.
"""

run_claims_table: Final = table("run_claims", "execution_id>runs* fence:int")
"""The fencing number of a run, raised by every driver that claims it; only engines with several drivers claim runs."""

attempt_bounds_table: Final = table("attempt_bounds", "execution_id>runs* number:int* worst_usd")
"""Highest possible cost of a provider call, written with its attempt. An attempt without a row has no bound."""

attempt_statuses_table: Final = table("attempt_statuses", "execution_id>runs* number:int* http_status:int")
"""HTTP status with which a provider refused a call, written with the attempt's outcome."""

attempt_answers_table: Final = table(
    "attempt_answers", "execution_id>runs* number:int* retry_after_s:int? body_kind? content_type?"
)
"""What else is known of the response to a failed call, written with the attempt's outcome: how long the provider asked
to wait, and what came in place of an answer.
"""

provider_messages_table: Final = table(
    "provider_messages", "execution_id>runs* number:int* message retention_expires_at^"
)
"""What a provider said when it refused a call, as JSON text. It can repeat the prompt, so it is in no other table, and
kept as long as a result.
"""

results_table: Final = table(
    "results",
    "execution_id>runs* tenant_id>tenants slice_id final_text model_provenance:json? retention_expires_at^",
)
"""Outputs of completed live runs, for a limited time."""

arm_verdicts_table: Final = table(
    "arm_verdicts",
    "arm_id>arms* tenant_id>tenants verdicts:int accepted:int",
    Index("arm_verdicts_by_tenant", "tenant_id"),
)
"""Number of verdicts by customers' checks on an arm's output, and how many accepted it."""
