"""What a kept piece of JSON is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.view.export.record_file import detect_items, detect_resource
from tests.support import builders, resources
from tests.view.strategies import few, json_values, texts

KINDS = [
    builders.run(), builders.open_run(), builders.echo_receipt(), builders.live_receipt(), builders.event(),
    builders.account(), *[record for make in resources.LISTS.values() for record in make()],
]  # fmt: skip


@pytest.mark.parametrize("record", KINDS, ids=lambda record: f"{record.KIND} {record.id}")
def test_every_kind_is_recognised_alone_and_in_a_list(record: Any) -> None:
    spec = detect_resource(record.raw)
    assert spec is not None
    assert spec.kind == record.KIND
    assert detect_items(record.raw) is None
    assert detect_items([record.raw]) == [record.raw]
    if record.WIRE.items:
        assert detect_items({record.WIRE.items: [record.raw], "next_cursor": None}) == [record.raw]


@few
@given(st.one_of(json_values, st.dictionaries(texts, json_values, max_size=4)))
def test_anything_else_is_answered_with_something(value: Any) -> None:
    assert detect_items(value) is None or isinstance(detect_items(value), list)
    if isinstance(value, dict):
        detect_resource(value)
