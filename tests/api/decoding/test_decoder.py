"""Bodies to records: exact values, every shape of page, and nothing that crashes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwatch.api.decoding.decoder import SLICE_S, decode_page, decode_page_sliced, decode_record, decode_value
from runwatch.api.decoding.item_stream import ItemStream, UnreadableBodyError
from runwatch.base.json import ExactNumber, dumps
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.record import Page
from runwatch.records.run import Run
from tests.support.clock import FakeClock
from tests.support.sampling import examples

DEEP = b"[" * 100_000 + b"]" * 100_000

HOSTILE = {
    "html": b"<!doctype html><h1>502</h1>",
    "cut": b'{"executions": [{"execution_id": "ex_1"}, {"exec',
    "cut after a comma": b'{"executions": [{"execution_id": "ex_1"},',
    "cut after the list": b'{"executions": []',
    "nan": b'{"executions": [{"spend_usd": NaN}]}',
    "infinity": b'{"executions": [{"spend_usd": -Infinity}]}',
    "deep": b'{"executions": ' + DEEP + b"}",
    "deep beside": b'{"executions": [], "more": ' + DEEP + b"}",
    "deep alone": DEEP,
    "not utf-8": b'{"executions": ["\xff"]}',
    "a surrogate in utf-8": b'{"executions": ["\xed\xa0\x80"]}',
    "utf-16": '{"executions": []}'.encode("utf-16"),
    "more behind": b'{"executions": []} {}',
    "two commas": b'{"executions": [1,,2]}',
    "a comma too many": b'{"executions": [1,]}',
    "a comma too many in the object": b'{"executions": [1],}',
    "no colon": b'{"executions" [1]}',
    "no comma": b'{"executions": [1 2]}',
    "no comma between members": b'{"executions": [] "next_cursor": null}',
    "a number as a name": b'{1: 2, "executions": []}',
    "single quotes": b"{'executions': []}",
    "a raw newline": b'{"executions": ["a\nb"]}',
    "nothing": b"",
    "white space": b" \n",
}


async def page_of(body: bytes, record: Any = Run, *, sliced: bool) -> Page[Any]:
    """The page, by either way of decoding."""
    return await decode_page_sliced(body, record, FakeClock()) if sliced else decode_page(body, record)


both = pytest.mark.parametrize("sliced", [False, True], ids=["whole", "sliced"])


@both
@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
async def test_a_broken_page_is_unreadable_and_never_a_crash(body: bytes, sliced: bool) -> None:
    with pytest.raises(UnreadableBodyError):
        await page_of(body, sliced=sliced)


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_broken_record_is_unreadable_and_never_a_crash(body: bytes) -> None:
    with pytest.raises(UnreadableBodyError):
        decode_record(body, Receipt)


@both
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{}", "has no member 'executions'"),
        (b'{"runs": []}', "has no member 'executions'"),
        (b'{"executions": null}', "member 'executions' is not a list"),
        (b'{"executions": {"a": 1}}', "member 'executions' is not a list"),
        (b'{"executions": [1], "executions": []}', "member 'executions' twice"),
        (b'"executions"', "neither an object nor a list"),
        (b"null", "neither an object nor a list"),
    ],
)
async def test_another_shape_is_named(body: bytes, said: str, sliced: bool) -> None:
    with pytest.raises(UnreadableBodyError, match=said):
        await page_of(body, sliced=sliced)


@both
async def test_a_page_has_records_values_cursor_and_the_rest(sliced: bool) -> None:
    items = b'[ {"execution_id": "ex_1", "x": 0.10} , 5 , null, "ex_2" ]'
    body = b' { "total" : 1e400 , "executions" : ' + items + b' ,"next_cursor":"c\\u0000"}\n'
    page = await page_of(body, sliced=sliced)
    assert [run.id for run in page.records] == ["ex_1"]
    assert dumps(page.records[0].raw) == '{"execution_id":"ex_1","x":0.10}'
    assert page.values[1:] == [5, None, "ex_2"]
    assert page.misfits == 3
    assert page.next_cursor == "c\0"
    assert not page.end_is_proven
    assert dumps(page.extra) == '{"total":1e400}'


@both
@pytest.mark.parametrize(
    ("record", "tail", "cursor", "proven"),
    [
        (Run, b', "next_cursor": null', None, True),
        (Run, b"", None, False),
        (Run, b', "next_cursor": "c1"', "c1", False),
        (Run, b', "next_cursor": ""', None, False),
        (Run, b', "next_cursor": 17', "17", False),
        (Run, b', "next_cursor": 1.50', "1.50", False),
        (Run, b', "next_cursor": {"a": 1}', None, False),
        (Run, b', "next_cursor": true', None, False),
        (Receipt, b"", None, True),
        (Receipt, b', "next_cursor": null', None, True),
        (Receipt, b', "next_cursor": "c1"', "c1", False),
        (Receipt, b', "next_cursor": ""', None, False),
    ],
)
async def test_only_an_explicit_end_proves_that_a_paged_list_ends(
    record: Any, tail: bytes, cursor: str | None, proven: bool, sliced: bool
) -> None:
    body = b'{"%s": []%s}' % (record.WIRE.items.encode(), tail)
    page = await page_of(body, record, sliced=sliced)
    assert (page.next_cursor, page.end_is_proven) == (cursor, proven)


@both
@pytest.mark.parametrize("body", [b'[{"event_id": "ev_1"}, {"event_id": "ev_2"}]', b"[]", b" [ ] "])
async def test_a_bare_list_is_a_page(body: bytes, sliced: bool) -> None:
    page = await page_of(body, RunEvent, sliced=sliced)
    assert [event.id for event in page.records] == ["ev_1", "ev_2"][: len(page.values)]
    assert page.end_is_proven
    assert page.extra == {}


@both
async def test_a_bare_list_proves_no_end_where_pages_are_expected(sliced: bool) -> None:
    assert not (await page_of(b"[]", sliced=sliced)).end_is_proven


@both
async def test_events_keep_their_exact_text(sliced: bool) -> None:
    texts = [
        '{ "event_id" : "ev_1", "n": 1.0e2 }',
        '{"event_id":"\\u0065v_2","event_id":"ev_3","s":"\\ud83d"}',
        '{"a":[{}]}',
    ]
    body = ('{"events": [' + "\n, ".join(texts) + "]}").encode()
    page = await page_of(body, RunEvent, sliced=sliced)
    assert [event.wire_text for event in page.records] == texts
    assert [event.id for event in page.records] == ["ev_1", "ev_3", ""]
    assert page.records[1].raw["s"] == "\ud83d"


@both
async def test_endless_integers_keep_their_digits(sliced: bool) -> None:
    digits = "9" * 5000
    body = (
        f'{{"executions": [{{"execution_id": "ex_1", "n": {digits}}}, {digits}], "next_cursor": null, "m": {digits}}}'
    )
    page = await page_of(body.encode(), sliced=sliced)
    number = page.records[0].raw["n"]
    assert isinstance(number, ExactNumber)
    assert number.literal == digits
    assert dumps(page.extra) == f'{{"m":{digits}}}'


@both
async def test_a_byte_order_mark_is_passed_over(sliced: bool) -> None:
    assert (await page_of(b'\xef\xbb\xbf{"executions": []}', sliced=sliced)).values == []
    assert decode_value(b"\xef\xbb\xbf5") == 5


def test_a_record_is_an_object_and_keeps_what_nobody_knows() -> None:
    run = decode_record(b'{"execution_id": "ex_1", "status": "reticulating", "x": {"y": 1.10}}', Run)
    assert (run.id, run.status, run.is_final) == ("ex_1", "reticulating", False)
    assert dumps(run.unknown()) == '{"x":{"y":1.10}}'
    with pytest.raises(UnreadableBodyError, match="not an object"):
        decode_record(b"[]", Run)


def test_an_empty_body_is_named_as_such() -> None:
    with pytest.raises(UnreadableBodyError, match="no body"):
        decode_value(b"")


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
spaces = st.sampled_from([None, 0, 1, 3])


@settings(max_examples=examples(50))
@given(
    items=st.lists(plain, max_size=8),
    rest=st.dictionaries(st.text().filter(lambda name: name not in {"events", "next_cursor"}), plain, max_size=4),
    indent=spaces,
    first=st.booleans(),
)
def test_a_page_reads_as_the_standard_library_reads_it(
    items: list[Any], rest: dict[str, Any], indent: int | None, first: bool
) -> None:
    body = {"events": items, **rest} if first else {**rest, "events": items}
    text = json.dumps(body, indent=indent)
    page = decode_page(text.encode(), RunEvent)
    assert page.values == json.loads(text)["events"]
    assert page.extra == rest
    assert [event.raw for event in page.records] == [item for item in items if isinstance(item, dict)]
    assert [json.loads(event.wire_text) for event in page.records] == [event.raw for event in page.records]


@settings(max_examples=examples(200))
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_page_or_unreadable(body: bytes) -> None:
    with contextlib.suppress(UnreadableBodyError):
        assert decode_page(body, RunEvent).values == json.loads(body.decode("utf-8-sig"))


class TickingClock(FakeClock):
    """A clock on which every look takes a millisecond."""

    def monotonic(self) -> float:
        self.advance(0.001)
        return super().monotonic()


async def test_a_big_page_gives_the_loop_a_turn_after_every_slice() -> None:
    count = 25_600
    body = json.dumps(
        {"events": [{"event_id": f"ev_{number}", "more": "x" * 1000} for number in range(count)]}
    ).encode()
    turns = itertools.count()
    last = 0

    async def other() -> None:
        nonlocal last
        while True:
            last = next(turns)
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    await asyncio.sleep(0)
    before = last
    page = await decode_page_sliced(body, RunEvent, TickingClock())
    task.cancel()
    assert len(page.records) == count
    # Each chunk looks at the clock once, and each look is a millisecond; setting the next slice is one more.
    chunks = sum(1 for _ in ItemStream(iter([body.decode()]), "events", with_texts=True).chunks())
    assert last - before >= chunks / (SLICE_S * 1000 + 1) - 1


async def test_a_sliced_page_can_be_cancelled_between_slices() -> None:
    body = json.dumps({"events": [{"event_id": f"ev_{number}"} for number in range(25_600)]}).encode()
    task = asyncio.create_task(decode_page_sliced(body, RunEvent, TickingClock()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_characters_may_stand_across_the_pieces_of_a_big_body() -> None:
    text = json.dumps({"events": [{"event_id": "ä€😀" * 200_000}]}, ensure_ascii=False)
    page = await decode_page_sliced(text.encode(), RunEvent, FakeClock())
    assert page.records[0].id == "ä€😀" * 200_000
