"""Every reference, id and name of a request is looked at, and no content (manual: security, "Misplaced secrets")."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.records.misplaced_secrets import MAX_VISITED, find_secrets_in_body, find_secrets_in_ids

SECRET = "sk-ant-api03-canary0123456789"


def fields(body: object) -> list[str]:
    found = find_secrets_in_body(body)
    assert SECRET not in str(found)
    return [entry["field"] for entry in found]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"credential_ref": SECRET}, "credential_ref"),
        ({"endpoint": {"url": "https://a.test", "auth_ref": SECRET}}, "endpoint.auth_ref"),
        ({"review_composer": {"base_ref": SECRET}}, "review_composer.base_ref"),
        ({"task": {"inputs_ref": {"kind": "url", "url": "https://u:p@a.test/"}}}, "task.inputs_ref.url"),
        ({"task": {"inputs_ref": {"kind": "url_list", "urls": ["https://a.test", SECRET]}}}, "task.inputs_ref.urls[1]"),
        ({"inputs_ref": {"kind": "url_list", "json": {"urls": [SECRET]}}}, "inputs_ref.json.urls[0]"),
        ({"x_refs": [SECRET]}, "x_refs[0]"),
        ({"authRef": SECRET}, "authRef"),
        ({"reference": SECRET}, "reference"),
        ({"some_ref": {"value": {"deep": SECRET}}}, "some_ref.value.deep"),
        ([{"auth_ref": SECRET}], "[0].auth_ref"),
        ({"routing": {"required_arm_id": SECRET}}, "routing.required_arm_id"),
        ({"display_name": f"Lab {SECRET}"}, "display_name"),
        ({"endpoint": {"base_url": f"https://models.test/v1?key={SECRET}"}}, "endpoint.base_url"),
        ({"url": "https://user:word@hooks.test/"}, "url"),
        ({"auth_scheme": "Bearer 0123456789abcdef"}, "auth_scheme"),
    ],
)
def test_a_secret_in_a_reference_is_named_by_its_field(body: object, named: str) -> None:
    assert fields(body) == [named]


@pytest.mark.parametrize(
    "body",
    [
        {"task": {"objective": SECRET}},
        {"task": {"inputs_ref": {"kind": "inline_json", "json": {"auth_ref": SECRET, "a": [SECRET]}}}},
        {"review_composer": {"base_ref": "0" * 40}},
        {"artifact": {"content": SECRET}},
        {"display_name": "Bearer tokens: the password=hunter2 test", "xref_count": 1, "auth_ref": ""},
        {"url": "https://hooks.test/workflows/0123?api-version=1&sig=4eC39HqLyjWDarjtT1zdp7dc"},
        {"verifier_id": "key-0123456789abcdef0123456789abcdef", "model_id": "sk-learn-pipeline-v2-production"},
        {"auth_ref": 4711},
        {"inputs_ref": {"kind": ["a"], "json": {"a": SECRET}}},
        None, [], "text",
    ],
)  # fmt: skip
def test_content_and_what_is_no_secret_passes(body: object) -> None:
    assert fields(body) == []


def test_ids_and_idempotency_keys_hold_no_well_known_key() -> None:
    found = find_secrets_in_ids({"execution_id": SECRET, "arm_id": "arm_4eC39HqLyjWDarjtT1zdp7dc"}, f"retry {SECRET}")
    assert [entry["field"] for entry in found] == ["execution_id", "Idempotency-Key"]
    assert SECRET not in str(found)
    assert find_secrets_in_ids({}, "4eC39HqLyjWDarjtT1zdp7dc") == find_secrets_in_ids({}, None) == []


def test_a_name_that_holds_a_secret_is_not_repeated() -> None:
    assert fields({SECRET: {"auth_ref": SECRET}}) == ["….auth_ref"]


def test_a_wide_body_is_looked_at_up_to_a_bound() -> None:
    body: dict[str, Any] = {"auth_ref": SECRET, "many": list(range(20 * MAX_VISITED))}
    assert fields(body) == ["auth_ref"]


def test_the_message_says_what_it_looks_like_and_what_to_do() -> None:
    (entry,) = find_secrets_in_body({"auth_ref": SECRET})
    assert entry["message"].startswith("Looks like a key of a model provider.")
    assert "private page" in entry["message"]
