"""Saved models, agents and skills (API name: arm), and the outcome of saving one (manual: interface, "Arms")."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, flag, integer, mapping, moment, one, text, texts


class RouteAvailability(Record):
    """Why and since when the route of a saved model is not fully available."""

    status = text("status")
    reason = text("reason")
    since = moment("since")
    until = moment("until")


class AgentEndpoint(Record):
    """Address of an agent; ``auth_ref`` names a credential and never holds one."""

    url = text("url")
    auth_ref = text("auth_ref")


class AgentLifecycle(Record):
    """How an agent handles a job in progress; ``max_runtime_s`` in seconds."""

    long_running = flag("long_running")
    cancellable = flag("cancellable")
    max_runtime_s = integer("max_runtime_s")


class Arm(Record):
    """A registered option that runs may use: a model, an agent or a skill.

    ``status_reason`` and ``connection_*`` are open members of the local service.
    """

    KIND = "arm"
    WIRE = Wire("/v1/arms", "arms", "arm_id", paged=True, filters=("kind", "status"))

    arm_id = text("arm_id")
    kind = text("kind")
    display_name = text("display_name")
    status = text("status")
    status_reason = text("status_reason")
    capability_tags = texts("capability_tags")
    data_class_grants = texts("data_class_grants")
    cost_class = text("cost_class")
    provider = text("provider")
    model_id = text("model_id")
    model_deployment_id = text("model_deployment_id")
    model_lifecycle = text("model_lifecycle")
    credential_ref = text("credential_ref")
    connection_id = text("connection_id")
    connection_name = text("connection_name")
    endpoint = one(AgentEndpoint, "endpoint")
    lifecycle = one(AgentLifecycle, "lifecycle")
    artifact = mapping("artifact")
    artifact_hash = text("artifact_hash")
    route_availability = one(RouteAvailability, "route_availability")
    created_at = moment("created_at")
    updated_at = moment("updated_at")


class AgentPreflight(Record):
    """Whether an agent's endpoint responded at registration."""

    reachable = flag("reachable")
    reason_code = text("reason_code")
    http_status = integer("http_status")
    detail = text("detail")


class ArmOutcome(Record):
    """Outcome of saving an option; the option itself is read by its id."""

    KIND = "arm_outcome"

    arm_id = text("arm_id")
    status = text("status")
    status_reason = text("status_reason")
    preflight = one(AgentPreflight, "preflight")
    artifact_hash = text("artifact_hash")
