"""Two records side by side."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import loads
from runwatch.view.detail.record_diff import compare_records, diff_records
from tests.view.strategies import few, json_values, texts


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 2}', []),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', []),
        ('{"a": 1}', '{"a": 2}', [{"path": "a", "left": 1, "right": 2}]),
        ('{"a": null}', "{}", [{"path": "a", "left": None}]),
        ("{}", '{"a": {"b": 1}}', [{"path": "a.b", "right": 1}]),
        ('{"a": [1, 2]}', '{"a": [1, 3]}', [{"path": "a", "left": [1, 2], "right": [1, 3]}]),
        ('{"a": [{"b": 1}]}', '{"a": [{"b": 2}]}', [{"path": "a[0].b", "left": 1, "right": 2}]),
        (
            '{"a": null}',
            '{"a": {"b": 1}}',
            [{"path": "a", "left": None, "right": {"b": 1}}, {"path": "a.b", "right": 1}],
        ),
        ('{"a": 1}', '{"a": "1"}', [{"path": "a", "left": 1, "right": "1"}]),
    ],
)
def test_each_value_that_differs_is_told_by_its_path(left: str, right: str, found: list[Any]) -> None:
    assert [one.raw for one in diff_records(loads(left), loads(right))] == found


def test_an_object_beside_a_plain_value_is_not_called_missing() -> None:
    found = compare_records(loads('{"row": null, "list": [{"b": 1}]}'), loads('{"row": {"a": 1, "b": 2}, "list": []}'))
    shown = {str(value.path): (value.left, value.right) for value in found}
    assert (shown["row"], shown["list"]) == (("null", "2 members"), ("1 item", "[]"))


def test_what_differs_only_by_the_ids_of_the_records_comes_last() -> None:
    left, right = (
        {"execution_id": run, "links": {"self": f"/v1/executions/{run}"}, "status": status, "arm_id": arm}
        for run, status, arm in (("ex_1", "failed", "arm_1"), ("ex_2", "completed", "arm_2"))
    )
    found = [str(value.path) for value in compare_records(left, right) if value.differs]
    assert found == ["status", "arm_id", "execution_id", "links.self"]


def test_numbers_are_compared_as_they_were_sent() -> None:
    assert [one.path for one in diff_records(loads('{"a": 0.10}'), loads('{"a": 0.1}'))] == ["a"]


@pytest.mark.parametrize(
    ("left", "path", "shown"),
    [
        ('{"slices": [{"cost": {"usd": 0, "unknown_calls": 1}}]}', "slices[0].cost.usd", "unknown"),
        ('{"slices": [{"cost": {"usd": 0.2, "unknown_calls": 1}}]}', "slices[0].cost.usd", "at least 0.2"),
        ('{"slices": [{"cost": {"usd": 0, "usage": "unknown"}}]}', "slices[0].cost.usd", "unknown"),
        ('{"slices": [{"cost": {"input_tokens": 0, "usage": "unknown"}}]}', "slices[0].cost.input_tokens", "unknown"),
        ('{"totals": {"usd": 0, "unknown_calls": 2}}', "totals.usd", "unknown"),
        ('{"totals": {"usd": 0}, "slices": [{"cost": {"usd": 0, "usage": "unknown"}}]}', "totals.usd", "unknown"),
        ('{"totals": {"usd": 0}}', "totals.usd", "0"),
    ],
)
def test_an_unknown_part_of_a_sum_is_named_and_differs_from_the_number(left: str, path: str, shown: str) -> None:
    known = '{"slices": [{"cost": {"usd": 0, "input_tokens": 0}}], "totals": {"usd": 0}}'
    (value,) = [one for one in compare_records(loads(left), loads(known)) if one.path == path]
    assert (value.left, value.right, value.differs) == (shown, "0", shown != "0")


@few
@given(st.dictionaries(texts, json_values, max_size=4))
def test_no_record_differs_from_itself(value: dict[str, Any]) -> None:
    assert list(diff_records(value, value)) == []
