"""Settling writes whose answer never came: what is told of them, the list of them, and the sheets that settle one.

The outbox keeps such a write with its key and its bytes (:mod:`runwatch.store.outbox`). A person asks again with
exactly these, which does nothing twice, or gives it up and looks whether it took effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from runwatch.api.operations import OPERATIONS
from runwatch.base.errors import RunwatchError
from runwatch.base.json import loads
from runwatch.records.run import Run
from runwatch.store.change import RecordRead
from runwatch.store.desk import Desk
from runwatch.store.outbox import SUBMIT, Kept
from runwatch.tui.draw import word
from runwatch.tui.sending import Item, Sending, problem_entry, profile_words, read_only_words, request_line, typed_end
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.widgets.sheet import Order
from runwatch.tui.work import start_work
from runwatch.view.drawn import Drawn, block, json_text, line
from runwatch.view.format import ago, short_id, time_of_day
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.tui.console import Console
    from runwatch.tui.screens.base import ConsoleScreen

_TOO_OLD: Final = line("too old: the service may have forgotten the key, and would do it a second time")
_KEEP: Final = line("Keep it for later")


class KeptWrites:
    """The writes of unknown outcome, as a console shows them.

    Args:
        console: The app.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._told = ""

    async def tell(self) -> None:
        """Say above the hints how many writes are to be settled, and no longer once none is.

        Raises:
            DataError: the database is not usable.
        """
        console = self._console
        if console.desk is None:
            return
        words = self._words(await console.desk.unsettled())
        if words == self._told:
            return
        if self._told in console.warnings:
            console.warnings.remove(self._told)
        self._told = words
        if words:
            console.warnings.append(words)
        console.put_notes()

    def open(self, screen: ConsoleScreen) -> None:
        """Show the list of them on a screen; for the user, so that there is always an answer."""
        start_work(self._console, self._open(screen), "reading the kept writes", group="kept")

    def settle(self, screen: ConsoleScreen, kept: Kept, *, asks_again: bool) -> None:
        """Open the sheet of a write that was chosen in the list, to send it again or to forget it."""
        desk = self._console.desk
        if desk is not None:
            make = _ask_again if asks_again else _Dismissal
            screen.open_sheet(make(screen, desk, kept))

    async def _open(self, screen: ConsoleScreen) -> None:
        desk = screen.connected_desk()
        if desk is None:
            return
        kept = await desk.unsettled()
        await self.tell()
        if kept:
            title = (word("Kept writes   ", Role.PLAIN), word("sent, and their outcome is unknown"))
            screen.put_over(Menu(title, list(self._items(screen, desk, kept)), id="kept-writes"))
        else:
            screen.say("Nothing is kept: the outcome of every write is known.")

    def _items(self, screen: ConsoleScreen, desk: Desk, kept: list[Kept]) -> Iterator[MenuItem]:
        for write in kept:
            what = OPERATIONS[write.order.operation].title
            off = read_only_words(desk) if write.is_offered else _TOO_OLD
            again = partial(self.settle, screen, write, asks_again=True)
            dismiss = partial(self.settle, screen, write, asks_again=False)
            yield MenuItem(line(f"Ask again: {what}"), again, self._about(write), off)
            yield MenuItem(line(f"Dismiss: {what}"), dismiss, self._about(write))

    def _about(self, kept: Kept) -> Drawn:
        """When it was sent, what it was about, and what came instead of an answer."""
        console = self._console
        run_id = kept.order.path.get("execution_id")
        about = short_id(run_id, console.glyphs) if run_id else kept.order.label or _objective(kept)
        parts = (ago(kept.created_at, console.clock.now()), about, kept.reason)
        return line(f" {console.glyphs.dot} ".join(line(part) for part in parts if part))

    def _words(self, kept: list[Kept]) -> str:
        if not kept:
            return ""
        console, oldest = self._console, kept[0]
        # A moment and no age, because this stands until it is settled.
        title, sent = OPERATIONS[oldest.order.operation].title, time_of_day(oldest.created_at, console.context())
        what = f"{title}: sent at {sent}" if len(kept) == 1 else f"{len(kept)} writes, the oldest sent at {sent}"
        return f"{what}, outcome unknown; {console.keys.shown('app.outbox')} or :outbox settles this"


def _ask_again(screen: ConsoleScreen, desk: Desk, kept: Kept) -> Sending:
    """The sheet that sends a kept write once more."""
    from runwatch.tui.doing import asked_again

    facts, written = OPERATIONS[kept.order.operation], kept.order
    order = Order(
        title=line(f"Ask again on {line(desk.target.profile)}: {facts.title}"),
        sentence=line(
            "Sends the same bytes with the same key once more. If the first sending took effect, the service repeats"
            " its answer; nothing is done twice."
        ),
        request=request_line(kept.order.operation, kept.order.path),
        keep=_KEEP,
        confirm=line("Ask again"),
        profile=profile_words(desk),
        key=line(written.key),
        body=None if written.body is None else _body(written.body),
        typed=typed_end(desk, next(iter(written.path.values()))) if written.path else None,
        age=_sent(screen, kept),
        off=read_only_words(desk),
    )

    declared = asked_again(screen, desk, written)
    if declared is not None:
        told, take, after = declared
        items = [Item("kept", written, kept)]
        return Sending(screen, desk, order, items, lambda _, answer: take(answer), told=told, after=after)

    def done(_: str, answer: Any) -> None:
        run = Run(answer) if isinstance(answer, dict) and facts.record is Run else Run({})
        # A repeated answer is as old as the first sending, so that it counts only where nothing newer is known.
        if run.id and desk.store.get(desk.scope.profile, Run.KIND, run.id) is None:
            now, monotonic = desk.clock.now(), desk.clock.monotonic()
            desk.store.apply(RecordRead(desk.scope.profile, Run.KIND, now, monotonic, run))
        if run.id and written.operation == SUBMIT:
            screen.console.show_run(run.id)
        desk.live.refresh(Run)

    return Sending(screen, desk, order, [Item("kept", written, kept)], done)


class _Dismissal(Sending):
    """The sheet that gives a kept write up."""

    def __init__(self, screen: ConsoleScreen, desk: Desk, kept: Kept) -> None:
        self._kept = kept
        order = Order(
            title=line(f"Dismiss on {line(desk.target.profile)}: {OPERATIONS[kept.order.operation].title}"),
            sentence=line(
                "Forgets the request on this machine; whether it took effect stays unknown. Look in the list of runs"
                " first: a new request has a new key, and does the same a second time."
            ),
            request=line("nothing is sent"),
            keep=_KEEP,
            confirm=line("Dismiss it"),
            profile=profile_words(desk),
            key=line(kept.order.key),
            age=_sent(screen, kept),
        )
        super().__init__(screen, desk, order, (), lambda _, __: None)

    async def _send(self) -> None:
        try:
            await self._desk.outbox.drop(self._kept)
        except RunwatchError as error:
            self.sheet.refuse(problem_entry(self._desk, self._kept.order.operation, error))
        else:
            self.sheet.finish((word("forgotten here", Role.GOOD),))
        await self._screen.console.report_unconfirmed_writes()


def _body(body: bytes) -> Drawn:
    """The body in readable form."""
    try:
        return block(json_text(loads(body), 2))
    except ValueError:
        return block(body.decode("utf-8", "replace"))


def _objective(kept: Kept) -> str:
    """What a kept submit was to do."""
    try:
        task = loads(kept.order.body or b"").get("task")
    except (ValueError, AttributeError):
        return ""
    objective = task.get("objective") if isinstance(task, dict) else None
    return objective if isinstance(objective, str) else ""


def _sent(screen: ConsoleScreen, kept: Kept) -> Drawn:
    return line(f"sent {ago(kept.created_at, screen.console.clock.now())}")
