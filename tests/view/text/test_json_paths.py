"""Nested JSON by dotted paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.records.account import Account
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.view.text import json_paths
from tests.view.strategies import json_values, many, texts

paths = st.lists(st.one_of(texts, st.integers(0, 10**8)), min_size=1, max_size=4).filter(
    lambda parts: isinstance(parts[0], str)
)


@many
@given(paths.map(tuple))
def test_a_spelled_path_reads_back_as_itself(path: json_paths.JsonPath) -> None:
    assert json_paths.parse_path(json_paths.format_path(path)) == path


@many
@given(texts)
def test_any_text_reads_as_some_path(text: str) -> None:
    assert json_paths.parse_path(text)


@many
@given(st.dictionaries(texts, json_values, min_size=1, max_size=3))
def test_every_leaf_is_found_again_at_its_path(value: dict[str, Any]) -> None:
    for lists in (True, False):
        for path, leaf in json_paths.iter_leaves(value, lists=lists):
            assert json_paths.get_at(value, path) is leaf


@many
@given(st.dictionaries(texts, json_values, max_size=3))
def test_flattening_keeps_every_value_under_a_name_of_its_own(value: dict[str, Any]) -> None:
    assert len(json_paths.flatten(value)) == len(
        [path for path, _ in json_paths.iter_leaves(value, lists=False) if path]
    )


def test_a_name_with_a_dot_is_not_mistaken_for_a_nested_one() -> None:
    raw = {"a": {"b": 1}, "a.b": 2, "a[0]": 3, "c\\": {"d": 4}}
    assert json_paths.flatten(raw) == {"a.b": 1, r"a\.b": 2, r"a\[0]": 3, r"c\\.d": 4}
    assert json_paths.get_at(raw, json_paths.parse_path(r"a\.b")) == 2


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("policy.budget.max_cost_usd", 0.25),
        ("slices[0].status", "running"),
        ("slices.0.status", "running"),
        ("slices[7].status", json_paths.MISSING),
        ("slices.x", json_paths.MISSING),
        ("policy.budget.max_cost_usd.deeper", json_paths.MISSING),
        ("policy[0]", json_paths.MISSING),
        ("cancelled_by", None),
        ("nothing", json_paths.MISSING),
    ],
)
def test_a_path_finds_members_and_items_and_tells_missing_from_null(path: str, found: object) -> None:
    raw = {
        "policy": {"budget": {"max_cost_usd": 0.25}},
        "slices": [{"status": "running"}],
        "cancelled_by": None,
    }
    assert json_paths.get_at(raw, json_paths.parse_path(path)) == found


def test_what_nests_too_deeply_stays_together() -> None:
    value: Any = 1
    for _ in range(50):
        value = {"a": value}
    ((path, leaf),) = json_paths.iter_leaves(value, lists=True)
    assert len(path) == json_paths.MAX_DEPTH
    assert isinstance(leaf, dict)


def test_the_head_of_an_export_is_the_same_whatever_the_rows_have() -> None:
    empty = json_paths.csv_columns(Run, [])
    assert empty == json_paths.csv_columns(Run, [{"status": "completed"}, {"links": None}, {"policy": {}}])
    assert "policy.budget.max_cost_usd" in empty
    assert "links.events" in empty
    assert "slices" in empty
    assert "quota.executions.limit" in json_paths.csv_columns(Account, [])
    assert "totals.usd" in json_paths.csv_columns(Receipt, [])


def test_unknown_members_and_members_of_the_wrong_type_get_columns_behind() -> None:
    names = json_paths.csv_columns(Run, [{"links": "broken", "novel.thing": 1}, {"other": 2}])
    assert names[-3:] == ["links", "novel.thing", "other"]
