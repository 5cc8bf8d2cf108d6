"""Steps that tests of sources, models and options have in common: from a server's address to what can be saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from tests.service.conftest import Json, Local
from tests.support.model_server import ModelServer

SECRET = "sk-sentinel-2f6d1c0b9a87"


@dataclass(frozen=True, slots=True)
class Saved:
    """A tested and synced connection.

    Attributes:
        connection: The connection.
        deployments: What it serves, by the model's name at the source.
    """

    connection: Json
    deployments: dict[str, Json]

    @property
    def path(self) -> str:
        return f"/v1/source-connections/{self.connection['connection_id']}"


async def post(local: Local, path: str, body: Any = None, *, key: str | None = None, status: int = 200) -> Json:
    headers = {"Idempotency-Key": key} if key else {}
    answer = await local.http.post(path, json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def begin(local: Local, base_url: str, *, keyless: bool = False, **endpoint: Any) -> Json:
    """Begin a handoff for a server with the OpenAI interface."""
    scheme = "none" if keyless else "api_key"
    body = {"source_id": "openai_compatible", "auth_scheme": scheme, "endpoint": {"base_url": base_url, **endpoint}}
    return await post(local, "/v1/source-credential-handoffs", body, status=201)


async def enter(continue_url: str, secret: str = SECRET) -> httpx.Response:
    """Enter a secret on its private page, as the user without an API key does."""
    async with httpx.AsyncClient(timeout=30) as person:
        return await person.post(continue_url, json={"secret": secret})


async def completed(local: Local, base_url: str, *, secret: str | None = SECRET, **endpoint: Any) -> Json:
    """A completed handoff; without a secret, of a server that asks for none."""
    handoff = await begin(local, base_url, keyless=secret is None, **endpoint)
    if secret is not None:
        answer = await enter(handoff["continue_url"], secret)
        assert answer.status_code == 200, answer.text
    return await local.get(f"/v1/source-credential-handoffs/{handoff['handoff_intent_id']}")


def connection_body(handoff: Json, **more: Any) -> Json:
    """The body that connects a source with a completed handoff."""
    return {
        "display_name": "Lab", "source_id": handoff["source_id"], "auth_scheme": handoff["auth_scheme"],
        "handoff_intent_id": handoff["handoff_intent_id"], "source_scope": handoff["source_scope"], **more,
    }  # fmt: skip


async def connect(
    local: Local, base_url: str, *, secret: str | None = SECRET, name: str = "Lab", **endpoint: Any
) -> Json:
    """A new connection without a test."""
    handoff = await completed(local, base_url, secret=secret, **endpoint)
    return await post(local, "/v1/source-connections", connection_body(handoff, display_name=name))


async def save(
    local: Local, server: ModelServer, *, secret: str | None = SECRET, name: str = "Lab", **endpoint: Any
) -> Saved:
    """A connection that was tested and has taken over the server's models."""
    connection = await connect(local, server.base_url, secret=secret, name=name, **endpoint)
    path = f"/v1/source-connections/{connection['connection_id']}"
    tested = await post(local, f"{path}/test")
    assert tested["usable"], tested
    return Saved(tested, await sync(local, path))


async def save_sample(local: Local, source_id: str) -> Saved:
    """The same for a sample source, on a service that was started with them."""
    body = {"source_id": source_id, "auth_scheme": "none"}
    handoff = await post(local, "/v1/source-credential-handoffs", body, status=201)
    connection = await post(local, "/v1/source-connections", connection_body(handoff))
    path = f"/v1/source-connections/{connection['connection_id']}"
    tested = await post(local, f"{path}/test")
    assert tested["usable"], tested
    return Saved(tested, await sync(local, path))


async def sync(local: Local, path: str) -> dict[str, Json]:
    """Take over a server's models; by their names."""
    found = (await post(local, f"{path}/deployments/sync", {}))["deployments"]
    return {deployment["upstream_ref"]: deployment for deployment in found}


async def model_arm(local: Local, deployment: Json, **more: Any) -> Json:
    body = {
        "kind": "model", "display_name": "Tiny", "model_deployment_id": deployment["model_deployment_id"],
        "capability_tags": ["text.generate"], "data_class_grants": ["public"], **more,
    }  # fmt: skip
    return await post(local, "/v1/arms", body)
