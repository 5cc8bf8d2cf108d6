"""Unconfirmed writes: the notice about them, their list, and the dialogs that retry or discard one.

The outbox keeps such a write with its key and bytes (:mod:`runwatch.store.repositories.outbox`). The user retries it
with exactly these, so that nothing is done twice, or discards it and checks whether it took effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from runwatch.api.operations import OPERATIONS, SUBMIT
from runwatch.base.errors import RunwatchError
from runwatch.base.json import loads
from runwatch.records.run import Run
from runwatch.store.repositories.outbox import UnconfirmedWrite
from runwatch.store.session import ServiceSession
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.runs.run_dialogs import forget_draft, make_run_opener
from runwatch.tui.flows.write_sender import (
    PendingWrite,
    WriteSender,
    make_problem_entry,
    make_typed_confirmation,
    profile_label,
    request_text,
)
from runwatch.tui.shell.console_screen import READ_ONLY
from runwatch.tui.sources.record_loader import store_record
from runwatch.tui.widgets.panes.confirm_dialog import DialogText
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.text.format import ago, short_id, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, block, json_text, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen

_TOO_OLD: Final = line("too old: the service may have forgotten the key, and a retry could run twice")
_KEEP: Final = line("Keep it for later")


class UnconfirmedWrites:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._warning = ""

    def show_warning(self) -> None:
        """Show, update or remove the notice about unconfirmed writes."""
        console = self._console
        words = self._words(console.unconfirmed)
        if words == self._warning:
            return
        if self._warning in console.warnings:
            console.warnings.remove(self._warning)
        self._warning = words
        if words:
            console.warnings.append(words)
        console.show_warnings()

    def open(self, screen: ConsoleScreen) -> None:
        """Open their list on a screen, or show that there are none."""
        start_worker(self._console, self._open(screen), "reading unconfirmed writes", group="kept")

    def settle(self, screen: ConsoleScreen, write: UnconfirmedWrite, *, is_retried: bool) -> None:
        """Open the dialog that retries or discards a write."""
        session = self._console.session
        if session is not None:
            make = _retry if is_retried else _Discard
            screen.app.push_screen(make(screen, session, write).dialog)

    async def _open(self, screen: ConsoleScreen) -> None:
        session = screen.connected_session()
        if session is None:
            return
        await self._console.report_unconfirmed_writes()
        writes = self._console.unconfirmed
        if writes:
            title = (label_span("Unconfirmed writes   ", Role.PLAIN), label_span("sent, outcome unknown"))
            screen.open_overlay(Menu(title, list(self._items(screen, session, writes)), id="kept-writes"))
        else:
            screen.notify_user("No unconfirmed writes.")

    def _items(
        self, screen: ConsoleScreen, session: ServiceSession, writes: Sequence[UnconfirmedWrite]
    ) -> Iterator[MenuItem]:
        for write in writes:
            what = OPERATIONS[write.request.operation].title
            off = (line(READ_ONLY) if session.client.read_only else None) if write.is_offered else _TOO_OLD
            again = partial(self.settle, screen, write, is_retried=True)
            discard = partial(self.settle, screen, write, is_retried=False)
            yield MenuItem(line(f"Retry: {what}"), again, self._about(write), off)
            yield MenuItem(line(f"Discard: {what}"), discard, self._about(write))

    def _about(self, write: UnconfirmedWrite) -> SafeText:
        """Describe when it was sent, its subject, and why its outcome is unknown."""
        console = self._console
        run_id = write.request.path.get("execution_id")
        about = short_id(run_id, console.glyphs) if run_id else write.request.label or _objective(write)
        parts = (ago(write.created_at, console.clock.now()), about, write.reason)
        return line(f" {console.glyphs.dot} ".join(line(part) for part in parts if part))

    def _words(self, writes: Sequence[UnconfirmedWrite]) -> str:
        if not writes:
            return ""
        console, oldest = self._console, writes[0]
        # A time and not an age, because the notice stays until the write is retried or discarded.
        title, sent = (
            OPERATIONS[oldest.request.operation].title,
            time_of_day(oldest.created_at, console.render_context()),
        )
        what = f"{title}: sent at {sent}" if len(writes) == 1 else f"{len(writes)} writes, the oldest sent at {sent}"
        key, them = console.keys.shown("app.outbox"), "it" if len(writes) == 1 else "them"
        return f"{what}, outcome unknown; {key} or :outbox retries or discards {them}"


def _retry(screen: ConsoleScreen, session: ServiceSession, write: UnconfirmedWrite) -> WriteSender:
    """Build the dialog that retries a write."""
    from runwatch.tui.flows.action_dialog import make_retry_callbacks
    from runwatch.view.resources.registry import mutation_for_operation

    mutation = mutation_for_operation(write.request.operation)
    facts, written = OPERATIONS[write.request.operation], write.request
    text = DialogText(
        title=line(f"Retry on {line(session.target.profile)}: {facts.title}"),
        sentence=line(
            "Sends the same bytes with the same key once more. If the first sending took effect, the service repeats"
            " its answer; nothing is done twice."
        ),
        request=request_text(write.request.operation, write.request.path),
        keep=_KEEP,
        confirm=line("Retry it"),
        profile=profile_label(session),
        key=line(written.key),
        body=None if written.body is None else _body(written.body),
        typed=make_typed_confirmation(session, next(iter(written.path.values()))) if written.path else None,
        age=_sent(screen, write),
        shows_secret=mutation is not None and (bool(mutation.one_time_member) or mutation.private_page is not None),
    )

    declared = make_retry_callbacks(screen, session, written)
    if declared is not None:
        describe, take, after = declared
        items = [PendingWrite(next(iter(written.path.values()), ""), written, write)]
        return WriteSender(screen, session, text, items, take, describe=describe, after=after)

    def done(_: str, answer: Any, is_watched: bool) -> None:
        run = Run(answer) if isinstance(answer, dict) and facts.record is Run else Run({})
        # A replayed response is as old as the first attempt, so it counts only if nothing newer is known.
        if run.id and session.store.get(session.scope.profile, Run.KIND, run.id) is None:
            store_record(session, run)
        if written.operation == SUBMIT:
            forget_draft(screen.console, written.body)
            if run.id and is_watched:
                screen.console.show_run(run.id)
        session.live.refresh(Run)

    opens = make_run_opener(screen) if written.operation == SUBMIT else None
    return WriteSender(screen, session, text, [PendingWrite("kept", written, write)], done, after=opens)


class _Discard(WriteSender):
    def __init__(self, screen: ConsoleScreen, session: ServiceSession, write: UnconfirmedWrite) -> None:
        self._write = write
        text = DialogText(
            title=line(f"Discard on {line(session.target.profile)}: {OPERATIONS[write.request.operation].title}"),
            sentence=line(
                "Forgets the request on this machine; whether it took effect stays unknown. Look in the list of runs"
                " first: a new request has a new key, and does the same a second time."
            ),
            request=line("nothing is sent"),
            keep=_KEEP,
            confirm=line("Discard it"),
            profile=profile_label(session),
            key=line(write.request.key),
            age=_sent(screen, write),
        )
        super().__init__(screen, session, text, (), lambda *_: None)

    def _title(self) -> str:
        return OPERATIONS[self._write.request.operation].title

    async def _send(self) -> None:
        try:
            await self._session.outbox.discard(self._write)
        except RunwatchError as error:
            if not self.dialog.is_open:
                raise
            entry = make_problem_entry(self._session, self._write.request.operation, error)
            self.dialog.show_refusal(entry, next_step=line(error.hint, None) if error.hint else None)
        else:
            self.finish((label_span("forgotten here", Role.GOOD),))
        await self._console.report_unconfirmed_writes()


def _body(body: bytes) -> SafeText:
    try:
        return block(json_text(loads(body), 2))
    except ValueError:
        return block(body.decode("utf-8", "replace"))


def _objective(write: UnconfirmedWrite) -> str:
    try:
        task = loads(write.request.body or b"").get("task")
    except (ValueError, AttributeError):
        return ""
    objective = task.get("objective") if isinstance(task, dict) else None
    return objective if isinstance(objective, str) else ""


def _sent(screen: ConsoleScreen, write: UnconfirmedWrite) -> SafeText:
    return line(f"sent {ago(write.created_at, screen.console.clock.now())}")
