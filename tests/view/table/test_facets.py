"""Counts above a list, and the filters that they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.models import MODELS
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.runs import RUNS
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.facets import MAX_READ_CELLS, FacetValue, count_facets, is_facet_active, toggle_facet
from runwatch.view.table.rows import build_rows
from tests.support import resources
from tests.support.builders import run
from tests.support.receipts import baseline_receipt, live_receipt
from tests.view.strategies import CONTEXT, many, texts

LANE = FacetValue("lane", "byok", 1)


def found() -> list[tuple[str, list[tuple[str | None, int]]]]:
    entries = [*resources.LISTS["model"](), resources.catalog_entry("mdep_3", connection={"access_lane": None})]
    counted = count_facets(build_rows(MODELS, entries, CONTEXT), ("lane", "classes", "licence"))
    return [(facet.field, [(value.value, value.count) for value in facet.values]) for facet in counted]


def test_rows_are_counted_by_value_the_most_frequent_first() -> None:
    counted = dict(found())
    assert counted["lane"] == [("byok", 2), (None, 1)]
    assert all(count == 3 for _, count in counted["classes"])


def test_a_facet_is_a_filter_that_keeps_as_many_rows_as_it_counts() -> None:
    made = build_rows(MODELS, [*resources.LISTS["model"](), resources.catalog_entry("m", connection={})], CONTEXT)
    for facet in count_facets(made, ("lane", "lifecycle", "licence", "standing", "classes", "source")):
        for value in facet.values:
            assert len(parse_filter(value.term, MODELS).keep(made)) == value.count


@pytest.mark.parametrize(
    ("spec", "records"),
    [
        (RUNS, [run("ex_1"), run("ex_2", "failed", reason="no_arm"), run("ex_3", current={"model_key": "acme/ember"})]),
        (RECEIPTS, [live_receipt("ex_1"), baseline_receipt("ex_2"), live_receipt("ex_3", reason="a b")]),
    ],
    ids=["runs", "receipts"],
)
def test_facets_of_runs_and_receipts_are_filters_too(spec: ResourceSpec[Any], records: Sequence[Any]) -> None:
    made = build_rows(spec, records, CONTEXT)
    counted = count_facets(made, spec.facets)
    assert [facet.field for facet in counted] == list(spec.facets)
    for value in (value for facet in counted for value in facet.values):
        assert len(parse_filter(value.term, spec).keep(made)) == value.count


def test_a_facet_says_what_the_cells_say() -> None:
    receipts = [
        live_receipt("ex_1"),
        live_receipt("ex_2", reason="cancelled", slices=[{"recorded_check": {"state": "terminal_no_evaluation"}}] * 2),
        baseline_receipt("ex_3"),
    ]
    counted = count_facets(build_rows(RECEIPTS, receipts, CONTEXT), ("check", "reason", "model"))
    words = {facet.field: {value.value: value.text for value in facet.values} for facet in counted}
    assert words["check"] == {"accepted": "✓ accepted", "unchecked": "– no check", "baseline": "– output seen"}
    assert words["reason"] == {
        "veto_source_blocked": "gate · veto_source_blocked", "cancelled": "cancelled", None: "none"
    }  # fmt: skip
    assert "atlas-12b" in words["model"].values()


def test_a_facet_says_each_thing_that_cells_say_of_one_value() -> None:
    packets = (*[None] * MAX_READ_CELLS, {"verdict": "no_verdict"})
    receipts = [live_receipt(f"ex_{n}", decision_packet=packet) for n, packet in enumerate(packets)]
    status, verdict = count_facets(build_rows(RECEIPTS, receipts, CONTEXT), ("status", "verdict"))
    assert [(value.term, value.text) for value in status.values] == [
        ("status=completed", "✓ completed or ◷ no verdict")
    ]
    assert (verdict.title, [(value.term, value.text) for value in verdict.values]) == (
        "review",
        [("!has:verdict", "none"), ("verdict=no_verdict", "no verdict")],
    )


def test_two_values_that_cells_show_alike_are_told_apart() -> None:
    runs = [run(f"ex_{maker}", current={"model_key": f"{maker}/ember"}) for maker in ("acme", "river")]
    (models,) = count_facets(build_rows(RUNS, runs, CONTEXT), ("model",))
    assert [value.text for value in models.values] == ["acme/ember", "river/ember"]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", "lane=byok"),
        ("ember", "ember lane=byok"),
        ("lane=byok", ""),
        ("ember lane=byok is:public", "ember is:public"),
        ("lane=millwork_pool ember", "lane=byok ember"),
        ('lane="two words" ember', "lane=byok ember"),
        ("!has:lane", "lane=byok"),
        ("airlane=byok", "airlane=byok lane=byok"),
    ],
)
def test_choosing_a_facet_puts_it_in_place_of_another_or_takes_it_away(text: str, after: str) -> None:
    assert toggle_facet(text, LANE) == after


@many
@given(texts)
def test_choosing_twice_leads_back(value: str) -> None:
    facet = FacetValue("source", value, 1)
    once = toggle_facet("ember", facet)
    assert once == f"ember {facet.term}"
    assert is_facet_active(once, facet)
    assert toggle_facet(once, facet) == "ember"


def test_rows_without_a_value_are_a_facet_of_their_own() -> None:
    assert FacetValue("lane", None, 1).term == "!has:lane"
    assert FacetValue("lane", None, 1).text == "none"
