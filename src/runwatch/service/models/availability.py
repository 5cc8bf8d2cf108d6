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
    obstacle = _find_obstacle(grants, deployment, connection)
    return READY if obstacle is None else ("degraded", obstacle[0])


def route_availability(grants: Collection[str], deployment: Row, connection: Row) -> dict[str, Any] | None:
    """Return ``route_availability`` of a model option; ``None`` when the route is available (manual: interface,
    "Arms").
    """
    obstacle = _find_obstacle(grants, deployment, connection)
    if obstacle is None and deployment["definition"]["lifecycle"] == "deprecated":
        return _unavailable("deprecated", "provider_deprecated", _find_end(deployment))
    return None if obstacle is None else obstacle[1]


def _find_obstacle(grants: Collection[str], deployment: Row, connection: Row) -> tuple[str, dict[str, Any]] | None:
    """Return why a model option is not ready, as a reason and as ``route_availability``."""
    connection_id, name = connection["connection_id"], deployment["upstream_ref"]
    if connection["revoked_at"] is not None:
        route = _unavailable("suspended", "operator_suspended", connection["revoked_at"])
        return "Disconnected from its source.", route
    test = runwatch_command("sources test", connection_id)
    if not is_usable(connection):
        why = f"Not tested since its connection {connection_id} last changed. To test it: {test}"
        if connection["test_state"] == "failed":
            why = f"Failed test of its connection {connection_id}. To test it again: {test}"
        return why, _unavailable("suspended", "not_ready", connection["updated_at"])
    if is_removed(deployment, connection):
        again = runwatch_command("sources sync", connection_id, model=name)
        why = f"Removed by your organization from {connection_id}. To add it again: {again}"
        return why, _unavailable("suspended", "operator_suspended", deployment["updated_at"])
    if deployment["definition"]["lifecycle"] == "retired":
        return "Retired by its provider.", _unavailable("retired", "provider_deprecated", _find_end(deployment))
    if deployment["status"] != "listed":
        again = runwatch_command("sources sync", connection_id)
        why = f"No longer served by {connection_id}. To read its list again: {again}"
        return why, _unavailable("retired", "absent_from_feed", deployment["updated_at"])
    if failure := connection["endpoint"].get(FAILED, {}).get(name):
        why = f"Failed its last test: {failure}. To test it again: {test}"
        return why, _unavailable("suspended", "not_ready", connection["updated_at"])
    if not set(grants) <= set(deployment["data_classes"]):
        why = "No longer certified for every data class that the option is granted."
        return why, _unavailable("quarantined", "drift", deployment["updated_at"])
    return None


def _find_end(deployment: Row) -> str:
    """Return when the provider announced or made the end of a model, as far as that is known."""
    return str(deployment["definition"].get("lifecycle_since") or deployment["updated_at"])


def _unavailable(status: str, reason: str, since: str) -> dict[str, Any]:
    return {"status": status, "reason": reason, "since": since, "until": None}
