"""Saved models, agents and skills (API name: arm), and the outcome of saving one (manual: interface, "Arms")."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, flag, integer, mapping, moment, one, text, texts


class RouteAvailability(Record):
    """Why and since when the route of a saved model is not fully available."""

    status = text()
    reason = text()
    since = moment()
    until = moment()


class AgentEndpoint(Record):
    """Address of an agent; ``auth_ref`` names a credential and never holds one."""

    url = text()
    auth_ref = text()


class AgentLifecycle(Record):
    """How an agent handles a job in progress; ``max_runtime_s`` in seconds."""

    long_running = flag()
    cancellable = flag()
    max_runtime_s = integer()


class Arm(Record):
    """A registered option that runs may use: a model, an agent or a skill.

    ``status_reason`` and ``connection_*`` are open members of the local service.
    """

    KIND = "arm"
    WIRE = Wire("/v1/arms", "arms", "arm_id", paged=True, filters=("kind", "status"))

    arm_id = text()
    kind = text()
    display_name = text()
    status = text()
    status_reason = text()
    capability_tags = texts()
    data_class_grants = texts()
    cost_class = text()
    provider = text()
    model_id = text()
    model_deployment_id = text()
    model_lifecycle = text()
    credential_ref = text()
    connection_id = text()
    connection_name = text()
    endpoint = one(AgentEndpoint)
    lifecycle = one(AgentLifecycle)
    artifact = mapping()
    artifact_hash = text()
    route_availability = one(RouteAvailability)
    created_at = moment()
    updated_at = moment()


class AgentPreflight(Record):
    """Whether an agent's endpoint responded at registration."""

    reachable = flag()
    reason_code = text()
    http_status = integer()
    detail = text()


class ArmOutcome(Record):
    """Outcome of saving an option; the option itself is read by its id."""

    KIND = "arm_outcome"

    arm_id = text()
    status = text()
    status_reason = text()
    preflight = one(AgentPreflight)
    artifact_hash = text()
