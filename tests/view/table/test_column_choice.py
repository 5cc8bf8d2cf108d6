"""A list has the columns that the settings name for it, and reports every unknown name."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.view.export import text_output
from runwatch.view.resources.registry import RESOURCES, resource_named
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table import rows
from runwatch.view.table.column_choice import choose_columns, list_columns, unknown_columns_text
from tests.support import builders
from tests.view.strategies import CONTEXT

RUNS = resource_named("runs")


def ids(spec: ResourceSpec[Any], *names: str) -> list[str]:
    """Ids of the columns that come of some names."""
    return [column.id for column in choose_columns(spec, {spec.name: names}).columns]


def test_without_a_choice_a_list_has_its_own_columns() -> None:
    chosen = choose_columns(RUNS, {"receipts": ["status"]})
    assert chosen.columns is RUNS.columns
    assert unknown_columns_text(RUNS, chosen) == ""


def test_columns_stand_in_the_order_that_was_chosen() -> None:
    assert ids(RUNS, "cost", "status") == ["cost", "status"]


def test_an_alias_means_its_column_and_nothing_is_there_twice() -> None:
    assert ids(RUNS, "id", "run", "status") == ["run", "status"]


def test_a_field_without_a_column_and_a_member_of_the_record_can_be_shown() -> None:
    assert ids(RUNS, "final", "links.status") == ["final", "links.status"]
    (row,) = rows.build_rows(RUNS, [builders.run("ex_1", links={"status": "/v1/executions/ex_1"})], CONTEXT)
    (column,) = choose_columns(RUNS, {"runs": ["links.status"]}).columns
    assert row.cell(column).text == "/v1/executions/ex_1"


def test_what_is_unknown_is_reported_with_the_nearest_name_and_the_rest_is_shown() -> None:
    chosen = choose_columns(RUNS, {"runs": ["stauts", "run", "zzzz\x1b"]})
    assert [column.id for column in chosen.columns] == ["run"]
    assert chosen.unknown == {"stauts": "status", "zzzz\x1b": ""}
    words = unknown_columns_text(RUNS, chosen)
    assert words.startswith("columns.runs names no column of runs: 'stauts' (did you mean status?), 'zzzz")
    assert "\x1b" not in words


def test_where_nothing_is_known_the_list_has_its_own_columns() -> None:
    assert choose_columns(RUNS, {"runs": ["zzzz"]}).columns == RUNS.columns


@pytest.mark.parametrize("spec", RESOURCES, ids=lambda spec: spec.name)
def test_every_known_name_of_a_list_is_a_column_of_it(spec: ResourceSpec[Any]) -> None:
    names = list_columns(spec)
    chosen = choose_columns(spec, {spec.name: names})
    assert chosen.unknown == {}
    assert {column.id for column in spec.columns} <= {column.id for column in chosen.columns}
    row = rows.build_rows(spec, [spec.record({})], CONTEXT)
    assert len(list(text_output.table_lines(spec, row, fields=names))) == 2
