"""What is kept of an event is the same whichever way it is read: its texts exactly, and nothing that is no text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.records.event import RunEvent
from runwatch.store.db.text_codec import decode_optional, decode_text
from runwatch.store.repositories.event_store import event_row, find_event_key

MEMBERS = ("at", "type", "slice_id", "state")
odd = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.lists(st.text(), max_size=2)
)
texts = st.text() | st.text(alphabet='\ud800\udfff\\a"\n') | st.text(alphabet="ab")


@given(
    raw=st.dictionaries(st.sampled_from(["event_id", "more", *MEMBERS]), texts | odd),
    with_text=st.booleans(),
    readable=st.booleans(),
)
def test_a_row_has_the_id_the_texts_and_the_whole_event(raw: dict[str, Any], with_text: bool, readable: bool) -> None:
    try:
        wire = json.dumps(raw, ensure_ascii=not readable).encode().decode()
    except UnicodeEncodeError:
        # A lone surrogate comes over the wire as an escape only.
        wire = json.dumps(raw)
    event = RunEvent(raw, wire if with_text else None)
    name, *rest, own = event_row(event)
    assert decode_optional(name) == find_event_key(event)
    assert [decode_optional(value) for value in rest] == [
        value if isinstance(value := raw.get(member), str) else None for member in MEMBERS
    ]
    assert decode_text(own) == event.wire_text


@pytest.mark.parametrize(
    ("given_id", "name"),
    [("ev_1", "ev_1"), ("", None), (7, "7"), (True, None), (None, None), (1.5, None), (["ev_1"], None)],
)
def test_an_id_is_a_text_or_a_whole_number(given_id: object, name: str | None) -> None:
    raw = {"event_id": given_id}
    assert find_event_key(RunEvent(raw)) == name
    assert event_row(RunEvent(raw))[0] == event_row(RunEvent(raw, json.dumps(raw)))[0] == name
