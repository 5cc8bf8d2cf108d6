"""``keys create``: create an API key of the organization (manual: interface, "API keys")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.resource_writes import run_write
from runwatch.commands.shared.session import CommandSession
from runwatch.records.record import Record


def create(call: Invocation) -> int:
    """``keys create``: create a key and print it once; it is not stored on this machine."""
    return run_write(call, finish=_warn_of_no_expiry)


def _warn_of_no_expiry(session: CommandSession, key: Record, body: Mapping[str, Any]) -> None:
    if "expires_in_s" in body and key.raw.get("expires_at") is None:
        session.call.output.warn("the service does not say when the key expires; it may never expire")
