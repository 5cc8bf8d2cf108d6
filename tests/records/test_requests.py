"""The body of a submit, validated before it is sent and when it is accepted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from runwatch.records.requests.body import field_errors
from runwatch.records.requests.run import OBJECTIVE_CHARACTERS, RunRequest
from tests.support import builders
from tests.support.parts import ABSENT, merged
from tests.view.strategies import json_values, many

POLICY = {"data_classes": ["public"], "budget": {"max_cost_usd": 0.25, "max_runtime_s": 60}}

COMPOSED: dict[str, Any] = {
    "version": "v1", "repository": "acme/widgets", "base_ref": "main", "base_sha": "0" * 40, "agent_arm_id": "arm_1",
    "sources": [{"id": "coderabbit"}], "combine": "all",
}  # fmt: skip


def errors(body: Any) -> dict[str, str]:
    try:
        RunRequest.model_validate(body)
    except ValidationError as error:
        return {entry["field"]: entry["message"] for entry in field_errors(error)}
    return {}


def live(**over: Any) -> dict[str, Any]:
    return merged(builders.request_body("live"), over)


def policy(**over: Any) -> dict[str, Any]:
    return live(policy={**POLICY, **over})


def budget(**over: Any) -> dict[str, Any]:
    return policy(budget={**POLICY["budget"], **over})  # type: ignore[dict-item]


def task(**over: Any) -> dict[str, Any]:
    return live(task={"objective": "Do it.", **over})


@pytest.mark.parametrize(
    "body",
    [
        builders.request_body(),
        builders.full_request_body(),
        live(mode=ABSENT),
        live(novel={"x": 1}),
        live(routing={"required_arm_id": "arm_1"}),
        builders.request_body("echo", routing={"required_arm_id": "arm_1"}),
        live(review_composer=COMPOSED),
        task(objective="x" * OBJECTIVE_CHARACTERS),
        task(inputs_ref={"kind": "url", "url": "https://example.test/in"}),
        task(inputs_ref={"kind": "url_list", "json": {"urls": []}, "more": 1}),
        policy(data_classes=["anything_new"]),
        policy(cost_coefficient=0),
        policy(cost_coefficient=1),
        policy(on_eval=[]),
        policy(on_eval=["gate", "fallback", "repair_retry"]),
        budget(max_runtime_s=0.5),
        budget(max_cost_usd=0.000001),
    ],
)
def test_what_the_interface_allows_is_valid(body: dict[str, Any]) -> None:
    assert errors(body) == {}


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, {"task": "Required.", "policy": "Required."}),
        ([], {"body": "Must be an object."}),
        ("{}", {"body": "Must be an object."}),
        (live(mode="fast"), {"mode": "Must be 'live' or 'echo'."}),
        (live(mode=None), {"mode": "Must be 'live' or 'echo'."}),
        (live(task=None), {"task": "Must be an object."}),
        (live(**{"run\ud8007": 1}), {"body": "Lone surrogates are not allowed."}),
        (live(task={}), {"task.objective": "Required."}),
        (task(objective=""), {"task.objective": "Must be at least 1 character."}),
        (task(objective=5), {"task.objective": "Must be a text."}),
        (task(objective="run\ud8007"), {"task.objective": "Lone surrogates are not allowed."}),
        (task(objective="x" * 4001), {"task.objective": "Must be at most 4000 characters."}),
        (task(inputs_ref={"kind": "file"}), {"task.inputs_ref.kind": "Must be 'url_list', 'url' or 'inline_json'."}),
        (task(inputs_ref={}), {"task.inputs_ref.kind": "Required."}),
        (task(inputs_ref={"kind": "url", "url": "in.txt"}), {"task.inputs_ref.url": "Must be an absolute URL."}),
        (task(inputs_ref={"kind": "url", "url": 5}), {"task.inputs_ref.url": "Must be a text."}),
        (task(inputs_ref={"kind": "inline_json", "json": [1]}), {"task.inputs_ref.json": "Must be an object."}),
        (policy(data_classes=[]), {"policy.data_classes": "Needs at least 1 entry."}),
        (policy(data_classes="public"), {"policy.data_classes": "Must be an array."}),
        (policy(data_classes=["public", ""]), {"policy.data_classes[1]": "Must be at least 1 character."}),
        (policy(cost_coefficient=1.1), {"policy.cost_coefficient": "Must be at most 1."}),
        (policy(cost_coefficient=-0.1), {"policy.cost_coefficient": "Must be at least 0."}),
        (policy(on_eval=["gate", "gate"]), {"policy.on_eval": "Each reaction may be named once."}),
        (policy(on_eval=["stop"]), {"policy.on_eval[0]": "Must be 'gate', 'fallback' or 'repair_retry'."}),
        (live(policy={"data_classes": ["public"]}), {"policy.budget": "Required."}),
        (budget(max_cost_usd=0), {"policy.budget.max_cost_usd": "Must be greater than 0."}),
        (budget(max_cost_usd="1"), {"policy.budget.max_cost_usd": "Must be a number."}),
        (budget(max_cost_usd=True), {"policy.budget.max_cost_usd": "Must be a number."}),
        (budget(max_cost_usd=float("inf")), {"policy.budget.max_cost_usd": "Must be a finite number."}),
        (budget(max_runtime_s=-1), {"policy.budget.max_runtime_s": "Must be greater than 0."}),
        (live(verifier_id=""), {"verifier_id": "Must be at least 1 character."}),
        (live(routing={}), {"routing.required_arm_id": "Required."}),
        (
            live(routing={"required_arm_id": "a", "backup": "b"}),
            {"routing.backup": "Unknown member; this object takes no others."},
        ),
        (live(compose="manual"), {"compose": "Must be 'auto'."}),
        (live(review_composer=[]), {"review_composer": "Must be an object."}),
        (
            live(review_composer=COMPOSED, verifier_id="vrf_1"),
            {"body": "Review_composer goes with neither verifier_id nor routing."},
        ),
        (live(review_composer=COMPOSED, mode=ABSENT), {"body": "Review_composer needs mode live, spelled out."}),
        (
            builders.request_body("echo", review_composer=COMPOSED),
            {"body": "Review_composer needs mode live, spelled out."},
        ),
    ],
)  # fmt: skip
def test_each_broken_rule_is_named_with_its_field(body: Any, wrong: dict[str, str]) -> None:
    assert errors(body) == wrong


def test_every_field_is_named_once_and_all_are_named() -> None:
    body = live(mode="fast", task={"objective": ""}, policy={"data_classes": [], "budget": {}})
    assert list(errors(body)) == [
        "mode", "task.objective", "policy.data_classes", "policy.budget.max_cost_usd", "policy.budget.max_runtime_s",
    ]  # fmt: skip


def test_a_message_never_holds_the_value() -> None:
    secret = "hunter2-hunter2"
    body = live(
        mode=secret, task={"objective": [secret], "inputs_ref": {"kind": secret, "url": secret}}, compose=secret
    )
    assert secret not in str(errors(body))
    with pytest.raises(ValidationError) as caught:
        RunRequest.model_validate(body)
    assert secret not in str(caught.value)


def test_the_echo_rule_is_distinguished_from_the_bounds() -> None:
    assert RunRequest.model_validate(builders.request_body("echo", verifier_id="vrf_1")).breaks_echo_rule
    assert not RunRequest.model_validate(live(verifier_id="vrf_1")).breaks_echo_rule
    assert not RunRequest.model_validate(builders.request_body()).breaks_echo_rule


def test_unknown_members_are_kept_and_a_request_cannot_be_changed() -> None:
    request = RunRequest.model_validate(live(novel=1))
    assert request.model_extra == {"novel": 1}
    with pytest.raises(ValidationError):
        request.mode = "echo"


@many
@given(json_values)
def test_any_value_is_valid_or_gets_plain_words(value: Any) -> None:
    for body in (value, live(task=value), live(policy=value), budget(max_cost_usd=value), live(routing=value)):
        for field, message in errors(body).items():
            assert field
            assert message[:1].isupper()
            assert message.endswith(".")
