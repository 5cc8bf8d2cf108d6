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

    api_key_id = text()
    key_prefix = text()
    display_name = text()
    role = text()
    status = text()
    created_at = moment()
    revoked_at = moment()
    revoked_by = text()
    expires_at = moment()
    last_used_at = moment()
    key = text()
