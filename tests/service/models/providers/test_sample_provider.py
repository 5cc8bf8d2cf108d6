"""The sample sources: the same answers every time, labelled as samples, with the troubles that marks ask for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from runwatch.base.secrets.secret import Secret
from runwatch.service.address_policy import PROVIDERS
from runwatch.service.models.providers.prices import compute_cost
from runwatch.service.models.providers.providers import Providers
from runwatch.service.models.providers.sample_provider import MAX_REMEMBERED, REFUSED_KEY
from runwatch.service.models.providers.sample_sources import SAMPLE_SOURCES, SAMPLES
from runwatch.service.models.providers.types import KINDS, Generation, Prompt, ProviderAddress, ProviderError
from runwatch.service.outbound import OutboundClient
from tests.support.clock import FakeClock

NORTH = ProviderAddress("fixture:sample_north", "openai_chat", "none", None)
GATEWAY = ProviderAddress("fixture:sample_gateway", "openai_chat", "none", None)
CLOUD = ProviderAddress("fixture:sample_cloud", "openai_chat", "none", None)
ALL = ProviderAddress("fixture:", "openai_chat", "none", None)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def providers(clock: FakeClock) -> AsyncIterator[Providers]:
    outbound = OutboundClient()
    yield Providers(outbound, clock, lambda _: PROVIDERS)
    await outbound.close()


async def generate(
    providers: Providers,
    objective: str = "Say hello.",
    model: str = "ember-small",
    where: ProviderAddress = NORTH,
    inputs: Any = None,
    max_output_tokens: int | None = None,
    timeout_s: float = 60.0,
) -> Generation:
    return await providers.generate(where, Prompt(model, objective, timeout_s, inputs, max_output_tokens))


async def failure(providers: Providers, objective: str, model: str = "ember-small", **more: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await generate(providers, objective, model, **more)
    return caught.value


def test_there_are_three_sources_that_differ() -> None:
    assert [source.source_id for source in SAMPLE_SOURCES] == ["sample_north", "sample_gateway", "sample_cloud"]
    assert {source.source_kind for source in SAMPLE_SOURCES} == {"fixture"}
    assert len({source.location for source in SAMPLE_SOURCES}) == 3
    assert all(source.display_name.startswith("Sample ") for source in SAMPLE_SOURCES)


def test_the_models_cover_every_lifecycle_and_are_called_samples() -> None:
    models = [model.served for sample in SAMPLES for model in sample.models]
    assert len(models) >= 8
    assert {model.lifecycle for model in models} == {"preview", "active", "deprecated", "retired"}
    assert len({model.upstream_ref for model in models}) == len(models)
    assert all(model.display_name.startswith("Sample ") for model in models)


def test_every_source_leaves_data_classes_to_its_models_and_knows_their_prices() -> None:
    for sample in SAMPLES:
        assert sample.source.data_classes is None
        for model in sample.models:
            assert sample.source.prices[model.served.upstream_ref] == model.served.prices


async def test_each_source_lists_its_own_models(providers: Providers) -> None:
    for sample in SAMPLES:
        found = await providers.find_models(ProviderAddress(sample.source.base_url or "", "openai_chat", "none", None))
        assert found.base_url == sample.source.base_url
        assert found.models == [model.served for model in sample.models]


async def test_the_bare_scheme_serves_the_models_of_all(providers: Providers) -> None:
    assert len((await providers.find_models(ALL)).models) == sum(len(sample.models) for sample in SAMPLES)
    assert (await generate(providers, model="cedar-standard", where=ALL)).text


async def test_an_unknown_sample_source_is_like_a_server_that_does_not_listen(providers: Providers) -> None:
    with pytest.raises(ProviderError) as caught:
        await providers.find_models(ProviderAddress("fixture:nowhere", "openai_chat", "none", None))
    assert (caught.value.kind, caught.value.was_sent) == ("network", False)


@pytest.mark.parametrize(("secret", "works"), [(Secret("anything"), True), (REFUSED_KEY, False), (None, False)])
async def test_every_key_but_one_is_taken(providers: Providers, secret: Secret | None, works: bool) -> None:
    where = ProviderAddress("fixture:sample_north", "openai_chat", "api_key", secret)
    if works:
        assert (await generate(providers, where=where)).text
        return
    for call in (providers.find_models(where), generate(providers, where=where)):
        with pytest.raises(ProviderError) as caught:
            await call
        assert caught.value.kind == "authentication"


async def test_the_same_message_gets_the_same_answer_from_another_service(providers: Providers) -> None:
    first = await generate(providers)
    outbound = OutboundClient()
    assert await generate(Providers(outbound, FakeClock(), lambda _: PROVIDERS)) == first
    await outbound.close()


async def test_models_and_messages_are_answered_differently(providers: Providers) -> None:
    answers = [
        await generate(providers),
        await generate(providers, model="ember-large"),
        await generate(providers, "Say goodbye."),
        await generate(providers, inputs={"kind": "inline_json", "json": {"a": 1}}),
    ]
    assert len({answer.source_request_id for answer in answers}) == 4
    assert len({answer.text for answer in answers}) >= 3


async def test_the_next_answer_to_the_same_message_is_another_one(providers: Providers) -> None:
    first, second = await generate(providers), await generate(providers)
    assert first.text != second.text
    assert "Answer 2 to this message" in second.text


async def test_calls_are_counted_for_so_many_messages_only(providers: Providers) -> None:
    await generate(providers, "The first.")
    for number in range(MAX_REMEMBERED):
        await generate(providers, f"Message {number}.")
    assert "Answer 1 to this message" in (await generate(providers, "The first.")).text


async def test_an_answer_says_that_it_is_a_sample_and_what_was_asked(providers: Providers) -> None:
    text = (await generate(providers, "Sum\n up " + "x" * 500)).text
    assert text.startswith("Sample Ember Small was asked: Sum up xxx")
    assert "sample" in text.rpartition("\n")[2]
    assert len(text) < 600


async def test_tokens_are_reported_and_cost_what_the_table_says(providers: Providers) -> None:
    answer = await generate(providers)
    assert answer.usd is None
    assert answer.input_tokens == 3
    assert answer.output_tokens == -(-len(answer.text) // 4)
    assert compute_cost(answer, SAMPLE_SOURCES[0].prices, "ember-small", is_keyless=True, is_listed=True) == (
        (3 * Decimal("0.10") + answer.output_tokens * Decimal("0.40")) / 1_000_000,
        "source_reported",
    )


async def test_the_gateway_reports_its_cost_itself(providers: Providers) -> None:
    answer = await generate(providers, "[[text 1234]]", "river/river-mini", GATEWAY)
    assert answer.usd == (4 * Decimal("0.05") + Decimal("0.20")) / 1_000_000
    assert answer.upstream_ref == "river/river-mini@2026-08"


async def test_a_cap_on_the_output_cuts_it(providers: Providers) -> None:
    answer = await generate(providers, "[[text 0123456789]]", max_output_tokens=2)
    assert (answer.text, answer.output_tokens) == ("01234567", 2)


async def test_an_answer_takes_the_time_of_its_model(providers: Providers, clock: FakeClock) -> None:
    await generate(providers, f"[[text {'x' * 480}]]")
    assert clock.sleeps == [0.5 + 120 / 120.0]
    await generate(providers, "[[text x]]", "cedar-deep", CLOUD)
    assert clock.sleeps[1] == pytest.approx(9.0 + 1 / 15.0)


async def test_a_mark_makes_an_answer_slow(providers: Providers, clock: FakeClock) -> None:
    await generate(providers, "Say hello. [[slow 30]]")
    assert clock.sleeps == [30.0]


async def test_an_answer_that_takes_longer_than_there_is_time_is_a_timeout(
    providers: Providers, clock: FakeClock
) -> None:
    error = await failure(providers, "[[slow 30]]", timeout_s=5.0)
    assert (error.kind, error.was_sent, clock.sleeps) == ("timeout", True, [5.0])


@pytest.mark.parametrize("kind", KINDS)
async def test_a_mark_makes_a_call_fail_in_every_way(providers: Providers, clock: FakeClock, kind: str) -> None:
    error = await failure(providers, f"Say hello. [[fail {kind}]]")
    assert error.kind == kind
    assert error.was_sent is (kind not in {"network", "egress_rejected"})
    assert clock.sleeps == [60.0 if kind == "timeout" else 0.5]


async def test_a_failure_can_happen_once(providers: Providers) -> None:
    assert (await failure(providers, "[[fail capacity once]]")).kind == "capacity"
    assert (await generate(providers, "[[fail capacity once]]")).text


async def test_a_failure_can_be_that_of_one_model(providers: Providers) -> None:
    objective = "[[fail source_5xx on ember-small]]"
    assert (await failure(providers, objective)).kind == "source_5xx"
    assert (await failure(providers, objective)).kind == "source_5xx"
    assert (await generate(providers, objective, "ember-large")).text
    assert (await failure(providers, "[[fail capacity once on ember-small]]")).kind == "capacity"


async def test_a_mark_gives_the_exact_text(providers: Providers) -> None:
    assert (await generate(providers, 'Go. [[text {"a": [1]}]] ]]')).text == '{"a": [1]}'
    assert (await generate(providers, "[[text two\nlines]] [[slow 1]]")).text == "two\nlines"


@pytest.mark.parametrize(
    "mark", ["[[slow soon]]", "[[fail]]", "[[fail nothing]]", "[[fail capacity twice]]", "[[slow -1]]"]
)
async def test_a_mark_that_cannot_be_read_is_text(providers: Providers, clock: FakeClock, mark: str) -> None:
    assert mark in (await generate(providers, mark)).text
    assert clock.sleeps[0] < 2.0


async def test_an_answer_goes_on_for_as_long_as_a_mark_says(providers: Providers) -> None:
    assert len((await generate(providers, "Go. [[long 5000]]")).text) == 5000
    assert (await generate(providers, "Go. [[text ab]] [[long 5]]")).text == "ababa"
    assert (await generate(providers, "Go. [[text abc]] [[long 2]]")).text == "abc"
    assert "[[" not in (await generate(providers, "Go. [[long 10]]")).text


async def test_marks_in_inputs_do_nothing(providers: Providers) -> None:
    assert (await generate(providers, inputs={"kind": "inline_json", "json": {"a": "[[fail capacity]]"}})).text


async def test_the_busy_model_fails_the_first_time_only(providers: Providers) -> None:
    assert (await failure(providers, "Go.", "stone/stone-busy", where=GATEWAY)).kind == "capacity"
    assert (await generate(providers, "Go.", "stone/stone-busy", GATEWAY)).text


async def test_the_retired_model_no_longer_answers(providers: Providers) -> None:
    for _ in range(2):
        assert (await failure(providers, "Go.", "cedar-first", where=CLOUD)).kind == "model_not_found"


async def test_a_model_of_another_source_is_not_found(providers: Providers) -> None:
    assert (await failure(providers, "Go.", "cedar-standard")).kind == "model_not_found"


async def test_a_slow_call_can_be_cancelled() -> None:
    clock = FakeClock(manual=True)
    outbound = OutboundClient()
    call = asyncio.create_task(generate(Providers(outbound, clock, lambda _: PROVIDERS), "[[slow 30]]"))
    await clock.until_sleeping()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert clock.sleeping == 0
    await outbound.close()
