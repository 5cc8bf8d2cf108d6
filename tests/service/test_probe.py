"""What a probe sends, and what its report says of everything that can come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from runwatch.base.secrets.secret import Secret
from runwatch.service.address_policy import PUBLIC, PUBLIC_OR_LOOPBACK
from runwatch.service.checks import probe as probing
from runwatch.service.checks.probe import ProbeReport, build_report, probe
from runwatch.service.outbound import OutboundClient, OutboundError, OutboundResponse
from tests.support.clock import START, FakeClock
from tests.support.dock import Dock, dock
from tests.support.http1 import answer_bytes

GOOD = b'{"is_correct": false, "quality_score": 0}'


@pytest.fixture
async def outbound() -> AsyncIterator[OutboundClient]:
    made = OutboundClient()
    yield made
    await made.close()


@pytest.fixture
async def endpoint() -> AsyncIterator[Dock]:
    async with dock() as made:
        yield made


def found(status: int, content: bytes = GOOD) -> OutboundResponse:
    return OutboundResponse(status, content)


def states(report: ProbeReport) -> list[str]:
    return [part["status"] for part in report.to_json()["feedback"].values()]


@pytest.mark.parametrize(
    ("kind", "reason_code", "failure"),
    [
        ("scheme_rejected", "scheme_rejected", "egress_rejected"),
        ("dns_resolution_failed", "dns_resolution_failed", "network"),
        ("private_range_rejected", "private_range_rejected", "egress_rejected"),
        ("timeout", "probe_timeout", "timeout"),
        ("network", "endpoint_unreachable", "network"),
    ],
)
def test_an_endpoint_that_cannot_be_called_is_unreachable(kind: str, reason_code: str, failure: str) -> None:
    report = build_report(OutboundError(kind), START, has_key=False)
    shown = report.to_json()
    assert (shown["outcome"], shown["reason_code"]) == ("unreachable", reason_code)
    assert (shown["http_status"], shown["contract"]) == (None, None)
    assert states(report) == ["failed", "not_checked", "not_checked"]
    assert shown["feedback"]["reachability"]["correction"]
    assert (report.status, report.status_reason, report.failure) == ("degraded", "endpoint_unreachable", failure)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_distinguished_from_one_that_was_not_sent(status: int) -> None:
    report = build_report(found(status), START, has_key=False)
    shown = report.to_json()
    assert (shown["outcome"], shown["reason_code"], shown["http_status"]) == (
        "reachable",
        "authentication_failed",
        status,
    )
    assert shown["contract"]["validated"] is False
    assert states(report) == ["ok", "failed", "not_checked"]
    assert (report.status_reason, report.failure) == ("authentication_failed", "authentication_failed")
    other = build_report(found(status), START, has_key=True).to_json()["feedback"]["authentication"]["correction"]
    assert other != shown["feedback"]["authentication"]["correction"]


@pytest.mark.parametrize("status", [201, 204, 302, 404, 500, 504])
def test_only_a_200_is_an_answer(status: int) -> None:
    report = build_report(found(status), START, has_key=False)
    assert (report.outcome, report.reason_code, report.http_status) == ("reachable", None, status)
    assert states(report) == ["ok", "not_checked", "failed"]
    assert (report.status, report.status_reason, report.failure) == ("degraded", "response_incompatible", "http_error")


def test_an_answer_that_is_no_verdict_is_a_violation() -> None:
    report = build_report(found(200, b'{"is_correct": "no"}'), START, has_key=False)
    contract = report.to_json()["contract"]
    assert contract["validated"] is False
    assert contract["verifier_result"] is None
    assert "is_correct" in contract["violation"]
    assert states(report) == ["ok", "ok", "failed"]
    assert report.failure == "invalid_response"


def test_an_answer_that_is_too_large_was_reachable() -> None:
    report = build_report(OutboundError("response_too_large", was_sent=True), START, has_key=False)
    assert (report.outcome, report.http_status, report.failure) == ("reachable", None, "invalid_response")
    assert states(report) == ["ok", "not_checked", "failed"]


def test_a_false_verdict_on_the_probe_is_what_is_expected() -> None:
    report = build_report(found(200), START, has_key=False)
    shown = report.to_json()
    assert shown["contract"] == {
        "validated": True, "verifier_result": {"is_correct": False, "quality_score": 0}, "violation": None,
    }  # fmt: skip
    assert states(report) == ["ok", "ok", "ok"]
    assert (report.status, report.status_reason, report.failure) == ("ready", None, None)
    assert shown["detail"] is None
    assert shown["checked_at"] == "2026-11-21T12:00:00.000Z"


def test_a_check_that_accepts_the_probe_keeps_to_the_contract_and_is_told_so() -> None:
    report = build_report(found(200, b'{"is_correct": true, "quality_score": 1}'), START, has_key=False)
    assert report.has_passed
    assert "reserved probe" in (report.detail or "")


async def test_a_probe_sends_the_reserved_candidate_and_nothing_else(outbound: OutboundClient, endpoint: Dock) -> None:
    report = await probe(outbound, PUBLIC_OR_LOOPBACK, FakeClock(), endpoint.url)
    assert report.has_passed
    assert endpoint.bodies == [{"candidate": {"solverapi_probe": "registration_preflight"}}]
    assert endpoint.heads[0].method == "POST"
    assert endpoint.heads[0].header("content-type") == "application/json"
    assert endpoint.authorizations == [None]


async def test_a_key_is_sent_as_a_bearer(outbound: OutboundClient, endpoint: Dock) -> None:
    endpoint.keys = {"right"}
    assert (await probe(outbound, PUBLIC_OR_LOOPBACK, FakeClock(), endpoint.url, Secret("right"))).has_passed
    refused = await probe(outbound, PUBLIC_OR_LOOPBACK, FakeClock(), endpoint.url, Secret("wrong"))
    assert refused.reason_code == "authentication_failed"
    assert endpoint.authorizations == ["Bearer right", "Bearer wrong"]


async def test_an_endpoint_that_never_answers_times_out(
    outbound: OutboundClient, endpoint: Dock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "PROBE_S", 0.2)
    endpoint.is_silent = True
    assert (await probe(outbound, PUBLIC_OR_LOOPBACK, FakeClock(), endpoint.url)).reason_code == "probe_timeout"


async def test_nobody_listening_is_unreachable(outbound: OutboundClient) -> None:
    async with dock() as gone:
        url = gone.url
    assert (await probe(outbound, PUBLIC_OR_LOOPBACK, FakeClock(), url)).reason_code == "endpoint_unreachable"


async def test_this_machine_is_called_only_when_that_is_allowed(outbound: OutboundClient, endpoint: Dock) -> None:
    plain = await probe(outbound, PUBLIC, FakeClock(), endpoint.url)
    assert plain.reason_code == "scheme_rejected"
    over_tls = endpoint.url.replace("http:", "https:")
    refused = await probe(outbound, PUBLIC, FakeClock(), over_tls)
    assert refused.reason_code == "private_range_rejected"
    assert endpoint.heads == []


async def test_an_address_that_speaks_no_tls_is_unreachable(outbound: OutboundClient) -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer_bytes(200, GOOD))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as plain:
        url = f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}/"
        assert (await probe(outbound, PUBLIC_OR_LOOPBACK, FakeClock(), url)).reason_code == "endpoint_unreachable"
