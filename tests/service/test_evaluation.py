"""An output judged by a check: a verdict, or a failure that is never one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.authentication import add_tenant
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.access.vault import Vault
from runwatch.service.address_policy import OrganizationPolicies
from runwatch.service.checks import bindings, evaluation
from runwatch.service.checks.evaluation import Evaluation, evaluate
from runwatch.service.checks.stop_date import StopDate
from runwatch.service.database import ServiceDatabase
from runwatch.service.options import ServeOptions
from runwatch.service.outbound import OutboundClient
from runwatch.service.transaction import Transaction
from tests.support.clock import START, FakeClock
from tests.support.dock import Dock, dock
from tests.support.master_keys import MASTER_KEYS, master_keys

CHECK = "vrf_1"
OWNER = "ten_owner"


@dataclass(slots=True)
class Bench:
    """What an evaluation works with, and an endpoint to call."""

    outbound: OutboundClient
    vault: Vault
    database: ServiceDatabase
    policy: OrganizationPolicies
    clock: FakeClock
    endpoint: Dock

    async def evaluate(self, candidate: Any = "some text", url: str | None = None) -> Evaluation:
        row: Any = {
            "verifier_id": CHECK, "tenant_id": OWNER, "endpoint": {"url": url or self.endpoint.url, "auth_ref": ""},
        }  # fmt: skip
        return await evaluate(self.outbound, self.vault, self.database, self.policy, row, candidate)

    async def connect(self, key: str, stop: StopDate | None = None) -> str:
        """Take a key into use and return its handle."""
        handle = await self.vault.put(Secret(key))

        def keep(transaction: Transaction) -> None:
            details = {"endpoint_origin": bindings.find_origin(self.endpoint.url), "stop": list(stop or StopDate())}
            tenant_id = add_tenant(transaction, "Some")
            intent = EntryIntent("int_1", tenant_id, "key_1", "verifier", CHECK, details, format_iso(transaction.now))
            staged = bindings.stage(transaction, intent, handle)
            bindings.promote(
                transaction, CHECK, handle=handle, captured_generation=staged.captured_generation, operation_key="op"
            )

        await self.database.write(keep)
        return handle


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    clock = FakeClock()
    database = await asyncio.to_thread(ServiceDatabase.open, tmp_path / "service.db", clock)
    outbound = OutboundClient()
    options = ServeOptions(data_dir=tmp_path, master_keys=master_keys, json=True, allow_loopback_checks=True)
    async with dock() as endpoint:
        policy = OrganizationPolicies(OWNER, options, "http://127.0.0.1:1")
        yield Bench(outbound, Vault(tmp_path, MASTER_KEYS), database, policy, clock, endpoint)
    await outbound.close()
    await asyncio.to_thread(database.close)


async def test_a_verdict_is_taken_as_it_is(bench: Bench) -> None:
    bench.endpoint.says(is_correct=True, quality_score=0.25, anchor_results={"five": True}, named_metrics={"n": 5})
    assert await bench.evaluate("- one") == Evaluation(
        "valid_verdict", is_correct=True, quality_score=0.25, anchor_results={"five": True}
    )
    assert bench.endpoint.bodies == [{"candidate": "- one"}]


async def test_a_false_verdict_is_no_failure(bench: Bench) -> None:
    bench.endpoint.says(is_correct=False, quality_score=0.9)
    assert await bench.evaluate() == Evaluation("valid_verdict", is_correct=False, quality_score=0.9)


@pytest.mark.parametrize("candidate", ["", "ü \ud800 \x00", {"summary": [1, None]}, ["a"], None, 0.1, True])
async def test_any_json_value_is_judged_as_it_is(bench: Bench, candidate: Any) -> None:
    assert (await bench.evaluate(candidate)).outcome == "valid_verdict"
    assert bench.endpoint.bodies == [{"candidate": candidate}]


@pytest.mark.parametrize(
    ("status", "content", "failure_class"),
    [
        (401, b"{}", "authentication"),
        (403, b"{}", "authentication"),
        (302, b"{}", "http_error"),
        (500, b'{"is_correct": true, "quality_score": 1}', "http_error"),
        (201, b'{"is_correct": true, "quality_score": 1}', "http_error"),
        (200, b"", "invalid_response"),
        (200, b"<html>", "invalid_response"),
        (200, b'{"is_correct": true, "quality_score": 2}', "invalid_response"),
        (200, b'{"is_correct": true, "quality_score": 1}' + b" " * (1 << 20), "response_too_large"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_anything_but_a_verdict_is_a_technical_failure(
    bench: Bench, status: int, content: bytes, failure_class: str
) -> None:
    bench.endpoint.status, bench.endpoint.content = status, content
    told = None if status == 200 else status
    assert await bench.evaluate() == Evaluation("technical_failure", failure_class, http_status=told)


async def test_a_check_that_never_answers_times_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "EVALUATION_S", 0.2)
    bench.endpoint.is_silent = True
    assert await bench.evaluate() == Evaluation("technical_failure", "timeout")


@pytest.mark.parametrize(
    ("url", "failure_class"),
    [
        ("http://93.184.215.14/", "egress_rejected"),
        ("https://10.0.0.1/", "egress_rejected"),
        ("ftp://127.0.0.1/", "egress_rejected"),
        ("https://nowhere.invalid/", "network"),
    ],
)
async def test_what_may_not_or_cannot_be_called_is_distinguished(bench: Bench, url: str, failure_class: str) -> None:
    assert await bench.evaluate(url=url) == Evaluation("technical_failure", failure_class)


async def test_nobody_listening_is_a_failure_of_the_network(bench: Bench) -> None:
    async with dock() as gone:
        url = gone.url
    assert await bench.evaluate(url=url) == Evaluation("technical_failure", "network")


async def test_the_key_in_use_is_sent(bench: Bench) -> None:
    bench.endpoint.keys = {"right"}
    await bench.connect("right")
    assert (await bench.evaluate()).outcome == "valid_verdict"
    assert bench.endpoint.authorizations == ["Bearer right"]


async def test_a_public_check_is_called_without_a_key(bench: Bench) -> None:
    await bench.evaluate()
    assert bench.endpoint.authorizations == [None]


async def test_a_revoked_key_leaves_the_check_uncalled(bench: Bench) -> None:
    await bench.connect("right")
    await bench.database.write(lambda transaction: bindings.revoke(transaction, CHECK))
    assert await bench.evaluate() == Evaluation("technical_failure", "credential_unavailable")
    assert bench.endpoint.heads == []


async def test_a_key_is_not_used_after_its_stop_date(bench: Bench) -> None:
    await bench.connect("right", StopDate("2026-11-22T00:00:00.000Z", "UTC"))
    assert bench.clock.now() == START
    assert (await bench.evaluate()).outcome == "valid_verdict"
    bench.clock.advance(12 * 3600)
    assert await bench.evaluate() == Evaluation("technical_failure", "credential_unavailable")


async def test_a_key_that_was_lost_leaves_the_check_uncalled(bench: Bench) -> None:
    await bench.vault.remove(await bench.connect("right"))
    assert await bench.evaluate() == Evaluation("technical_failure", "credential_unavailable")
    assert bench.endpoint.heads == []


async def test_what_nobody_foresaw_is_internal_and_stays_inside(bench: Bench) -> None:
    assert await bench.evaluate(candidate=object()) == Evaluation("technical_failure", "internal")
