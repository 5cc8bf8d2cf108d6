"""Bodies for tenant templates: plans, applications, the model selection (manual: interface, "Tenant templates")."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator

from runwatch.records.requests.body import OpenBody

TEMPLATES: Final = ("starter", "pooled-open-model", "byok-open-model")

Word = Annotated[str, Field(min_length=1, max_length=255)]


class ByokOffering(OpenBody):
    """A model as one source serves it to a customer's own account."""

    source_id: Word
    auth_scheme: Word
    served_variant_id: Word


class PlanRequest(OpenBody):
    """The body of ``POST /v1/tenant-template-plans``.

    Attributes:
        template_id: The template; by default ``byok-open-model`` if a model is named, else ``starter``.
        model_deployment_id: The deployment to use, for ``byok-open-model``.
        byok_offering: The model to connect, for ``byok-open-model``.
    """

    template_id: Literal["starter", "pooled-open-model", "byok-open-model"] | None = None
    model_deployment_id: Word | None = None
    byok_offering: ByokOffering | None = None

    @field_validator("byok_offering")
    @classmethod
    def _one_way_to_name_the_model(cls, value: ByokOffering | None, info: Any) -> ByokOffering | None:
        if value is not None and info.data.get("model_deployment_id") is not None:
            raise ValueError("name the model by model_deployment_id or by byok_offering, not by both")
        return value

    @property
    def template(self) -> str:
        """The template, with the default applied."""
        if self.template_id is not None:
            return self.template_id
        return "starter" if self.model_deployment_id is None and self.byok_offering is None else "byok-open-model"


class ApplicationRequest(PlanRequest):
    """The body of ``POST /v1/tenant-template-applications``: the reviewed plan, by its digest.

    Attributes:
        issued_at: The plan's own time of issue.
        application_key: Identifies the application for a later lookup; the request's idempotency key by default.
        write: Whether the client writes files of the plan; it has no effect here.
    """

    digest: Word
    issued_at: Word
    application_key: Word | None = None
    write: bool | None = None


class ResumeRequest(OpenBody):
    """The body of ``POST /v1/tenant-template-applications/{application_id}/resume``."""

    action: Literal[
        "poll_consent",
        "retry_consent",
        "retry_connection_test",
        "retry_deployment_sync",
        "authorize_live_proof",
        "refresh_pool_readiness",
        "refresh_byok_readiness",
    ]
    live_proof_digest: Word | None = None


class SelectionRequest(OpenBody):
    """The body of ``POST /v1/tenant-model-selection``."""

    application_id: Word
