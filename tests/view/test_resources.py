"""Every resource draws whatever a service may send, and hides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import dumps, loads
from runwatch.base.text import is_clean
from runwatch.view.detail.sections import build_sections
from runwatch.view.export import text_output
from runwatch.view.query.parser import parse_filter
from runwatch.view.query.value_types import comparison_refusal
from runwatch.view.resources.registry import RESOURCES, resource_for_kind, resource_named
from runwatch.view.resources.resource_index import RESOURCE_INDEX
from runwatch.view.resources.webhooks import delivery_sections
from runwatch.view.spec.action import ResourceAction
from runwatch.view.spec.resource import Column, ResourceSpec, SortKey
from runwatch.view.table import rows as table
from runwatch.view.text.glyphs import UNICODE, Role
from runwatch.view.text.safe_text import SafeText, block, json_text, line, plain_decimal
from runwatch.view.text.values import parse_value, to_decimal
from tests.support import resources
from tests.support.rows import cells_of, roles_of
from tests.support.sorting import sort_rows
from tests.view.strategies import CONTEXT, CONTEXTS, few, subjects

# The properties are drawn inside of the tests, where Hypothesis cannot mark them.
pytestmark = pytest.mark.hypothesis

each_resource = pytest.mark.parametrize("spec", RESOURCES, ids=lambda spec: spec.name)


def is_one_clean_line(text: str) -> bool:
    return isinstance(text, SafeText) and is_clean(text) and "\n" not in text


def test_the_index_calls_every_resource_as_its_specification_does() -> None:
    assert [entry.name for entry in RESOURCE_INDEX] == [spec.name for spec in RESOURCES]


@each_resource
def test_every_facet_is_a_field(spec: ResourceSpec[Any]) -> None:
    assert [name for name in spec.facets if spec.field(name) is None] == []


@each_resource
def test_a_field_whose_values_have_an_order_can_be_compared_with_its_own_values(spec: ResourceSpec[Any]) -> None:
    @few
    @given(subjects(spec))
    def check(subject: Any) -> None:
        for field in spec.all_fields():
            found = field.value(subject)
            for value in found if isinstance(found, (list, tuple)) else [found]:
                if isinstance(value, bool):
                    continue
                bound: object = to_decimal(value) if isinstance(value, (int, float, Decimal)) else value
                if isinstance(bound, (Decimal, datetime)):
                    assert comparison_refusal(spec, field.id, ">", bound) is None, field.id

    check()


@each_resource
def test_every_cell_of_any_record_is_one_clean_line(spec: ResourceSpec[Any]) -> None:
    @few
    @given(subjects(spec), st.sampled_from(CONTEXTS))
    def check(subject: Any, context: Any) -> None:
        (row,) = table.build_rows(spec, [subject], context)
        assert set(cells_of(row)) == {column.id for column in spec.all_columns}
        assert all(is_one_clean_line(text) for text in cells_of(row).values())
        assert all(isinstance(role, Role) for role in roles_of(row).values())
        assert is_clean(row.text())

    check()


@each_resource
def test_every_printed_line_of_any_record_is_clean(spec: ResourceSpec[Any]) -> None:
    @few
    @given(st.lists(subjects(spec), max_size=3), st.sampled_from([None, 20, 80]), st.sampled_from(CONTEXTS))
    def check(found: list[Any], width: int | None, context: Any) -> None:
        rows = table.build_rows(spec, found, context)
        assert all(map(is_one_clean_line, text_output.table_lines(spec, rows, width=width)))
        assert all(map(is_one_clean_line, text_output.csv_lines(spec.record, [subject.raw for subject in found])))
        for subject in found:
            assert all(map(is_one_clean_line, text_output.detail_lines(spec, subject, context)))

    check()


@each_resource
def test_json_gives_any_record_back_exactly(spec: ResourceSpec[Any]) -> None:
    @few
    @given(st.lists(subjects(spec), max_size=3))
    def check(found: list[Any]) -> None:
        raws = [subject.raw for subject in found]
        text = "\n".join(text_output.json_array_lines(raws))
        assert text.isascii()
        assert dumps(loads(text)) == dumps(raws)
        assert [dumps(loads(one)) for one in text_output.ndjson_lines(raws)] == [dumps(raw) for raw in raws]

    check()


@each_resource
def test_no_value_of_a_record_is_missing_from_its_detail(spec: ResourceSpec[Any]) -> None:
    @few
    @given(subjects(spec))
    def check(subject: Any) -> None:
        shown = "\n".join(
            entry.text for section in build_sections(spec, subject, CONTEXTS[0]) for entry in section.lines
        )
        raw = dict(subject.raw)
        if raw.get("unknown_calls") and raw.get("known_spend_usd") == 0:
            # A known spend of nothing next to unknown calls is shown as unknown.
            del raw["known_spend_usd"]
        for value in _scalars(raw):
            assert _shows(shown, value), value

    check()


def _scalars(value: Any) -> Iterator[Any]:
    """Every text, number and boolean in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif value is not None:
        yield value


def _shows(shown: str, value: object) -> bool:
    """Whether the value is there: on its own lines, on one line, as JSON, or as a plain decimal."""
    forms = [block(json_text(value)), line(value, None), block(dumps(value, readable=True))]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = to_decimal(value)
        assert number is not None
        forms.append(line(plain_decimal(number)))
    return any(text in shown for text in forms)


@each_resource
def test_any_rows_can_be_sorted_by_any_field_in_either_direction(spec: ResourceSpec[Any]) -> None:
    @few
    @given(st.lists(subjects(spec), max_size=5), st.booleans())
    def check(found: list[Any], descending: bool) -> None:
        rows = table.build_rows(spec, found, CONTEXTS[0])
        for field in spec.all_fields():
            ordered = sort_rows(spec, rows, [SortKey(field.id, descending)])
            assert sorted(map(id, ordered)) == sorted(map(id, rows))
        assert len(sort_rows(spec, rows)) == len(rows)

    check()


@each_resource
def test_any_row_can_be_filtered_by_every_field_and_flag(spec: ResourceSpec[Any]) -> None:
    names = [field.id for field in spec.all_fields()] + list(spec.record.MEMBERS)
    shapes = ("{}:a", "{}=1", "{}!=x", "has:{}")
    queries = [parse_filter(shape.format(name), spec) for name in names for shape in shapes]
    for name, (operator, bound) in product(names, ((">", "0.5"), ("<", "10m"), (">=", "2026-11-20"))):
        if comparison_refusal(spec, name, operator, parse_value(bound)) is None:
            queries.append(parse_filter(f"{name}{operator}{bound}", spec))
    queries += [parse_filter(f"is:{flag}", spec) for flag in spec.flags] + [parse_filter("/a.*b/ | word", spec)]

    @few
    @given(subjects(spec))
    def check(subject: Any) -> None:
        (row,) = table.build_rows(spec, [subject], CONTEXTS[0])
        assert {query.matches(row) for query in queries} <= {True, False}

    check()


@each_resource
def test_actions_and_links_answer_for_any_record(spec: ResourceSpec[Any]) -> None:
    @few
    @given(subjects(spec))
    def check(subject: Any) -> None:
        assert all(action.enabled_when(subject) in {True, False} for action in spec.actions)
        assert all(isinstance(link.target(subject), (str, type(None))) for link in spec.links)

    check()


def test_the_registry_finds_each_resource_by_its_noun_and_its_kind() -> None:
    for spec in RESOURCES:
        assert resource_named(spec.name) is spec
        assert resource_for_kind(spec.kind) is spec


@each_resource
def test_names_of_fields_are_unique_and_do_not_collide_with_the_grammar(spec: ResourceSpec[Any]) -> None:
    names = [name for field in spec.all_fields() for name in (field.id, *field.aliases)]
    assert len(names) == len(set(names))
    assert not {"is", "has"} & set(names)


@each_resource
def test_every_default_sort_key_and_link_leads_somewhere(spec: ResourceSpec[Any]) -> None:
    assert all(spec.field(key.field) is not None for key in spec.sort)
    assert all(resource_for_kind(link.kind) for link in spec.links)


@each_resource
def test_columns_leave_one_after_another_and_some_never_do(spec: ResourceSpec[Any]) -> None:
    order = [column.hide_order for column in spec.columns if column.hide_order]
    assert sorted(order) == list(range(1, len(order) + 1))
    assert len(order) < len(spec.columns)


@each_resource
def test_an_action_that_can_be_off_says_why(spec: ResourceSpec[Any]) -> None:
    is_never_off = ResourceAction.__dataclass_fields__["enabled_when"].default
    for action in spec.actions:
        assert action.label[:1].isupper()
        assert action.off_because or action.enabled_when is is_never_off


@each_resource
def test_every_column_has_a_head_and_every_server_filter_belongs_to_the_wire(spec: ResourceSpec[Any]) -> None:
    allowed = spec.record.WIRE.filters if spec.record.WIRE is not None else ()
    for field in spec.all_fields():
        assert not isinstance(field, Column) or field.title
        assert not field.server_parameter or field.server_parameter in allowed


@pytest.mark.parametrize(
    ("record", "title"),
    [
        (resources.arm(display_name="Ember"), "saved model Ember"),
        (resources.arm("arm_01M5TW3JHKW7RVFP9AM4EMY7ED", display_name=None), "saved model arm_…Y7ED"),
        (resources.verifier(display_name="Notes"), "output check Notes"),
        (resources.proposal(), "proposal prop_01"),
    ],
)
def test_a_title_names_a_record_as_people_do(record: Any, title: str) -> None:
    assert resource_for_kind(record.KIND).title_of(record, UNICODE) == title


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (resources.arm(status_reason="endpoint_unreachable"), "no response"),
        (resources.agent_arm(status_reason=None), "suspended: disconnected or removed"),
        (resources.verifier(status="degraded", status_reason="authentication_failed"), "its key is missing or refused"),
    ],
)
def test_a_list_says_why_a_record_is_not_ready(record: Any, reason: str) -> None:
    (row,) = table.build_rows(resource_for_kind(record.KIND), [record], CONTEXT)
    assert cells_of(row)["reason"] == reason


def test_the_endpoint_of_a_connection_is_a_tree_with_short_labels() -> None:
    prices = {"ember-small": {"input_usd_per_million": 0.25, "output_usd_per_million": 1}}
    item = resources.connection(endpoint={"base_url": "https://models.example.test", "prices": prices})
    endpoint = next(it for it in build_sections(resource_named("sources"), item, CONTEXT) if it.title == "Endpoint")
    assert [(entry.level, entry.label) for entry in endpoint.lines] == [
        (0, "base_url"), (0, "prices"), (1, "ember-small"), (2, "input_usd_per_million"),
        (2, "output_usd_per_million"),
    ]  # fmt: skip


def test_a_proposal_shows_its_change_or_says_why_not() -> None:
    spec = resource_named("proposals")
    (tab,) = spec.tabs
    assert [section.title for section in tab.sections(resources.proposal(), CONTEXT)] == ["Change", "Evidence"]
    (section,) = tab.sections(resources.proposal(diff=None, verifier_evidence=None), CONTEXT)
    assert "those who may decide" in section.lines[0].text


@pytest.mark.parametrize(
    ("at", "told"), [("2026-11-21T12:00:09Z", "next in 9s"), ("2026-11-21T12:00:00Z", "next at once"), (None, "try 1")]
)
def test_a_delivery_says_when_it_is_tried_next(at: str | None, told: str) -> None:
    waiting = resources.delivery(status="pending", attempts=1, error=None, status_code=None, next_attempt_at=at)
    (section,) = delivery_sections([waiting], CONTEXT, more=False)
    assert section.lines[0].text.endswith(told)


@pytest.mark.parametrize(("lane", "is_said"), [("byok", False), (None, False), ("millwork_pool", True)])
def test_only_a_model_of_a_pool_depends_on_the_balance(lane: str | None, is_said: bool) -> None:
    entry = resources.catalog_entry(connection={"access_lane": lane})
    shown = " ".join("\n".join(map(str, text_output.detail_lines(resource_named("models"), entry, CONTEXT))).split())
    assert ("your balance decides what can run" in shown) == is_said


@pytest.mark.parametrize(
    ("over", "shown"),
    [
        ({}, "✓ ready"),
        ({"test_state": "untested"}, "◷ untested"),
        ({"revoked_at": "2026-11-20T10:00:00Z", "status": "disabled"}, "⊘ revoked"),
    ],
)
def test_a_connection_has_one_status_in_the_list_and_in_the_detail(over: dict[str, Any], shown: str) -> None:
    spec, connection = resource_named("sources"), resources.connection(usable=not over, **over)
    assert spec is not None
    (row,) = table.build_rows(spec, [connection], CONTEXT)
    assert cells_of(row)["status"] == shown
    lines = [each for section in build_sections(spec, connection, CONTEXT) for each in section.lines]
    stated = [each.text for each in lines if each.label == "status"]
    assert stated[0] == shown
    assert stated[1:] == (["disabled"] if "status" in over else [])
