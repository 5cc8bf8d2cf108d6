"""Which model was asked for and which one answered, by which way (wire reference 2.5, ModelAttemptProvenance)."""

from __future__ import annotations

from runwatch.records.record import Record, one, text


class RequestedModel(Record):
    """The model that was asked for."""

    model_key = text("model_key")
    publisher_id = text("publisher_id")
    family = text("family")
    release = text("release")
    served_variant_id = text("served_variant_id")
    upstream_ref = text("upstream_ref")
    resolution_evidence_ref = text("resolution_evidence_ref")


class ProvenanceSource(Record):
    """Where it was asked for, and who pays there."""

    source_id = text("source_id")
    source_kind = text("source_kind")
    connection_id = text("connection_id")
    access_lane = text("access_lane")
    commercial_owner = text("commercial_owner")
    auth_scheme = text("auth_scheme")


class ProvenanceDeployment(Record):
    """The way to it."""

    model_deployment_id = text("model_deployment_id")
    protocol_profile = text("protocol_profile")
    location = text("location")
    route = text("route")
    pricing_basis = text("pricing_basis")
    fallback_policy = text("fallback_policy")


class ResolvedModel(Record):
    """What the source says it used."""

    upstream_ref = text("upstream_ref")
    source_request_id = text("source_request_id")
    attestation = text("attestation")


class Provenance(Record):
    """The four together; ``resolved`` is missing until a source has answered."""

    schema_version = text("schema_version")
    requested = one(RequestedModel, "requested")
    source = one(ProvenanceSource, "source")
    deployment = one(ProvenanceDeployment, "deployment")
    resolved = one(ResolvedModel, "resolved")
