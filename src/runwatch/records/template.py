"""Tenant templates, plans, applications and the selected model (manual: interface, "Tenant templates")."""

from __future__ import annotations

from runwatch.records.model import CatalogEntry
from runwatch.records.record import Record, Wire, amount, flag, integer, many, mapping, moment, one, text


class NextAction(Record):
    type = text()
    detail = text()


class Blocker(Record):
    """Why a template cannot be applied now, and what clears it."""

    code = text()
    detail = text()
    next_action = one(NextAction)


class AlternativePlan(Record):
    """Another suitable template."""

    template_id = text()
    template_version = text()
    access_lane = text()
    application_supported = flag()
    next_action = one(NextAction)


class Template(Record):
    """A prepared path to a first working model."""

    KIND = "template"
    WIRE = Wire("/v1/tenant-templates", "templates", "template_id")

    template_id = text()
    template_version = text()
    access_lane = text()
    eligible = flag()
    blockers = many(Blocker)
    alternative_plans = many(AlternativePlan)
    catalog_row = one(CatalogEntry)


class Qualification(Record):
    """Whether the organization may apply a plan."""

    state = text()
    next_action = one(NextAction)


class ByokSource(Record):
    """The customer's own source that a plan would use."""

    source_id = text()
    auth_scheme = text()
    model_key = text()
    served_variant_id = text()
    certification_id = text()


class StarterCredit(Record):
    """The available credit, in US dollars, and whether it covers the plan."""

    balance_usd = amount()
    funded_state = text()
    covers_maximum_spend = flag()


class Effect(Record):
    """One effect of applying a plan."""

    id = text()  # type: ignore[assignment]
    description = text()


class ManifestFile(Record):
    """A file that applying a plan would write."""

    path = text()
    kind = text()


class Plan(Record):
    """Effects and maximum cost of applying a template; making a plan writes nothing.

    ``maximum_spend_usd`` is the budget of the model plus the platform fee.
    """

    KIND = "plan"

    template_id = text()
    template_version = text()
    access_lane = text()
    eligible = flag()
    application_supported = flag()
    next_action = one(NextAction)
    request_preset_id = text()
    digest = text()
    issued_at = text()
    expires_at = moment()
    qualification = one(Qualification)
    blockers = many(Blocker)
    alternative_plans = many(AlternativePlan)
    byok_source = one(ByokSource)
    byok_offerings = many(ByokSource)
    request_policy = mapping()
    starter_credit = one(StarterCredit)
    maximum_spend_usd = amount()
    effects = many(Effect)
    file_manifest = many(ManifestFile)
    catalog_row = one(CatalogEntry)

    @property
    def is_blocked(self) -> bool:
        """Whether the service says, in either of two members, that the plan cannot be applied now."""
        return self.eligible is False or self.application_supported is False


class CompletedEffect(Record):
    """A completed effect of an application."""

    id = text()  # type: ignore[assignment]
    at = moment()


class ApplicationResult(Record):
    """Link to the result of the live proof."""

    execution_id = text()
    href = text()
    model_provenance = mapping()


class ApplicationReceipt(Record):
    """Link to the receipt; its id is that of the run."""

    receipt_id = text()
    href = text()


class Consent(Record):
    """A private page that the user has to complete; ``continue_url`` is a secret."""

    handoff_intent_id = text()
    continue_url = text()
    expires_at = moment()
    attempt = integer()


class LiveProof(Record):
    """The paid proof that the user has to authorize, by its digest."""

    digest = text()
    issued_at = text()
    expires_at = moment()


class Application(Record):
    """The durable application of a template, which can be resumed."""

    KIND = "application"
    WIRE = Wire("/v1/tenant-template-applications", "", "application_id")

    application_id = text()
    template_id = text()
    template_version = text()
    request_preset_id = text()
    state = text()
    next_action = one(NextAction)
    completed_effects = many(CompletedEffect)
    result = one(ApplicationResult)
    receipt = one(ApplicationReceipt)
    managed_arm_id = text()
    echo_execution_id = text()
    echo_receipt_id = text()
    live_execution_id = text()
    selected_model_deployment_id = text()
    source_connection_id = text()
    consent = one(Consent)
    live_proof = one(LiveProof)
    diagnostics = mapping()
    created_at = moment()
    updated_at = moment()


class Selection(Record):
    """The organization's default model, and the run that proved it."""

    KIND = "selection"
    WIRE = Wire("/v1/tenant-model-selection", "", "application_id")

    application_id = text()
    template_id = text()
    template_version = text()
    managed_arm_id = text()
    model_deployment_id = text()
    request_preset_id = text()
    request_policy = mapping()
    proof_execution_id = text()
    selected_at = moment()
    updated_at = moment()
