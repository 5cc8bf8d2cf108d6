"""Models, definitions and deployments (manual: interface, "Model catalog, definitions and deployments")."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, many, moment, one, text, texts


class RequestedModel(Record):
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


class ReleaseLicense(Record):
    """Terms of use of a release."""

    identifier = text("identifier")
    commercial_use = text("commercial_use")
    evidence_ref = text("evidence_ref")


class Definition(Record):
    """A model as its publisher describes it; it may not be usable here."""

    KIND = "definition"
    WIRE = Wire("/v1/model-definitions", "models", "model_key")

    model_key = text("model_key")
    publisher_id = text("publisher_id")
    family = text("family")
    release = text("release")
    capabilities = texts("capabilities")
    lifecycle = text("lifecycle")
    release_license = one(ReleaseLicense, "release_license")


class Deployment(Record):
    """A model as one source serves it over one connection; ``connection_id`` is missing in catalog entries."""

    KIND = "deployment"
    WIRE = Wire("/v1/model-deployments", "deployments", "model_deployment_id")

    model_deployment_id = text("model_deployment_id")
    connection_id = text("connection_id")
    source_id = text("source_id")
    model_key = text("model_key")
    served_variant_id = text("served_variant_id")
    upstream_ref = text("upstream_ref")
    release_assurance = text("release_assurance")
    assurance_evidence_ref = text("assurance_evidence_ref")
    resolved_upstream_ref = text("resolved_upstream_ref")
    resolution_evidence_ref = text("resolution_evidence_ref")
    protocol_profile = text("protocol_profile")
    location = text("location")
    route = text("route")
    fallback_policy = text("fallback_policy")
    pricing_basis = text("pricing_basis")
    last_tested_at = moment("last_tested_at")
    status = text("status")
    created_at = moment("created_at")
    updated_at = moment("updated_at")


class SyncedModels(Record):
    """Response of a sync. Not in the specification: ``left_out``, ``unlisted`` and ``list_failure``."""

    deployments = many(Deployment, "deployments")
    left_out = texts("left_out")
    unlisted = texts("unlisted")
    list_failure = text("list_failure")


class ServedVariant(Record):
    """A form in which a source serves a model."""

    served_variant_id = text("served_variant_id")
    source_id = text("source_id")
    model_key = text("model_key")
    upstream_ref = text("upstream_ref")
    release_assurance = text("release_assurance")
    assurance_evidence_ref = text("assurance_evidence_ref")


class CertificationSubject(Record):
    """Exact subject of a certification."""

    model_key = text("model_key")
    served_variant_id = text("served_variant_id")
    source_id = text("source_id")
    protocol_profile = text("protocol_profile")
    auth_scheme = text("auth_scheme")
    location = text("location")
    route = text("route")
    pricing_basis = text("pricing_basis")


class Certification(Record):
    """Evidence that a served variant was tested."""

    certification_id = text("certification_id")
    evidence_schema_version = text("evidence_schema_version")
    standing = text("standing")
    generated_at = moment("generated_at")
    subject = one(CertificationSubject, "subject")


class Offering(Record):
    """Offer of a model by a source: protocol, data classes, prices, and certification."""

    served_variant = one(ServedVariant, "served_variant")
    protocol_profile = text("protocol_profile")
    auth_scheme = text("auth_scheme")
    data_classes = texts("data_classes")
    fallback_policy = text("fallback_policy")
    location = text("location")
    route = text("route")
    pricing_basis = text("pricing_basis")
    tested_at = moment("tested_at")
    resolved_upstream_ref = text("resolved_upstream_ref")
    resolution_evidence_ref = text("resolution_evidence_ref")
    certification = one(Certification, "certification")


class CatalogConnection(Record):
    """Who pays for a catalog entry, and the connection it uses; pooled entries have none.

    ``display_name`` is not in the specification.
    """

    access_lane = text("access_lane")
    commercial_owner = text("commercial_owner")
    connection_id = text("connection_id")
    display_name = text("display_name")


class CatalogSource(Record):
    source_id = text("source_id")
    source_kind = text("source_kind")


class ArmTemplate(Record):
    """A body of ``POST /v1/arms`` that saves the entry unchanged."""

    kind = text("kind")
    display_name = text("display_name")
    model_deployment_id = text("model_deployment_id")
    capability_tags = texts("capability_tags")
    data_class_grants = texts("data_class_grants")
    cost_class = text("cost_class")


class CatalogEntry(Record):
    """A model that the organization can save and run now; it says nothing about funds or permission to spend."""

    KIND = "model"
    WIRE = Wire("/v1/model-catalog", "models", "model_deployment_id")

    model = one(Definition, "model")
    source = one(CatalogSource, "source")
    offering = one(Offering, "offering")
    connection = one(CatalogConnection, "connection")
    deployment = one(Deployment, "deployment")
    provenance = one(Provenance, "provenance")
    arm_registration_template = one(ArmTemplate, "arm_registration_template")

    @property
    def id(self) -> str:
        """The id of its deployment, which is unique among entries; empty when the entry has none."""
        deployment, template = self.deployment, self.arm_registration_template
        named = None if deployment is None else deployment.model_deployment_id
        return named or (None if template is None else template.model_deployment_id) or ""
