"""Events are searched from the cursor in both directions, and keep their place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runwatch.tui.sources.events.event_search import _next_part, renumber
from tests.view.strategies import many


@many
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 25))
def test_every_event_is_searched_once_and_near_ones_before_far_ones(near: int, length: int, size: int) -> None:
    near = min(near, length)
    here = there = near
    seen: list[int] = []
    while (part := _next_part(near, here, there, length, size)) is not None:
        start, stop = part
        assert stop == here or start == there
        assert 0 < stop - start <= size
        seen += range(start, stop)
        here, there = min(start, here), max(stop, there)
        # Neither side is more than one part ahead while the other has something left.
        if here > 0 and there < length:
            assert abs((there - near) - (near - here)) <= size
    assert sorted(seen) == list(range(length))


@many
@given(st.integers(0, 20), st.lists(st.integers(0, 20)))
def test_an_older_event_is_found_by_its_new_number(length: int, before: list[int]) -> None:
    places = sorted(place for place in before if place < length)
    shown: list[int | None] = []
    for number in range(length):
        shown += [*[None] * places.count(number), number]
    inserted = [place for place, number in enumerate(shown) if number is None]
    assert [shown[renumber(number, inserted)] for number in range(length)] == list(range(length))
