"""Requested and resolved model, and the route between (manual: interface, "Model catalog, definitions and
deployments").
"""

from __future__ import annotations

from runwatch.records.record import Record, one, text


class RequestedModel(Record):
    """The requested model."""

    model_key = text("model_key")
    publisher_id = text("publisher_id")
    family = text("family")
    release = text("release")
    served_variant_id = text("served_variant_id")
    upstream_ref = text("upstream_ref")
    resolution_evidence_ref = text("resolution_evidence_ref")


class ProvenanceSource(Record):
    """The source it was requested from, and who pays there."""

    source_id = text("source_id")
    source_kind = text("source_kind")
    connection_id = text("connection_id")
    access_lane = text("access_lane")
    commercial_owner = text("commercial_owner")
    auth_scheme = text("auth_scheme")


class ProvenanceDeployment(Record):
    """The route to the source."""

    model_deployment_id = text("model_deployment_id")
    protocol_profile = text("protocol_profile")
    location = text("location")
    route = text("route")
    pricing_basis = text("pricing_basis")
    fallback_policy = text("fallback_policy")


class ResolvedModel(Record):
    """The model that the source says it used."""

    upstream_ref = text("upstream_ref")
    source_request_id = text("source_request_id")
    attestation = text("attestation")


class Provenance(Record):
    """Provenance of one model attempt; ``resolved`` is missing until a source has responded."""

    schema_version = text("schema_version")
    requested = one(RequestedModel, "requested")
    source = one(ProvenanceSource, "source")
    deployment = one(ProvenanceDeployment, "deployment")
    resolved = one(ResolvedModel, "resolved")
