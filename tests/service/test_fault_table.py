"""What a run and its receipt say of every way in which a provider or an output check can behave.

One row is one behaviour. The expected values are the status and reason of the run, how its attempt failed, how often
the other side was called, and the spend where the provider tells it: 12 tokens in and 5 out, at a thousand and two
thousand US dollars a million.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import pytest

from runwatch.service.models.providers import wire
from tests.service.conftest import Serving
from tests.service.live_work import live_body, only_slice
from tests.service.sourcing import SECRET
from tests.service.test_live_wire import final, register, save_all
from tests.support.dock import dock
from tests.support.model_server import CUT, DROP, Fault, ModelServer
from tests.support.scripted import Said

KNOWN: Final = 0.022


@dataclass(frozen=True)
class Row:
    """One behaviour of a provider.

    Attributes:
        name: What it does.
        said: How it meets a call.
        reason: The reason of the run; ``None`` for one that completes.
        kind: How its attempt failed; ``None`` for one that completes.
        is_known: Whether the answer tells the usage, so that the spend is known.
    """

    name: str
    said: Said | Fault
    reason: str | None = None
    kind: str | None = None
    is_known: bool = False


def answered(**members: Any) -> Said:
    """A chat answer with some members exchanged, or left out where they are ``...``."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 12, "completion_tokens": 5}
    whole = {"id": "c", "model": "tiny-1", "choices": [choice], "usage": usage} | members
    return Said(200, {name: value for name, value in whole.items() if value is not ...})


def refused(name: str, status: int, kind: str, error: Any = "no") -> Row:
    """A row for an error status."""
    said = Said(status, json.dumps({"error": error}).encode(), content_type="application/json")
    reason = "dispatch_timeout" if kind == "timeout" else "dispatch_internal_error"
    return Row(name, said, reason, kind)


def unusable(name: str, said: Said) -> Row:
    """A row for an answer that is none of the protocol."""
    return Row(name, said, "dispatch_internal_error", "invalid_response")


PROVIDERS: Final = (
    Row("answers", answered(), is_known=True),
    Row("answers without usage", answered(usage=...)),
    Row("answers with usage of text", answered(usage={"prompt_tokens": "12", "completion_tokens": "5"})),
    Row("answers with negative usage", answered(usage={"prompt_tokens": -1, "completion_tokens": 5})),
    Row("answers with a list as usage", answered(usage=[12, 5])),
    Row("answers with half the usage", answered(usage={"prompt_tokens": 12})),
    Row("answers with a fraction of tokens", answered(usage={"prompt_tokens": 1.5, "completion_tokens": 5})),
    Row("answers without id and model", answered(id=..., model=...), is_known=True),
    Row(
        "answers in parts",
        answered(choices=[{"message": {"content": [{"type": "text", "text": "Fine."}]}}]),
        is_known=True,
    ),
    Row(
        "refuses in words", answered(choices=[{"message": {"content": None, "refusal": "I will not."}}]), is_known=True
    ),
    refused("400", 400, "request_refused"),
    refused("401", 401, "authentication"),
    refused("402", 402, "provider_insufficient_funds"),
    refused("403", 403, "permission"),
    refused("404", 404, "model_not_found"),
    refused("405", 405, "request_refused"),
    refused("409", 409, "request_refused"),
    refused("413", 413, "request_refused"),
    refused("415", 415, "request_refused"),
    refused("422", 422, "request_refused"),
    refused("429", 429, "rate_limited"),
    refused("429 of an empty account", 429, "provider_insufficient_funds", {"code": "insufficient_quota"}),
    refused("500", 500, "source_5xx"),
    refused("501", 501, "source_5xx"),
    refused("502", 502, "source_5xx"),
    refused("503", 503, "capacity"),
    refused("504", 504, "source_5xx"),
    refused("529", 529, "capacity"),
    refused("200 with an error object", 200, "invalid_response", {"message": "no"}),
    refused("200 with the code of a 429", 200, "rate_limited", {"code": 429}),
    Row("302", Said(302, b"", content_type="text/plain"), "dispatch_internal_error", "invalid_response"),
    Row("hangs up", DROP, "dispatch_network_error", "network"),
    Row("cuts the answer", CUT, "dispatch_network_error", "network"),
    Row(
        "is too large",
        Said(200, b"x" * 5000, content_type="application/json"),
        "response_too_large",
        "response_too_large",
    ),
    unusable("has no choices", answered(choices=[])),
    unusable("has choices of another kind", answered(choices="Fine.")),
    unusable("has no message", answered(choices=[{"index": 0}])),
    unusable("is HTML", Said(200, b"<html>Fine.</html>", content_type="text/html")),
    unusable("is empty", Said(200, b"", content_type="application/json")),
    unusable("is cut JSON under its full length", Said(200, b'{"choices": [', content_type="application/json")),
    unusable("is a list", Said(200, [])),
)
REPRESENTATIVE: Final = {"answers", "answers without usage", "400", "401", "429", "500", "hangs up", "has no choices"}


def marked(rows: tuple[Any, ...], cheap: set[str]) -> list[Any]:
    """The rows as parameters; those outside the cheap ones run with the exhaustive tests."""
    return [pytest.param(row, id=row.name, marks=() if row.name in cheap else pytest.mark.exhaustive) for row in rows]


@pytest.mark.parametrize("row", marked(PROVIDERS, REPRESENTATIVE))
async def test_a_receipt_says_what_the_provider_did(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, row: Row
) -> None:
    monkeypatch.setattr(wire, "ANSWER_BYTES", 4000)
    async with ModelServer(models=("tiny-1", "tiny-2"), key=SECRET) as server, serving() as service:
        await save_all(service, server)
        server.say("POST", ".*", row.said)
        run, receipt = await final(service, live_body([]))
    part = only_slice(receipt)
    assert (run["status"], run["reason"]) == (("completed", None) if row.kind is None else ("failed", row.reason))
    assert len(server.bodies) == 1, "a call is never repeated"
    if row.is_known:
        assert run["spend_usd"] == KNOWN
    kinds = [attempt["failure_kind"] for attempt in part["attempts"]]
    assert [kind for kind in kinds if kind is not None] == ([] if row.kind is None else [row.kind])


@dataclass(frozen=True)
class CheckRow:
    """One behaviour of an output check that guards a run.

    Attributes:
        name: What it does.
        content: The body that it answers.
        reason: The reason of the run; ``None`` for one that completes.
        failure: How the check failed; ``None`` for a verdict.
        status: The status that it answers.
    """

    name: str
    content: bytes
    reason: str | None = None
    failure: str | None = None
    status: int = 200


def judged(**verdict: Any) -> bytes:
    """A verdict with some members exchanged."""
    return json.dumps({"is_correct": True, "quality_score": 0.5, "anchor_results": {"fits": True}} | verdict).encode()


CHECKS: Final = (
    CheckRow("accepts", judged()),
    CheckRow("rejects", judged(is_correct=False, anchor_results={"fits": False}), "rejected_by_check"),
    CheckRow("answers 400", b"{}", "internal", "http_error", 400),
    CheckRow("answers 401", b"{}", "internal", "authentication", 401),
    CheckRow("answers 404", b"{}", "internal", "http_error", 404),
    CheckRow("answers 429", b"{}", "internal", "http_error", 429),
    CheckRow("answers 500", b"{}", "internal", "http_error", 500),
    CheckRow("answers 503", b"{}", "internal", "http_error", 503),
    CheckRow("is no JSON", b"fine", "internal", "invalid_response"),
    CheckRow("is empty", b"", "internal", "invalid_response"),
    CheckRow("is a list", b"[]", "internal", "invalid_response"),
    CheckRow("has a verdict of text", judged(is_correct="yes"), "internal", "invalid_response"),
    CheckRow("is too large", b" " * 1_100_000 + judged(), "internal", "response_too_large"),
)


@pytest.mark.parametrize("row", marked(CHECKS, {"accepts", "rejects", "answers 500", "is no JSON"}))
async def test_a_receipt_says_what_the_check_did(serving: Serving, row: CheckRow) -> None:
    async with (
        ModelServer(models=("tiny-1", "tiny-2"), key=SECRET) as server,
        dock() as judge,
        serving(allow_loopback_checks=True) as service,
    ):
        await save_all(service, server)
        verifier_id = await register(service, judge)
        judge.status, judge.content = row.status, row.content
        calls = len(judge.bodies)
        run, receipt = await final(service, live_body(["gate"], verifier_id=verifier_id))
    status = "completed" if row.reason is None else "failed"
    assert (run["status"], run["reason"], run["spend_usd"]) == (status, row.reason, KNOWN)
    assert only_slice(receipt)["recorded_check"].get("failure_class") == row.failure
    assert (len(server.bodies), len(judge.bodies) - calls) == (1, 1), "neither model nor check is called twice"
