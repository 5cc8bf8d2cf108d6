"""Models, definitions and deployments (manual: interface, "Model catalog, definitions and deployments")."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, many, moment, one, text, texts


class RequestedModel(Record):
    model_key = text()
    publisher_id = text()
    family = text()
    release = text()
    served_variant_id = text()
    upstream_ref = text()
    resolution_evidence_ref = text()


class ProvenanceSource(Record):
    """The source it was requested from, and who pays there."""

    source_id = text()
    source_kind = text()
    connection_id = text()
    access_lane = text()
    commercial_owner = text()
    auth_scheme = text()


class ProvenanceDeployment(Record):
    """The route to the source."""

    model_deployment_id = text()
    protocol_profile = text()
    location = text()
    route = text()
    pricing_basis = text()
    fallback_policy = text()


class ResolvedModel(Record):
    """The model that the source says it used."""

    upstream_ref = text()
    source_request_id = text()
    attestation = text()


class Provenance(Record):
    """Provenance of one model attempt; ``resolved`` is missing until a source has responded."""

    schema_version = text()
    requested = one(RequestedModel)
    source = one(ProvenanceSource)
    deployment = one(ProvenanceDeployment)
    resolved = one(ResolvedModel)


class ReleaseLicense(Record):
    """Terms of use of a release."""

    identifier = text()
    commercial_use = text()
    evidence_ref = text()


class Definition(Record):
    """A model as its publisher describes it; it may not be usable here."""

    KIND = "definition"
    WIRE = Wire("/v1/model-definitions", "models", "model_key")

    model_key = text()
    publisher_id = text()
    family = text()
    release = text()
    capabilities = texts()
    lifecycle = text()
    release_license = one(ReleaseLicense)


class Deployment(Record):
    """A model as one source serves it over one connection; ``connection_id`` is missing in catalog entries."""

    KIND = "deployment"
    WIRE = Wire("/v1/model-deployments", "deployments", "model_deployment_id")

    model_deployment_id = text()
    connection_id = text()
    source_id = text()
    model_key = text()
    served_variant_id = text()
    upstream_ref = text()
    release_assurance = text()
    assurance_evidence_ref = text()
    resolved_upstream_ref = text()
    resolution_evidence_ref = text()
    protocol_profile = text()
    location = text()
    route = text()
    fallback_policy = text()
    pricing_basis = text()
    last_tested_at = moment()
    status = text()
    created_at = moment()
    updated_at = moment()


class SyncedModels(Record):
    """Response of a sync. Not in the specification: ``left_out``, ``unlisted`` and ``list_failure``."""

    deployments = many(Deployment)
    left_out = texts()
    unlisted = texts()
    list_failure = text()


class ServedVariant(Record):
    """A form in which a source serves a model."""

    served_variant_id = text()
    source_id = text()
    model_key = text()
    upstream_ref = text()
    release_assurance = text()
    assurance_evidence_ref = text()


class CertificationSubject(Record):
    """Exact subject of a certification."""

    model_key = text()
    served_variant_id = text()
    source_id = text()
    protocol_profile = text()
    auth_scheme = text()
    location = text()
    route = text()
    pricing_basis = text()


class Certification(Record):
    """Evidence that a served variant was tested."""

    certification_id = text()
    evidence_schema_version = text()
    standing = text()
    generated_at = moment()
    subject = one(CertificationSubject)


class Offering(Record):
    """Offer of a model by a source: protocol, data classes, prices, and certification."""

    served_variant = one(ServedVariant)
    protocol_profile = text()
    auth_scheme = text()
    data_classes = texts()
    fallback_policy = text()
    location = text()
    route = text()
    pricing_basis = text()
    tested_at = moment()
    resolved_upstream_ref = text()
    resolution_evidence_ref = text()
    certification = one(Certification)


class CatalogConnection(Record):
    """Who pays for a catalog entry, and the connection it uses; pooled entries have none.

    ``display_name`` is not in the specification.
    """

    access_lane = text()
    commercial_owner = text()
    connection_id = text()
    display_name = text()


class CatalogSource(Record):
    source_id = text()
    source_kind = text()


class ArmTemplate(Record):
    """A body of ``POST /v1/arms`` that saves the entry unchanged."""

    kind = text()
    display_name = text()
    model_deployment_id = text()
    capability_tags = texts()
    data_class_grants = texts()
    cost_class = text()


class CatalogEntry(Record):
    """A model that the organization can save and run now; it says nothing about funds or permission to spend."""

    KIND = "model"
    WIRE = Wire("/v1/model-catalog", "models", "model_deployment_id")

    model = one(Definition)
    source = one(CatalogSource)
    offering = one(Offering)
    connection = one(CatalogConnection)
    deployment = one(Deployment)
    provenance = one(Provenance)
    arm_registration_template = one(ArmTemplate)

    @property
    def id(self) -> str:
        """The id of its deployment, which is unique among entries; empty when the entry has none."""
        deployment, template = self.deployment, self.arm_registration_template
        named = None if deployment is None else deployment.model_deployment_id
        return named or (None if template is None else template.model_deployment_id) or ""
