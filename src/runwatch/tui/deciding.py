"""Keeping a reviewer's go or no-go on a record: a menu for the verdict, a line for the reason. Nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from runwatch.records.digest import digest_of
from runwatch.records.record import Record
from runwatch.tui.draw import word
from runwatch.tui.widgets.ask_line import AskLine
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.work import start_work
from runwatch.view.decisions import Decision, Verdict
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
    reason = present.reason if present is not None else ""
    items = [
        MenuItem(line("Go"), partial(_ask, screen, desk, record, "go", reason, kept), line("asks for the reason")),
        MenuItem(
            line("No-go"), partial(_ask, screen, desk, record, "no-go", reason, kept), line("asks for the reason")
        ),
    ]
    if present is not None:
        taking_back = partial(_write, screen, desk, record, "", "The decision is taken back.", kept)
        items.append(MenuItem(line("Take it back"), taking_back, line(f"it is {present.verdict} now")))
    name = short_id(record.id, screen.console.glyphs)
    title = (word("Decide   ", Role.PLAIN), word(f"{name}; kept on this machine alone, nothing is sent"))
    screen.put_over(Menu(title, items, id="decide-menu"))


def _ask(
    screen: ConsoleScreen, desk: Desk, record: Record, verdict: Verdict, reason: str, kept: Callable[[], None]
) -> None:
    def take(text: str) -> None:
        try:
            digest = digest_of(record)
        except ValueError:
            screen.say("The record nests too deeply to be decided on.", Role.BAD)
            return
        decision = Decision(verdict, text.strip(), digest, desk.clock.now())
        _write(screen, desk, record, decision.text, f"Decided: {verdict}.", kept)

    screen.put_over(AskLine(line(f"Reason for {verdict}"), reason, take, id="reason"))


def _write(screen: ConsoleScreen, desk: Desk, record: Record, text: str, told: str, kept: Callable[[], None]) -> None:
    async def write() -> None:
        await desk.notes.write(desk.scope, record.KIND, record.id, "decision", text)
        screen.say(told)
        kept()

    start_work(screen, write(), "deciding")
