"""JSON of what connections serve: definitions, deployments, catalog entries, provenance.

Pure functions over rows (manual: interface, "Model catalog, definitions and deployments"). A certification states only
what a test has proved: that the model answered a call over the connection. Without such a call, ``standing`` and
``tested_at`` are ``null``, as is all evidence that was not collected.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any, Final

from runwatch.base.json import dumps
from runwatch.records.source import ANY_ADDRESS
from runwatch.service.models.providers.prices import find_price
from runwatch.service.transaction import Row, pick

LANES: Final = {True: ("millwork_pool", "millwork"), False: ("byok", "customer")}
"""Access lane and commercial owner of a model, by whether it comes from the pool."""

CATALOG_POLICY: Final = "curated_tested_connection_filtered"
"""Content of the catalog: models of tested connections."""

PROVENANCE_VERSION: Final = "1"

EVIDENCE_VERSION: Final = "1"
"""Version of a certification's evidence: a connection test, the source's model list, and a call of the model."""

ECONOMY_USD: Final = Decimal(1)
STANDARD_USD: Final = Decimal(10)
"""Highest prices of a million output tokens for ``economy`` and ``standard``."""

_ID_CHARACTERS: Final = 26
_DEFINITION: Final = "model_key publisher_id family release capabilities lifecycle release_license"
_VARIANT: Final = "served_variant_id source_id model_key upstream_ref release_assurance assurance_evidence_ref"
_DEPLOYMENT: Final = (
    "model_deployment_id source_id model_key served_variant_id upstream_ref release_assurance "
    "assurance_evidence_ref resolved_upstream_ref resolution_evidence_ref protocol_profile location route "
    "fallback_policy pricing_basis last_tested_at status created_at updated_at"
)
_OFFERING: Final = "fallback_policy location route pricing_basis resolved_upstream_ref resolution_evidence_ref"


def is_pool(connection: Row) -> bool:
    """Whether a connection belongs to the pool of models that the service pays for.

    The specification leaves this open; here the pool is every connection without a key to a sample source. Without
    sample sources the pool is empty.
    """
    return bool(connection["auth_scheme"] == "none" and connection["endpoint"]["source_kind"] == "fixture")


def lane_json(connection: Row) -> dict[str, Any]:
    """Build ``access_lane``, ``commercial_owner`` and, in the byok lane, ``connection_id``."""
    lane, owner = LANES[is_pool(connection)]
    own = {} if is_pool(connection) else {"connection_id": connection["connection_id"]}
    return {"access_lane": lane, "commercial_owner": owner, **own}


def provider_name(connection: Row) -> str:
    """Return the provider name in runs and receipts: the source, or the name of a server that a user connected.

    A source that accepts any address only says which interface the server speaks.
    """
    return str(connection["display_name"] if connection["source_id"] in ANY_ADDRESS else connection["source_id"])


def definition_json(deployment: Row) -> dict[str, Any]:
    """Build the ModelDefinition: a model independent of its server."""
    return pick(deployment["definition"], _DEFINITION)


def deployment_json(deployment: Row) -> dict[str, Any]:
    """Build the ModelDeployment: a model as one connection serves it."""
    return {"connection_id": deployment["connection_id"], **pick(deployment, _DEPLOYMENT)}


def catalog_entry(connection: Row, deployment: Row) -> dict[str, Any]:
    """Build the catalog entry of a model that can be saved now."""
    subject = {
        **pick(deployment, "model_key served_variant_id source_id protocol_profile"),
        "auth_scheme": connection["auth_scheme"],
        **pick(deployment, "location route pricing_basis"),
    }
    return {
        "model": definition_json(deployment),
        "source": {"source_id": deployment["source_id"], "source_kind": connection["endpoint"]["source_kind"]},
        "offering": {
            "served_variant": pick(deployment, _VARIANT),
            "protocol_profile": deployment["protocol_profile"],
            "auth_scheme": connection["auth_scheme"],
            "data_classes": deployment["data_classes"],
            **pick(deployment, _OFFERING),
            "tested_at": deployment["last_tested_at"],
            "certification": {
                "certification_id": _id("cert", deployment["model_deployment_id"], subject, deployment["data_classes"]),
                "evidence_schema_version": EVIDENCE_VERSION,
                "standing": None if deployment["last_tested_at"] is None else "conformant",
                "generated_at": deployment["updated_at"],
                "subject": subject,
            },
        },
        # The name of a connection is not in the specification; the pool has none.
        "connection": lane_json(connection) | ({} if is_pool(connection) else pick(connection, "display_name")),
        "deployment": pick(deployment, _DEPLOYMENT),
        "provenance": provenance(connection, deployment),
        "arm_registration_template": arm_template(connection, deployment),
    }


def provenance(connection: Row, deployment: Row) -> dict[str, Any]:
    """Build the ModelAttemptProvenance before a call: which model is requested, and where."""
    requested = {
        "model_key": deployment["model_key"],
        **pick(deployment["definition"], "publisher_id family release"),
        **pick(deployment, "served_variant_id upstream_ref"),
    }
    source_kind = connection["endpoint"]["source_kind"]
    if source_kind == "gateway":
        requested["resolution_evidence_ref"] = deployment["resolution_evidence_ref"]
    return {
        "schema_version": PROVENANCE_VERSION,
        "requested": requested,
        "source": {
            "source_id": connection["source_id"],
            "source_kind": source_kind,
            **lane_json(connection),
            "auth_scheme": connection["auth_scheme"],
        },
        "deployment": pick(
            deployment, "model_deployment_id protocol_profile location route pricing_basis fallback_policy"
        ),
        "resolved": None,
    }


def arm_template(connection: Row, deployment: Row) -> dict[str, Any]:
    """Build the body of ``POST /v1/arms`` that saves this model with everything it is certified for."""
    definition = deployment["definition"]
    return {
        "kind": "model",
        "display_name": definition.get("display_name") or deployment["upstream_ref"],
        "model_deployment_id": deployment["model_deployment_id"],
        "capability_tags": definition["capabilities"],
        "data_class_grants": deployment["data_classes"],
        "cost_class": cost_class(connection, deployment),
    }


def cost_class(connection: Row, deployment: Row) -> str:
    """Return ``economy``, ``standard`` or ``premium`` by the price of output tokens.

    A model of unknown price is ``economy`` on a server without a key, else ``standard``.
    """
    price = find_price(connection["endpoint"]["prices"], deployment["upstream_ref"])
    if price is None:
        return "economy" if connection["auth_scheme"] == "none" else "standard"
    return "economy" if price[1] <= ECONOMY_USD else "standard" if price[1] <= STANDARD_USD else "premium"


def variant_id(source_id: str, upstream_ref: str) -> str:
    """Return the id of a model at one source, equal in every connection to that source."""
    return _id("sv", source_id, upstream_ref)


def _id(prefix: str, *parts: Any) -> str:
    return f"{prefix}_{hashlib.sha256(dumps(list(parts)).encode('ascii')).hexdigest()[:_ID_CHARACTERS]}"
