"""JSON of registered options, and of the bodies that would register them (manual: interface, "Arms")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from runwatch.service.models import agents
from runwatch.service.models.availability import route_availability
from runwatch.service.models.catalog import provider_name
from runwatch.service.tables import connections_table, deployments_table
from runwatch.service.transaction import Row, Transaction, pick

_ALWAYS: Final = "arm_id kind display_name status status_reason capability_tags data_class_grants created_at updated_at"
_WHERE_KNOWN: Final = (
    "cost_class provider model_id model_deployment_id credential_ref endpoint lifecycle artifact_hash repository"
)


def outcome_json(transaction: Transaction, row: Row, preflight: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Build the outcome of a registration: the record with its status reason and preflight in one object."""
    shown = arm_json(transaction, row)
    return shown if preflight is None else {**shown, "preflight": dict(preflight)}


def arms_json(transaction: Transaction, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Build the JSON of options in the order of the rows. ``status_reason``, the connection and the timestamps are
    not in the specification.
    """
    ids = tuple({row["model_deployment_id"] for row in rows if row["model_deployment_id"] is not None})
    served = {
        row["model_deployment_id"]: row for row in transaction.list_all(deployments_table, {"model_deployment_id": ids})
    }
    sources = tuple({row["connection_id"] for row in served.values()})
    known = {row["connection_id"]: row for row in transaction.list_all(connections_table, {"connection_id": sources})}
    shown_arms = []
    for row in rows:
        shown = _own_json(row)
        if row["kind"] == "agent":
            shown["status"], shown["status_reason"] = agents.find_status(transaction, row)
        deployment = served.get(row["model_deployment_id"])
        if deployment is not None:
            connection = known[deployment["connection_id"]]
            shown["provider"] = provider_name(connection)
            shown |= {"connection_id": connection["connection_id"], "connection_name": connection["display_name"]}
            shown["model_lifecycle"] = deployment["definition"]["lifecycle"]
            route = route_availability(row["data_class_grants"], deployment, connection)
            if route is not None:
                shown["route_availability"] = route
        shown_arms.append(shown)
    return shown_arms


def find_status(transaction: Transaction, row: Row) -> str:
    """Return the status of an option as it is shown."""
    return agents.find_status(transaction, row)[0] if row["kind"] == "agent" else str(row["status"])


def arm_json(transaction: Transaction, row: Row) -> dict[str, Any]:
    return arms_json(transaction, [row])[0]


def arm_request_json(row: Row) -> dict[str, Any]:
    """Build the body that would register an option, as the base of a partial change."""
    names = "kind display_name capability_tags data_class_grants cost_class "
    if row["kind"] == "agent":
        names += "endpoint lifecycle"
    elif row["kind"] == "skill":
        names += "artifact"
    else:
        names += "provider model_id" if row["model_deployment_id"] is None else "model_deployment_id"
        names += " credential_ref"
    return pick(row, names)


def _own_json(row: Row) -> dict[str, Any]:
    known = {name: value for name, value in pick(row, _WHERE_KNOWN).items() if value is not None}
    return pick(row, _ALWAYS) | known
