"""API keys of the organization (manual: interface, "API keys")."""

from __future__ import annotations

from typing import Final

from runwatch.records.record import Record, Wire, moment, text

MAX_KEY_S: Final = 10 * 365 * 86_400
"""Longest lifetime of a key that the local service accepts, in seconds."""


class ApiKey(Record):
    """Public data of an API key: its id, its first characters, its label.

    ``role``, ``expires_at`` and ``last_used_at`` are open members of the local service. Only the response that mints
    the key holds it, as ``key``, and it is stored nowhere.
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
