"""Short declarations of specifications."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from runwatch.view.resources.registry import RESOURCES
from runwatch.view.spec.members import column, fields, id_column, member_lines, status_column
from runwatch.view.text.member_format import detail_time
from runwatch.view.text.status_format import detail_status


def test_a_word_names_a_member_and_its_format() -> None:
    plain, status, at = member_lines("name status:status made.at:time", under="part")

    assert (plain.path, plain.label, plain.format) == ("part.name", "name", None)
    assert (status.path, status.label, status.format) == ("part.status", "status", detail_status)
    assert (at.path, at.label, at.format) == ("part.made.at", "made.at", detail_time)


def test_a_format_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError):
        member_lines("name:colour")


def test_a_field_has_an_id_aliases_and_a_path() -> None:
    bare, aliased, nested = fields("state by|acted_by cost|spend=totals.usd")
    subject = SimpleNamespace(state="a", acted_by="b", totals=SimpleNamespace(usd=3))

    assert [(one.id, one.aliases) for one in (bare, aliased, nested)] == [
        ("state", ()),
        ("by", ("acted_by",)),
        ("cost", ("spend",)),
    ]
    assert [one.value(subject) for one in (bare, aliased, nested)] == ["a", "b", 3]
    assert nested.value(SimpleNamespace(totals=None)) is None


def test_a_column_is_titled_by_its_id_and_keeps_other_options() -> None:
    plain, titled = column("name|display_name"), id_column("run|execution_id", title="of run", hide_order=2)

    assert (plain.title, plain.elides_middle, plain.min_cells) == ("name", False, 4)
    assert (titled.title, titled.elides_middle, titled.min_cells, titled.hide_order) == ("of run", True, 8, 2)
    assert status_column("status").cell is not None


@pytest.mark.parametrize("spec", RESOURCES, ids=lambda spec: spec.name)
def test_every_field_of_a_resource_can_be_read_from_an_empty_record(spec: Any) -> None:
    subject = spec.subject(spec.record({}))

    for each in spec.all_fields():
        each.value(subject)
        if each.sort_key is not None:
            each.sort_key(subject)
