"""API keys of the organization (specification, Authentication; wire reference 2.11 and 6.17)."""

from __future__ import annotations

from typing import Final

from runwatch.records.record import Record, Wire, moment, text

MAX_KEY_S: Final = 10 * 365 * 86_400
"""The longest time until a key expires that the local service takes, in seconds."""


class ApiKey(Record):
    """What may be known of a key: its id, its first characters, its label.

    ``role``, ``expires_at`` and ``last_used_at`` are open members of the local service.

    The key itself stands in the one answer that mints it, as ``key``, and is kept nowhere.
    """

    KIND = "api_key"
    WIRE = Wire("/v1/api-keys", "api_keys", "api_key_id")

    api_key_id = text("api_key_id")
    key_prefix = text("key_prefix")
    display_name = text("display_name")
    role = text("role")
    status = text("status")
    created_at = moment("created_at")
    revoked_at = moment("revoked_at")
    revoked_by = text("revoked_by")
    expires_at = moment("expires_at")
    last_used_at = moment("last_used_at")
    key = text("key")
