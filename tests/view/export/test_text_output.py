"""Tables, details, CSV and JSON on standard output."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import dumps, loads
from runwatch.base.text import cell_width, is_clean
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.view.export import text_output
from runwatch.view.resources.registry import resource_named
from runwatch.view.runs.run_facts import RunFacts, SubmittedRequest
from runwatch.view.table import rows
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII
from tests.support import builders
from tests.support.hostile import CORPUS, Hostile
from tests.view.strategies import CONTEXT, NOW, garbage, json_values, many, texts

RUNS = resource_named("runs")
RECEIPTS = resource_named("receipts")

FLEET = [
    RunFacts(
        builders.run("ex_8f21c0aa9b7e", created_at="2026-11-21T11:59:18Z", spend_usd=0.014),
        SubmittedRequest(builders.full_request_body()),
        last_event=builders.verification_event(4, at="2026-11-21T11:59:58Z"),
    ),
    RunFacts(builders.run("ex_41e0", "completed", created_at="2026-11-21T11:56:00Z", mode="echo")),
    RunFacts(
        builders.run("ex_5c9d", "failed", created_at="2026-11-21T11:58:00Z", mode="live", reason="no_eligible_arms"),
        last_event=builders.event(5, "failed", at="2026-11-21T11:58:08Z"),
    ),
]


def printed(width: int | None = None, **options: Any) -> list[str]:
    return list(text_output.table_lines(RUNS, rows.build_rows(RUNS, FLEET, CONTEXT), width=width, **options))


def test_a_table_is_drawn_in_columns() -> None:
    assert printed() == [
        "status       run              why                   cost  started  took  data class",
        "● running    ex_8f21c0aa9b7e  –                   0.0140  42s ago  0:42  public, tenant_internal",
        "✓ completed  ex_41e0          –                 test run  4m ago      ?  –",
        "✗ failed     ex_5c9d          no_eligible_arms         ?  2m ago   0:08  –",
    ]


def test_columns_leave_a_narrow_table_in_their_order_and_status_and_id_never_do() -> None:
    heads = {width: printed(width)[0].split() for width in (120, 80, 60, 44, 26)}
    assert heads[120] == ["status", "run", "why", "cost", "started", "took", "data", "class"]
    assert heads[80] == heads[60] == ["status", "run", "why", "cost", "started", "took"]
    assert heads[44] == ["status", "run", "why", "cost"]
    assert heads[26] == ["status", "run"]


@pytest.mark.parametrize("width", [26, 44, 60, 80, 120])
def test_no_line_of_a_table_is_wider_than_the_screen(width: int) -> None:
    assert all(cell_width(line) <= width for line in printed(width))


def test_fields_choose_columns_by_name_and_members_by_path() -> None:
    assert (
        printed(fields=["run", "status", "slices[0].status", "nothing"])
        == [
            "run              status       slices[0].status  nothing",
            "ex_8f21c0aa9b7e  ● running    running           –",
            "ex_41e0          ✓ completed  completed         –",
            "ex_5c9d          ✗ failed     failed            –",
        ]
        or printed(fields=["run"])[1] == "ex_8f21c0aa9b7e"
    )


def test_chosen_fields_do_not_leave_but_are_cut() -> None:
    lines = printed(30, fields=["run", "mode", "reason", "started"])
    assert [line.split()[1] for line in lines] == ["mode", "live", "echo", "live"]
    assert all(cell_width(line) <= 36 for line in lines)


def test_an_empty_table_has_its_heads() -> None:
    assert len(list(text_output.table_lines(RUNS, [], width=80))) == 1


def test_wide_letters_keep_the_columns_in_line() -> None:
    runs = [builders.run("a", status="実行中"), builders.run("b")]
    lines = list(text_output.table_lines(RUNS, rows.build_rows(RUNS, runs, CONTEXT), fields=["status", "run"]))
    assert {cell_width(line) for line in lines[1:]} == {cell_width("● running") + 3}


def test_without_unicode_a_table_is_ascii() -> None:
    context = RenderContext(NOW, glyphs=ASCII)
    assert all(line.isascii() for line in text_output.table_lines(RUNS, rows.build_rows(RUNS, FLEET, context)))


def test_a_detail_names_sources_and_shows_everything() -> None:
    lines = list(text_output.detail_lines(RUNS, FLEET[0], CONTEXT))
    assert lines[0] == "Run"
    assert "  execution_id  ex_8f21c0aa9b7e" in lines
    assert "  status        ● running" in lines
    assert "  mode          live  (own request)" in lines
    assert "  cost_usd      0.014 USD  (run)" in lines
    assert "  max_cost_usd      0.25 USD  (own request)" in lines
    assert "Slice sl_1" in lines


def test_a_spend_over_the_limit_is_said() -> None:
    more: dict[str, Any] = {
        "policy": {"budget": {"max_cost_usd": 0.1}},
        "current": {"model_key": "unknown/gpt-4"},
    }
    shown = list(text_output.detail_lines(RUNS, RunFacts(builders.run(spend_usd=3, **more)), CONTEXT))
    assert any("3 USD, over its limit of 0.1 USD" in line for line in shown)
    assert any(line.split()[:2] == ["model", "gpt-4"] for line in shown)


def test_the_detail_of_a_receipt_says_what_it_does_not_hold_and_adds_the_money_up() -> None:
    lines = list(text_output.detail_lines(RECEIPTS, builders.live_receipt(), CONTEXT))
    assert lines[0] == "Receipts hold neither prompt nor output."
    assert any(line.split(maxsplit=1) == ["spend", "0.0142 usage + 0.05 fee = 0.0642 USD"] for line in lines)
    assert any(line.split(maxsplit=1) == ["attempts", "1 ✗ 0.31 arm_01HX7"] for line in lines)
    assert any(line.split() == ["2", "✓", "0.86", "arm_01HX8"] for line in lines)


def test_several_lines_are_below_each_other_and_flaws_are_named() -> None:
    lines = list(
        text_output.detail_lines(RUNS, Run({"execution_id": "a\nb", "slices": 7, "links": {"events": 5}}), CONTEXT)
    )
    assert "  execution_id  a" in lines
    assert "                b" in lines
    assert any(line.split() == ["slices", "7", "(not", "of", "the", "expected", "type)"] for line in lines)
    assert any(line.split() == ["events", "5", "(not", "of", "the", "expected", "type)"] for line in lines)


def parsed(lines: list[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("\n".join(lines) + "\n")))


def test_csv_flattens_nested_members_and_keeps_arrays_as_json() -> None:
    (row,) = parsed(list(text_output.csv_lines(Receipt, [builders.live_receipt().raw])))
    assert row["totals.usd"] == "0.0142"
    assert row["totals.platform_fee_usd"] == "0.05"
    assert [loads(row["slice"])] == builders.live_receipt().raw["slices"]
    assert row["reason"] == ""


def test_the_heads_of_csv_do_not_depend_on_the_rows() -> None:
    runs: tuple[list[Any], ...] = (
        [],
        [builders.run().raw],
        [builders.open_run(decision_packet=None, current=None).raw],
    )
    heads = {next(iter(text_output.csv_lines(Run, raws))) for raws in runs}
    assert len(heads) == 1


def test_csv_takes_only_the_chosen_fields() -> None:
    lines = list(
        text_output.csv_lines(
            Run, [builders.run().raw], {"id": "execution_id", "links.events": "links.events", "x": "x"}
        )
    )
    assert lines == ["id,links.events,x", "ex_01HXE,/v1/executions/ex_01HXE/events,"]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        ("plain", "plain"),
        ("=1+1", "'=1+1"),
        ("+1+1", "'+1+1"),
        ("-1+1", "'-1+1"),
        ("@SUM(1,1)", "'@SUM(1,1)"),
        ("\t=1", "'␉=1"),
        ("\r=1", "'␍=1"),
        ("＝1+1", "'＝1+1"),
        ("-", "'-"),
        ("-5", "-5"),
        ("+49123", "+49123"),
        ("-1.5e-3", "-1.5e-3"),
        (-5, "-5"),
        (0.5, "0.5"),
        (True, "true"),
        ("a\nb", "a␊b"),
        (["=1"], '["=1"]'),
        ({}, "{}"),
    ],
)
def test_a_cell_of_csv_is_no_formula_and_one_clean_line(value: object, cell: str) -> None:
    assert text_output.csv_cell(value) == cell


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_hostile_text_in_csv_stays_in_its_cell(entry: Hostile) -> None:
    raw = {"execution_id": entry.text, entry.text: "x", "after": 1}
    lines = list(text_output.csv_lines(Run, [raw, raw]))
    assert all(is_clean(line) and "\n" not in line for line in lines)
    rows = parsed(lines)  # type: ignore[arg-type]
    assert [row["after"] for row in rows] == ["1", "1"]
    for row in rows:
        assert all(not (text[:1] and text[0] in "=@\t\r") for text in row.values())


@pytest.mark.exhaustive
@many
@given(st.lists(garbage(Run), max_size=3))
def test_every_row_of_csv_has_a_cell_for_every_head(raws: list[dict[str, Any]]) -> None:
    rows = list(csv.reader(io.StringIO("\n".join(text_output.csv_lines(Run, raws)) + "\n")))
    assert len(rows) == len(raws) + 1
    assert {len(row) for row in rows} == {len(rows[0])}


@many
@given(st.lists(json_values))
def test_json_gives_every_value_back_in_ascii(values: list[Any]) -> None:
    text = "\n".join(text_output.json_array_lines(values))
    assert text.isascii()
    assert text.isprintable() or "\n" in text
    assert dumps(loads(text)) == dumps(values)
    assert [dumps(loads(one)) for one in text_output.ndjson_lines(values)] == [dumps(value) for value in values]
    assert dumps(loads(text_output.json_record(values))) == dumps(values)


def test_an_empty_list_is_an_empty_array() -> None:
    assert list(text_output.json_array_lines([])) == ["[]"]
    assert list(text_output.ndjson_lines([])) == []


def test_fields_of_json_keep_exact_values_and_invent_no_missing_ones() -> None:
    raw = loads('{"a":{"b":0.10},"c":null,"d":[{"e":1}]}')
    assert list(text_output.ndjson_lines([raw, 5], {"a.b": "a.b", "c": "c", "x": "x", "e": "d[0].e"})) == [
        '{"a.b":0.10,"c":null,"e":1}',
        "5",
    ]


@many
@given(st.dictionaries(texts, json_values, max_size=3))
def test_projecting_every_path_gives_every_value(raw: dict[str, Any]) -> None:
    paths = [json_paths.format_path(path) for path, _ in json_paths.iter_leaves(raw, lists=False) if path]
    assert text_output.select_members(raw, {path: path for path in paths}) == json_paths.flatten(raw)
