"""Files that people keep: exact, the same for everybody who reads them, and harmless to a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runwatch.base.json import dumps, loads
from runwatch.records.receipt import Receipt
from runwatch.view.export import text_output
from runwatch.view.export.file_formats import (
    _FORMULA_START,
    FILE_FORMATS,
    FileFormat,
    build_export_name,
    csv_table,
    encode_for_file,
    export_records,
    format_from_name,
    format_title,
    guard_formula,
    markdown_cell,
    markdown_table,
    with_unknown_spend,
)
from runwatch.view.export.receipt_rows import SLICE, SLICE_COLUMNS
from runwatch.view.export.record_file import detect_items, detect_resource
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.runs import RUNS
from runwatch.view.text import json_paths
from runwatch.view.text.safe_text import json_text
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.receipts import echo_receipt, live_receipt
from tests.support.safe_files import assert_safe_csv, assert_safe_markdown
from tests.view.strategies import CONTEXT, garbage, json_values, many, scalars, texts

RECEIPTS_GONE_WRONG = garbage(Receipt).map(Receipt)
_GUARDED = re.compile(f"{_FORMULA_START.pattern}'")

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠", ";=", "\n=", " =", '"=', "\ufeff=")


def unguarded(cell: str) -> str:
    return _GUARDED.sub("", cell)


def written(form: FileFormat, *records: Receipt) -> str:
    return "".join(export_records(form, RECEIPTS, records, CONTEXT))


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.ndjson", "ndjson"), ("a.JSONL", "ndjson"), ("b/c.csv", "csv"), ("x.json", "json"), ("x.tar.md", "md"),
        ("r.markdown", "md"), ("x", None), ("x.txt", None), (".csv", None), ("", None),
    ],
)  # fmt: skip
def test_the_ending_of_a_file_says_how_it_is_written(name: str, form: str | None) -> None:
    assert format_from_name(name) == form


@pytest.mark.parametrize("form", ["ndjson", "json"])
def test_only_what_the_service_sent_is_said_to_be_exact(form: FileFormat) -> None:
    assert "exactly as the service sent" in format_title(form, RUNS)
    assert format_title(form, PROBLEMS).endswith(", as recorded")


def test_a_new_file_is_named_by_what_is_in_it_and_the_moment_in_utc() -> None:
    at = datetime(2026, 11, 21, 13, 4, 31, tzinfo=timezone(timedelta(hours=1)))
    assert build_export_name("receipts", at, "csv") == "receipts-20261121-120431.csv"


# JSON.


@many
@given(st.lists(st.dictionaries(texts, json_values, max_size=4), max_size=4))
def test_json_and_ndjson_give_every_value_back_exactly(raws: list[dict[str, Any]]) -> None:
    records = [Receipt(raw) for raw in raws]
    assert [dumps(loads(line)) for line in written("ndjson", *records).splitlines()] == [dumps(raw) for raw in raws]
    assert dumps(loads(written("json", *records))) == dumps(raws)
    assert written("ndjson", *records).isascii()


@pytest.mark.parametrize("form", ["ndjson", "json"])
def test_what_was_exported_is_known_again_when_it_is_opened(form: FileFormat) -> None:
    text = written(form, live_receipt(), echo_receipt())
    items = detect_items(loads(text)) if form == "json" else [loads(line) for line in text.splitlines()]
    assert items is not None
    assert [detect_resource(item) for item in items] == [RECEIPTS, RECEIPTS]


# CSV.


@many
@given(st.one_of(texts, scalars, json_values))
def test_no_cell_is_a_formula_unless_it_is_a_plain_number(value: Any) -> None:
    assert_safe_csv("".join(csv_table(["a"], [[value], ["x"]])))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"), ("+1+1", "'+1+1"), ("-1+1", "'-1+1"), ("@SUM(1)", "'@SUM(1)"), ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("＝1", "'＝1"), ("﹦1", "'﹦1"), (" =1", "' =1"), ('"=1"', "'\"=1\""), ("\u00a0=1", "'\u00a0=1"),
        ("\ufeff=1", "'\ufeff=1"),
        ("'=1", "''=1"), ("a;=1", "a;'=1"), ("a\n=1", "a\n'=1"), ("a\t\"=1", "a\t'\"=1"), ("a;b", "a;b"),
        ("a=1", "a=1"),
        ("-5", "-5"), ("+1.5e-7", "+1.5e-7"), ("-5;-6", "'-5;'-6"), ("x, -y", "x, -y"), ("", ""),
    ],
)  # fmt: skip
def test_what_a_spreadsheet_could_take_for_a_formula_is_guarded(text: str, cell: str) -> None:
    assert guard_formula(text) == cell
    assert unguarded(cell) == text


def test_a_spreadsheet_set_to_semicolons_finds_no_formula_either() -> None:
    text = "".join(csv_table(["a", "b"], [['x;=1+1;"', 'y;"=cmd|1"'], ["z\n=1", "-1"]]))
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=";"):
        assert not any(re.match(r"[\s\"]*[=+@]", cell) for cell in row), row


@many
@given(st.one_of(texts, st.tuples(st.sampled_from(["'", "''", *DANGEROUS, "'=", "'-1"]), texts).map("".join)))
def test_the_guard_of_a_cell_can_be_taken_off_again(text: str) -> None:
    assert unguarded(guard_formula(text)) == text


@many
@given(st.lists(st.lists(texts, min_size=3, max_size=3), max_size=5))
def test_reading_csv_back_gives_the_values(rows: list[list[str]]) -> None:
    text = encode_for_file("".join(csv_table(["a", "b", "c"], rows))).decode("utf-8")
    head, *read = read_csv(text)
    assert head == ["a", "b", "c"]
    exact = [[encode_for_file(cell).decode("utf-8") for cell in row] for row in rows]
    assert [[unguarded(cell) for cell in row] for row in read] == exact


@many
@example(Receipt({"totals": {"usd": None, "unknown_calls": 1}}))
@given(RECEIPTS_GONE_WRONG)
def test_every_value_of_a_record_is_in_its_row_unformatted(receipt: Receipt) -> None:
    head, row, *more = read_csv(written("csv", receipt))
    cells = dict(zip(map(unguarded, head), map(unguarded, row), strict=True))
    raw = with_unknown_spend(receipt.raw)
    for name, cell in cells.items():
        value = json_paths.get_at(raw, json_paths.parse_path(name))
        if name not in SLICE_COLUMNS:
            assert cell == ("" if value in (None, json_paths.MISSING) else json_text(value))
    slices = raw.get("slices")
    part = slices[0] if isinstance(slices, list) and slices else slices or None
    at = head.index(SLICE)
    wanted = [part, *slices[1:]] if isinstance(slices, list) else [part]
    assert [unguarded(each[at]) for each in (row, *more)] == ["" if one is None else json_text(one) for one in wanted]
    rest = {name: value for name, value in raw.items() if name != "slices"}
    for path, value in json_paths.iter_leaves(rest, lists=False):
        known = any(json_paths.format_path(path[:depth]) in cells for depth in range(1, len(path) + 1))
        assert known or value in (None, {})


def test_the_columns_are_the_same_whatever_the_records_lack() -> None:
    whole = read_csv(written("csv", live_receipt(), echo_receipt()))[0]
    assert read_csv(written("csv", echo_receipt()))[0] == whole
    assert read_csv(written("csv"))[0] == whole
    assert whole[:3] == ["execution_id", "mode", "status"]
    assert "totals.platform_fee_usd" in whole


def test_a_receipt_has_a_row_for_each_slice_and_its_totals_once() -> None:
    first = live_receipt().raw["slices"][0]
    second = {"slice_id": "sl_2", "route": {"selected": {"provider": "p", "model_key": "m"}}, "cost": {"usd": 1}}
    receipt = live_receipt(slices=[first, second, "odd"])
    head, *rows = read_csv(written("csv", receipt, live_receipt(slices=[]), live_receipt(slices="odd")))
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["slice_id"] for row in cells] == [first["slice_id"], "sl_2", "", "", ""]
    assert [row["provider"] for row in cells][:3] == [first["route"]["selected"]["provider"], "p", ""]
    assert (cells[1]["model"], cells[1]["usd"], cells[1]["input_tokens"]) == ("m", "1", "")
    assert [bool(row["totals.usd"]) for row in cells] == [True, False, False, True, True]
    assert {row["execution_id"] for row in cells} == {receipt.id}
    assert [row[SLICE] for row in cells][2:] == ["odd", "", "odd"]
    printed = text_output.csv_lines(Receipt, [receipt.raw], {"execution_id": "execution_id", "provider": "provider"})
    assert len(list(printed)) == 4
    assert len(list(text_output.csv_lines(Receipt, [receipt.raw], {"id": "execution_id", "usd": "totals.usd"}))) == 2


def test_unknown_members_get_columns_behind_the_declared_ones() -> None:
    head = read_csv(written("csv", echo_receipt(new={"deep": 1}), echo_receipt()))[0]
    assert head[-1] == "new.deep"


def test_numbers_keep_their_digits_and_nothing_is_an_empty_cell() -> None:
    receipt = Receipt(loads('{"execution_id": "ex_1", "reason": null, "totals": {"usd": 0.10, "runtime_s": -1e-7}}'))
    head, row = read_csv(written("csv", receipt))
    cells = dict(zip(head, row, strict=True))
    assert (cells["totals.usd"], cells["totals.runtime_s"], cells["reason"]) == ("0.10", "-1e-7", "")


# Markdown.


@many
@given(st.lists(st.lists(st.one_of(texts, scalars), min_size=2, max_size=2), max_size=4))
def test_a_markdown_table_has_a_line_a_row_and_no_cell_more_than_its_heads(rows: list[list[Any]]) -> None:
    text = "".join(markdown_table(["a", "b"], rows))
    assert text.isprintable() or "\n" in text
    lines = text.split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(rows) + 2
    for line in lines:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""), (1, "1"), ("a|b", r"a\|b"), ("a\nb", "a<br>b"), ("*a* [b](c)", r"\*a\* \[b\](c)"),
        ("<script>", r"\<script\>"), ("https://x.example", r"https\:/\/x\.example"), ("www.x", r"www\.x"),
        ("evil.example", r"evil\.example"), ("v1.0 e.g. 0.5", r"v1.0 e\.g. 0.5"), ("//localhost/", r"/\/localhost/"),
        ("a@b.example", r"a`@`b\.example"), ("@@all", "`@@`all"), ("back\\slash", r"back\\slash"),
        ("\x1b[2J", "␛\\[2J"), ("", ""),
    ],
)  # fmt: skip
def test_markdown_is_never_more_than_text(value: object, cell: str) -> None:
    assert markdown_cell(value) == cell


@many
@given(st.lists(st.one_of(texts, st.text("@:/.\\`<>[]()!*_~|www httpsmailto\n", max_size=30)), max_size=4))
def test_no_renderer_makes_more_than_text_of_markdown(cells: list[str]) -> None:
    assert_safe_markdown("".join(markdown_table(["a"], [[cell] for cell in cells])))


def test_of_the_hostile_corpus_no_renderer_makes_more_than_text() -> None:
    texts_at_once = [*(entry.text for entry in CORPUS), ALL_AT_ONCE.text]
    assert_safe_markdown("".join(markdown_table(["a", "b"], [[text, text] for text in texts_at_once])))


def test_a_report_has_the_columns_of_the_list_and_whole_ids() -> None:
    heads, rule, row = written("md", live_receipt("ex_0123456789abcdefghij")).splitlines()
    assert heads.startswith("| status | run | why | model | spend | check |")
    assert set(rule) == set("|- ")
    assert r" | ex\_0123456789abcdefghij | gate · veto\_source\_blocked | contoso/atlas-12b | 0.0642 | ✓ 0.86 |" in row
    assert "2026-11-2" in row


@many
@given(RECEIPTS_GONE_WRONG, st.sampled_from(FILE_FORMATS))
def test_any_record_can_be_exported_in_every_form(receipt: Receipt, form: FileFormat) -> None:
    assert encode_for_file(written(form, receipt)).decode("utf-8").endswith("\n")
