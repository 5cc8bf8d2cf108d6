"""Lines over stored events: the newest are at hand before they are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from runwatch.records.event import RunEvent
from runwatch.store.repositories.event_store import EventGap
from runwatch.tui.sources.events.event_line_source import PAGE_EVENTS, EventLineSource
from runwatch.view.text.format import RenderContext
from tests.support.builders import event
from tests.tui.samples import NOON


class Kept:
    """Events that grow, and what was asked of them."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.gaps: Sequence[EventGap] = ()
        self.asked: list[tuple[int, int]] = []

    async def grow(self) -> Sequence[int]:
        """Nothing comes by itself."""
        return ()

    async def window(self, start: int, count: int) -> list[RunEvent]:
        """Events with their numbers as ids."""
        self.asked.append((start, count))
        return [event(number) for number in range(start, min(start + count, self.length))]

    async def scan(self, start: int, stop: int, keep: object) -> list[int]:
        """Nothing is looked for here."""
        return []

    async def holding(self, text: str, start: int, stop: int) -> list[int]:
        """Nothing is looked for here."""
        return []


def lines_over(kept: Kept) -> tuple[EventLineSource, list[int]]:
    """Lines, and the pages that they want to have fetched."""
    wanted: list[int] = []
    return EventLineSource(kept, lambda: RenderContext(NOON), wanted.append), wanted


async def test_what_was_caught_up_with_is_drawn_without_being_fetched() -> None:
    kept = Kept(10 * PAGE_EVENTS + 5)
    lines, wanted = lines_over(kept)
    await lines.catch_up(30)
    lines.update()
    assert None not in lines.window(lines.count() - 30, 30)
    assert not wanted


async def test_each_event_is_caught_up_with_once_over_the_end_of_a_page_too() -> None:
    kept = Kept(PAGE_EVENTS - 10)
    lines, wanted = lines_over(kept)
    await lines.catch_up(30)
    kept.length = PAGE_EVENTS + 15
    kept.asked.clear()
    await lines.catch_up(30)
    assert kept.asked == [(PAGE_EVENTS - 10, 10), (PAGE_EVENTS, 15)]
    lines.update()
    assert None not in lines.window(lines.count() - 30, 30)
    assert not wanted


async def test_a_page_that_was_read_earlier_takes_nothing_away_from_what_came_since() -> None:
    kept = Kept(20)
    lines, wanted = lines_over(kept)
    await lines.catch_up(30)
    kept.length = 10
    await lines.load(0)
    kept.length = 20
    lines.update()
    assert None not in lines.window(0, 20)
    assert not wanted
