"""Unconfirmed writes: the notice about them, their list, and the dialogs that retry or discard one.

The outbox keeps such a write with its key and bytes (:mod:`runwatch.store.repositories.outbox`). The user retries it
with exactly these, so that nothing is done twice, or discards it and checks whether it took effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
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
from runwatch.tui.flows.runs.run_dialogs import forget_draft, make_cancel_callbacks, make_submit_callbacks
from runwatch.tui.flows.writes.write_sender import (
    PendingWrite,
    WriteCallbacks,
    WriteSender,
    make_typed_confirmation,
    profile_label,
)
from runwatch.tui.flows.writes.write_texts import request_text, submitted_objective
from runwatch.tui.shell.console_screen import READ_ONLY
from runwatch.tui.sources.record_loader import store_record
from runwatch.tui.widgets.panes.confirm_dialog import DialogRow, DialogText, TypedConfirmation
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.text.format import ago, short_id, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, block, json_text, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen

_TOO_OLD: Final = line("too old: the service may have forgotten the key, and a retry could run twice")
_NONE_TOGETHER: Final = line("none can be retried together with others")
_KEEP: Final = line("Keep it for later")
_KEEP_SEVERAL: Final = line("Keep them for later")

_ITEMS_FOR_SEVERAL: Final = 2
"""Items of the list before those of single writes, if there are several."""

_ITEMS_OF_ONE: Final = 2
"""Items of a single write."""


class UnconfirmedWrites:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._warning = ""

    def show_warning(self) -> None:
        """Show, update or remove the notice about unconfirmed writes."""
        console = self._console
        words = self._notice_text(console.unconfirmed)
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

    def settle(self, screen: ConsoleScreen, writes: Sequence[UnconfirmedWrite], *, is_retried: bool) -> None:
        """Open the dialog that retries or discards one write, or several."""
        session = self._console.session
        if session is None:
            return
        if not is_retried:
            sender: WriteSender = _Discard(screen, session, writes)
        elif len(writes) == 1:
            sender = _retry(screen, session, writes[0])
        else:
            sender = _RetrySeveral(screen, session, writes)
        screen.app.push_screen(sender.dialog)

    async def _open(self, screen: ConsoleScreen) -> None:
        session = screen.connected_session()
        if session is None:
            return
        await self._console.report_unconfirmed_writes()
        writes = self._console.unconfirmed
        if not writes:
            screen.notify_user("No unconfirmed writes.")
            return
        title = (label_span("Unconfirmed writes   ", Role.PLAIN), label_span("sent, outcome unknown"))
        marks: set[int] = set()

        def mark(index: int) -> tuple[Sequence[MenuItem], int]:
            following = index
            if index >= _ITEMS_FOR_SEVERAL:
                marks.symmetric_difference_update({writes[(index - _ITEMS_FOR_SEVERAL) // _ITEMS_OF_ONE].id})
                following += _ITEMS_OF_ONE
            items = list(self._items(screen, session, writes, marks))
            return items, following if following < len(items) else index

        items = list(self._items(screen, session, writes, marks))
        screen.open_overlay(Menu(title, items, id="kept-writes", mark=mark if len(writes) > 1 else None))

    def _items(
        self, screen: ConsoleScreen, session: ServiceSession, writes: Sequence[UnconfirmedWrite], marks: Set[int]
    ) -> Iterator[MenuItem]:
        """Yield what can be done with several writes, if there are, and with each."""
        if len(writes) > 1:
            yield from self._items_for_several(screen, session, writes, marks)
        for write in writes:
            marked = self._console.chrome_glyphs.marked if write.id in marks else " "
            glyph = f"{marked} " if marks else ""
            what = OPERATIONS[write.request.operation].title
            off = (line(READ_ONLY) if session.client.read_only else None) if write.is_offered else _TOO_OLD
            again = partial(self.settle, screen, [write], is_retried=True)
            discard = partial(self.settle, screen, [write], is_retried=False)
            about = _about(self._console, write)
            yield MenuItem(line(f"{glyph}Retry: {what}"), again, about, off)
            yield MenuItem(line(f"{glyph}Discard: {what}"), discard, about)

    def _items_for_several(
        self, screen: ConsoleScreen, session: ServiceSession, writes: Sequence[UnconfirmedWrite], marks: Set[int]
    ) -> Iterator[MenuItem]:
        """Yield the two items for the marked writes, or for all."""
        chosen = [write for write in writes if write.id in marks] or writes
        what = f"the marked {len(marks)}" if marks else f"all {len(writes)}"
        again = [write for write in chosen if write.is_offered and not _shows_secret(write)]
        off = line(READ_ONLY) if session.client.read_only else None if again else _NONE_TOGETHER
        left = len(chosen) - len(again)
        note = f"each with its own key; {left} left out, too old or with a secret" if left else "each with its own key"
        yield MenuItem(line(f"Retry {what}"), partial(self.settle, screen, again, is_retried=True), line(note), off)
        discard = partial(self.settle, screen, chosen, is_retried=False)
        yield MenuItem(line(f"Discard {what}"), discard, line("forgets them on this machine"))

    def _notice_text(self, writes: Sequence[UnconfirmedWrite]) -> str:
        if not writes:
            return ""
        console, oldest = self._console, writes[0]
        # A time and not an age, because the notice stays until the write is retried or discarded.
        title = OPERATIONS[oldest.request.operation].title
        sent = time_of_day(oldest.created_at, console.render_context())
        what = f"{title}: sent at {sent}" if len(writes) == 1 else f"{len(writes)} writes, the oldest sent at {sent}"
        key, them = console.keys.shown("app.outbox"), "it" if len(writes) == 1 else "them"
        return f"{what}, outcome unknown; {key} or :outbox retries or discards {them}"


def _callbacks(screen: ConsoleScreen, session: ServiceSession, write: UnconfirmedWrite) -> tuple[str, WriteCallbacks]:
    """Return the id of the record of a write, and what follows its retry."""
    from runwatch.tui.flows.action_dialog import make_retry_callbacks

    operation, written = OPERATIONS[write.request.operation], write.request
    declared = make_retry_callbacks(screen, session, written)
    if declared is not None:
        return declared

    def done(_: str, response: Any, is_watched: bool) -> None:
        run = Run(response) if isinstance(response, dict) and operation.record is Run else Run({})
        # A replayed response is as old as the first attempt, so it counts only if nothing newer is known.
        if run.id and session.store.get(session.scope.profile, Run.KIND, run.id) is None:
            store_record(session, run)
        if written.operation == SUBMIT:
            forget_draft(screen.console, written.body)
            if run.id and is_watched:
                screen.console.show_run(run.id)
        session.live.refresh(Run)

    return "kept", make_submit_callbacks(screen, done) if written.operation == SUBMIT else make_cancel_callbacks(done)


def _retry(screen: ConsoleScreen, session: ServiceSession, write: UnconfirmedWrite) -> WriteSender:
    operation, written = OPERATIONS[write.request.operation], write.request
    text = DialogText(
        title=line(f"Retry on {line(session.target.profile)}: {operation.title}"),
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
        shows_secret=_shows_secret(write),
    )
    record_id, callbacks = _callbacks(screen, session, write)
    return WriteSender(screen, session, text, [PendingWrite(record_id, written, write)], callbacks)


class _RetrySeveral(WriteSender):
    """Retries writes one after the other, each with its own key and bytes."""

    def __init__(self, screen: ConsoleScreen, session: ServiceSession, writes: Sequence[UnconfirmedWrite]) -> None:
        text = DialogText(
            title=line(f"Retry {len(writes)} requests on {line(session.target.profile)}"),
            sentence=line(
                "Sends each with its own bytes and key once more. Where the first sending took effect, the service"
                " repeats its answer; nothing is done twice."
            ),
            request=line("each as it was sent, with its own key"),
            keep=_KEEP_SEVERAL,
            confirm=line("Retry them"),
            profile=profile_label(session),
            rows=_rows(screen, writes),
            typed=_typed_count(session, writes),
        )
        keys = _row_keys(writes)
        callbacks = {keys[write.id]: _callbacks(screen, session, write) for write in writes}

        def done(key: str, response: Any, _: bool) -> None:
            # Nothing opens: the user looks at all of them.
            is_watched = False
            record_id, followed = callbacks[key]
            followed.done(record_id, response, is_watched)

        items = [PendingWrite(keys[write.id], write.request, write) for write in writes]
        super().__init__(screen, session, text, items, WriteCallbacks(done))

    def _title(self) -> str:
        return f"{len(self._items)} requests retried"

    def _success_word(self, item: PendingWrite) -> str:
        return "accepted"


class _Discard(WriteSender):
    """Forgets writes on this machine; sends nothing."""

    def __init__(self, screen: ConsoleScreen, session: ServiceSession, writes: Sequence[UnconfirmedWrite]) -> None:
        self._writes = writes
        is_one = len(writes) == 1
        what, them = ("request", "it") if is_one else ("requests", "they")
        profile = line(session.target.profile)
        title = f"Discard on {profile}: {self._title()}" if is_one else f"Discard {len(writes)} requests on {profile}"
        text = DialogText(
            title=line(title),
            sentence=line(
                f"Forgets the {what} on this machine; whether {them} took effect stays unknown. Look in the list of"
                " runs first: a new request has a new key, and does the same a second time."
            ),
            request=line("nothing is sent"),
            keep=_KEEP if is_one else _KEEP_SEVERAL,
            confirm=line("Discard it" if is_one else "Discard them"),
            profile=profile_label(session),
            key=line(writes[0].request.key) if is_one else None,
            rows=() if is_one else _rows(screen, writes),
            typed=None if is_one else _typed_count(session, writes),
            age=_sent(screen, writes[0]) if is_one else None,
            is_destructive=True,
        )
        keys = _row_keys(writes)
        items = [PendingWrite(keys[write.id], write.request, write) for write in writes]
        super().__init__(screen, session, text, items, WriteCallbacks(lambda *_: None))

    def _title(self) -> str:
        if len(self._writes) == 1:
            return OPERATIONS[self._writes[0].request.operation].title
        return f"{len(self._writes)} requests"

    async def _send(self) -> None:
        outcomes = [await self._discard(*pair) for pair in zip(self._items, self._writes, strict=True)]
        error = next(filter(None, outcomes), None)
        if error is None:
            self.finish((label_span("forgotten here", Role.GOOD),))
        elif not self.dialog.is_open:
            raise error
        elif len(outcomes) == 1:
            entry = self.problem_entry(error)
            self.dialog.show_refusal(entry, next_step=line(error.hint, None) if error.hint else None)
        else:
            kept = sum(outcome is not None for outcome in outcomes)
            self.finish((label_span(f"{len(outcomes) - kept} forgotten here, {kept} kept", Role.WARN),))
        await self._console.report_unconfirmed_writes()

    async def _discard(self, item: PendingWrite, write: UnconfirmedWrite) -> RunwatchError | None:
        error: RunwatchError | None = None
        try:
            await self._session.outbox.discard(write)
        except RunwatchError as failure:
            error = failure
        self._show_outcome(
            item, label_span("forgotten", Role.GOOD) if error is None else label_span(error.title, Role.BAD)
        )
        return error


def _shows_secret(write: UnconfirmedWrite) -> bool:
    """Return whether the answer has a secret that is shown once, or leads to a private page: one dialog for each."""
    from runwatch.view.resources.registry import mutation_for_operation

    mutation = mutation_for_operation(write.request.operation)
    return mutation is not None and (bool(mutation.one_time_member) or mutation.private_page is not None)


def _row_keys(writes: Sequence[UnconfirmedWrite]) -> Mapping[int, str]:
    """Return the keys of rows by the number of the write: what is copied is an idempotency key."""
    keys = {write.id: write.request.key for write in writes}
    return keys if len(set(keys.values())) == len(keys) else {number: str(number) for number in keys}


def _rows(screen: ConsoleScreen, writes: Sequence[UnconfirmedWrite]) -> tuple[DialogRow, ...]:
    keys = _row_keys(writes)
    return tuple(
        DialogRow(
            keys[write.id],
            (
                label_span(f"{OPERATIONS[write.request.operation].title}   ", Role.PLAIN),
                label_span(_about(screen.console, write)),
            ),
        )
        for write in writes
    )


def _typed_count(session: ServiceSession, writes: Sequence[UnconfirmedWrite]) -> TypedConfirmation | None:
    if not session.target.production:
        return None
    return TypedConfirmation(line("the number of requests"), str(len(writes)))


def _about(console: Console, write: UnconfirmedWrite) -> SafeText:
    """Describe when it was sent, its subject, and why its outcome is unknown."""
    run_id = write.request.path.get("execution_id")
    about = short_id(run_id, console.glyphs) if run_id else write.request.label or submitted_objective(write.request)
    parts = (ago(write.created_at, console.clock.now()), about, write.reason)
    return line(f" {console.glyphs.dot} ".join(line(part) for part in parts if part))


def _body(body: bytes) -> SafeText:
    try:
        return block(json_text(loads(body), 2))
    except ValueError:
        return block(body.decode("utf-8", "replace"))


def _sent(screen: ConsoleScreen, write: UnconfirmedWrite) -> SafeText:
    return line(f"sent {ago(write.created_at, screen.console.clock.now())}")
