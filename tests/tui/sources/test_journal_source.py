"""The rows of the journal: each once, however reads overlap."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from runwatch.store.repositories.journal import JournalPage, JournalPosition, JournalRequest
from runwatch.tui.sources.journal_source import JournalSource
from runwatch.view.resources.registry import resource_named
from tests.support.clock import START, FakeClock


def request(number: int, error: str | None = None) -> JournalRequest:
    return JournalRequest(
        at=START, profile="work", origin="https://api.example.test", operation="getAccount", method="GET",
        path=f"/v1/account/{number}", query="", status=200, elapsed_s=0.1, attempt=1, key=None, sent_bytes=0,
        received_bytes=2, error=error, number=number,
    )  # fmt: skip


class HeldJournal:
    """A journal whose reads end when the test lets them."""

    def __init__(self) -> None:
        self.count = 2
        self.error: str | None = None
        self.gate = asyncio.Event()

    async def flush(self) -> None: ...

    async def sent(self, *, limit: int, after: JournalPosition | None) -> JournalPage:
        start = (after or JournalPosition()).request
        found = [request(number, self.error) for number in range(self.count, start, -1)]
        await self.gate.wait()
        return JournalPage(found, [], JournalPosition(max(start, self.count), 0))


def source_of(journal: HeldJournal) -> JournalSource:
    session: Any = SimpleNamespace(journal=journal)
    return JournalSource(resource_named("requests"), FakeClock(), session)


def paths(source: JournalSource) -> list[str]:
    return [entry.path.rpartition("/")[2] for entry in source.items()]


async def test_reads_at_the_same_time_add_each_request_once() -> None:
    journal = HeldJournal()
    source = source_of(journal)
    reads = [asyncio.create_task(source.read()) for _ in range(2)]
    await asyncio.sleep(0)
    journal.gate.set()
    await asyncio.gather(*reads)
    assert paths(source) == ["2", "1"]
    journal.count = 3
    await source.read()
    assert paths(source) == ["3", "2", "1"]


async def test_another_number_of_rows_is_read_from_the_start() -> None:
    journal = HeldJournal()
    journal.gate.set()
    source = source_of(journal)
    await source.read()
    assert source.widen(everything=True)
    await source.read()
    assert paths(source) == ["2", "1"]


async def test_tries_that_reached_nobody_are_one_row_unless_each_is_wanted() -> None:
    journal = HeldJournal()
    journal.gate.set()
    journal.error = "refused"
    source = source_of(journal)
    for journal.count in (2, 5):
        await source.read()
        assert [entry.tries for entry in source.items()] == [journal.count]
    assert source.fold(is_folded=False)
    await source.read()
    assert paths(source) == ["5", "4", "3", "2", "1"]
