"""The wire forms against a model server on loopback: what is sent, what is read, and what each failure is called."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from decimal import Decimal
from email.utils import format_datetime
from functools import partial
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from runwatch.base.json import ExactNumber, loads
from runwatch.base.network.retry_after import MAX_WAIT_S
from runwatch.base.secrets.secret import Secret
from runwatch.service.address_policy import PROVIDERS
from runwatch.service.models.providers.providers import TESTS_AT_ONCE, Providers
from runwatch.service.models.providers.types import (
    KINDS,
    Generation,
    Prompt,
    ProviderAddress,
    ProviderError,
    ServedModel,
)
from runwatch.service.outbound import OutboundClient, OutboundError, OutboundResponse
from tests.support.clock import START, FakeClock
from tests.support.model_server import CUT, DROP, HANG, Fault, ModelServer
from tests.support.scripted import Said

FORMS = ("openai_chat", "openai_responses", "anthropic_messages")
PATHS = {"openai_chat": "chat/completions", "openai_responses": "responses", "anthropic_messages": "messages"}
KEY = "sk-sentinel-4711"


@pytest.fixture
async def providers() -> AsyncIterator[Providers]:
    outbound = OutboundClient()
    yield Providers(outbound, FakeClock(), lambda _: PROVIDERS)
    await outbound.close()


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


def address(server: ModelServer, form: str = "openai_chat", key: str | None = KEY) -> ProviderAddress:
    return at(server.base_url, form, key)


def at(base_url: str, form: str = "openai_chat", key: str | None = KEY) -> ProviderAddress:
    return ProviderAddress(base_url, form, "none" if key is None else "api_key", None if key is None else Secret(key))


async def generate(
    providers: Providers,
    where: ProviderAddress,
    model: str = "tiny-1",
    objective: str = "Say hello.",
    inputs: Any = None,
    max_output_tokens: int | None = None,
    timeout_s: float = 60.0,
) -> Generation:
    return await providers.generate(where, Prompt(model, objective, timeout_s, inputs, max_output_tokens))


async def failure(
    providers: Providers,
    server: ModelServer,
    *answers: Said | Fault,
    form: str = "openai_chat",
    timeout_s: float = 60.0,
) -> ProviderError:
    """What a call raises that is answered like this."""
    server.say("POST", ".*", *answers)
    with pytest.raises(ProviderError) as caught:
        await generate(providers, address(server, form), timeout_s=timeout_s)
    return caught.value


def said(value: Any, status: int = 200) -> Said:
    return Said(status, json.dumps(value).encode(), content_type="application/json")


async def listed(providers: Providers, *entries: Any) -> list[ServedModel]:
    async with ModelServer() as server:
        server.say("GET", ".*", said({"object": "list", "data": list(entries)}))
        return (await providers.find_models(address(server))).models


@pytest.mark.parametrize("form", FORMS)
async def test_a_message_goes_out_and_text_tokens_model_and_id_come_back(providers: Providers, form: str) -> None:
    async with ModelServer(key=KEY, usage=(12, 5)) as server:
        server.answer("Hello.")
        answer = await generate(providers, address(server, form))
        ended = {"openai_chat": "stop"}.get(form)
        assert answer == Generation("Hello.", 12, 5, None, "tiny-1-resolved", "call_1", len("Say hello."), ended)
        assert [heard.head.path for heard in server.heard] == [f"/v1/{PATHS[form]}"]


@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("openai_chat", {"model": "tiny-1", "messages": [{"role": "user", "content": "Say hello."}]}),
        ("openai_responses", {"model": "tiny-1", "input": [{"role": "user", "content": "Say hello."}], "store": False}),
        (
            "anthropic_messages",
            {"model": "tiny-1", "max_tokens": 4096, "messages": [{"role": "user", "content": "Say hello."}]},
        ),
    ],
)  # fmt: skip
async def test_a_request_says_no_more_than_it_must(
    providers: Providers, form: str, body: Any, server: ModelServer
) -> None:
    await generate(providers, address(server, form))
    assert server.bodies == [body]


@pytest.mark.parametrize(
    ("form", "member"),
    [("openai_chat", "max_tokens"), ("openai_responses", "max_output_tokens"), ("anthropic_messages", "max_tokens")],
)
async def test_a_cap_on_the_output_is_sent(providers: Providers, form: str, member: str, server: ModelServer) -> None:
    await generate(providers, address(server, form), max_output_tokens=77)
    assert server.bodies[0][member] == 77


async def test_openai_keys_go_as_bearer_and_anthropic_keys_in_their_own_header(providers: Providers) -> None:
    async with ModelServer(key=KEY) as server:
        for form in FORMS:
            await generate(providers, address(server, form))
        heads = [heard.head for heard in server.heard]
        assert [head.header("authorization") for head in heads] == [f"Bearer {KEY}", f"Bearer {KEY}", None]
        assert [head.header("x-api-key") for head in heads] == [None, None, KEY]
        assert [head.header("anthropic-version") for head in heads] == [None, None, "2023-06-01"]


@pytest.mark.parametrize("form", FORMS)
async def test_a_server_without_keys_gets_none(providers: Providers, form: str, server: ModelServer) -> None:
    await generate(providers, address(server, form, key=None))
    head = server.heard[0].head
    assert (head.header("authorization"), head.header("x-api-key")) == (None, None)


@pytest.mark.parametrize("key", ["", "  ", "line\nbreak", "schlüssel"])
async def test_a_key_that_no_header_can_carry_is_refused_unsent(
    providers: Providers, key: str, server: ModelServer
) -> None:
    with pytest.raises(ProviderError) as caught:
        await generate(providers, address(server, key=key))
    assert (caught.value.kind, caught.value.was_sent) == ("authentication", False)
    assert server.heard == []


async def test_inline_inputs_follow_the_objective_with_their_exact_numbers(providers: Providers) -> None:
    inputs = {"kind": "inline_json", "json": loads('{"price": 1.10, "name": "Zoë"}')}
    async with ModelServer() as server:
        await generate(providers, address(server), inputs=inputs)
        assert server.prompts == ['Say hello.\n\nInputs (JSON):\n{"price":1.10,"name":"Zoë"}']


@pytest.mark.parametrize(
    "inputs",
    [
        {"kind": "url_list", "json": {"urls": ["https://a.example/1", "https://b.example/2"]}},
        {"kind": "url_list", "urls": ["https://a.example/1"], "url": "https://b.example/2"},
    ],
)
async def test_of_urls_only_the_addresses_are_sent(providers: Providers, inputs: Any, server: ModelServer) -> None:
    await generate(providers, address(server), inputs=inputs)
    assert server.prompts == [
        "Say hello.\n\nInputs (addresses, not fetched):\nhttps://a.example/1\nhttps://b.example/2"
    ]


async def test_inputs_of_another_form_are_sent_as_json(providers: Providers, server: ModelServer) -> None:
    await generate(providers, address(server), inputs={"kind": "url_list", "refs": [1]})
    assert server.prompts == ['Say hello.\n\nInputs (JSON):\n{"kind":"url_list","refs":[1]}']


async def test_half_a_surrogate_pair_does_not_stop_a_call(providers: Providers, server: ModelServer) -> None:
    answer = await generate(providers, address(server), inputs={"kind": "inline_json", "json": {"a": "\ud800"}})
    assert server.prompts[0].endswith('{"a":"?"}')
    assert answer.text.isprintable() or "\n" in answer.text


@pytest.mark.parametrize("form", FORMS)
async def test_missing_usage_model_and_id_are_unknown(providers: Providers, form: str) -> None:
    bare = {
        "openai_chat": {"choices": [{"message": {"content": "x"}}]},
        "openai_responses": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "x"}]}]},
        "anthropic_messages": {"content": [{"type": "text", "text": "x"}]},
    }
    async with ModelServer() as server:
        server.say("POST", ".*", said(bare[form]))
        assert await generate(providers, address(server, form)) == Generation("x", None, None, None, None, None, 10)


@pytest.mark.parametrize("usage", [None, [], "12", {"prompt_tokens": "12", "completion_tokens": True, "cost": "much"}])
async def test_usage_of_a_strange_form_is_unknown(providers: Providers, usage: Any, server: ModelServer) -> None:
    server.say("POST", ".*", said({"choices": [{"message": {"content": "x"}}], "usage": usage, "model": 7}))
    answer = await generate(providers, address(server))
    assert (answer.input_tokens, answer.output_tokens, answer.usd, answer.upstream_ref) == (None, None, None, None)


async def test_a_reported_cost_keeps_its_digits(providers: Providers, server: ModelServer) -> None:
    body = b'{"choices":[{"message":{"content":"x"}}],"usage":{"cost":0.000100000000000000020}}'
    server.say("POST", ".*", Said(200, body, content_type="application/json"))
    assert (await generate(providers, address(server))).usd == Decimal("0.000100000000000000020")


async def test_the_text_of_all_parts_is_joined(providers: Providers) -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "thinking", "thinking": "no"}, {"type": "text", "text": "two"}]
    outputs = [{"type": "output_text", "text": "one "}, {"type": "output_text", "text": "two"}]
    answers = {
        "openai_chat": {"choices": [{"message": {"content": parts}}]},
        "openai_responses": {"output": [{"type": "reasoning"}, {"type": "message", "content": outputs}]},
        "anthropic_messages": {"content": parts},
    }
    for form in FORMS:
        async with ModelServer() as server:
            server.say("POST", ".*", said(answers[form]))
            assert (await generate(providers, address(server, form))).text == "one two"


@pytest.mark.parametrize(
    ("form", "answer", "reason"),
    [
        ("openai_chat", {"choices": [{"message": {"content": "a"}, "finish_reason": "length"}]}, "length"),
        ("openai_chat", {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}, "stop"),
        ("openai_chat", {"choices": [{"message": {"content": "a"}, "finish_reason": 7}]}, None),
        ("openai_chat", {"choices": [{"message": {"content": " "}, "finish_reason": "stop"}]}, "empty"),
        ("openai_chat", {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]},
         "content_filter"),
        ("openai_chat", {"choices": [{"message": {"content": None}, "finish_reason": "function_call"}]}, "tool_calls"),
        ("openai_chat", {"choices": [{"message": {"content": None, "tool_calls": [{"id": "1"}]},
                                      "finish_reason": "stop"}]}, "tool_calls"),
        ("openai_chat", {"choices": [{"message": {"content": "a", "tool_calls": []}, "finish_reason": "stop"}]},
         "stop"),
        ("openai_chat", {"choices": [{"message": {"content": None, "refusal": "I will not."},
                                      "finish_reason": "stop"}]}, "refusal"),
        ("openai_responses", {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]},
         "refusal"),
        ("anthropic_messages", {"content": [], "stop_reason": "refusal"}, "refusal"),
        ("anthropic_messages", {"content": [{"type": "text", "text": "a"}], "stop_reason": "pause_turn"}, "pause_turn"),
        ("openai_responses", {"output": [], "status": "completed"}, "empty"),
        ("openai_responses", {"output": [{"type": "function_call"}], "status": "completed"}, "tool_calls"),
        ("openai_responses",
         {"output": [], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ("anthropic_messages", {"content": [], "stop_reason": "max_tokens"}, "length"),
        ("anthropic_messages", {"content": [], "stop_reason": "end_turn"}, "empty"),
        ("anthropic_messages", {"content": [], "stop_reason": "tool_use"}, "tool_calls"),
        ("anthropic_messages", {"content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn"}, "end_turn"),
    ],
)  # fmt: skip
async def test_an_output_that_is_no_whole_answer_says_so_in_every_protocol(
    providers: Providers, form: str, answer: Any, reason: str | None, server: ModelServer
) -> None:
    server.say("POST", ".*", said(answer))
    assert (await generate(providers, address(server, form))).finish_reason == reason


class Counting(OutboundClient):
    """A client whose calls take a few rounds of the event loop.

    Attributes:
        most: The most calls that were under way at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.under_way = self.most = 0

    async def send(self, *args: Any, **named: Any) -> OutboundResponse:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        for _ in range(3):
            await asyncio.sleep(0)
        self.under_way -= 1
        return OutboundResponse(200, b'{"choices": [{"message": {"content": "OK"}}]}')


async def test_a_test_of_many_models_calls_a_few_at_once() -> None:
    outbound = Counting()
    names = [f"model-{number}" for number in range(20)]
    found = await Providers(outbound, FakeClock(), lambda _: PROVIDERS).test_models(at("http://127.0.0.1:9/v1"), names)
    assert (found.named, found.failed, outbound.most) == (tuple(names), {}, TESTS_AT_ONCE)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ({"code": 408, "message": "Took too long."}, "source_timeout", "error 408: Took too long."),
        ({"code": 408}, "source_timeout", "error 408"),
        ({"code": "insufficient_quota", "message": "Pay."}, "provider_insufficient_funds",
         "error insufficient_quota: Pay."),
        ({"code": KEY, "message": "No."}, "invalid_response", "error [removed]: No."),
        ({"message": "No."}, "invalid_response", "No."),
    ],
)  # fmt: skip
async def test_an_error_in_an_answer_of_200_is_reported_with_its_code(
    providers: Providers, form: str, error: Any, kind: str, message: str
) -> None:
    async with ModelServer() as server:
        found = await failure(providers, server, said({"error": error}), form=form)
    assert (found.kind, found.http_status, found.message, found.is_deadline) == (kind, None, message, False)


async def test_a_refusal_is_the_output_that_is_in_its_place(providers: Providers) -> None:
    refusal = {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]}]}
    answers = {
        "openai_chat": {"choices": [{"message": {"content": None, "refusal": "I will not."}}]},
        "openai_responses": refusal,
    }
    for form, answer in answers.items():
        async with ModelServer() as server:
            server.say("POST", ".*", said(answer))
            assert (await generate(providers, address(server, form))).text == "I will not."


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "request_refused"),
        (401, "authentication"),
        (402, "provider_insufficient_funds"),
        (403, "permission"),
        (404, "model_not_found"),
        (408, "source_timeout"),
        (422, "request_refused"),
        (429, "rate_limited"),
        (500, "source_5xx"),
        (502, "source_5xx"),
        (503, "capacity"),
        (529, "capacity"),
        (302, "invalid_response"),
    ],
)
async def test_each_status_has_its_kind(
    providers: Providers, form: str, status: int, kind: str, server: ModelServer
) -> None:
    error = await failure(providers, server, Said(status, b"<html>no</html>", content_type="text/html"), form=form)
    assert (error.kind, error.was_sent, error.http_status) == (kind, True, status)
    assert not error.is_deadline


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"code": "insufficient_quota", "type": "insufficient_quota"}, "provider_insufficient_funds"),
        (400, {"type": "invalid_request_error", "code": "model_not_found"}, "model_not_found"),
        (400, {"type": "overloaded_error"}, "capacity"),
        (200, {"code": 402, "message": "no credits"}, "provider_insufficient_funds"),
        (200, {"code": 502}, "source_5xx"),
        (200, {"message": "?"}, "invalid_response"),
    ],
)
async def test_a_code_in_the_body_says_more_than_the_status(
    providers: Providers, status: int, error: Any, kind: str, server: ModelServer
) -> None:
    assert (await failure(providers, server, said({"error": error}, status))).kind == kind


@pytest.mark.parametrize(
    ("form", "body", "kind", "quoted"),
    [
        ("openai_chat", {"error": {"code": 502, "message": "gone"}}, "source_5xx", "error 502: gone"),
        ("openai_chat", {"error": {"code": 429}}, "rate_limited", "error 429: finish_reason: error"),
        (
            "openai_chat", {"error": {"code": 429, "message": "slow"}, "message": {"content": "The"}},
            "source_5xx", "error 429: slow",
        ),
        ("openai_chat", {"message": {"content": "The first"}}, "source_5xx", "finish_reason: error"),
        ("anthropic_messages", {}, "source_5xx", "stop_reason: error"),
    ],
)  # fmt: skip
async def test_an_output_that_the_provider_broke_off_is_a_failed_call(
    providers: Providers, form: str, body: dict[str, Any], kind: str, quoted: str
) -> None:
    choice = {"finish_reason": "error", "message": {"content": ""}, **body}
    content = [{"type": "text", "text": "The first"}]
    async with ModelServer() as server:
        answer = said({"choices": [choice], "content": content, "stop_reason": "error"})
        error = await failure(providers, server, answer, form=form)
    assert (error.kind, error.message, error.was_sent) == (kind, quoted, True)


async def test_a_failed_response_of_the_responses_form_has_its_kind(providers: Providers, server: ModelServer) -> None:
    body = {"status": "failed", "error": {"code": "rate_limit_exceeded"}, "output": []}
    assert (await failure(providers, server, said(body), form="openai_responses")).kind == "rate_limited"
    body = {"status": "in_progress", "error": None, "output": []}  # type: ignore[dict-item]
    assert (await failure(providers, server, said(body), form="openai_responses")).kind == "invalid_response"


@pytest.mark.parametrize("empty", [None, {}, ""])
async def test_an_empty_error_beside_an_answer_is_none(providers: Providers, empty: Any, server: ModelServer) -> None:
    server.say("POST", ".*", said({"error": empty, "choices": [{"message": {"content": "x"}}]}))
    assert (await generate(providers, address(server))).text == "x"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "body",
    [
        b"", b"data: {}", b"[]", b"{}", b'{"choices": [], "output": {}, "content": "x"}',
        b'{"choices": [{"message": "x"}]}', b'{"choices": [{"message": {"content": 5}}], "output": 5}', b"[" * 100_000,
        b"\xff",
    ],
)  # fmt: skip
async def test_an_answer_of_another_shape_is_invalid(
    providers: Providers, form: str, body: bytes, server: ModelServer
) -> None:
    error = await failure(providers, server, Said(200, body, content_type="application/json"), form=form)
    assert (error.kind, error.was_sent) == ("invalid_response", True)


HTML = b"<!DOCTYPE html>\n<html><title>Welcome</title></html>"


@pytest.mark.parametrize(
    ("body", "content_type", "told"),
    [
        (HTML, "text/html; charset=utf-8", ("html", "text/html")),
        (b" ", None, ("empty", None)),
        (b"null", "application/json", ("null", "application/json")),
        (b'data: {"choices": []}\n\n', "text/event-stream", ("stream", "text/event-stream")),
        (b'{"message": 1}\n{"done": true}\n', "application/x-ndjson", ("stream", "application/x-ndjson")),
        (b'{"choices": [{"mess', "application/json", ("broken_json", "application/json")),
        (b'{"choices": []}', "application/json", ("other_json", "application/json")),
        (b"ok", "what? <b>", ("other", None)),
        (b"ok", f"text/{KEY}", ("other", None)),
    ],
)
@pytest.mark.parametrize("is_list", [False, True])
async def test_an_invalid_answer_says_what_came(
    providers: Providers, body: bytes, content_type: str | None, told: tuple[str, str | None], is_list: bool
) -> None:
    async with ModelServer(key=KEY) as server:
        server.say("GET" if is_list else "POST", ".*", Said(200, body, content_type=content_type))
        with pytest.raises(ProviderError) as caught:
            await (providers.find_models(address(server)) if is_list else generate(providers, address(server)))
    error = caught.value
    assert (error.kind, error.body_kind, error.content_type) == ("invalid_response", *told)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("20", 20),
        (format_datetime(START + timedelta(seconds=90), usegmt=True), 90),
        ("9" * 5000, MAX_WAIT_S),
        ("-5", None),
        ("soon", None),
        (None, None),
    ],
)
@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limited"), (503, "capacity")])
async def test_a_refusal_says_how_long_to_wait_and_is_not_repeated(
    providers: Providers, header: str | None, seconds: int | None, status: int, kind: str
) -> None:
    headers = () if header is None else (("Retry-After", header),)
    async with ModelServer() as server:
        error = await failure(providers, server, Said(status, b"{}", headers=headers))
        assert (error.kind, error.retry_after_s) == (kind, seconds)
        assert len(server.heard) == 1


async def test_an_answer_above_8_mib_is_too_large(providers: Providers, server: ModelServer) -> None:
    server.answer("x" * (8 * 1024 * 1024 - 1000))
    assert len((await generate(providers, address(server))).text) > 8_000_000
    server.answer("x" * (8 * 1024 * 1024))
    with pytest.raises(ProviderError) as caught:
        await generate(providers, address(server))
    assert (caught.value.kind, caught.value.was_sent) == ("response_too_large", True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("status", "body"), [(200, {"choices": [], "output": {}}), (200, {"error": {"code": 502}}), (500, {"error": {}})]
)
async def test_usage_in_an_answer_that_cannot_be_used_is_not_lost(
    providers: Providers, form: str, status: int, body: dict[str, Any]
) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "input_tokens": 7, "output_tokens": 3, "cost": "0.01"}
    async with ModelServer() as server:
        error = await failure(providers, server, said({**body, "usage": usage, "id": "req_1"}, status), form=form)
    assert error.spent is not None
    spent = error.spent
    assert (spent.input_tokens, spent.output_tokens, spent.usd) == (7, 3, Decimal("0.01"))
    assert (spent.text, spent.source_request_id) == ("", "req_1")


@pytest.mark.parametrize(("fault", "kind"), [(DROP, "network"), (CUT, "response_incomplete")])
async def test_a_lost_connection_may_have_been_heard_and_tells_no_answer_from_a_part_of_one(
    providers: Providers, fault: Fault, kind: str, server: ModelServer
) -> None:
    error = await failure(providers, server, fault)
    assert (error.kind, error.was_sent, error.http_status) == (kind, True, None)


async def test_no_answer_in_time_is_a_timeout(providers: Providers, server: ModelServer) -> None:
    error = await failure(providers, server, HANG, timeout_s=0.05)
    assert error.is_deadline
    assert error.kind == "timeout"


async def test_a_server_that_does_not_listen_is_a_network_failure_and_nothing_was_sent(providers: Providers) -> None:
    async with ModelServer() as server:
        gone = address(server)
    with pytest.raises(ProviderError) as caught:
        await generate(providers, gone)
    assert (caught.value.kind, caught.value.was_sent) == ("network", False)


@pytest.mark.parametrize("base_url", ["http://169.254.169.254/v1", "ftp://127.0.0.1/v1", "http://8.8.8.8/v1"])
async def test_an_address_that_may_not_be_called_is_rejected_unsent(providers: Providers, base_url: str) -> None:
    with pytest.raises(ProviderError) as caught:
        await generate(providers, at(base_url))
    assert (caught.value.kind, caught.value.was_sent) == ("egress_rejected", False)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("scheme_rejected", "egress_rejected"),
        ("private_range_rejected", "egress_rejected"),
        ("dns_resolution_failed", "network"),
        ("network", "network"),
        ("timeout", "timeout"),
        ("response_too_large", "response_too_large"),
    ],
)
def test_each_failure_of_a_call_has_its_kind(kind: str, told: str) -> None:
    assert OutboundError(kind).failure_class == told
    assert told in KINDS


async def test_a_call_can_be_cancelled_and_closes_its_connection(providers: Providers, server: ModelServer) -> None:
    server.say("POST", ".*", HANG)
    call = asyncio.create_task(generate(providers, address(server)))
    await server.until_heard()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_what_the_provider_said_is_in_the_message_alone_and_without_the_key(
    providers: Providers, server: ModelServer
) -> None:
    answers = [said({"error": {"type": "x", "message": f"{KEY} Say hello."}}, status) for status in (400, 401, 500)]
    for answer in answers:
        error = await failure(providers, server, answer)
        assert error.message == "[removed] Say hello."
        error.message = None
        shown = f"{error!r} {error} {error.detail} {error.hint} {error.__cause__!r} {vars(error)}"
        assert KEY not in shown
        assert "hello" not in shown


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


KEY_FORMS: dict[str, Callable[[str], str]] = {
    "as sent": str,
    "in capitals": str.upper,
    "in a URL": lambda key: quote(key, safe=""),
    "in a query": lambda key: quote_plus(f"key={key}"),
    "in JSON": lambda key: json.dumps({"api_key": key}),
    "in JSON in JSON": lambda key: json.dumps(json.dumps(key)),
    "in hexadecimal digits": lambda key: key.encode().hex(),
    **{
        f"in base64 behind {before!r}": partial(lambda before, key: in_base64(f"{before}{key}!"), before)
        for before in ("", "u", "u:", "Bearer ")
    },
}


@pytest.mark.parametrize("key", ["sk-secret123", 'p@ss/w+rd \\"x'])
@pytest.mark.parametrize("form", KEY_FORMS)
@pytest.mark.parametrize("content_type", ["application/json", "text/plain"])
async def test_the_key_of_the_call_is_not_quoted_in_any_form(
    providers: Providers, key: str, form: str, content_type: str
) -> None:
    words = f"Refused: {KEY_FORMS[form](key)} is unknown"
    async with ModelServer(key=key) as server:
        met = said({"error": {"message": words}}, 400) if "json" in content_type else Said(400, words.encode())
        server.say("POST", ".*", met)
        with pytest.raises(ProviderError) as caught:
            await generate(providers, address(server, key=key))
    assert caught.value.message is not None
    assert re.fullmatch(r"Refused: .{0,20}\[removed\].{0,10} is unknown", caught.value.message)


async def test_output_and_key_are_in_no_representation(providers: Providers, server: ModelServer) -> None:
    server.answer("private words")
    where = address(server)
    assert "private words" not in repr(await generate(providers, where))
    assert KEY not in repr(where)


@pytest.mark.parametrize("form", FORMS)
async def test_models_are_listed_once_each_in_the_order_of_the_provider(providers: Providers, form: str) -> None:
    async with ModelServer(models=("b-model", "a-model", "b-model"), key=KEY) as server:
        models = (await providers.find_models(address(server, form))).models
        assert [model.upstream_ref for model in models] == ["b-model", "a-model"]
        assert {model.capabilities for model in models} == {("text.generate",)}
        assert {model.data_classes for model in models} == {("public",)}


async def test_a_model_list_in_pages_is_read_to_its_end(providers: Providers) -> None:
    names = tuple(f"claude/{number}" for number in range(5))
    async with ModelServer(models=names, page_size=2) as server:
        models = (await providers.find_models(address(server, "anthropic_messages"))).models
        assert tuple(model.upstream_ref for model in models) == names
        queries = [heard.head.query for heard in server.heard]
        assert [query.get("after_id") for query in queries] == [None, "claude/1", "claude/3"]


async def test_a_list_that_never_ends_is_given_up(providers: Providers, server: ModelServer) -> None:
    server.say("GET", ".*", said({"data": [{"id": "x"}], "has_more": True, "last_id": "x"}))
    assert len((await providers.find_models(address(server, "anthropic_messages"))).models) == 1
    assert len(server.heard) == 20


@pytest.mark.parametrize("slash", ["", "/"])
async def test_a_base_url_without_v1_is_tried_with_it(providers: Providers, slash: str, server: ModelServer) -> None:
    found = await providers.find_models(at(f"{server.origin}{slash}"))
    assert found.base_url == f"{server.origin}/v1"
    assert [model.upstream_ref for model in found.models] == ["tiny-1"]
    assert [heard.head.path for heard in server.heard] == ["/models", "/v1/models"]


async def test_a_page_for_people_in_place_of_the_list_is_taken_for_the_wrong_base(
    providers: Providers, server: ModelServer
) -> None:
    server.say("GET", "/models", Said(200, b"<html></html>", content_type="text/html"))
    assert (await providers.find_models(at(server.origin))).base_url == f"{server.origin}/v1"


async def test_a_base_url_that_works_is_kept_as_it_is(providers: Providers) -> None:
    async with ModelServer(prefix="/inference/openai") as server:
        assert (await providers.find_models(address(server))).base_url == server.base_url


@pytest.mark.parametrize("path", ["/v1", "/api/v1", "/v1beta/openai"])
async def test_a_base_url_with_a_version_is_not_tried_again(providers: Providers, path: str) -> None:
    async with ModelServer(prefix="/elsewhere") as server:
        with pytest.raises(ProviderError) as caught:
            await providers.find_models(at(f"{server.origin}{path}"))
        assert caught.value.kind == "model_not_found"
        assert len(server.heard) == 1


async def test_a_refused_key_is_not_tried_at_another_base(providers: Providers) -> None:
    async with ModelServer(key="another", prefix="") as server:
        with pytest.raises(ProviderError) as caught:
            await providers.find_models(address(server))
        assert caught.value.kind == "authentication"
        assert len(server.heard) == 1


@pytest.mark.parametrize("body", [{}, {"data": None}, {"data": {}}, "x", 5])
async def test_an_answer_that_is_no_list_is_invalid(providers: Providers, body: Any, server: ModelServer) -> None:
    server.say("GET", ".*", said(body))
    with pytest.raises(ProviderError) as caught:
        await providers.find_models(address(server))
    assert caught.value.kind == "invalid_response"


async def test_a_bare_array_is_a_list_too(providers: Providers, server: ModelServer) -> None:
    server.say("GET", ".*", said([{"id": "x"}]))
    assert [model.upstream_ref for model in (await providers.find_models(address(server))).models] == ["x"]


async def test_entries_that_name_no_model_are_left_out(providers: Providers) -> None:
    models = await listed(
        providers, {"id": "x"}, {"id": ""}, {"id": 5}, {}, "x", None, {"id": "y" * 513}, {"id": "\ud800"}
    )
    assert [model.upstream_ref for model in models] == ["x"]


async def test_models_that_do_not_answer_with_text_are_left_out(providers: Providers) -> None:
    models = await listed(
        providers, {"id": "text-embedding-3-small"}, {"id": "whisper-1"}, {"id": "dall-e-3"},
        {"id": "flux", "type": "image"}, {"id": "picture", "architecture": {"output_modalities": ["image"]}},
        {"id": "gpt-image-1", "architecture": {"output_modalities": ["image", "text"]}}, {"id": "imagine-chat"},
    )  # fmt: skip
    assert [model.upstream_ref for model in models] == ["gpt-image-1", "imagine-chat"]


async def test_what_a_list_tells_is_kept_and_the_rest_is_unknown(providers: Providers) -> None:
    told, bare = await listed(
        providers,
        {
            "id": "Northwind/ember-7b-2026-05-01", "name": "Ember 7B",
            "pricing": {"prompt": "0.00000015", "completion": "0.0000006"}, "expiration_date": "2027-01-01",
        },
        {"id": "tiny-preview", "owned_by": "Lab", "pricing": {"prompt": "-1", "completion": "-1"}},
    )  # fmt: skip
    assert told == ServedModel(
        upstream_ref="Northwind/ember-7b-2026-05-01", display_name="Ember 7B", capabilities=("text.generate",),
        data_classes=("public",), publisher_id="northwind", family="ember-7b", release="2026-05-01",
        lifecycle="deprecated", license={"identifier": "unknown", "commercial_use": "unknown", "evidence_ref": None},
        prices={"input_usd_per_million": "0.15", "output_usd_per_million": "0.6"},
    )  # fmt: skip
    assert (bare.display_name, bare.publisher_id, bare.family) == ("tiny-preview", "lab", "tiny-preview")
    assert (bare.release, bare.lifecycle, bare.prices) == ("unknown", "preview", None)


async def test_a_date_without_hyphens_is_a_release_too(providers: Providers) -> None:
    (model,) = await listed(providers, {"id": "claude-sonnet-4-20250514"})
    assert (model.family, model.release) == ("claude-sonnet-4", "2025-05-14")


async def test_exact_numbers_survive_from_the_wire_to_the_cost(providers: Providers) -> None:
    async with ModelServer(cost_usd=ExactNumber("0.10")) as server:
        assert str((await generate(providers, address(server))).usd) == "0.10"
