"""Every column of every list says in the help what it means."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.view.problems.activity import ACTIVITY
from runwatch.view.reports.profile_usage import PROFILE_USAGE, READ
from runwatch.view.resources.problem_codes import PROBLEM_CODES
from runwatch.view.resources.registry import RESOURCES, resource_named
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.column_meanings import _OWN, MEMBER, column_meaning, column_sections

LISTS = (*RESOURCES, PROFILE_USAGE, ACTIVITY, PROBLEM_CODES)


@pytest.mark.parametrize("spec", LISTS, ids=lambda spec: spec.name)
def test_every_column_has_a_meaning(spec: ResourceSpec[Any]) -> None:
    told = {column.id: column_meaning(spec, column) for column in (*spec.all_columns, READ)}
    assert [name for name, meaning in told.items() if meaning == MEMBER] == []
    assert _OWN.get(spec.name, {}).keys() <= told.keys(), "a meaning without a column"


def test_columns_stand_in_the_order_of_the_list_and_others_follow() -> None:
    here, others = column_sections(resource_named("runs"), ("status", "reason", "policy.budget"))
    assert [(str(entry.label), str(entry.text)) for entry in here.lines] == [
        ("status", "state of the run, or the verdict of its check if that stopped it"),
        ("why", "why it ended as it did: the code of the failure, cancellation or check  (in filters: reason)"),
        ("policy.budget", MEMBER),
    ]
    assert "label" in [str(entry.label) for entry in others.lines]
