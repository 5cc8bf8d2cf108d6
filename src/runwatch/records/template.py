"""Tenant templates, plans, applications and the selected model (manual: interface, "Tenant templates")."""

from __future__ import annotations

from runwatch.records.model import CatalogEntry
from runwatch.records.record import Record, Wire, amount, flag, integer, many, mapping, moment, one, text


class NextAction(Record):
    type = text("type")
    detail = text("detail")


class Blocker(Record):
    """Why a template cannot be applied now, and what clears it."""

    code = text("code")
    detail = text("detail")
    next_action = one(NextAction, "next_action")


class AlternativePlan(Record):
    """Another suitable template."""

    template_id = text("template_id")
    template_version = text("template_version")
    access_lane = text("access_lane")
    application_supported = flag("application_supported")
    next_action = one(NextAction, "next_action")


class Template(Record):
    """A prepared path to a first working model."""

    KIND = "template"
    WIRE = Wire("/v1/tenant-templates", "templates", "template_id")

    template_id = text("template_id")
    template_version = text("template_version")
    access_lane = text("access_lane")
    eligible = flag("eligible")
    blockers = many(Blocker, "blockers")
    alternative_plans = many(AlternativePlan, "alternative_plans")
    catalog_row = one(CatalogEntry, "catalog_row")


class Qualification(Record):
    """Whether the organization may apply a plan."""

    state = text("state")
    next_action = one(NextAction, "next_action")


class ByokSource(Record):
    """The customer's own source that a plan would use."""

    source_id = text("source_id")
    auth_scheme = text("auth_scheme")
    model_key = text("model_key")
    served_variant_id = text("served_variant_id")
    certification_id = text("certification_id")


class StarterCredit(Record):
    """The available credit, in US dollars, and whether it covers the plan."""

    balance_usd = amount("balance_usd")
    funded_state = text("funded_state")
    covers_maximum_spend = flag("covers_maximum_spend")


class Effect(Record):
    """One effect of applying a plan."""

    id = text("id")  # type: ignore[assignment]
    description = text("description")


class ManifestFile(Record):
    """A file that applying a plan would write."""

    path = text("path")
    kind = text("kind")


class Plan(Record):
    """Effects and maximum cost of applying a template; making a plan writes nothing.

    ``maximum_spend_usd`` is the budget of the model plus the platform fee.
    """

    KIND = "plan"

    template_id = text("template_id")
    template_version = text("template_version")
    access_lane = text("access_lane")
    eligible = flag("eligible")
    application_supported = flag("application_supported")
    next_action = one(NextAction, "next_action")
    request_preset_id = text("request_preset_id")
    digest = text("digest")
    issued_at = text("issued_at")
    expires_at = moment("expires_at")
    qualification = one(Qualification, "qualification")
    blockers = many(Blocker, "blockers")
    alternative_plans = many(AlternativePlan, "alternative_plans")
    byok_source = one(ByokSource, "byok_source")
    byok_offerings = many(ByokSource, "byok_offerings")
    request_policy = mapping("request_policy")
    starter_credit = one(StarterCredit, "starter_credit")
    maximum_spend_usd = amount("maximum_spend_usd")
    effects = many(Effect, "effects")
    file_manifest = many(ManifestFile, "file_manifest")
    catalog_row = one(CatalogEntry, "catalog_row")

    @property
    def is_blocked(self) -> bool:
        """Whether the service says, in either of two members, that the plan cannot be applied now."""
        return self.eligible is False or self.application_supported is False


class CompletedEffect(Record):
    """A completed effect of an application."""

    id = text("id")  # type: ignore[assignment]
    at = moment("at")


class ApplicationResult(Record):
    """Link to the result of the live proof."""

    execution_id = text("execution_id")
    href = text("href")
    model_provenance = mapping("model_provenance")


class ApplicationReceipt(Record):
    """Link to the receipt; its id is that of the run."""

    receipt_id = text("receipt_id")
    href = text("href")


class Consent(Record):
    """A private page that the user has to complete; ``continue_url`` is a secret."""

    handoff_intent_id = text("handoff_intent_id")
    continue_url = text("continue_url")
    expires_at = moment("expires_at")
    attempt = integer("attempt")


class LiveProof(Record):
    """The paid proof that the user has to authorize, by its digest."""

    digest = text("digest")
    issued_at = text("issued_at")
    expires_at = moment("expires_at")


class Application(Record):
    """The durable application of a template, which can be resumed."""

    KIND = "application"
    WIRE = Wire("/v1/tenant-template-applications", "", "application_id")

    application_id = text("application_id")
    template_id = text("template_id")
    template_version = text("template_version")
    request_preset_id = text("request_preset_id")
    state = text("state")
    next_action = one(NextAction, "next_action")
    completed_effects = many(CompletedEffect, "completed_effects")
    result = one(ApplicationResult, "result")
    receipt = one(ApplicationReceipt, "receipt")
    managed_arm_id = text("managed_arm_id")
    echo_execution_id = text("echo_execution_id")
    echo_receipt_id = text("echo_receipt_id")
    live_execution_id = text("live_execution_id")
    selected_model_deployment_id = text("selected_model_deployment_id")
    source_connection_id = text("source_connection_id")
    consent = one(Consent, "consent")
    live_proof = one(LiveProof, "live_proof")
    diagnostics = mapping("diagnostics")
    created_at = moment("created_at")
    updated_at = moment("updated_at")


class Selection(Record):
    """The organization's default model, and the run that proved it."""

    KIND = "selection"
    WIRE = Wire("/v1/tenant-model-selection", "", "application_id")

    application_id = text("application_id")
    template_id = text("template_id")
    template_version = text("template_version")
    managed_arm_id = text("managed_arm_id")
    model_deployment_id = text("model_deployment_id")
    request_preset_id = text("request_preset_id")
    request_policy = mapping("request_policy")
    proof_execution_id = text("proof_execution_id")
    selected_at = moment("selected_at")
    updated_at = moment("updated_at")
