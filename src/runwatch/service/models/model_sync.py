"""Apply a source's model list to the models of a connection (manual: interface, "Model catalog, definitions and
deployments").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.source import PRICED_MODELS
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.ids import new_id
from runwatch.service.models import arms, connections
from runwatch.service.models.availability import FAILED, REMOVED, is_usable
from runwatch.service.models.catalog import variant_id
from runwatch.service.models.providers.model_list import find_name, suggest_names
from runwatch.service.models.providers.prices import PriceTable, price_basis
from runwatch.service.models.providers.types import ServedModel, ServedModels
from runwatch.service.tables import connections_table, deployments_table
from runwatch.service.transaction import Row, Transaction, pick

NAME_CHARACTERS: Final = 255
"""Longest model name accepted from a source's list."""


def sync(
    transaction: Transaction,
    asked: Row,
    found: ServedModels,
    prices: PriceTable | None = None,
) -> list[Row]:
    """Apply a source's list: add new models, update known ones, and disable those gone or retired.

    A model keeps its id for the life of the connection. Left out are models whose name no call could carry, and those
    that a user removed and has not named again.

    Args:
        asked: The connection as it was when the source was asked.

    Raises:
        RefusalError: ``invalid_state`` when the connection has changed since it was read or is not usable;
            ``validation_failed`` when it would have too many prices.
    """
    row = connections.unchanged(transaction, asked)
    if not is_usable(row):
        raise RefusalError("invalid_state", "The connection has to pass a test first.")
    own_prices = {**row["endpoint"]["own_prices"], **(prices or {})}
    if prices and len(own_prices) > PRICED_MODELS:
        raise make_validation_error(("prices", f"A connection has at most {PRICED_MODELS} prices."))
    removed = [name for name in row["endpoint"].get(REMOVED, []) if name not in found.called]
    models = {model.upstream_ref: model for model in found.models if _is_nameable(model)}
    listed = {name: model for name, model in models.items() if name not in removed}
    still_failed = {*found.named} - {*found.called}
    failed = {name: why for name, why in row["endpoint"].get(FAILED, {}).items() if name in still_failed}
    endpoint = {
        **row["endpoint"],
        "models": list(found.named),
        FAILED: failed,
        REMOVED: removed,
        connections.CALLED: {
            **row["endpoint"].get(connections.CALLED, {}),
            **dict.fromkeys(found.called, format_iso(transaction.now)),
        },
        "own_prices": own_prices,
    }
    reported = {name: dict(model.prices) for name, model in listed.items() if model.prices is not None}
    where = {"connection_id": row["connection_id"]}
    transaction.change(connections_table, where, endpoint={**endpoint, "prices": reported | own_prices})
    row = connections.find(transaction, row["tenant_id"], row["connection_id"])
    served = transaction.list_all(deployments_table, where)
    known = {deployment["upstream_ref"]: deployment for deployment in served}
    for name, model in listed.items():
        _store_deployment(transaction, row, model, known.get(name), reported, is_named=name in found.named)
    for name, deployment in known.items():
        if name not in listed and deployment["status"] != "disabled":
            gone = {"model_deployment_id": deployment["model_deployment_id"]}
            transaction.change(deployments_table, gone, status="disabled", updated_at=format_iso(transaction.now))
    arms.update_binding(transaction, row)
    return list(transaction.newest(deployments_table, where))


def remove(transaction: Transaction, row: Row, names: Sequence[str]) -> list[Row]:
    """Take models off a connection. They stay off until a user names them again, even if the source lists them.

    Refuses with ``validation_failed`` when the connection has no such model.
    """
    endpoint = row["endpoint"]
    named, failed = endpoint.get("models", []), endpoint.get(FAILED, {})
    where = {"connection_id": row["connection_id"]}
    served = [model["upstream_ref"] for model in transaction.list_all(deployments_table, {**where, "status": "listed"})]
    all_names = dict.fromkeys([*named, *failed, *served])
    found = {name: find_name(name, all_names) for name in names}
    unknown = [name for name, known in found.items() if known is None]
    if unknown:
        near = suggest_names(unknown[0], list(all_names))
        has = f"it has {', '.join(near)}" if near else "it has none"
        raise make_validation_error(("remove", f"The connection has no model {', '.join(unknown)}; {has}."))
    gone = [name for name in found.values() if name is not None]
    kept = {
        "models": [name for name in named if name not in gone],
        FAILED: {name: why for name, why in failed.items() if name not in gone},
        REMOVED: list(dict.fromkeys([*endpoint.get(REMOVED, []), *gone])),
    }
    now = format_iso(transaction.now)
    transaction.change(connections_table, where, endpoint={**endpoint, **kept}, updated_at=now)
    transaction.change(deployments_table, {**where, "upstream_ref": tuple(gone)}, status="disabled", updated_at=now)
    arms.update_binding(transaction, connections.find(transaction, row["tenant_id"], row["connection_id"]))
    return list(transaction.newest(deployments_table, where))


def _is_nameable(model: ServedModel) -> bool:
    name = model.upstream_ref
    return 0 < len(name) <= NAME_CHARACTERS and name.isprintable()


def _store_deployment(
    transaction: Transaction,
    connection: Row,
    model: ServedModel,
    before: Row | None,
    listed: PriceTable,
    *,
    is_named: bool,
) -> None:
    is_keyless = connection["auth_scheme"] == "none"
    now = format_iso(transaction.now)
    endpoint = connection["endpoint"]
    name = model.upstream_ref
    key = name if name.startswith(f"{model.publisher_id}/") else f"{model.publisher_id}/{name}"
    definition = {
        "model_key": key,
        "publisher_id": model.publisher_id,
        "family": model.family,
        "release": model.release,
        "capabilities": list(model.capabilities),
        "lifecycle": model.lifecycle,
        "release_license": model.license,
        "display_name": model.display_name,
        "lifecycle_since": now,
    }
    if before is not None and before["definition"]["lifecycle"] == model.lifecycle:
        definition["lifecycle_since"] = before["definition"]["lifecycle_since"]
    # Connections of earlier versions do not say when a model that a user named was called.
    tested = before["last_tested_at"] if before is not None and is_named else None
    data_classes = endpoint["data_classes"]
    columns = {
        "model_key": key,
        **pick(endpoint, "protocol_profile location route fallback_policy"),
        "pricing_basis": price_basis(endpoint["prices"], listed, name, is_keyless=is_keyless),
        "data_classes": list(model.data_classes) if data_classes is None else data_classes,
        "definition": definition,
        "status": "disabled" if model.lifecycle == "retired" else "listed",
        "last_tested_at": endpoint[connections.CALLED].get(name, tested),
        "updated_at": now,
    }
    if before is not None:
        transaction.change(deployments_table, {"model_deployment_id": before["model_deployment_id"]}, **columns)
        return
    transaction.add(
        deployments_table,
        **columns,
        model_deployment_id=new_id("mdep", transaction.now),
        tenant_id=connection["tenant_id"],
        connection_id=connection["connection_id"],
        source_id=connection["source_id"],
        served_variant_id=variant_id(connection["source_id"], name),
        upstream_ref=name,
        release_assurance="unknown",
    )
