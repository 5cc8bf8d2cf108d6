"""Receipts hold neither prompt nor output, and a member that looks like either is pointed out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.records.receipt import Receipt
from runwatch.view.detail.sections import build_sections
from runwatch.view.receipts.content_scan import LONG_CHARACTERS, VERY_LONG_CHARACTERS, ContentSuspect, find_content
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.table.rows import build_rows
from runwatch.view.text.glyphs import Role
from tests.support.receipts import echo_receipt, live_receipt
from tests.view.strategies import CONTEXT, garbage, json_values, many, texts

RECEIPTS_GONE_WRONG = garbage(Receipt).map(Receipt)
SENTENCE = "Summarise the release notes in five bullets."


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"prompt": SENTENCE}, "prompt"),
        ({"slices": [{"final_text": SENTENCE}]}, "slices[0].final_text"),
        ({"slices": [{"outputText": SENTENCE}]}, "slices[0].outputText"),
        ({"messages": [{"role": "user", "content": SENTENCE}]}, "messages[0].content"),
        ({"output": ["one two three", "x"]}, "output"),
        ({"completion": "x" * LONG_CHARACTERS}, "completion"),
        ({"inputs": {"document": "line\nline"}}, "inputs.document"),
        ({"note": "x" * VERY_LONG_CHARACTERS}, "note"),
        ({"a": {"b": ["y" * VERY_LONG_CHARACTERS]}}, "a.b"),
    ],
)
def test_what_looks_like_content_is_named_by_its_path(raw: dict[str, Any], path: str) -> None:
    assert [found.path for found in find_content(raw)] == [path]


@pytest.mark.parametrize(
    "raw",
    [
        {"output_present": True, "input_tokens": 1830, "output_tokens": 412},
        {"input_digest": "sha256:" + "a" * 64, "output_ref": "https://runs.example.test/v1/executions/ex_1/result"},
        {"content_policy": "content_free", "response_status": "200"},
        {"statement": "Tenant declared deterministic correctness; not independently verified"},
        {"context": SENTENCE, "reason": SENTENCE},
        {"prompt": None, "output": "", "messages": [], "content": {}},
    ],
)
def test_facts_about_content_are_none(raw: dict[str, Any]) -> None:
    assert list(find_content(raw)) == []


@pytest.mark.parametrize("receipt", [live_receipt(), echo_receipt()], ids=["live", "echo"])
def test_ordinary_receipts_hold_no_content(receipt: Receipt) -> None:
    assert list(find_content(receipt.raw)) == []
    assert "Looks like content" not in [part.title for part in build_sections(RECEIPTS, receipt, CONTEXT)]
    assert not build_rows(RECEIPTS, [receipt], CONTEXT)[0].flag("content")


def test_the_detail_begins_with_what_looks_like_content() -> None:
    receipt = live_receipt(output=SENTENCE)
    first = build_sections(RECEIPTS, receipt, CONTEXT)[0]
    assert first.title == "Looks like content"
    assert first.lines[0].role is Role.BAD
    assert "output" in first.lines[0].text
    assert f"{len(SENTENCE)} characters" in first.lines[0].text
    assert build_rows(RECEIPTS, [receipt], CONTEXT)[0].flag("content")


def test_content_below_the_depth_that_is_taken_apart_is_found_too() -> None:
    raw: dict[str, Any] = {"text": SENTENCE}
    for _ in range(40):
        raw = {"in": raw}
    raw = {"output": raw}
    assert [found.length for found in find_content(raw)] == [len(SENTENCE)]


@many
@given(st.dictionaries(texts, json_values, max_size=4))
def test_any_json_is_looked_through(raw: dict[str, Any]) -> None:
    assert all(isinstance(found, ContentSuspect) and found.length > 0 for found in find_content(raw))


@many
@given(RECEIPTS_GONE_WRONG)
def test_any_receipt_is_drawn_with_what_it_may_hold(receipt: Receipt) -> None:
    titles = [part.title for part in build_sections(RECEIPTS, receipt, CONTEXT)]
    assert ("Looks like content" in titles) == any(True for _ in find_content(receipt.raw))
