"""Nested JSON by dotted paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.records.account import Account
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.view import flat
from tests.view.strategies import json_values, many, texts

paths = st.lists(st.one_of(texts, st.integers(0, 10**8)), min_size=1, max_size=4).filter(
    lambda parts: isinstance(parts[0], str)
)


@many
@given(paths.map(tuple))
def test_a_spelled_path_reads_back_as_itself(path: flat.Path) -> None:
    assert flat.split(flat.spell(path)) == path


@many
@given(texts)
def test_any_text_reads_as_some_path(text: str) -> None:
    assert flat.split(text)


@many
@given(st.dictionaries(texts, json_values, min_size=1, max_size=3))
def test_every_leaf_is_found_again_at_its_path(value: dict[str, Any]) -> None:
    for lists in (True, False):
        for path, leaf in flat.leaves(value, lists=lists):
            assert flat.at(value, path) is leaf


@many
@given(st.dictionaries(texts, json_values, max_size=3))
def test_flattening_keeps_every_value_under_a_name_of_its_own(value: dict[str, Any]) -> None:
    assert len(flat.flatten(value)) == len([path for path, _ in flat.leaves(value, lists=False) if path])


def test_a_name_with_a_dot_is_not_mistaken_for_a_nested_one() -> None:
    raw = {"a": {"b": 1}, "a.b": 2, "a[0]": 3, "c\\": {"d": 4}}
    assert flat.flatten(raw) == {"a.b": 1, r"a\.b": 2, r"a\[0]": 3, r"c\\.d": 4}
    assert flat.at(raw, flat.split(r"a\.b")) == 2


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("policy.budget.max_cost_usd", 0.25),
        ("slices[0].status", "running"),
        ("slices.0.status", "running"),
        ("slices[7].status", flat.MISSING),
        ("slices.x", flat.MISSING),
        ("policy.budget.max_cost_usd.deeper", flat.MISSING),
        ("policy[0]", flat.MISSING),
        ("cancelled_by", None),
        ("nothing", flat.MISSING),
    ],
)
def test_a_path_finds_members_and_items_and_tells_missing_from_null(path: str, found: object) -> None:
    raw = {
        "policy": {"budget": {"max_cost_usd": 0.25}},
        "slices": [{"status": "running"}],
        "cancelled_by": None,
    }
    assert flat.at(raw, flat.split(path)) == found


def test_what_nests_too_deeply_stays_together() -> None:
    value: Any = 1
    for _ in range(50):
        value = {"a": value}
    ((path, leaf),) = flat.leaves(value, lists=True)
    assert len(path) == flat.DEPTH
    assert isinstance(leaf, dict)


def test_the_head_of_an_export_is_the_same_whatever_the_rows_have() -> None:
    empty = flat.header(Run, [])
    assert empty == flat.header(Run, [{"status": "completed"}, {"links": None}, {"policy": {}}])
    assert "policy.budget.max_cost_usd" in empty
    assert "links.events" in empty
    assert "slices" in empty
    assert "quota.executions.limit" in flat.header(Account, [])
    assert "totals.usd" in flat.header(Receipt, [])


def test_members_nobody_knows_and_members_of_the_wrong_type_get_columns_behind() -> None:
    names = flat.header(Run, [{"links": "broken", "novel.thing": 1}, {"other": 2}])
    assert names[-3:] == ["links", "novel.thing", "other"]
