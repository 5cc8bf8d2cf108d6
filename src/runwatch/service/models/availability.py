"""What rows say about whether a model can be used now, and what that means for the options bound to it.

Pure judgments over rows; nothing here reads or writes.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from runwatch.service.transaction import Row

READY: Final[tuple[str, str | None]] = ("ready", None)


def is_usable(connection: Row) -> bool:
    """Whether a connection may be called for runs: not revoked, active, tested as it is now (wire reference 2.6)."""
    return (
        connection["revoked_at"] is None
        and connection["status"] == "active"
        and connection["test_state"] == "passed"
        and connection["tested_binding_revision"] == connection["binding_revision"]
    )


def is_named_by(credential_ref: str | None, connection: Row) -> bool:
    """Whether a connection is the one that an option's ``credential_ref`` names.

    A reference is the connection's id or its current ``auth_binding_ref``. An option without a reference takes any
    connection.
    """
    return credential_ref in {None, connection["connection_id"], connection["auth_binding_ref"]}


def find_status(grants: Collection[str], deployment: Row, connection: Row) -> tuple[str, str | None]:
    """Status of a model option that nobody has disabled, and the reason where it is not ready.

    Args:
        grants: The data classes that the option is granted.
        deployment: The deployment that it is bound to.
        connection: The connection that serves the deployment.
    """
    if not is_usable(connection):
        return "degraded", _connection_reason(connection)
    if deployment["status"] != "listed":
        gone = deployment["definition"]["lifecycle"] == "retired"
        return "degraded", "The model is retired." if gone else "The source no longer lists the model."
    if not set(grants) <= set(deployment["data_classes"]):
        return "degraded", "The model is no longer certified for every data class that the option is granted."
    return READY


def route_availability(grants: Collection[str], deployment: Row, connection: Row) -> dict[str, Any] | None:
    """``route_availability`` of a model option; ``None`` when the route is plainly available (wire reference 2.3)."""
    if connection["revoked_at"] is not None:
        return _unavailable("suspended", "operator_suspended", connection["revoked_at"])
    if not is_usable(connection):
        return _unavailable("suspended", "not_ready", connection["updated_at"])
    lifecycle, since = deployment["definition"]["lifecycle"], deployment["definition"].get("lifecycle_since")
    if lifecycle == "retired":
        return _unavailable("retired", "provider_deprecated", since or deployment["updated_at"])
    if deployment["status"] != "listed":
        return _unavailable("retired", "absent_from_feed", deployment["updated_at"])
    if not set(grants) <= set(deployment["data_classes"]):
        return _unavailable("quarantined", "drift", deployment["updated_at"])
    if lifecycle == "deprecated":
        return _unavailable("deprecated", "provider_deprecated", since or deployment["updated_at"])
    return None


def _unavailable(status: str, reason: str, since: str) -> dict[str, Any]:
    return {"status": status, "reason": reason, "since": since, "until": None}


def _connection_reason(connection: Row) -> str:
    if connection["revoked_at"] is not None:
        return "The source connection was disconnected."
    if connection["test_state"] == "failed":
        return "The source connection failed its test."
    return "The source connection has not been tested since it last changed."
