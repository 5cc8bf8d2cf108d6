"""Bodies of sources and of registered options: which addresses and members pass, and the words for what does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from runwatch.records.requests.arm import AgentArmRequest, ArmRequest, ModelArmRequest, SkillArmRequest, arm_model
from runwatch.records.requests.body import field_errors
from runwatch.records.requests.source import (
    EndpointRequest,
    HandoffRequest,
    QuoteRequest,
    clean_base_url,
    is_private_host,
)
from tests.view.strategies import json_values, many

COMMON = {"display_name": "x", "capability_tags": [], "data_class_grants": []}


def errors(model: type[BaseModel], body: Any) -> dict[str, str]:
    try:
        model.model_validate(body)
    except ValidationError as error:
        return {entry["field"]: entry["message"] for entry in field_errors(error)}
    return {}


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://api.example.test/v1", "https://api.example.test/v1"),
        (" https://api.example.test/v1// ", "https://api.example.test/v1"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://localhost/v1", "http://localhost/v1"),
        ("http://10.1.2.3/v1", "http://10.1.2.3/v1"),
        ("http://models.lan/v1", "http://models.lan/v1"),
        ("https://8.8.8.8/v1", "https://8.8.8.8/v1"),
    ],
)
def test_an_address_that_can_be_called_passes_without_its_last_slash(text: str, url: str) -> None:
    assert clean_base_url(text) == url


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "absolute"),
        ("api.example.test/v1", "absolute"),
        ("ftp://api.example.test", "absolute"),
        ("https://", "absolute"),
        ("https://host:port/", "absolute"),
        ("https://host:99999/", "absolute"),
        ("https://[::1/", "absolute"),
        ("https://a b/", "absolute"),
        ("https://a/\n", ""),
        ("https://a\x00/", "absolute"),
        ("https://ä.test/", "absolute"),
        ("https://user:pass@host/", "user name"),
        ("https://@host/", "user name"),
        ("https://host/?key=1", "query"),
        ("https://host/v1?", "query"),
        ("https://host/#x", "query"),
        ("http://8.8.8.8/v1", "https"),
        ("http://[2001:4860:4860::8888]/", "https"),
    ],
)
def test_an_address_that_cannot_be_called_is_refused_without_being_repeated(text: str, word: str) -> None:
    if not word:
        # White space around an address does not belong to it.
        assert clean_base_url(text) == text.strip().rstrip("/")
        return
    with pytest.raises(ValueError, match=word) as caught:
        clean_base_url(text)
    assert "pass" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize(
    ("host", "is_private"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("192.168.0.9", True),
        ("localhost", True),
        ("a.localhost", True),
        ("8.8.8.8", False),
        ("models.lan", False),
        ("localhost.example.test", False),
    ],
)
def test_a_private_host_is_known_by_how_it_is_written(host: str, is_private: bool) -> None:
    assert is_private_host(host) is is_private


def test_every_failure_of_a_handoff_is_named_in_words() -> None:
    endpoint = {"base_url": "http://8.8.8.8", "prices": {"m": {"input_usd_per_million": "1,5"}}}
    assert errors(HandoffRequest, {"source_id": 1, "auth_scheme": "", "endpoint": endpoint}) == {
        "source_id": "Must be a text.",
        "auth_scheme": "Must be at least 1 character.",
        "endpoint.base_url": "Must be https, because the secret would be readable on its way.",
        "endpoint.prices.m.input_usd_per_million": "Must be US dollars in decimal digits, such as 0.25.",
        "endpoint.prices.m.output_usd_per_million": "Required.",
    }


@pytest.mark.parametrize("amount", ["0", "0.25", "12", "999999999999.000000000001"])
def test_a_price_is_a_decimal_text(amount: str) -> None:
    price = {"input_usd_per_million": amount, "output_usd_per_million": amount}
    assert errors(EndpointRequest, {"prices": {"*": price}}) == {}


@pytest.mark.parametrize("amount", ["", "-1", "1e3", ".5", "1.", "NaN", "1 ", "٣", 0.25, "1" * 13])
def test_any_other_price_is_refused(amount: Any) -> None:
    price = {"input_usd_per_million": amount, "output_usd_per_million": "1"}
    assert list(errors(EndpointRequest, {"prices": {"*": price}})) == ["prices.*.input_usd_per_million"]


def test_a_price_table_has_an_end() -> None:
    price = {"input_usd_per_million": "1", "output_usd_per_million": "1"}
    table = {f"m{number}": price for number in range(1001)}
    assert errors(EndpointRequest, {"prices": table}) == {"prices": "Takes at most 1000 entries."}
    table.popitem()
    assert errors(EndpointRequest, {"prices": table}) == {}


def test_tokens_are_counted_in_whole_numbers() -> None:
    body = {"model_deployment_id": "m", "input_tokens": True, "output_tokens": "1"}
    assert list(errors(QuoteRequest, body)) == ["input_tokens", "output_tokens"]


def test_the_model_of_an_option_follows_its_kind() -> None:
    assert arm_model({"kind": "model"}) is ModelArmRequest
    assert arm_model({"kind": "agent"}) is AgentArmRequest
    assert arm_model({"kind": "skill"}) is SkillArmRequest
    others: tuple[Any, ...] = ({}, {"kind": "tool"}, {"kind": ["model"]}, None, [], "model")
    for content in others:
        assert arm_model(content) is ArmRequest


def test_what_belongs_to_another_kind_is_refused_and_a_null_is_not() -> None:
    skill = {**COMMON, "kind": "skill", "artifact": {"content": "x", "version": "1", "editable_regions": []}}
    assert errors(SkillArmRequest, {**skill, "endpoint": None, "provider": None}) == {}
    assert errors(SkillArmRequest, {**skill, "provider": "x"}) == {
        "provider": "Does not go with the rest; leave it out."
    }


def test_a_model_is_named_in_one_of_two_ways() -> None:
    model = {**COMMON, "kind": "model"}
    required = "Required for a model without a deployment."
    assert errors(ModelArmRequest, model) == {"provider": required, "model_id": required}
    assert errors(ModelArmRequest, {**model, "provider": "x"}) == {"model_id": required}
    assert errors(ModelArmRequest, {**model, "provider": "x", "model_id": "y"}) == {}
    assert errors(ModelArmRequest, {**model, "model_deployment_id": "mdep_1"}) == {}
    assert list(errors(ModelArmRequest, {**model, "model_deployment_id": 1})) == ["model_deployment_id"]


@many
@given(json_values)
def test_whatever_comes_is_taken_or_refused_by_field(value: Any) -> None:
    for model in (arm_model(value), HandoffRequest, QuoteRequest):
        assert all(message.endswith(".") for message in errors(model, value).values())


@many
@given(st.text())
def test_an_address_is_cleaned_once_and_for_all_or_refused(text: str) -> None:
    try:
        url = clean_base_url(text)
    except ValueError:
        return
    assert clean_base_url(url) == url
