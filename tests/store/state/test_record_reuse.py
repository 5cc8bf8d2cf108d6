"""A long list that comes again costs no comparison when it is stored, and no memory twice."""

from __future__ import annotations

from datetime import UTC, datetime

from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.store.live.list_writer import make_record_interner
from runwatch.store.state.collection import StoredRecord
from tests.support.receipts import echo_receipt

AT = datetime(2026, 11, 21, tzinfo=UTC)


def known(*records: Record) -> dict[str, StoredRecord]:
    return {record.id: StoredRecord(record, AT, 0.0) for record in records}


def test_what_has_not_changed_is_the_object_that_is_known() -> None:
    before = [echo_receipt(f"ex_{number}") for number in range(3)]
    new = [echo_receipt("ex_0"), echo_receipt("ex_1", status="failed"), echo_receipt("ex_9")]
    found = list(map(make_record_interner(lambda: known(*before)), new))
    assert found[0] is before[0]
    assert found[1] is new[1]
    assert found[2] is new[2]


def test_what_becomes_known_while_a_list_comes_counts() -> None:
    first, second = echo_receipt("ex_0"), echo_receipt("ex_0")
    holds: dict[str, StoredRecord] = {}
    again = make_record_interner(lambda: holds)
    assert again(first) is first
    holds |= known(first)
    assert again(second) is first


def test_a_known_record_of_another_kind_is_no_match() -> None:
    class Other(Receipt):
        KIND = "other"

    new = echo_receipt("ex_0")
    assert make_record_interner(lambda: known(Other(dict(new.raw))))(new) is new
