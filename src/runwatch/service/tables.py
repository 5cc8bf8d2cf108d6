"""Every table of the service, declared by a word for each column. Domain modules have the bare names, so the name of a
table ends in ``_table``.

Rows that belong to an organization have ``tenant_id``. Listed rows have a ``sequence``, which grows with every insert
and gives lists their order and cursors. Timestamps are texts in the interface's format, which sort correctly. What the
interface sends verbatim (events, receipts) is stored as the text that is sent.

Every change of a table, including a new one, needs a revision in ``migrations`` and raises :data:`SCHEMA_VERSION`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

SCHEMA_VERSION: Final = 14
"""The version that this code reads and writes; an older file is migrated, and a newer one is refused."""

metadata: Final = MetaData()

# Texts compare by their characters and numbers have 64 bits, as they do in SQLite by themselves. JSON is kept as it was
# written.
_TYPES: Final[dict[str | None, TypeEngine[Any]]] = {
    "int": Integer().with_variant(BigInteger(), "postgresql"),
    "float": Float(),
    "bool": Boolean(),
    "json": JSON(),
    "bytes": LargeBinary(),
    None: Text().with_variant(Text(collation="C"), "postgresql"),
}
_WORD: Final = re.compile(r"(?P<name>\w+)(>(?P<parent>\w+))?(:(?P<type>\w+))?(?P<marks>[?!*^]*)")


def table(name: str, words: str, *items: SchemaItem) -> Table:
    """Declare a table from a word for each column: ``name``, ``>table`` of a foreign key, ``:type`` and marks.

    A column is a text that may not be null, unless its word says otherwise. The marks are ``?`` nullable, ``!`` unique,
    ``*`` primary key and ``^`` indexed. A foreign key refers to the column of the same name. ``sequence`` grows with
    every insert and gives lists their order and cursors.

    Raises:
        ValueError: A word has another form.
    """
    columns = [_column(word) for word in words.split()]
    return Table(name, metadata, *columns, *items, sqlite_autoincrement="sequence:int*" in words.split())


def _column(word: str) -> Column[Any]:
    found = _WORD.fullmatch(word)
    if found is None:
        raise ValueError(f"'{word}' declares no column")
    name, parent, marks = found["name"], found["parent"], found["marks"]
    keys = [ForeignKey(f"{parent}.{name}")] if parent else []
    return Column(
        name,
        _TYPES[found["type"]],
        *keys,
        primary_key="*" in marks,
        nullable="?" in marks,
        unique="!" in marks or None,
        index="^" in marks or None,
    )


# What is basic: organizations, keys, runs and what is sent of them.

tenants_table: Final = table("tenants", "tenant_id* display_name created_at")

api_keys_table: Final = table(
    "api_keys",
    "api_key_id* tenant_id>tenants key_hash! key_prefix role display_name status created_at revoked_at? revoked_by?",
)
"""API keys: a hash of the key and its first characters, never the key."""

service_keys_table: Final = table("service_keys", "name* key:bytes")
"""Keys that the service makes for itself, such as its cursor key; they open nothing outside of it."""

runs_table: Final = table(
    "runs",
    "sequence:int* execution_id! tenant_id>tenants mode status policy max_runtime_s:float slices:json spend_usd "
    "reason? cancelled_by? created_at completed_at?",
    Index("runs_by_tenant", "tenant_id", "sequence"),
    Index("runs_by_status", "status", "tenant_id", "sequence"),
    Index("runs_by_age", "tenant_id", "created_at"),
)
"""Runs: their limits (``policy``, the exact JSON) and progress. Never the objective."""

events_table: Final = table(
    "events",
    "sequence:int* event_id! execution_id>runs body",
    Index("events_by_run", "execution_id", "sequence"),
)
"""Events in the order they happened; a row never changes."""

receipts_table: Final = table(
    "receipts",
    "sequence:int* execution_id>runs! tenant_id>tenants status completed_at body",
    Index("receipts_by_tenant", "tenant_id", "sequence"),
)
"""Receipts, one for every final run; a row never changes."""

receipt_arms_table: Final = table("receipt_arms", "arm_id* execution_id>receipts*")
"""Arms that a receipt names as selected, for the list's ``arm_id`` filter."""

idempotency_table: Final = table(
    "idempotency",
    "tenant_id>tenants* endpoint* key* principal_id digest status:int body:bytes recorded_at^",
)
"""First responses of mutations with an idempotency key."""

rate_windows_table: Final = table("rate_windows", "name* recent:json")
"""Requests of the last minute by key, in seconds since 1970, for a service of several processes with a limit."""

problems_table: Final = table(
    "problems", "sequence:int* instance! at tenant_id? principal_id? method path code body cause?"
)
"""Problems as sent, with the internal cause, which only the owner of this database may see."""

# An organization as a whole: decisions, limits, wallet, proposals and webhooks.

audit_table: Final = table(
    "audit",
    "sequence:int* decision_id! tenant_id>tenants kind action resource_type resource_id acted_by? at",
    Index("audit_by_tenant", "tenant_id", "at"),
)
"""Decisions for the compliance export; a row never changes."""

local_owner_table: Final = table("local_owner", "api_key_id>api_keys* tenant_id>tenants")
"""The one key in ``service.json``, and the organization that it opens."""

sealed_secrets_table: Final = table("sealed_secrets", "handle* sealed:bytes created_at")
"""Secrets of a service of several processes, sealed with a master key that is not in the database."""

key_expiries_table: Final = table("key_expiries", "api_key_id>api_keys* expires_at")
"""Expiry of keys that have one."""

key_uses_table: Final = table("key_uses", "api_key_id>api_keys* last_used_at")
"""Last use of keys, as far as written to disk."""

run_owners_table: Final = table("run_owners", "execution_id>runs* api_key_id>api_keys")
"""The key that submitted each run."""

tenant_limits_table: Final = table("tenant_limits", "tenant_id>tenants* executions_per_month:int? concurrency:int?")
"""Quotas of organizations that have any; null is no limit."""

run_counts_table: Final = table("run_counts", "tenant_id>tenants* month* submitted:int ended:int")
"""Number of runs by the month (UTC) of their submission, and how many of them are final. Counted in the transaction
that submits or ends a run, so that no read has to count runs.
"""

wallets_table: Final = table("wallets", "tenant_id>tenants* balance_usd is_frozen:bool")
"""Balances of organizations that keep one, in US dollars as decimal digits."""

start_balances_table: Final = table("start_balances", "tenant_id>tenants* amount_usd")
"""The balance that a start named last, in US dollars as decimal digits."""

wallet_activity_table: Final = table(
    "wallet_activity",
    "sequence:int* tenant_id>tenants at amount_usd description",
    Index("wallet_activity_by_tenant", "tenant_id", "sequence"),
)
"""Changes of balances made by the user."""

wallet_charges_table: Final = table("wallet_charges", "execution_id>runs* tenant_id>tenants amount_usd at")
"""Charges of runs against balances; one row per run, so that none is charged twice."""

proposals_table: Final = table(
    "proposals",
    "sequence:int* proposal_id! tenant_id>tenants status execution_id>runs slice_id arm_id parent_artifact_id? "
    "parent_score:float? candidate_score:float? diff verifier_evidence:json created_at expires_at decided_by? "
    "decided_at? reason?",
    Index("proposals_by_tenant", "tenant_id", "sequence"),
)
"""Repair proposals and decisions. ``expired`` is never stored; it follows from the time."""

proposal_artifacts_table: Final = table("proposal_artifacts", "proposal_id>proposals* content artifact_hash")
"""The whole skill text that a proposal would install. Proposals of version 0.1.0 have no row."""

webhooks_table: Final = table(
    "webhooks",
    "sequence:int* webhook_id! tenant_id>tenants url event_types:json secret_handle created_at secret_rotated_at?",
    Index("webhooks_by_tenant", "tenant_id", "sequence"),
)
"""Receivers of final runs; the signing secret is in the vault."""

webhook_deliveries_table: Final = table(
    "webhook_deliveries",
    "sequence:int* delivery_id! tenant_id>tenants webhook_id>webhooks event_id event_type execution_id>runs body "
    "status attempts:int next_attempt_at? status_code:int? error? replay_of? created_at delivered_at?",
    Index("webhook_deliveries_by_webhook", "webhook_id", "sequence"),
    Index("webhook_deliveries_by_turn", "status", "next_attempt_at"),
)
"""One message to one webhook each; ``body`` is the text that is sent and signed."""

# Sources, their connections and deployments, and arms.

handoffs_table: Final = table(
    "handoffs",
    "sequence:int* handoff_intent_id! tenant_id>tenants principal_id source_id auth_scheme endpoint:json? state "
    "failure_code? secret_handle? source_scope:json? expires_at completed_at? failed_at? expired_at? consumed_at? "
    "created_at updated_at",
)
"""Credential handoffs. ``endpoint`` (not in the specification) holds address, protocol profile and prices of a source
without an address of its own. ``secret_handle`` names the secret in the vault until a connection takes it over; a
keyless handoff has none.
"""

connections_table: Final = table(
    "source_connections",
    "sequence:int* connection_id! tenant_id>tenants source_id display_name auth_scheme auth_binding_ref "
    "secret_handle? source_scope:json endpoint:json status binding_revision:int tested_binding_revision:int? "
    "test_state test_error? last_tested_at? rotated_at? revoked_at? created_at updated_at",
    Index("connections_by_tenant", "tenant_id", "sequence"),
)
"""Connections to sources. ``endpoint`` is ``{base_url, protocol_profile, prices}``, where ``prices`` maps an upstream
model name, or ``*``, to ``{input_usd_per_million, output_usd_per_million}`` as decimal text.
"""

deployments_table: Final = table(
    "model_deployments",
    "sequence:int* model_deployment_id! tenant_id>tenants connection_id>source_connections source_id model_key "
    "served_variant_id upstream_ref resolved_upstream_ref? resolution_evidence_ref? release_assurance "
    "assurance_evidence_ref? protocol_profile location route fallback_policy pricing_basis data_classes:json "
    "definition:json status last_tested_at? created_at updated_at",
    Index("deployments_by_tenant", "tenant_id", "sequence"),
    UniqueConstraint("connection_id", "upstream_ref"),
)
"""Models that a connection serves. ``definition`` is the ModelDefinition (manual: interface, "Model catalog,
definitions and deployments"); ``data_classes`` is what the deployment is certified for.
"""

arms_table: Final = table(
    "arms",
    "sequence:int* arm_id! tenant_id>tenants kind display_name status status_reason? capability_tags:json "
    "data_class_grants:json cost_class? model_deployment_id>model_deployments? provider? model_id? credential_ref? "
    "endpoint:json? lifecycle:json? artifact:json? artifact_hash? repository? created_at updated_at",
    Index("arms_by_tenant", "tenant_id", "sequence"),
)
"""Registered options: models, agents and skills. Only review agents have a ``repository``."""

# Output checks, the protected keys of their endpoints, and private entry.

verifiers_table: Final = table(
    "verifiers",
    "sequence:int* verifier_id! tenant_id>tenants display_name version endpoint:json input_data_classes:json "
    "scoring:json declared_at? hash revision:int status status_reason? created_at updated_at retired_at?",
    Index("verifiers_by_tenant", "tenant_id", "sequence"),
)
"""Output checks. ``declared_at`` is the time of the declaration of deterministic correctness; a retired check keeps its
row.
"""

bindings_table: Final = table("key_bindings", "subject_id* tenant_id>tenants kind generation:int state:json")
"""The protected connection of an output check or a review agent, by its id: ``state`` holds handles, dates and the last
operations, never a key. ``generation`` grows with every change.
"""

entry_intents_table: Final = table(
    "entry_intents",
    "intent_id* tenant_id>tenants principal_id kind subject_id token_hash! details:json created_at expires_at used_at?",
)
"""One-time permissions to enter something on a private page: a hash of the token in the page's address."""

# Credential references, GitHub connections and browser sessions.

credentials_table: Final = table(
    "credentials",
    "sequence:int* credential_ref! tenant_id>tenants display_name created_at",
    Index("credentials_by_tenant", "tenant_id", "sequence"),
)
"""References to credentials; this service never stores the material itself."""

github_connections_table: Final = table(
    "github_connections",
    "sequence:int* connection_id! tenant_id>tenants repository connected_by created_at",
    UniqueConstraint("tenant_id", "repository"),
)
"""Repositories that an owner has recorded as connected, without proof by a GitHub App."""

sessions_table: Final = table("sessions", "token_hash* api_key_id>api_keys expires_at^")
"""Browser sessions: a hash of the cookie, and the key used at the sign-in."""

# Live runs. Prompts are only in ``tasks``; outputs are only in ``results`` and, until the run is final, in
# ``attempts.candidate``. ``provider_messages`` may repeat a part of a prompt.

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

# Tenant template applications and the model selection.

applications_table: Final = table(
    "applications",
    "sequence:int* application_id! tenant_id>tenants principal_id application_key template_id model_deployment_id? "
    "byok_offering:json? state failure_code? completed_effects:json managed_arm_id? source_connection_id? "
    "echo_execution_id? live_execution_id? consent:json? live_proof:json? created_at updated_at",
    UniqueConstraint("tenant_id", "template_id", "application_key"),
)
"""Applications. ``model_deployment_id`` is first the requested and then the found deployment; ``consent`` is the
handoff waiting for the user, without the address of its page.
"""

selections_table: Final = table("model_selections", "tenant_id* application_id selected_at updated_at")
"""The application whose model an organization has selected."""

# The sample organization. Not in the specification.

sample_organizations_table: Final = table("sample_organizations", "tenant_id>tenants api_key_id>api_keys* origin")
"""The organization with background runs, the key that submits them, and the service's origin when the addresses of the
sample checks were written.
"""
