"""What tests of live runs need: scripted providers and checks, and organizations that have models and checks."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.service.checks.evaluation import Evaluation
from runwatch.service.ids import new_id
from runwatch.service.models.arms import artifact_hash
from runwatch.service.models.providers.types import Generation, Prompt, ProviderAddress, ProviderError
from runwatch.service.tables import arms_table, connections_table, deployments_table, verifiers_table
from runwatch.service.transaction import Row, Transaction
from tests.service.conftest import Json, Local, Serving

ACCEPTED = Evaluation("valid_verdict", is_correct=True, quality_score=0.86, anchor_results={"five_bullets": True})
REJECTED = Evaluation("valid_verdict", is_correct=False, quality_score=0.31, anchor_results={"five_bullets": False})
UNAVAILABLE = Evaluation("technical_failure", "timeout")


def said(
    text: str = "Five points.", usd: str | None = "0.0071", tokens: tuple[int, int] | None = (915, 206)
) -> Generation:
    """What a model puts out."""
    read, written = tokens if tokens is not None else (None, None)
    return Generation(text, read, written, None if usd is None else Decimal(usd), "served-by", "req_88")


def failure(kind: str, *, was_sent: bool = True, **more: Any) -> ProviderError:
    """A call without a usable answer."""
    return ProviderError(kind, was_sent=was_sent, **more)


@dataclass(slots=True)
class Called:
    address: ProviderAddress
    model: str
    objective: str
    inputs: Any
    timeout_s: float


@dataclass(slots=True)
class FakeProviders:
    """Answers calls by script, one step for each call of a model; without a step it answers :func:`said`.

    A step is what is answered or raised, or an event that the call waits for before it answers.

    Attributes:
        calls: Every call, in order.
        hung_up: How many calls the caller gave up.
        begun: Set with every call.
    """

    calls: list[Called] = field(default_factory=list)
    hung_up: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    _steps: defaultdict[str, deque[Any]] = field(default_factory=lambda: defaultdict(deque))

    def script(self, model: str, *steps: Any) -> None:
        """What the next calls of a model meet."""
        self._steps[model].extend(steps)

    async def generate(self, address: ProviderAddress, prompt: Prompt) -> Generation:
        """Take the model's next step."""
        assert prompt.max_output_tokens is None
        self.calls.append(Called(address, prompt.model, prompt.objective, prompt.inputs, prompt.timeout_s))
        self.begun.set()
        steps = self._steps[prompt.model]
        step = steps.popleft() if steps else said()
        if isinstance(step, asyncio.Event):
            try:
                await step.wait()
            except asyncio.CancelledError:
                self.hung_up += 1
                raise
            step = said()
        if callable(step):
            step = step()
        if isinstance(step, Exception):
            raise step
        assert isinstance(step, Generation)
        return step


@dataclass(slots=True)
class FakeJudge:
    """Answers evaluations by script, in order; accepts when the script is over.

    Attributes:
        steps: What the next evaluations meet: an evaluation, an error, or an event to wait for.
        candidates: Every candidate it was given.
        begun: Set with every evaluation.
    """

    steps: deque[Any] = field(default_factory=deque)
    candidates: list[str] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    def script(self, *steps: Any) -> None:
        """What the next evaluations meet."""
        self.steps.extend(steps)

    async def __call__(self, *parts: Any) -> Evaluation:
        """Take the next step; the last part is the candidate."""
        self.candidates.append(parts[-1])
        self.begun.set()
        step = self.steps.popleft() if self.steps else ACCEPTED
        if isinstance(step, asyncio.Event):
            await step.wait()
            step = ACCEPTED
        if isinstance(step, Exception):
            raise step
        assert isinstance(step, Evaluation)
        return step


def add_model(
    transaction: Transaction,
    tenant_id: str,
    model: str,
    *,
    cost_class: str | None = "standard",
    grants: tuple[str, ...] = ("public",),
    source_kind: str = "publisher_direct",
) -> str:
    """Save a model that is served by its own connection, and return the arm's id."""
    now = format_iso(transaction.now)
    connection_id, deployment_id = new_id("conn", transaction.now), new_id("mdep", transaction.now)
    arm_id = new_id("arm", transaction.now)
    transaction.add(
        connections_table, connection_id=connection_id, tenant_id=tenant_id, source_id="northwind_direct",
        display_name=model, auth_scheme="none", auth_binding_ref="bind_1",
        source_scope={"kind": "account", "account_ref": "a"},
        endpoint={
            "base_url": "http://127.0.0.1:9/v1", "protocol_profile": "openai_chat", "prices": {},
            "source_kind": source_kind,
        },
        status="active", binding_revision=1, tested_binding_revision=1, test_state="passed", created_at=now,
        updated_at=now,
    )  # fmt: skip
    transaction.add(
        deployments_table, model_deployment_id=deployment_id, tenant_id=tenant_id, connection_id=connection_id,
        source_id="northwind_direct", model_key=f"northwind/{model}", served_variant_id=f"sv_{model}",
        upstream_ref=model, release_assurance="unknown", protocol_profile="openai_chat", location="eu", route="direct",
        fallback_policy="none", pricing_basis="source_reported", data_classes=list(grants),
        definition={
            "model_key": f"northwind/{model}", "publisher_id": "northwind", "family": "ember", "release": "2026-05",
            "capabilities": ["text.generate"], "lifecycle": "active",
            "release_license": {"identifier": "apache-2.0", "commercial_use": "allowed", "evidence_ref": None},
        },
        status="listed", created_at=now, updated_at=now,
    )  # fmt: skip
    _add_arm(
        transaction, tenant_id, arm_id, "model", grants, cost_class=cost_class, model_deployment_id=deployment_id,
        provider="northwind_direct", model_id=model,
    )  # fmt: skip
    return arm_id


SKILL = "Write plainly.\n[[region:tone]]\nBe brief.\n[[/region:tone]]\nNo jargon."


def add_skill(transaction: Transaction, tenant_id: str, content: str = SKILL) -> str:
    """Save a skill and return the arm's id."""
    arm_id = new_id("arm", transaction.now)
    artifact = {"content": content, "version": "1", "editable_regions": ["tone"]}
    _add_arm(
        transaction, tenant_id, arm_id, "skill", ("public",), artifact=artifact, artifact_hash=artifact_hash(content)
    )
    return arm_id


def _add_arm(
    transaction: Transaction, tenant_id: str, arm_id: str, kind: str, grants: tuple[str, ...], **more: Any
) -> None:
    transaction.add(
        arms_table, arm_id=arm_id, tenant_id=tenant_id, kind=kind, display_name=arm_id, status="ready",
        capability_tags=["text.generate"], data_class_grants=list(grants), created_at=format_iso(transaction.now),
        updated_at=format_iso(transaction.now), **more,
    )  # fmt: skip


def add_verifier(transaction: Transaction, tenant_id: str, *, data_classes: tuple[str, ...] = ("public",)) -> str:
    """Register an output check, with declared correctness, and return its id."""
    verifier_id = new_id("vrf", transaction.now)
    transaction.add(
        verifiers_table, verifier_id=verifier_id, tenant_id=tenant_id, display_name="Check", version="1",
        endpoint={"url": "https://checks.example.test/", "auth_ref": ""}, input_data_classes=list(data_classes),
        scoring={"correctness": "boolean_anchors", "quality": "scalar_0_1"}, declared_at=format_iso(transaction.now),
        hash="sha256:aa11", revision=3, status="ready", created_at=format_iso(transaction.now),
        updated_at=format_iso(transaction.now),
    )  # fmt: skip
    return verifier_id


@dataclass(slots=True)
class LiveWork:
    """A service with scripted providers and checks.

    Attributes:
        service: The service.
        providers: Its providers.
        judge: Takes the place of every output check.
    """

    service: Local
    providers: FakeProviders
    judge: FakeJudge

    async def tenant(self) -> str:
        """The owner's organization."""
        return str((await self.service.get("/v1/account"))["tenant_id"])

    async def having(self, make: Callable[..., str], *parts: Any, **named: Any) -> str:
        """Have something made in the owner's organization and return its id."""
        tenant_id = await self.tenant()
        return await self.service.context.database.write(lambda t: make(t, tenant_id, *parts, **named))

    async def change(self, table: Any, where: dict[str, Any], **values: Any) -> None:
        """Change rows behind the service's back."""
        await self.service.context.database.write(lambda t: t.change(table, where, **values))

    async def rows(self, table: Any, **where: Any) -> list[Row]:
        return list(await self.service.context.database.read(lambda t: t.list_all(table, where)))

    async def done(self, body: Json) -> Json:
        """Submit a run and return it once it is final."""
        return await self.service.finished((await self.service.submit(body))["execution_id"])

    async def receipt(self, run: Json) -> Json:
        return await self.service.get(f"/v1/receipts/{run['execution_id']}")


def live_body(
    on_eval: list[str] | None = None, *, verifier_id: str | None = None, arm_id: str | None = None, **budget: float
) -> Json:
    """A live run's request."""
    policy: Json = {"data_classes": ["public"], "budget": {"max_cost_usd": 0.25, "max_runtime_s": 60, **budget}}
    if on_eval is not None:
        policy["on_eval"] = on_eval
    inputs = {"kind": "inline_json", "json": {"notes": "sentinel-inputs"}}
    body: Json = {
        "mode": "live",
        "task": {"objective": "sentinel-objective", "inputs_ref": inputs},
        "policy": policy,
    }
    if verifier_id is not None:
        body["verifier_id"] = verifier_id
    if arm_id is not None:
        body["routing"] = {"required_arm_id": arm_id}
    return body


def in_short(events: list[Json]) -> list[str]:
    """Events as short texts: ``slice`` where they belong to one, then the state and reason, or the payload."""
    return [" ".join(_words(event)) for event in events]


def _words(event: Json) -> list[str]:
    place = ["slice"] if "slice_id" in event else []
    if event["type"] == "lifecycle":
        return [*place, event["state"], *([event["reason"]] if "reason" in event else [])]
    if event["type"] == "recorded_check":
        return [*place, event["recorded_check"]["state"]]
    check = event["verification_check"]
    return [*place, "check", str(check["attempt"]), check["phase"], str(check["is_correct"])]


def only_slice(receipt: Json) -> Json:
    (part,) = receipt["slices"]
    return dict(part)


def outcomes(receipt: Json) -> list[tuple[str, str]]:
    """Phases and outcomes of a receipt's attempts."""
    return [(attempt["phase"], attempt["outcome"]) for attempt in only_slice(receipt)["attempts"]]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> tuple[FakeProviders, FakeJudge]:
    """Providers and checks of every service that the test starts."""
    providers, judge = FakeProviders(), FakeJudge()
    monkeypatch.setattr("runwatch.service.startup.Providers", lambda *_: providers)
    monkeypatch.setattr("runwatch.service.startup.evaluate", judge)
    return providers, judge


@pytest.fixture
async def work(serving: Serving, scripted: tuple[FakeProviders, FakeJudge]) -> AsyncIterator[LiveWork]:
    """A service with scripted providers and checks, on a clock that never waits."""
    async with serving() as service:
        yield LiveWork(service, *scripted)
