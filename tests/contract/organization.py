"""An organization that has one of everything, made over HTTP alone, so that any service of the interface can have it.

What changes when it is used is made for each test; what is only read is made once.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import httpx

Json = dict[str, Any]
T = TypeVar("T")

PROVIDER_KEY: Final = "sk-contract-sentinel-7d0e41a6"
ENDPOINT_KEY: Final = "contract-endpoint-sentinel-58c3"
AGENT_KEY: Final = "contract-agent-sentinel-0b92"
WAIT_S: Final = 60.0
"""How long something may take on a busy machine before it counts as missing."""

_NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing is called but this machine; the certificates of the world take a tenth of a second a client to load."""

SKILL: Final = "Write plainly.\n[[region:tone]]\nBe brief.\n[[/region:tone]]"

PRICES: Final[Json] = {"*": {"input_usd_per_million": "1", "output_usd_per_million": "2"}}
"""What every model costs; without a price a budget permits one call."""

ARTIFACT: Final[Json] = {"content": SKILL, "version": "1", "editable_regions": ["tone"]}
"""The skill as it is before any repair."""


class Organization:
    """The organization of an owner's key.

    Args:
        base_url: The service.
        key: The owner's key.
        models_url: A server whose model answers, with :data:`PROVIDER_KEY` alone.
        silent_url: A server whose model never answers, for runs that stay under way.
        check_url: A check that accepts every output, with :data:`ENDPOINT_KEY` alone.
        strict_check_url: A check that rejects outputs until the skill is repaired.
        agent_url: A review agent that takes :data:`AGENT_KEY` alone.
        hook_url: Takes the deliveries of webhooks.

    Attributes:
        http: A client with the owner's key.
        reader: A client with a reader's key of the same organization.
        stranger: A client with the owner's key of another organization.
        secrets: Every secret that was sent or told, addresses of private pages included.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        models_url: str,
        silent_url: str,
        check_url: str,
        strict_check_url: str,
        agent_url: str,
        hook_url: str,
    ) -> None:
        self.base_url: Final = base_url
        self.key: Final = key
        self.http: Final = self._client(key)
        self.reader = self.stranger = self.http
        self.secrets: Final = {key, PROVIDER_KEY, ENDPOINT_KEY, AGENT_KEY}
        self.check_url: Final = check_url
        self.agent_url: Final = agent_url
        self.hook_url: Final = hook_url
        self._models_url, self._silent_url, self._strict_check_url = models_url, silent_url, strict_check_url
        self._numbers: Final = itertools.count(1)
        self._made: Final[dict[str, Any]] = {}
        self._person: Final = self._client()
        self._clients = contextlib.AsyncExitStack()

    def _client(self, key: str = "") -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.AsyncClient(base_url=self.base_url, headers=headers, timeout=WAIT_S, verify=_NO_TLS)

    async def __aenter__(self) -> Organization:
        """Open the clients and make the reader's key and the other organization."""
        await self._clients.enter_async_context(self.http)
        await self._clients.enter_async_context(self._person)
        minted = await self.post("/v1/api-keys", {"display_name": "Reader", "role": "reader"})
        other = await self.post("/v1/tenants", {"display_name": "Others"})
        self.secrets.update((minted["key"], other["api_key"]["key"]))
        self.reader = await self._clients.enter_async_context(self._client(minted["key"]))
        self.stranger = await self._clients.enter_async_context(self._client(other["api_key"]["key"]))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._clients.aclose()

    def fresh(self, word: str = "contract") -> str:
        """A text that was not given before; the same ones in every run of the tests."""
        return f"{word}-{next(self._numbers)}"

    async def post(self, path: str, body: Any = None, *, status: int = 200) -> Json:
        answer = await self.http.post(path, json=body, headers={"Idempotency-Key": self.fresh()})
        assert answer.status_code == status, f"{path}: {answer.text}"
        return dict(answer.json())

    async def get(self, path: str, **query: str) -> Json:
        answer = await self.http.get(path, params=query)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        return dict(answer.json())

    async def once(self, make: Callable[[], Awaitable[T]]) -> T:
        """What a method makes, made the first time that it is asked for."""
        name = make.__name__
        if name not in self._made:
            self._made[name] = await make()
        made: T = self._made[name]
        return made

    async def until(self, path: str, is_so: Callable[[Json], bool]) -> Json:
        """Read a record again and again until it is as expected."""
        record: Json = {}
        try:
            async with asyncio.timeout(WAIT_S):
                while not is_so(record := await self.get(path)):
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{path} stays {record}") from None
        return record

    async def type_secret(self, intent: Json, secret: str) -> Json:
        """Type a secret on the private page of an intent, without a key."""
        self.secrets.add(intent["continue_url"].partition("intent=")[2])
        answer = await self._person.post(intent["continue_url"], json={"secret": secret})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    # Sources and models

    async def handoff(self, base_url: str | None = None) -> Json:
        body = {
            "source_id": "openai_compatible",
            "auth_scheme": "api_key",
            "endpoint": {"base_url": base_url or self._models_url, "prices": PRICES},
        }
        begun = await self.post("/v1/source-credential-handoffs", body, status=201)
        await self.type_secret(begun, PROVIDER_KEY)
        return await self.get(f"/v1/source-credential-handoffs/{begun['handoff_intent_id']}")

    async def connection(self, base_url: str | None = None) -> Json:
        """A new connection that has passed its test and has taken over the source's models."""
        handoff = await self.handoff(base_url)
        members = ("source_id", "auth_scheme", "handoff_intent_id", "source_scope")
        body = {"display_name": self.fresh("Lab"), **{name: handoff[name] for name in members}}
        connection = await self.post("/v1/source-connections", body)
        path = f"/v1/source-connections/{connection['connection_id']}"
        await self.post(f"{path}/test")
        (deployment,) = (await self.post(f"{path}/deployments/sync", {}))["deployments"]
        return {**connection, "deployment": deployment}

    async def silent_connection(self) -> Json:
        """The connection to the model that never answers."""
        return await self.connection(self._silent_url)

    async def arm(self, connection: Json | None = None) -> Json:
        """A new saved model."""
        if connection is None:
            connection = await self.once(self.connection)
        body = {
            "kind": "model",
            "display_name": self.fresh("Model"),
            "model_deployment_id": connection["deployment"]["model_deployment_id"],
            "capability_tags": ["text.generate"],
            "data_class_grants": ["public"],
            "cost_class": "standard",
        }
        return await self.post("/v1/arms", body)

    async def saved(self) -> Json:
        """The saved model that no test changes."""
        return await self.arm()

    async def silent_arm(self) -> Json:
        """The saved model that never answers."""
        return await self.arm(await self.once(self.silent_connection))

    async def skill(self) -> Json:
        body = {
            "kind": "skill", "display_name": "Plain words", "capability_tags": ["text.generate"],
            "data_class_grants": ["public"], "artifact": ARTIFACT,
        }  # fmt: skip
        return await self.post("/v1/arms", body)

    # Output checks

    async def verifier(self, url: str | None = None) -> Json:
        """A new output check."""
        return await self.post("/v1/verifiers", self.verifier_body(url))

    async def check(self) -> Json:
        """The output check that no test changes, with its key in use."""
        verifier = await self.verifier()
        path = f"/v1/verifiers/{verifier['verifier_id']}"
        await self.post(f"{path}/connection/test", await self.staged(f"{path}/connection-intents", ENDPOINT_KEY))
        return verifier

    def verifier_body(self, url: str | None = None) -> Json:
        """What registers an output check."""
        return {
            "display_name": "Release notes",
            "version": "1.0.0",
            "kind": "endpoint",
            "endpoint": {"url": url or self.check_url, "auth_ref": ""},
            "input_data_classes": ["public"],
            "scoring": {"correctness": "boolean_anchors", "quality": "scalar_0_1"},
            "correctness_declaration": {"method": "deterministic"},
        }

    async def staged(self, path: str, secret: str) -> Json:
        """A key that waits for its test, as the body of that test."""
        intent = await self.post(path, {"stop_choice": {"kind": "preset_days", "days": 30}})
        return {**await self.type_secret(intent, secret), "operation_key": intent["intent_id"]}

    # Runs

    async def live_body(self, **more: Any) -> Json:
        """The body that submits a live run with every option."""
        return {
            "mode": "live",
            "task": {"objective": "Say hello.", "inputs_ref": {"kind": "inline_json", "json": {"name": "Ada"}}},
            "policy": {
                "data_classes": ["public"],
                "budget": {"max_cost_usd": 0.25, "max_runtime_s": 86400},
                "cost_coefficient": 0.5,
                "on_eval": ["gate"],
            },
            "verifier_id": (await self.once(self.check))["verifier_id"],
            "routing": {"required_arm_id": (await self.once(self.saved))["arm_id"]}, "compose": "auto", **more,
        }  # fmt: skip

    async def submit(self, body: Json) -> Json:
        """A run that was accepted."""
        return await self.post("/v1/executions", body)

    async def finished(self, run: Json) -> Json:
        final = {"completed", "failed", "cancelled", "expired"}
        return await self.until(f"/v1/executions/{run['execution_id']}", lambda record: record["status"] in final)

    async def live_run(self) -> Json:
        run = await self.finished(await self.submit(await self.live_body()))
        assert run["status"] == "completed", run
        return run

    async def echo_run(self) -> Json:
        policy = {"data_classes": ["public"], "budget": {"max_cost_usd": 0.1, "max_runtime_s": 60}}
        body = {"mode": "echo", "task": {"objective": "Say hello."}, "policy": policy}
        return await self.finished(await self.submit(body))

    async def run_under_way(self) -> Json:
        """A new run that never ends by itself."""
        arm = await self.once(self.silent_arm)
        body = await self.live_body(routing={"required_arm_id": arm["arm_id"]})
        del body["verifier_id"], body["policy"]["on_eval"]
        return await self.submit(body)

    async def proposal(self) -> Json:
        """A new pending proposal, of a skill that a run has repaired."""
        skill = await self.once(self.skill)
        # An approval may have repaired it in the meantime.
        answer = await self.http.patch(f"/v1/arms/{skill['arm_id']}", json={"artifact": ARTIFACT})
        assert answer.status_code == 200, answer.text
        verifier = await self.once(self.strict_check)
        body = await self.live_body(verifier_id=verifier["verifier_id"])
        body["policy"]["on_eval"] = ["repair_retry"]
        run = await self.finished(await self.submit(body))
        receipt = await self.get(f"/v1/receipts/{run['execution_id']}")
        return await self.get(f"/v1/proposals/{receipt['slices'][0]['acted_on_eval']['proposal_id']}")

    async def strict_check(self) -> Json:
        """The output check that rejects outputs until the skill is repaired."""
        return await self.verifier(self._strict_check_url)

    # Templates

    async def plan(self) -> Json:
        """A new plan, as what is sent to apply it."""
        plan = await self.post("/v1/tenant-template-plans", {"template_id": "byok-open-model"})
        return {name: plan[name] for name in ("template_id", "digest", "issued_at")}

    async def application(self) -> Json:
        """A new application of the template with a model, which waits for the permission to spend."""
        await self.once(self.connection)
        begun = await self.post(
            "/v1/tenant-template-applications", {**await self.plan(), "application_key": self.fresh()}
        )
        return await self.until(self.application_path(begun), lambda record: record["state"] == "echo_proved")

    async def ready_application(self) -> Json:
        """An application whose model has passed its live proof."""
        # The newest model is taken, and the one before may be silent.
        await self.connection()
        application = await self.application()
        proof = {"action": "authorize_live_proof", "live_proof_digest": application["live_proof"]["digest"]}
        await self.post(f"{self.application_path(application)}/resume", proof)
        return await self.until(self.application_path(application), lambda record: record["state"] == "ready")

    @staticmethod
    def application_path(application: Json) -> str:
        return f"/v1/tenant-template-applications/{application['application_id']}"

    # Keys, webhooks, review agents

    async def api_key(self) -> Json:
        minted = await self.post("/v1/api-keys", {"display_name": "Laptop", "role": "runner"})
        self.secrets.add(minted["key"])
        return minted

    async def webhook(self, event_type: str = "execution.completed") -> Json:
        body = {"url": self.hook_url, "event_types": [event_type]}
        added = await self.post("/v1/webhooks", body)
        self.secrets.add(added["secret"])
        return added

    async def delivery(self) -> Json:
        """A delivery that has arrived.

        Runs are cancelled by requests alone. A run that completes in the background would add a delivery to the list
        while a test reads it page by page.
        """
        webhook = await self.webhook("execution.cancelled")
        run = await self.run_under_way()
        await self.post(f"/v1/executions/{run['execution_id']}/cancel")
        return (await self.delivered(webhook["webhook_id"]))[-1]

    async def delivered(self, webhook_id: str) -> list[Json]:
        """The deliveries to a webhook, newest first, once all of them have arrived."""
        path = f"/v1/webhooks/{webhook_id}/deliveries"

        def is_at_rest(page: Json) -> bool:
            listed = page["deliveries"]
            return bool(listed) and all(each["status"] == "delivered" for each in listed)

        return list((await self.until(path, is_at_rest))["deliveries"])

    async def repository(self) -> str:
        """A repository that is recorded as connected."""
        intent = await self.post("/v1/github-connections/intents", {"repository": "acme/widgets"})
        self.secrets.add(intent["continue_url"].partition("intent=")[2])
        answer = await self.http.post(intent["continue_url"], json={})
        assert answer.status_code == 200, answer.text
        return "acme/widgets"

    async def agent_body(self) -> Json:
        return {
            "repository": await self.once(self.repository), "display_name": "Patch agent",
            "endpoint": {"url": self.agent_url, "auth_ref": ""}, "max_runtime_s": 600,
        }  # fmt: skip

    async def agent(self) -> Json:
        return await self.post("/v1/review-composer/agents", await self.agent_body())

    async def connected_agent(self) -> Json:
        """A new review agent with its key in use."""
        agent = await self.agent()
        path = f"/v1/review-composer/agents/{agent['arm_id']}/connection"
        await self.post(f"{path}/test", await self.staged(f"{path}/intents", AGENT_KEY))
        return agent
