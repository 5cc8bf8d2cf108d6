"""Judge from rows whether a model can be used now, and the effect on options bound to it.

These functions neither read nor write the database.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from runwatch.base.shell_words import runwatch_command
from runwatch.service.transaction import Row

READY: Final[tuple[str, str | None]] = ("ready", None)

REMOVED: Final = "removed"
"""Member of a connection's ``endpoint`` column with the models that a user took off."""

FAILED: Final = "failed"
"""Member of a connection's ``endpoint`` column with the models that failed a test that others passed, and why."""


def is_usable(connection: Row) -> bool:
    """Whether a connection may be called for runs: active, not revoked, and tested in its current state."""
    return (
        connection["revoked_at"] is None
        and connection["status"] == "active"
        and connection["test_state"] == "passed"
        and connection["tested_binding_revision"] == connection["binding_revision"]
    )


def is_named_by(credential_ref: str | None, connection: Row) -> bool:
    """Whether an option's ``credential_ref`` names this connection.

    A reference is the connection's id or its current ``auth_binding_ref``. An option without one accepts any
    connection.
    """
    return credential_ref in {None, connection["connection_id"], connection["auth_binding_ref"]}


def is_removed(deployment: Row, connection: Row) -> bool:
    """Whether a user took the model off its connection and has not added it again."""
    return deployment["upstream_ref"] in connection["endpoint"].get(REMOVED, [])


def find_status(grants: Collection[str], deployment: Row, connection: Row) -> tuple[str, str | None]:
    """Return the status of a model option that is not disabled, and the reason if it is not ready."""
    if not is_usable(connection):
        return "degraded", _connection_reason(connection)
    connection_id, name = connection["connection_id"], deployment["upstream_ref"]
    if is_removed(deployment, connection):
        again = runwatch_command("sources sync", connection_id, model=name)
        return "degraded", f"Removed by your organization from {connection_id}. To add it again: {again}"
    if deployment["status"] != "listed":
        if deployment["definition"]["lifecycle"] == "retired":
            return "degraded", "Retired by its provider."
        again = runwatch_command("sources sync", connection_id)
        return "degraded", f"No longer served by {connection_id}. To read its list again: {again}"
    if why := connection["endpoint"].get(FAILED, {}).get(name):
        again = runwatch_command("sources test", connection_id)
        return "degraded", f"Failed its last test: {why}. To test it again: {again}"
    if not set(grants) <= set(deployment["data_classes"]):
        return "degraded", "No longer certified for every data class that the option is granted."
    return READY


def route_availability(grants: Collection[str], deployment: Row, connection: Row) -> dict[str, Any] | None:
    """Return ``route_availability`` of a model option; ``None`` when the route is available (manual: interface,
    "Arms").
    """
    if connection["revoked_at"] is not None:
        return _unavailable("suspended", "operator_suspended", connection["revoked_at"])
    if not is_usable(connection):
        return _unavailable("suspended", "not_ready", connection["updated_at"])
    if is_removed(deployment, connection):
        return _unavailable("suspended", "operator_suspended", deployment["updated_at"])
    lifecycle, since = deployment["definition"]["lifecycle"], deployment["definition"].get("lifecycle_since")
    if lifecycle == "retired":
        return _unavailable("retired", "provider_deprecated", since or deployment["updated_at"])
    if deployment["status"] != "listed":
        return _unavailable("retired", "absent_from_feed", deployment["updated_at"])
    if deployment["upstream_ref"] in connection["endpoint"].get(FAILED, {}):
        return _unavailable("suspended", "not_ready", connection["updated_at"])
    if not set(grants) <= set(deployment["data_classes"]):
        return _unavailable("quarantined", "drift", deployment["updated_at"])
    if lifecycle == "deprecated":
        return _unavailable("deprecated", "provider_deprecated", since or deployment["updated_at"])
    return None


def _unavailable(status: str, reason: str, since: str) -> dict[str, Any]:
    return {"status": status, "reason": reason, "since": since, "until": None}


def _connection_reason(connection: Row) -> str:
    if connection["revoked_at"] is not None:
        return "Disconnected from its source."
    connection_id = connection["connection_id"]
    test = runwatch_command("sources test", connection_id)
    if connection["test_state"] == "failed":
        return f"Failed test of its connection {connection_id}. To test it again: {test}"
    return f"Not tested since its connection {connection_id} last changed. To test it: {test}"
