"""A packed record is the same record in a fraction of its memory."""

from __future__ import annotations

import marshal
import sys
from typing import Any, Final
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import loads
from runwatch.records import packing
from runwatch.records.receipt import Receipt
from runwatch.records.record import UNPACKED_RECORDS, RecordPacker, _unpack
from tests.support.packed_records import is_packed
from tests.support.receipts import baseline_receipt, echo_receipt
from tests.view.strategies import json_values, many


def packed(*raws: dict[str, Any]) -> list[Receipt]:
    made = [Receipt(dict(raw)) for raw in raws]
    RecordPacker(Receipt).pack(made)
    assert all(map(is_packed, made))
    return made


LIMITS: Final = st.fixed_dictionaries(
    {name: st.integers(1, 4) for name in ("MAX_SHARED_VALUES", "MAX_SHARED_OBJECTS", "MAX_LAYOUTS", "MAX_SHAPES")}
)


@many
@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), json_values, max_size=4), min_size=1, max_size=12),
    json_values,
    LIMITS,
)
def test_a_packed_record_has_every_value_as_it_came(raws: list[dict[str, Any]], name: Any, limits: Any) -> None:
    raws = [{**raw, "execution_id": name, "status": "\ud800\x1b"} for raw in raws]
    with patch.multiple(packing, **limits):
        records = packed(*raws)
    for record, raw in zip(records, raws, strict=True):
        plain = Receipt(raw)
        assert (record.raw, record.id, record.json()) == (raw, plain.id, plain.json())
        assert (record, record.flaws(), record.unknown()) == (plain, plain.flaws(), plain.unknown())


def test_the_example_of_the_module_is_packed_as_it_says() -> None:
    packer = packing.Packer("id")
    for number in range(packing.MAX_SHARED_OBJECTS + packing.MAX_SHARED_VALUES):
        packer.pack({"id": "ex_1", "status": "failed", "spend": {"usd": float(number), "unit": "USD"}})
    raw = {"id": "ex_9", "status": "ok", "spend": {"usd": 0.25, "unit": "USD"}}
    shape, packed = packer.pack(raw)
    assert packed == marshal.dumps([0.25]) + b"\x01\x00"
    assert shape.unpack(packed, "ex_9") == raw
    slots = {path[-1]: shape.find_slot(path) for path in (("id",), ("status",), ("spend", "usd"), ("spend", "unit"))}
    assert {name: found and found[1] for name, found in slots.items()} == {
        "id": packing.ID, "status": -2, "usd": 0, "unit": -1
    }  # fmt: skip
    assert (list(shape.table(-2)), list(shape.table(-1))) == (["failed", "ok"], ["USD"])
    assert (shape.layout(()), shape.layout(("spend",))) == (("id", "status", "spend"), ("usd", "unit"))


def test_values_that_are_equal_in_python_stay_apart() -> None:
    texts = [f'{{"execution_id":"ex_1","a":{value}}}' for value in ("1", "true", "1.0", "1.00", "0.0", "-0.0", "[1]")]
    texts += ['{"a":[true],"b":{"x":1,"y":2}}', '{"b":{"y":2,"x":1},"a":[true]}', '{"a":{}}', '{"a":[]}', "{}"]
    assert [record.json() for record in packed(*map(loads, texts))] == texts


def test_exact_numbers_keep_their_digits() -> None:
    text = '{"execution_id":7,"usd":0.10,"large":1e400,"whole":123456789012345678901234567890}'
    (record,) = packed(loads(text))
    assert record.json() == text
    assert record.id == "7"


def test_members_that_are_read_of_a_packed_record_are_typed() -> None:
    plain = baseline_receipt("ex_1", created_at="2026-11-20T10:00:00.000Z")
    (record,) = packed(dict(plain.raw))
    assert (record.status, record.created_at, record.spend_usd) == (plain.status, plain.created_at, plain.spend_usd)
    assert [part.raw for part in record.slices or ()] == [part.raw for part in plain.slices or ()]


def test_what_is_nested_too_deeply_to_be_packed_stays_as_it_is() -> None:
    deep: dict[str, Any] = {}
    for _ in range(10 * sys.getrecursionlimit()):
        deep = {"x": deep}
    records = [Receipt({"execution_id": "ex_1", "deep": deep}), echo_receipt("ex_2")]
    RecordPacker(Receipt).pack(records)
    assert [is_packed(record) for record in records] == [False, True]
    assert (records[0].id, records[1].id) == ("ex_1", "ex_2")
    # Freed from outside in, because freeing it at once would recurse too.
    while deep:
        deep = deep.pop("x")


def test_packed_records_take_little_and_few_stay_unpacked() -> None:
    records = packed(*(dict(baseline_receipt(f"ex_{number:06}").raw) for number in range(500)))
    assert sum(len(record._packed) for record in records) < 70 * len(records)
    for record in records:
        assert record.status == "completed"
    assert _unpack.cache_info().currsize == UNPACKED_RECORDS
