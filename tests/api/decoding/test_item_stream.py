"""A very long list answer is read while its text comes, and reads as any JSON does."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runwatch.api.decoding import item_stream
from runwatch.api.decoding.item_stream import ItemStream, UnreadableBodyError
from runwatch.base.json import DECODER
from tests.support.sampling import examples

plain: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "id", "b"]), inner, max_size=3),
    max_leaves=8,
)
layouts = st.sampled_from([(None, (",", ":")), (None, (", ", ": ")), (2, (",", ": "))])


@pytest.fixture(params=[8, 60, 1 << 16], ids=["tiny windows", "short windows", "long windows"])
def _windows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_stream, "WINDOW", request.param)


def in_pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def read(text: str, *, size: int = 7, with_texts: bool = False) -> tuple[list[str], list[Any], dict[str, Any]]:
    found = ItemStream(in_pieces(text, size), "items", with_texts=with_texts)
    texts: list[str] = []
    values: list[Any] = []
    for more_texts, more_values in found.chunks():
        assert len(more_texts) == len(more_values) > 0
        texts += more_texts
        values += more_values
    return texts, values, found.members


@pytest.mark.usefixtures("_windows")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    items=st.lists(plain, max_size=12),
    rest=st.dictionaries(st.sampled_from(["a", "next_cursor", "ü"]), plain, max_size=3), layout=layouts,
    first=st.booleans(), with_texts=st.booleans(), size=st.integers(1, 40),
)  # fmt: skip
def test_pieces_of_any_size_read_as_the_standard_library_reads_the_whole(
    items: list[Any], rest: dict[str, Any], layout: tuple[Any, Any], first: bool, with_texts: bool, size: int
) -> None:
    body = {"items": items, **rest} if first else {**rest, "items": items}
    text = json.dumps(body, indent=layout[0], separators=layout[1], ensure_ascii=False)
    texts, values, members = read(text, size=size, with_texts=with_texts)
    assert values == items
    assert members == rest
    assert [json.loads(each) for each in texts] == items if with_texts else texts == [""] * len(items)


@pytest.mark.usefixtures("_windows")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(200))
@given(text=st.text(st.sampled_from('{}[]",:1e a\\'), max_size=30), size=st.integers(1, 9))
def test_any_text_is_a_list_or_refused(text: str, size: int) -> None:
    body = f'{{"items":{text}}}'
    with contextlib.suppress(ValueError):
        _, values, _ = read(body, size=size)
        assert values == json.loads(body)["items"]


@pytest.mark.parametrize(
    "item",
    [
        {"id": 1, "parts": [{"id": 2}, {"id": 3}]},
        {"id": {"id": {"id": 1}}, "more": [[{"id": 1}], [{"id": 2}]]},
        {"id": '}},{"id":', "text": '"},{"id":1},{"id":"'},
    ],
)
@pytest.mark.usefixtures("_windows")
def test_what_looks_like_the_end_of_an_item_inside_of_one_is_not_taken_for_it(item: dict[str, Any]) -> None:
    items = [item | {"number": number} for number in range(50)]
    text = json.dumps({"items": items}, separators=(",", ":"))
    assert read(text, size=64)[1] == items


@pytest.mark.parametrize(("with_texts", "more"), [(False, []), (True, "x")], ids=["without texts", "with texts"])
def test_items_that_are_read_together_share_the_names_of_their_members(with_texts: bool, more: object) -> None:
    items = [{"some_member": number, "more": more} for number in range(100)]
    text = json.dumps({"items": items}, separators=(",", ":"))
    texts, values, _ = read(text, size=1000, with_texts=with_texts)
    assert values == items
    assert len({id(name) for item in values for name in item}) < 10
    assert [json.loads(own) for own in texts if own] == (items if with_texts else [])


@pytest.mark.parametrize("with_texts", [False, True], ids=["without texts", "with texts"])
def test_a_list_comes_in_chunks_and_never_as_a_whole(with_texts: bool) -> None:
    items = [{"id": number, "more": "x" * 600} for number in range(2_000)]
    for layout in ((",", ":"), (", ", ": ")):
        text = json.dumps({"items": items}, separators=layout)
        found = ItemStream(in_pieces(text, 1 << 18), "items", with_texts=with_texts)
        sizes = [len(values) for _, values in found.chunks()]
        assert sum(sizes) == 2_000
        assert max(sizes) <= item_stream.WINDOW // 600 + 1


def test_items_that_begin_in_different_ways_keep_their_texts_and_come_in_short_chunks() -> None:
    items = [{("id", "name")[number % 2]: number} for number in range(1_000)]
    written = [json.dumps(item, separators=(",", ":")) for item in items]
    text = f'{{"items":[{",".join(written)}]}}'
    found = ItemStream(in_pieces(text, 1000), "items", with_texts=True)
    chunks = list(found.chunks())
    assert [own for texts, _ in chunks for own in texts] == written
    assert max(len(values) for _, values in chunks) == item_stream.ONE_BY_ONE


def test_no_more_text_is_held_than_what_is_being_read() -> None:
    text = json.dumps({"items": [{"id": number, "more": "x" * 600} for number in range(5_000)]}, separators=(",", ":"))
    found = ItemStream(in_pieces(text, 1 << 12), "items", with_texts=False)
    assert max(len(found._text) for _ in found.chunks()) < 2 * item_stream.WINDOW


@pytest.mark.parametrize("text", ['{"items":[1,2', '{"items":[{"a":1},', '[{"a":"', "[1,", '{"items":[12', "", "  "])
def test_a_text_that_breaks_off_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)


def test_the_place_of_a_mistake_is_that_in_the_whole_text() -> None:
    text = '{"items":[' + '{"id":1},' * 30 + "{!}]}"
    with pytest.raises(UnreadableBodyError, match=f"at character {text.index('!')}"):
        read(text)


def test_a_value_longer_than_many_pieces_is_tried_anew_only_when_there_is_twice_as_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[int] = []
    original = DECODER.raw_decode

    def counted(text: str, at: int = 0) -> tuple[Any, int]:
        tries.append(len(text))
        return original(text, at)

    monkeypatch.setattr(DECODER, "raw_decode", counted)
    text = json.dumps({"items": ["x" * 100_000]})
    assert read(text, size=10)[1] == ["x" * 100_000]
    assert len(tries) < 40
