"""The corpus is large, distinct and covers what it promises; packed records carry it everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from runwatch.base.json import dumps, loads
from runwatch.base.text import clean_block, clean_line
from tests.support.builders import ABSENT, run
from tests.support.hostile import ALL_AT_ONCE, CORPUS, Hostile, by_name
from tests.support.packed import kinds, packed
from tests.support.screen import foreign_controls


def test_there_are_at_least_two_hundred_entries_with_distinct_names_and_texts() -> None:
    assert len(CORPUS) >= 200
    assert len({entry.name for entry in CORPUS}) == len({entry.text for entry in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize(
    "family",
    [
        *("C0 ", "C1 ", "OSC 52", "OSC 8", "CSI", "DCS", "APC", "PM", "SOS", "bidi", "invisible", "tag", "emoji"),
        *("combining", "wide", "keycap", "CSV", "shell", "path", "HTML", "JSON", "SQL", "long", "lone", "mouse"),
        *(
            "alternate screen",
            "DA1",
            "DSR",
            "DECRQSS",
            "title report",
            "DCS tmux",
            "DCS sixel",
            "APC kitty",
            "OSC 1337",
        ),
        *("CR overwrite", "backspaces", "line separator", "composed", "decomposed", "Hebrew", "str.format", "NDJSON"),
    ],
)
def test_every_promised_family_is_there(family: str) -> None:
    assert [entry for entry in CORPUS if entry.name.startswith(family)]


def test_an_entry_is_found_by_its_name() -> None:
    assert by_name("closing tag").text == "[/]"
    with pytest.raises(KeyError):
        by_name("no such entry")


def test_only_lone_surrogates_cannot_be_encoded() -> None:
    for entry in CORPUS:
        if entry.is_unicode:
            entry.text.encode()
        else:
            with pytest.raises(UnicodeEncodeError):
                entry.text.encode()


@pytest.mark.parametrize("entry", [*CORPUS, ALL_AT_ONCE], ids=lambda entry: entry.name)
def test_cleaning_leaves_nothing_that_a_terminal_acts_on_and_the_json_gives_the_text_back(entry: Hostile) -> None:
    line, block = clean_line(entry.text), clean_block(entry.text)
    assert foreign_controls(line.encode()) == foreign_controls(block.encode()) == []
    assert "\n" not in line
    assert loads(dumps(entry.text)) == entry.text
    assert foreign_controls(dumps({entry.text: entry.text}).encode()) == []


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_packed_record_has_the_text_in_every_string_and_the_form_of_its_kind(kind: str) -> None:
    record, original = packed(kind, "\x1b[2J"), kinds()[kind]
    assert type(record) is type(original)
    assert set(strings(record.raw)) == {"\x1b[2J"}
    assert set(original.raw) <= set(record.raw)
    assert record.raw["\x1b[2J"] == "\x1b[2J"
    assert "\x1b[2J" in record.unknown()


def test_a_packed_record_keeps_the_members_it_is_told_to_keep() -> None:
    record = packed("run", "\x07", keep=("execution_id", "status"))
    assert (record.raw["execution_id"], record.raw["status"]) == ("ex_01HXE", "running")
    assert record.raw["created_at"] == "\x07"


def test_packing_leaves_the_original_alone() -> None:
    before = dumps(dict(kinds()["live receipt"].raw))
    packed("live receipt", "x")
    assert dumps(dict(kinds()["live receipt"].raw)) == before


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_built_record_has_no_flaw(kind: str) -> None:
    assert kinds()[kind].flaws() == ()


@pytest.mark.parametrize("kind", ["live receipt", "run", "account"])
def test_the_fullest_records_use_every_declared_member(kind: str) -> None:
    record = kinds()[kind]
    assert set(record.MEMBERS) - set(record.raw) == set()


def test_a_builder_replaces_adds_and_leaves_out_members() -> None:
    record = run("ex_9", "queued", created_at=ABSENT, slices=[], x_more=1)
    assert (record.execution_id, record.status, record.slices) == ("ex_9", "queued", ())
    assert "created_at" not in record.raw
    assert record.unknown() == {"x_more": 1}
