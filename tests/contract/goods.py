"""Requests that have to be done, one an operation that needs something to be there first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tests.contract.operation import Good, Make
from tests.contract.organization import AGENT_KEY, ENDPOINT_KEY, Json, Organization

Way = Callable[[Organization], Callable[[], Awaitable[Json]]]


def of(way: Way, parameter: str, body: Any = None, *, member: str = "", query: Mapping[str, str] | None = None) -> Make:
    """A request about something newly made: its id goes into the path."""

    async def make(organization: Organization) -> Good:
        made = await way(organization)()
        return Good({parameter: made[member or parameter]}, query or {}, body)

    return make


def of_one(way: Way, parameter: str, *, member: str = "") -> Make:
    """A request about something that no test changes: one is enough."""

    async def make(organization: Organization) -> Good:
        made = await organization.once(way(organization))
        return Good({parameter: made[member or parameter]})

    return make


def having(way: Way) -> Make:
    """A request for a list that has something in it."""

    async def make(organization: Organization) -> Good:
        await organization.once(way(organization))
        return Good()

    return make


def sending(body: Any) -> Make:
    async def make(_: Organization) -> Good:
        return Good(body=body)

    return make


async def submit(organization: Organization) -> Good:
    return Good(body=await organization.live_body())


async def list_proposals(organization: Organization) -> Good:
    await organization.once(organization.proposal)
    return Good()


async def period(_: Organization) -> Good:
    return Good(query={"period": "2026-11"})


async def report(organization: Organization) -> Good:
    """A report over everything that a live run, a test run and a decision have left."""
    await organization.once(organization.live_run)
    await organization.once(organization.echo_run)
    await organization.once(organization.proposal)
    return Good()


async def rename_tenant(organization: Organization) -> Good:
    account = await organization.get("/v1/account")
    return Good({"tenant_id": account["tenant_id"]}, body={"display_name": "Contract"})


async def register_arm(organization: Organization) -> Good:
    connection = await organization.once(organization.connection)
    body = {
        "kind": "model", "display_name": "Tiny", "model_deployment_id": connection["deployment"]["model_deployment_id"],
        "capability_tags": ["text.generate"], "data_class_grants": ["public"], "cost_class": "standard",
    }  # fmt: skip
    return Good(body=body)


async def quote(organization: Organization) -> Good:
    deployment = (await organization.once(organization.connection))["deployment"]
    size = {"input_tokens": 1000, "output_tokens": 200}
    return Good(body={"model_deployment_id": deployment["model_deployment_id"], **size})


async def deployment(organization: Organization) -> Good:
    made = (await organization.once(organization.connection))["deployment"]
    return Good({"model_deployment_id": made["model_deployment_id"]})


async def register_verifier(organization: Organization) -> Good:
    return Good(body=organization.verifier_body())


async def change_verifier(organization: Organization) -> Good:
    verifier = await organization.verifier()
    body = {
        "display_name": "Other notes",
        "version": "1.1.0",
        "endpoint": {"url": organization.check_url, "auth_ref": ""},
        "correctness_declaration": {"method": "deterministic"},
    }
    return Good({"verifier_id": verifier["verifier_id"]}, body=body)


async def test_verifier_key(organization: Organization) -> Good:
    verifier = await organization.verifier()
    path = f"/v1/verifiers/{verifier['verifier_id']}/connection-intents"
    staged = await organization.staged(path, ENDPOINT_KEY)
    return Good({"verifier_id": verifier["verifier_id"]}, body=staged)


async def revoke_verifier_key(organization: Organization) -> Good:
    verifier = await organization.check()
    return Good({"verifier_id": verifier["verifier_id"]}, body={"operation_key": organization.fresh("stop")})


async def begin_handoff(organization: Organization) -> Good:
    price = {"input_usd_per_million": "0.10", "output_usd_per_million": "0.40"}
    endpoint = {"base_url": "http://127.0.0.1:9/v1", "protocol_profile": "openai_chat", "prices": {"*": price}}
    return Good(body={"source_id": "openai_compatible", "auth_scheme": "api_key", "endpoint": endpoint})


async def connect_source(organization: Organization) -> Good:
    handoff = await organization.handoff()
    members = ("source_id", "auth_scheme", "handoff_intent_id", "source_scope")
    return Good(body={"display_name": organization.fresh("Lab"), **{name: handoff[name] for name in members}})


async def rotate(organization: Organization) -> Good:
    connection, handoff = await organization.connection(), await organization.handoff()
    return Good(
        {"connection_id": connection["connection_id"]}, body={"handoff_intent_id": handoff["handoff_intent_id"]}
    )


async def plan(organization: Organization) -> Good:
    await organization.once(organization.connection)
    return Good(body={"template_id": "byok-open-model"})


async def apply(organization: Organization) -> Good:
    await organization.once(organization.connection)
    more = {"application_key": organization.fresh("apply"), "write": False}
    return Good(body={**await organization.plan(), **more})


async def look_up_application(organization: Organization) -> Good:
    await organization.once(organization.ready_application)
    return Good(query={"template_id": "byok-open-model", "idempotency_key": "nobody"})


async def resume(organization: Organization) -> Good:
    application = await organization.application()
    proof = {"action": "authorize_live_proof", "live_proof_digest": application["live_proof"]["digest"]}
    return Good({"application_id": application["application_id"]}, body=proof)


async def select(organization: Organization) -> Good:
    application = await organization.once(organization.ready_application)
    return Good(body={"application_id": application["application_id"]})


async def read_selection(organization: Organization) -> Good:
    application = await organization.once(organization.ready_application)
    await organization.post("/v1/tenant-model-selection", {"application_id": application["application_id"]})
    return Good()


async def add_webhook(organization: Organization) -> Good:
    return Good(body={"url": organization.hook_url, "event_types": ["execution.completed", "execution.failed"]})


async def deliveries(organization: Organization) -> Good:
    delivery = await organization.once(organization.delivery)
    # Another test may have had it replayed, and that delivery changes until it has arrived.
    await organization.delivered(delivery["webhook_id"])
    return Good({"webhook_id": delivery["webhook_id"]})


async def register_agent(organization: Organization) -> Good:
    return Good(body=await organization.agent_body())


async def test_agent_key(organization: Organization) -> Good:
    agent = await organization.agent()
    path = f"/v1/review-composer/agents/{agent['arm_id']}/connection/intents"
    return Good({"arm_id": agent["arm_id"]}, body=await organization.staged(path, AGENT_KEY))


async def revoke_agent_key(organization: Organization) -> Good:
    agent = await organization.connected_agent()
    return Good({"arm_id": agent["arm_id"]}, body={"operation_key": organization.fresh("stop")})


async def connected_repository(organization: Organization) -> Good:
    await organization.once(organization.repository)
    return Good()


async def sign_in(organization: Organization) -> Good:
    return Good(body={"key": organization.key})


async def _intent(organization: Organization) -> Good:
    verifier = await organization.verifier()
    path = f"/v1/verifiers/{verifier['verifier_id']}/connection-intents"
    intent = await organization.post(path, {"stop_choice": {"kind": "no_expiration"}})
    token = intent["continue_url"].partition("intent=")[2]
    organization.secrets.add(token)
    return Good({"kind": "verifier"}, {"intent": token})


async def show_page(organization: Organization) -> Good:
    return await _intent(organization)


async def enter_secret(organization: Organization) -> Good:
    good = await _intent(organization)
    return Good(good.ids, good.query, {"secret": ENDPOINT_KEY})
