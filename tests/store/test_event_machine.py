"""Tail and store together, with everything going wrong in any order: nothing lost, nothing doubled, order kept."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from runwatch.api.run_tail import EndStep, PauseStep, ReadStep, RunTail
from runwatch.records.event import RunEvent
from runwatch.store.db.database import Database
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.scope import Scope
from tests.support.builders import RUN_ID, event
from tests.support.sampling import examples

SCOPE = Scope("work", "ten_01", "key_1")


class EventMachine(RuleBasedStateMachine):
    """A service with a log, and followers of it that share one database and die at any line."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.log: list[RunEvent] = []
        self.past: list[tuple[list[RunEvent], str | None]] = []

    @initialize()
    def start(self) -> None:
        self._open()

    def _open(self) -> None:
        self.database = Database.open(self.directory / "console.db")
        self.store = EventStore(self.database)
        cursor = self.runner.run(self.store.cursor(SCOPE, RUN_ID))
        self.tail = RunTail(cursor)

    @rule()
    def crash(self) -> None:
        self.database.close()
        self._open()

    @rule(named=st.lists(st.booleans(), min_size=1, max_size=4), word=st.sampled_from(["same", "other"]))
    def happen(self, named: list[bool], word: str) -> None:
        """The service writes events; those without an id may be equal to others in every letter."""
        for has_id in named:
            raw = dict(event(1, reason=word).raw)
            raw["event_id"] = f"ev_{len(self.log)}"
            if not has_id:
                del raw["event_id"]
            self.log.append(RunEvent(raw))

    @rule(back=st.integers(0, 3), size=st.integers(1, 6), fate=st.sampled_from(["kept", "kept", "dies", "forgets"]))
    def read(self, back: int, size: int, fate: str) -> None:
        """The follower reads a page: longer or shorter than asked for, and may die before or after keeping it."""
        step = self.tail.next_read()
        assert not isinstance(step, EndStep)
        if isinstance(step, PauseStep):
            return
        if step.kind == "status":
            self.tail.note_page([], "running")
            return
        page = self._page(step, back, size)
        self.past.append((page, step.after))
        if fate == "dies":
            self.crash()
            return
        new = self.runner.run(self.store.append(SCOPE, RUN_ID, page, after=step.after)).new
        if fate == "forgets":
            self.crash()
            return
        self.tail.note_page(page, new=new)

    def _page(self, step: ReadStep, back: int, size: int) -> list[RunEvent]:
        """What the service answers: it may begin up to ``back`` ids too early, and stops at some later place."""
        names = [item.id for item in self.log]
        asked = names.index(step.after) + 1 if step.after in names else 0
        starts = [place + 1 for place, name in enumerate(names) if name and place + 1 <= asked]
        start = ([0, *starts])[-1 - min(back, len(starts))]
        return [RunEvent(dict(item.raw)) for item in self.log[start : asked + size]]

    @precondition(lambda self: self.past)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        """An old page comes once more, from a process that was slow."""
        page, after = data.draw(st.sampled_from(self.past))
        self.runner.run(self.store.append(SCOPE, RUN_ID, page, after=after))

    @rule(cursor=st.sampled_from([None, "ev_nobody_knows", "ev_0"]))
    def lose_the_cursor(self, cursor: str | None) -> None:
        self.runner.run(
            self.database.write(
                lambda connection: connection.execute("UPDATE run SET cursor = ?", (cursor,)).fetchall()
            )
        )
        self.crash()

    @rule()
    def catch_up(self) -> None:
        """A follower that nothing stops reads until nothing is new, and then everything is there."""
        for _ in range(3 * len(self.log) + 3):
            step = self.tail.next_read()
            if isinstance(step, ReadStep):
                page = self._page(step, 0, len(self.log)) if step.kind == "events" else []
                new = self.runner.run(self.store.append(SCOPE, RUN_ID, page, after=step.after)).new
                self.tail.note_page(page, new=new)
        assert self.runner.run(self.store.count(SCOPE, RUN_ID)) == len(self.log)

    @invariant()
    def the_store_is_a_beginning_of_the_log(self) -> None:
        if hasattr(self, "store"):
            kept = self.runner.run(self.store.window(SCOPE, RUN_ID, 0, 10_000))
            assert kept == self.log[: len(kept)]
            assert self.runner.run(self.store.count(SCOPE, RUN_ID)) == len(kept)

    def teardown(self) -> None:
        self.database.close()
        self.runner.close()
        shutil.rmtree(self.directory)


TestEventMachine = EventMachine.TestCase
TestEventMachine.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)
