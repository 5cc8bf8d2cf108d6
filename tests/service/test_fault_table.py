"""What a run, its receipt and the usage report say of every way in which a provider or an output check can behave.

One row is one behaviour. The expected values are the status and reason of the run, how its attempt failed, how often
the other side was called, and the spend: an amount, or unknown. A call of 12 tokens in and 5 out costs 0.022 US dollars
here, at a thousand and two thousand US dollars a million.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import pytest
import pytest_asyncio

from runwatch.base.json import ExactNumber
from runwatch.service.checks.verdict import EVALUATION_S
from runwatch.service.execution.live.provider_call import CALL_S, CANDIDATE_BYTES
from runwatch.service.models.providers import providers
from tests.service.conftest import Json, Local, serve_in_process
from tests.service.live_work import live_body, only_slice
from tests.service.sourcing import SECRET, model_arm, save
from tests.service.test_live_wire import final, register, save_all
from tests.support.clock import FakeClock
from tests.support.dock import Dock, dock
from tests.support.http1 import answer_bytes, answer_head
from tests.support.model_server import CUT, DROP, HANG, Fault, ModelServer, Raw
from tests.support.scripted import Said

pytestmark = pytest.mark.asyncio(loop_scope="module")

KNOWN: Final = "0.022"
CHARGED: Final = "0.031"
"""What a provider says that it charges."""

GUESSED: Final = "0.02"
"""The estimate for the message of these tests, 62 characters, and an output of 5: 16 tokens in and 2 out."""

CAP_S: Final = 60
"""The runtime cap of the runs."""

CHAT: Final = "/v1/chat/completions"


@dataclass(frozen=True)
class Row:
    """One behaviour of a provider.

    Attributes:
        name: What it does.
        met: How it meets a call; ``None`` when nothing listens at its address.
        reason: The reason of the run; ``None`` for one that completes.
        kind: How its attempt failed; ``None`` for one that completes.
        usd: What the call cost; ``None`` when that is not known.
        basis: Where the amount is from.
        max_runtime_s: The runtime cap of the run.
        ends_after_s: The time limit that ends the call.
    """

    name: str
    met: Said | Fault | Raw | None
    reason: str | None = None
    kind: str | None = None
    usd: str | None = None
    basis: str | None = None
    max_runtime_s: int = CAP_S
    ends_after_s: float | None = None

    @property
    def status(self) -> str:
        if self.reason == "runtime_exceeded":
            return "expired"
        return "completed" if self.reason is None else "failed"

    @property
    def outcome(self) -> str:
        return {"completed": "answered", "failed": "failed", "expired": "expired_in_flight"}[self.status]


CHOICE: Final = {"index": 0, "message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}
USAGE: Final = {"prompt_tokens": 12, "completion_tokens": 5}


def body(**members: Any) -> Json:
    """A chat answer with some members exchanged, or left out where they are ``...``."""
    whole = {"id": "c", "model": "tiny-1", "choices": [CHOICE], "usage": USAGE} | members
    return {name: value for name, value in whole.items() if value is not ...}


def answers(name: str, usd: str = KNOWN, basis: str = "estimated", **members: Any) -> Row:
    basis = "source_reported" if usd == CHARGED else basis
    return Row(f"answers {name}".strip(), Said(200, body(**members)), usd=usd, basis=basis)


def guessed(name: str, usage: Any, usd: str = GUESSED) -> Row:
    """A row for an answer that can be used and whose usage is counted here, because it states none that can be."""
    return answers(name, usd, "estimated", usage=usage)


def refused(name: str, status: int, kind: str, usd: str | None = None, error: Any = "no", **members: Any) -> Row:
    said = Said(status, json.dumps({"error": error, **members}).encode(), content_type="application/json")
    basis = None if usd in (None, "0") else "estimated"
    return Row(name, said, "dispatch_internal_error", kind, usd, basis)


def unusable(name: str, said: Said, usd: str | None = None) -> Row:
    """A row for an answer that does not have the form of the protocol."""
    basis = None if usd is None else "source_reported" if usd == CHARGED else "estimated"
    return Row(name, said, "dispatch_internal_error", "invalid_response", usd, basis)


def lost(name: str, met: Fault | Raw | Said) -> Row:
    """A row for a call without an answer."""
    return Row(name, met, "dispatch_network_error", "network")


def incomplete(name: str, met: Fault | Raw) -> Row:
    """A row for a call with only part of an answer."""
    return Row(name, met, "response_incomplete", "response_incomplete")


def huge(name: str, content: bytes) -> Row:
    """A row for an answer beyond the limit of an answer."""
    return Row(name, Said(200, content, content_type="application/json"), "response_too_large", "response_too_large")


def part_of(value: Any, *, until: bytes, is_open: bool = False) -> Raw:
    """An answer that stops after some bytes of its body."""
    content = json.dumps(value).encode()
    whole = answer_bytes(200, content)
    return Raw(whole[: whole.index(until) + len(until)], is_open)


USAGE_FIRST: Final = {"usage": USAGE, "choices": [CHOICE]}
CHUNKED: Final = answer_head(200, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])


def in_chunks(content: bytes) -> Raw:
    """A whole answer, a byte a chunk, as a server sends that makes its answer as it goes."""
    return Raw(CHUNKED + b"".join(b"1\r\n%c\r\n" % byte for byte in content) + b"0\r\n\r\n")


PROVIDERS: Final = (
    answers(""),
    answers("without id and model", id=..., model=...),
    answers("in parts", choices=[{"message": {"content": [{"type": "text", "text": "Fine."}]}}]),
    answers("with a refusal in words", choices=[{"message": {"content": None, "refusal": "I will not."}}]),
    answers("cut at its limit of tokens", choices=[{**CHOICE, "finish_reason": "length"}]),
    answers("with a charge of its own", CHARGED, usage={**USAGE, "cost": 0.031}),
    answers("with a charge and no tokens", CHARGED, usage={"cost": "0.031"}),
    answers("with a negative charge", usage={**USAGE, "cost": -1}),
    answers("with a charge in words", usage={**USAGE, "cost": "much"}),
    answers("with a charge of more digits than can be written", usage={**USAGE, "cost": "1e999999999"}),
    answers("with a charge beyond all money", usage={**USAGE, "cost": ExactNumber("1e400")}),
    answers("with a charge of endless small change", usage={**USAGE, "cost": "1e-999999"}),
    answers("with a huge number of tokens", "999999990.009", usage={**USAGE, "prompt_tokens": 999_999_989_999}),
    guessed("without usage", ...),
    guessed("with null as usage", None),
    guessed("with usage of text", {"prompt_tokens": "12", "completion_tokens": "5"}),
    guessed("with negative usage", {"prompt_tokens": -1, "completion_tokens": -5}),
    guessed("with half the usage", {"prompt_tokens": 12}, "0.016"),
    guessed("with a fraction of tokens", {"prompt_tokens": 1.5, "completion_tokens": 5}, "0.026"),
    guessed("with truth values as usage", {"prompt_tokens": True, "completion_tokens": 5}, "0.026"),
    guessed("with impossibly many tokens", {"prompt_tokens": 10**12, "completion_tokens": 10**900}),
    guessed("with a list as usage", [12, 5]),
    refused("400", 400, "request_refused", "0"),
    refused("401", 401, "authentication", "0"),
    refused("402", 402, "provider_insufficient_funds", "0"),
    refused("403", 403, "permission", "0"),
    refused("404", 404, "model_not_found", "0"),
    refused("405", 405, "request_refused", "0"),
    refused("408", 408, "source_timeout"),
    refused("408 with usage", 408, "source_timeout", KNOWN, usage=USAGE),
    refused("409", 409, "request_refused", "0"),
    refused("413", 413, "input_too_long", "0"),
    refused("400 of a prompt that is too long", 400, "input_too_long", "0", {"code": "context_length_exceeded"}),
    refused("415", 415, "request_refused", "0"),
    refused("422", 422, "request_refused", "0"),
    refused("429", 429, "rate_limited", "0"),
    refused("429 with usage", 429, "rate_limited", KNOWN, usage=USAGE),
    refused("429 of an empty account", 429, "provider_insufficient_funds", "0", {"code": "insufficient_quota"}),
    refused("500", 500, "source_5xx"),
    refused("500 with usage", 500, "source_5xx", KNOWN, usage=USAGE),
    refused("501", 501, "source_5xx"),
    refused("502", 502, "source_5xx"),
    refused("503", 503, "capacity", "0"),
    refused("504", 504, "source_timeout"),
    refused("529", 529, "capacity", "0"),
    refused("200 with an error object", 200, "invalid_response", error={"message": "no"}),
    refused("200 with an error object and usage", 200, "invalid_response", KNOWN, {"message": "no"}, usage=USAGE),
    refused("200 with the code of a 408", 200, "source_timeout", error={"code": 408}),
    refused("200 with the code of a 429", 200, "rate_limited", "0", {"code": 429}),
    Row("302", Said(302, b"", content_type="text/plain"), "dispatch_internal_error", "invalid_response"),
    Row("answers in many small parts", in_chunks(json.dumps(body()).encode()), usd=KNOWN, basis="estimated"),
    Row("is not there", None, "dispatch_network_error", "network", "0"),
    lost("hangs up", DROP),
    lost("does not finish its head", Raw(b"HTTP/1.1 200 OK\r\n")),
    incomplete("hangs up before the last byte", CUT),
    incomplete("hangs up behind its head", Raw(answer_head(200, [("Content-Length", "100")]))),
    lost("hangs up in the middle of its head", Raw(b"HTTP/1.1 200 OK\r\nContent-Ty")),
    incomplete(
        "hangs up in the middle of its body, behind the usage", part_of(USAGE_FIRST, until=b"completion_tokens"),
    ),
    incomplete("hangs up in the middle of a chunk", Raw(CHUNKED + b"40\r\n" + json.dumps(body()).encode()[:20])),
    lost("does not speak HTTP", Raw(b"220 mail.example ESMTP\r\n")),
    unusable("is packed", Said(200, b"\x1f\x8b\x08\x00", headers=(("Content-Encoding", "gzip"),))),
    huge("is too large", b"x" * 5000),
    huge("is too large, behind an answer with usage", json.dumps(body()).encode() + b" " * 5000),
    Row(
        "puts out more than is taken on",
        Said(200, body(choices=[{"message": {"content": "x" * (CANDIDATE_BYTES + 1)}}])), "candidate_too_large",
        "candidate_too_large", KNOWN, "estimated",
    ),
    unusable("has no choices", Said(200, body(choices=[], usage=...))),
    unusable("has no choices and usage", Said(200, body(choices=[])), KNOWN),
    unusable("has no choices and a charge", Said(200, body(choices=[], usage={"cost": 0.031})), CHARGED),
    unusable("has no choices and negative usage", Said(200, body(choices=[], usage={"prompt_tokens": -1}))),
    unusable("has no choices and half the usage", Said(200, body(choices=[], usage={"prompt_tokens": 12}))),
    unusable("has choices of another kind", Said(200, body(choices="Fine.")), KNOWN),
    unusable("has no message", Said(200, body(choices=[{"index": 0}])), KNOWN),
    unusable("is HTML", Said(200, b"<html>Fine.</html>", content_type="text/html")),
    unusable("is empty", Said(200, b"", content_type="application/json")),
    unusable("is cut JSON under its full length", Said(200, b'{"choices": [', content_type="application/json")),
    unusable("is nested too deeply", Said(200, b"[" * 3900, content_type="application/json")),
    unusable("is a list", Said(200, [])),
    Row("hangs until the run's cap", HANG, "runtime_exceeded", ends_after_s=CAP_S),
    Row(
        "stops in the middle of its body, behind the usage, until the run's cap",
        part_of(USAGE_FIRST, until=b"completion_tokens", is_open=True), "runtime_exceeded", ends_after_s=CAP_S,
    ),
    Row(
        "hangs for as long as a call may take", HANG, "dispatch_timeout", "timeout", max_runtime_s=3600,
        ends_after_s=CALL_S,
    ),
)  # fmt: skip
LARGE: Final = {"puts out more than is taken on"}
REPRESENTATIVE: Final = {
    "answers", "answers without usage", "answers with a charge of more digits than can be written", "400", "401",
    "408", "200 with the code of a 408", "429", "500", "is not there", "hangs up",
    "hangs up in the middle of its body, behind the usage", "answers in many small parts",
    "has no choices and usage", "hangs until the run's cap",
}  # fmt: skip


def marked(rows: list[Any], cheap: set[str]) -> list[Any]:
    """The rows as parameters; those outside the cheap ones run with the exhaustive tests."""
    return [pytest.param(row, id=row.name, marks=() if row.name in cheap else pytest.mark.exhaustive) for row in rows]


@dataclass(slots=True)
class Limits:
    """Every time limit that is set in this process, so that a test can let one run out without waiting.

    Attributes:
        made: The limits with their seconds, in order.
    """

    made: list[tuple[float, asyncio.Timeout]] = field(default_factory=list)

    def run_out(self, seconds: float) -> None:
        """Let the limits of about this many seconds run out."""
        now = asyncio.get_running_loop().time()
        moved = 0
        for length, limit in self.made:
            if abs(length - seconds) < 1:
                # A limit that is over already refuses.
                with contextlib.suppress(RuntimeError):
                    limit.reschedule(now)
                    moved += 1
        assert moved, f"nothing is limited to {seconds} s: {self.made}"


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Limits:
    """The time limits that are set from here on."""
    limits, real = Limits(), asyncio.timeout

    def timeout(seconds: float | None) -> asyncio.Timeout:
        limit = real(seconds)
        if seconds is not None:
            limits.made.append((seconds, limit))
        return limit

    monkeypatch.setattr(asyncio, "timeout", timeout)
    return limits


@dataclass(frozen=True, slots=True)
class World:
    """A service with everything that the rows need.

    Attributes:
        service: The service.
        server: The model server.
        judge: The output check.
        verifier_id: What the check is registered as.
        arm_id: The first model of the server.
        gone_arm_id: A model of a server that is not there any more.
    """

    service: Local
    server: ModelServer
    judge: Dock
    verifier_id: str
    arm_id: str
    gone_arm_id: str

    async def run(self, request: Json, *met: Said | Fault | Raw) -> tuple[Json, Json]:
        """A run and its receipt, with its calls met in this way."""
        self.server.say("POST", CHAT, *met)
        return await final(self.service, request)

    async def usage(self) -> Json:
        """The sums of all runs so far."""
        return dict((await self.service.get("/v1/usage"))["totals"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One service for all rows: what a run meets changes nothing for the next one."""
    data_dir = tmp_path_factory.mktemp("faults") / "service"
    async with (
        ModelServer(models=("tiny-1", "tiny-2"), key=SECRET) as server,
        dock() as judge,
        serve_in_process(data_dir, FakeClock(), allow_loopback_checks=True) as service,
    ):
        arm_id, _ = await save_all(service, server)
        async with ModelServer(models=("gone-1",), key=SECRET) as leaving:
            saved = await save(
                service, leaving, prices={"*": {"input_usd_per_million": "1", "output_usd_per_million": "2"}}
            )
            gone = await model_arm(service, saved.deployments["gone-1"], cost_class="premium")
        verifier_id = await register(service, judge)
        yield World(service, server, judge, verifier_id, arm_id, str(gone["arm_id"]))


def spend_of(run: Json) -> tuple[str | None, str, int]:
    """What a run says of its spend: the sum, its known part and the number of unknown calls."""
    told = run["spend_usd"]
    known = run["known_spend_usd"] if told is None else told
    return None if told is None else digits(told), digits(known), run.get("unknown_calls", 0)


def digits(number: float) -> str:
    return f"{Decimal(repr(number)).normalize():f}" if number else "0"


@pytest.mark.parametrize("row", marked(list(PROVIDERS), REPRESENTATIVE))
async def test_run_receipt_and_usage_say_what_the_provider_did(
    world: World, limits: Limits, monkeypatch: pytest.MonkeyPatch, row: Row
) -> None:
    if row.name not in LARGE:
        monkeypatch.setattr(providers, "ANSWER_BYTES", 4000)
    before, calls = await world.usage(), len(world.server.bodies)
    arm_id = world.gone_arm_id if row.met is None else world.arm_id
    request = live_body([], arm_id=arm_id, max_runtime_s=row.max_runtime_s)
    under_way = asyncio.ensure_future(world.run(request, row.met or DROP))
    if row.ends_after_s is not None:
        await world.server.until_heard(len(world.server.heard) + 1)
        limits.run_out(row.ends_after_s)
    run, receipt = await under_way
    known, unknown = row.usd or "0", int(row.usd is None)

    assert (run["status"], run["reason"]) == (row.status, row.reason)
    assert len(world.server.bodies) - calls == (0 if row.met is None else 1), "a call is never repeated"
    assert spend_of(run) == (row.usd, known, unknown)

    (attempt,) = only_slice(receipt)["attempts"]
    assert (attempt["outcome"], attempt["failure_kind"]) == (row.outcome, row.kind)
    status = row.met.status if isinstance(row.met, Said) else 200
    assert attempt.get("http_status") == (None if 200 <= status < 300 else status)
    assert attempt["reason"] == (row.reason if row.status == "failed" else None)
    assert (None if attempt["usd"] is None else digits(attempt["usd"])) == row.usd
    assert attempt["pricing_basis"] == row.basis
    cost, totals = only_slice(receipt)["cost"], receipt["totals"]
    assert [digits(part["usd"]) for part in (cost, totals)] == [known] * 2
    assert [part.get("unknown_calls", 0) for part in (cost, totals)] == [unknown] * 2

    after = await world.usage()
    assert after["unknown_calls"] - before["unknown_calls"] == unknown
    assert after["calls"] - before["calls"] == cost["calls"] == int(row.met is not None)
    assert Decimal(repr(after["usd"])) - Decimal(repr(before["usd"])) == Decimal(known)


async def test_a_call_that_failed_is_followed_by_the_next_model(world: World) -> None:
    for row in (row for row in PROVIDERS if row.name in {"408", "200 with the code of a 408", "500 with usage"}):
        assert row.met is not None
        request = live_body(["fallback"], max_cost_usd=100)
        run, receipt = await world.run(request, row.met, Said(200, body()))
        first, second = only_slice(receipt)["attempts"]
        assert (run["status"], run["reason"]) == ("completed", None)
        assert (first["outcome"], first["failure_kind"], second["outcome"]) == ("failed", row.kind, "answered")
        known = digits(float(Decimal(row.usd or "0") + Decimal(KNOWN)))
        assert spend_of(run) == (None if row.usd is None else known, known, int(row.usd is None))


@dataclass(frozen=True)
class CheckRow:
    """One behaviour of an output check that guards a run.

    Attributes:
        name: What it does.
        content: The body that it answers; ``None`` when it never answers.
        reason: The reason of the run; ``None`` for one that completes.
        failure: How the check failed; ``None`` for a verdict, and for a run that ends before the check has failed.
        status: The status that it answers.
        max_runtime_s: The runtime cap of the run.
        ends_after_s: The time limit that ends the check.
    """

    name: str
    content: bytes | None
    reason: str | None = None
    failure: str | None = None
    status: int = 200
    max_runtime_s: int = CAP_S
    ends_after_s: float | None = None


def judged(**verdict: Any) -> bytes:
    """A verdict with some members exchanged."""
    return json.dumps({"is_correct": True, "quality_score": 0.5, "anchor_results": {"fits": True}} | verdict).encode()


CHECKS: Final = (
    CheckRow("accepts", judged()),
    CheckRow("rejects", judged(is_correct=False, anchor_results={"fits": False}), "rejected_by_check"),
    CheckRow("answers 400", b"{}", "check_unavailable", "http_error", 400),
    CheckRow("answers 401", b"{}", "check_unavailable", "authentication", 401),
    CheckRow("answers 404", b"{}", "check_unavailable", "http_error", 404),
    CheckRow("answers 408", b"{}", "check_unavailable", "http_error", 408),
    CheckRow("answers 429", b"{}", "check_unavailable", "http_error", 429),
    CheckRow("answers 500", b"{}", "check_unavailable", "http_error", 500),
    CheckRow("answers 503", b"{}", "check_unavailable", "http_error", 503),
    CheckRow("is no JSON", b"fine", "check_unavailable", "invalid_response"),
    CheckRow("is empty", b"", "check_unavailable", "invalid_response"),
    CheckRow("is a list", b"[]", "check_unavailable", "invalid_response"),
    CheckRow("has a verdict of text", judged(is_correct="yes"), "check_unavailable", "invalid_response"),
    CheckRow("has a score beyond 1", judged(quality_score=1.5), "check_unavailable", "invalid_response"),
    CheckRow("is too large", b" " * 1_100_000 + judged(), "check_unavailable", "response_too_large"),
    CheckRow("hangs for as long as a check may take", None, "check_unavailable", "timeout", ends_after_s=EVALUATION_S),
    CheckRow("hangs until the run's cap", None, "runtime_exceeded", max_runtime_s=5, ends_after_s=5),
)
CHECKED: Final = {"accepts", "rejects", "answers 500", "is no JSON", "hangs until the run's cap"}


@pytest.mark.parametrize("row", marked(list(CHECKS), CHECKED))
async def test_run_receipt_and_usage_say_what_the_check_did(world: World, limits: Limits, row: CheckRow) -> None:
    judge, before = world.judge, await world.usage()
    judge.status, judge.content, judge.is_silent = row.status, row.content or b"", row.content is None
    calls, checks = len(world.server.bodies), len(judge.bodies)
    request = live_body(["gate"], verifier_id=world.verifier_id, arm_id=world.arm_id, max_runtime_s=row.max_runtime_s)
    under_way = asyncio.ensure_future(world.run(request, Said(200, body())))
    if row.ends_after_s is not None:
        await judge.until_heard(checks + 1)
        limits.run_out(row.ends_after_s)
    run, receipt = await under_way
    is_expired = row.reason == "runtime_exceeded"

    assert run["status"] == ("completed" if row.reason is None else "expired" if is_expired else "failed")
    assert (run["reason"], run["spend_usd"]) == (row.reason, float(KNOWN))
    part = only_slice(receipt)
    recorded = part["recorded_check"]
    assert recorded.get("failure_class") == row.failure
    assert recorded.get("http_status") == (None if row.status == 200 else row.status)
    assert (recorded["state"] == "pending_evaluation") is is_expired
    assert [attempt["outcome"] for attempt in part["attempts"]] == ["answered"]
    assert (receipt["totals"]["usd"], receipt["totals"].get("unknown_calls", 0)) == (float(KNOWN), 0)
    after = await world.usage()
    assert after["unknown_calls"] == before["unknown_calls"]
    assert Decimal(repr(after["usd"])) - Decimal(repr(before["usd"])) == Decimal(KNOWN)
    assert len(world.server.bodies) - calls == 1, "the model is called once"
    assert len(judge.bodies) - checks == 1, "the check is called once"
