"""Items keep their own text, scanned together or one by one, in any spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.api.decoding import item_stream
from runwatch.api.decoding.item_stream import ItemStream, UnreadableBodyError
from runwatch.base.json import ExactNumber

WRITTEN = {"compact": (",", ":"), "spaced": (", ", ": "), "odd": (" ,", " :")}
"""What programs put between items and after names."""


def written(items: list[Any], separators: tuple[str, str]) -> tuple[str, list[str]]:
    """A list answer, and the text of each of its items."""
    texts = [json.dumps(item, separators=separators) for item in items]
    return f'{{"events":[{separators[0].join(texts)}],"more":[{{"event_id":1}},{{"event_id":2}}]}}', texts


def reader(text: str) -> ItemStream:
    """What reads a text that is there at once."""
    return ItemStream(iter((text,)), "events", with_texts=True)


def items_of(text: str) -> list[tuple[str, Any]]:
    """Each item's exact text and value."""
    return [item for texts, values in reader(text).chunks() for item in zip(texts, values, strict=True)]


def scanned_together(text: str) -> int:
    """How many items are in chunks that were scanned in one go: those share the names of their members."""
    together = 0
    for _, values in reader(text).chunks():
        if len(values) > 1 and next(iter(values[0])) is next(iter(values[1])):
            together += len(values)
    return together


def test_items_can_be_read_one_by_one_with_the_rest_after_them() -> None:
    found = reader('{"a": 1, "events": [{"x": 1}, 2], "b": [3]}')
    assert list(found.chunks()) == [(['{"x": 1}', "2"], [{"x": 1}, 2])]
    assert found.members == {"a": 1, "b": [3]}
    assert items_of("[1,2]") == [("1", 1), ("2", 2)]


@pytest.mark.parametrize("written_as", ["compact", "spaced"])
def test_items_alike_are_scanned_together_and_share_the_names_of_their_members(written_as: str) -> None:
    items = [{"event_id": f"ev_{number}", "type": "lifecycle"} for number in range(2_560)]
    text, texts = written(items, WRITTEN[written_as])
    assert items_of(text) == list(zip(texts, items, strict=True))
    # The last one is scanned by itself, because it is known by what follows it.
    assert scanned_together(text) == len(items) - 1


@pytest.mark.parametrize("written_as", WRITTEN)
@pytest.mark.parametrize(
    "odd",
    [
        pytest.param([{"event_id": 'x},{"event_id":"y'}], id="a cut in a text, with its quotes escaped"),
        pytest.param([{"event_id": "x},{"}, {"event_id": "y"}], id="half a cut at the end of a text"),
        pytest.param([{"event_id": "x"}, {"event_id": ',"event_id":'}], id="half a cut at the beginning"),
        pytest.param([{"event_id": 1, "a": [{"event_id": 2}, {"event_id": 3}]}], id="objects alike inside of an item"),
        pytest.param(
            [{"event_id": 1, "a": [{"event_id": 2}, {"event_id": 3}]}, {"other": 4}], id="as many pieces as items"
        ),
        pytest.param([{"other": 1}, {"event_id": 2}], id="other names first"),
        pytest.param([{}, {"event_id": 1}, {}], id="nothing in an item"),
        pytest.param([None, 1, "}", {"event_id": 1}, True], id="no objects"),
        pytest.param([{"event_id": "[not a list]"}], id="a bracket in a text"),
        pytest.param([{"event_id": {"event_id": {"event_id": 1}}}], id="objects alike, one inside the other"),
        pytest.param([{"event_id": "x" * 100_000}], id="larger than what is scanned together"),
        pytest.param([{"event_id": "\\"}, {"event_id": '"'}], id="escapes at the end of a text"),
    ],
)
def test_every_item_has_exactly_its_own_text(odd: list[Any], written_as: str) -> None:
    plain = [{"event_id": f"ev_{number}"} for number in range(5)]
    for items in (plain + odd + plain, odd + plain, plain + odd):
        text, texts = written(items, WRITTEN[written_as])
        assert items_of(text) == list(zip(texts, items, strict=True))


def test_a_number_without_end_keeps_its_digits_among_items_alike() -> None:
    long = "1" * 5000
    text = f'[{{"event_id":1}},{{"event_id":{long}}},{{"event_id":2}},{{"event_id":3}}]'
    (_, found), (own, value), *_ = items_of(text)
    assert found == {"event_id": 1}
    assert own == f'{{"event_id":{long}}}'
    assert isinstance(value["event_id"], ExactNumber)
    assert value["event_id"].literal == long


@pytest.mark.parametrize(
    "broken",
    ['{"event_id":NaN}', '{"event_id":}', '{"event_id":1}]', '{"event_id":1', '{"event_id":"\n"}', '{"event_id":1}}'],
)
def test_an_item_that_is_broken_among_items_alike_is_found(broken: str) -> None:
    with pytest.raises(ValueError):
        items_of(f'[{{"event_id":1}},{{"event_id":2}},{broken},{{"event_id":3}},{{"event_id":4}}]')


def test_a_list_ends_where_it_ends_though_what_follows_looks_alike() -> None:
    with pytest.raises(UnreadableBodyError, match="followed by more"):
        items_of('[{"event_id":1},{"event_id":2}],{"event_id":3},{"event_id":4}')


def test_a_name_written_with_escapes_is_the_same_name() -> None:
    text = '{"events":[{"event_id":1,"a":2},{"event\\u005fid":3},{"event_id":4}]}'
    assert [own for own, _ in items_of(text)] == [
        '{"event_id":1,"a":2}', '{"event\\u005fid":3}', '{"event_id":4}',
    ]  # fmt: skip


def test_a_name_that_is_no_word_cuts_nothing() -> None:
    text = '{"events":[{", ":"a"},{"b":"x},{", ":c":1},{", ":"d"}]}'
    assert [own for own, _ in items_of(text)] == [
        '{", ":"a"}', '{"b":"x},{", ":c":1}', '{", ":"d"}',
    ]  # fmt: skip


texts_like_cuts = st.sampled_from(
    ['},{"event_id":', "},{", '{"event_id":', '"', "\\", "}", "{", "[", "]", ",", ":", "event_id", " ", "},{\\"]
)
strange = st.lists(texts_like_cuts | st.text(max_size=3), max_size=5).map("".join)
names = st.sampled_from(["event_id", "event_id", "event_id", "a", ", ", "", "b:"]) | strange
inside = st.recursive(
    st.none() | st.booleans() | st.integers() | strange,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
alike = st.dictionaries(names, inside, max_size=3).map(lambda rest: {"event_id": "ev", **rest})


@given(
    items=st.lists(alike | st.dictionaries(names, inside, max_size=3) | inside, max_size=8) | st.lists(alike),
    written_as=st.sampled_from(sorted(WRITTEN)),
    readable=st.booleans(),
    window=st.sampled_from([40, 200, item_stream.WINDOW]),
)
def test_items_and_texts_are_those_of_the_standard_library(
    items: list[Any], written_as: str, readable: bool, window: int
) -> None:
    texts = [json.dumps(item, separators=WRITTEN[written_as], ensure_ascii=not readable) for item in items]
    text = f"[{WRITTEN[written_as][0].join(texts)}]"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_stream, "WINDOW", window)
        assert items_of(text) == list(zip(texts, items, strict=True))
