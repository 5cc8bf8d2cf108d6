"""Every column of every list says in the help what it means."""

from __future__ import annotations

from runwatch.view.problems.activity import ACTIVITY
from runwatch.view.reports.profile_usage import PROFILE_USAGE, READ
from runwatch.view.resources.problem_codes import PROBLEM_CODES
from runwatch.view.resources.registry import RESOURCES, resource_named
from runwatch.view.table.column_meanings import _OWN, MEMBER, column_meaning, column_sections
from runwatch.view.text.glyphs import ASCII

LISTS = (*RESOURCES, PROFILE_USAGE, ACTIVITY, PROBLEM_CODES)


def test_every_column_has_a_meaning() -> None:
    told = {
        spec.name: {column.id: column_meaning(spec, column) for column in (*spec.all_columns, READ)} for spec in LISTS
    }
    lacking = [(name, id) for name, columns in told.items() for id, words in columns.items() if words == MEMBER]
    assert lacking == []
    needless = [(name, id) for name, columns in _OWN.items() for id in columns if id not in told[name]]
    assert needless == []


def test_in_ascii_a_meaning_names_the_mark_that_the_list_shows() -> None:
    (cost,) = column_sections(resource_named("runs"), ("cost",), ASCII)[0].lines
    assert ">= lacks an unknown part" in cost.text


def test_columns_stand_in_the_order_of_the_list_and_others_follow() -> None:
    here, others = column_sections(resource_named("runs"), ("status", "reason", "policy.budget"))
    assert [(str(entry.label), str(entry.text)) for entry in here.lines] == [
        ("status", "state of the run, or the verdict of its check if that stopped it"),
        ("why", "why it ended as it did: the code of the failure, cancellation or check  (in filters: reason)"),
        ("policy.budget", MEMBER),
    ]
    assert "label" in [str(entry.label) for entry in others.lines]
