"""Keeping a reviewer's go or no-go on a record: a menu for the verdict, a line for the reason. Nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from runwatch.records.digest import digest_of
from runwatch.records.record import Record
from runwatch.tui.draw import word
from runwatch.tui.widgets.ask_line import AskLine
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.work import start_work
from runwatch.view.decisions import Decision, Verdict, read_decision
from runwatch.view.drawn import line
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.tui.screens.base import ConsoleScreen


def decide(screen: ConsoleScreen, record: Record, present: Decision | None, kept: Callable[[], None]) -> None:
    """Let a person decide on a record.

    Args:
        screen: Where.
        record: What is decided on, as it is shown.
        present: The decision there is.
        kept: Called when the decision was written.
    """
    desk = screen.connected_desk()
    if desk is None:
        return
    deciding = _Deciding(screen, desk, record, present.text if present is not None else "", kept)
    reason = present.reason if present is not None else ""
    items = [
        MenuItem(line("Go"), partial(deciding.ask, "go", reason), line("asks for the reason")),
        MenuItem(line("No-go"), partial(deciding.ask, "no-go", reason), line("asks for the reason")),
    ]
    if present is not None:
        taking_back = deciding.take_back
        items.append(MenuItem(line("Take it back"), taking_back, line(f"it is {present.verdict} now")))
    name = short_id(record.id, screen.console.glyphs)
    title = (word("Decide   ", Role.PLAIN), word(f"{name}; kept on this machine alone, nothing is sent"))
    screen.put_over(Menu(title, items, id="decide-menu"))


@dataclass(frozen=True, slots=True)
class _Deciding:
    """A decision that a person is about to make.

    Attributes:
        screen: Where.
        desk: What keeps it.
        record: What is decided on, as it is shown.
        seen: The decision as it stands, in the form in which it is kept; empty for none.
        kept: Called when the decision was written.
    """

    screen: ConsoleScreen
    desk: Desk
    record: Record
    seen: str
    kept: Callable[[], None]

    def ask(self, verdict: Verdict, reason: str, before: str = "", id: str | None = "reason") -> None:
        """Ask for the reason.

        Args:
            verdict: Go or no-go.
            reason: What stands there at first.
            before: What is said before the question.
            id: The id of the line; ``None`` where one comes up while another leaves.
        """

        def take(text: str) -> None:
            try:
                digest = digest_of(self.record)
            except ValueError:
                self.screen.say("The record nests too deeply to be decided on.", Role.BAD)
                return
            decision = Decision(verdict, text.strip(), digest, self.desk.clock.now())
            start_work(self.screen, self._decide(decision), "deciding")

        self.screen.put_over(AskLine(line(f"{before}Reason for {verdict}"), reason, take, id=id))

    def take_back(self) -> None:
        """Have no decision any more."""
        start_work(self.screen, self._take_back(), "deciding")

    async def _decide(self, decision: Decision) -> None:
        other = await self._write(decision.text)
        self.kept()
        if other is None:
            self.screen.say(f"Decided: {decision.verdict}.")
        else:
            again = replace(self, seen=other)
            again.ask(decision.verdict, decision.reason, f"{self._did(other)}. ", id=None)

    async def _take_back(self) -> None:
        other = await self._write("")
        self.kept()
        if other is None:
            self.screen.say("The decision is taken back.")
        else:
            self.screen.say(f"{self._did(other)}; that stands.", Role.WARN)

    async def _write(self, text: str) -> str | None:
        return await self.desk.notes.write(
            self.desk.scope, self.record.KIND, self.record.id, "decision", text, seen=self.seen
        )

    def _did(self, other: str) -> str:
        """What another console did meanwhile."""
        if not other:
            return "Another console took the decision back meanwhile"
        decision = read_decision(other, self.desk.clock.now())
        verdict = "" if decision is None else f" {decision.verdict}"
        return f"Another console decided{verdict} meanwhile"
