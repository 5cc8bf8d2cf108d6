"""Output checks, the protected keys of their endpoints, and private entry."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Index

from runwatch.service.tables.columns import table

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
