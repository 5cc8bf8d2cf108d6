"""Every reference of a body is looked at, and nothing else (manual, Security: References that hold a secret)."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.records.references import MAX_VISITED, find_secret_references

SECRET = "sk-ant-api03-canary0123456789"


def fields(body: object) -> list[str]:
    found = find_secret_references(body)
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
        {"prefer": SECRET, "xref_count": 1, "credential_ref": None, "auth_ref": ""},
        {"auth_ref": 4711},
        {"inputs_ref": {"kind": ["a"], "json": {"a": SECRET}}},
        None, [], "text",
    ],
)  # fmt: skip
def test_what_is_no_reference_or_holds_no_secret_passes(body: object) -> None:
    assert fields(body) == []


def test_a_name_that_holds_a_secret_is_not_repeated() -> None:
    assert fields({SECRET: {"auth_ref": SECRET}}) == ["….auth_ref"]


def test_a_wide_body_is_looked_at_up_to_a_bound() -> None:
    body: dict[str, Any] = {"auth_ref": SECRET, "many": list(range(20 * MAX_VISITED))}
    assert fields(body) == ["auth_ref"]


def test_the_message_says_what_it_looks_like_and_what_to_do() -> None:
    (entry,) = find_secret_references({"auth_ref": SECRET})
    assert entry["message"].startswith("Looks like a key of a model provider.")
    assert "private page" in entry["message"]
