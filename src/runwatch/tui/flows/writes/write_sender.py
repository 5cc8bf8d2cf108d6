"""Sending the writes that a dialog confirms, with the outcome of each.

All writes go through the session's outbox, so that one with unknown outcome can be retried with the same key and bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from textual.worker import Worker

from runwatch.api.errors import ApiError, ApiProblem, NoResponseError
from runwatch.api.operations import OPERATIONS, Operation, is_listable
from runwatch.api.write_outcome import is_settled_cancel
from runwatch.base.errors import RunwatchError, WriteInProgressError, WriteSettledError
from runwatch.base.secrets.secret import Secret
from runwatch.store.repositories.outbox import UnconfirmedWrite, WriteRequest
from runwatch.store.session import ServiceSession
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.writes.write_texts import unconfirmed_text
from runwatch.tui.widgets.bars.header_bar import mode_span
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog, DialogText, TypedConfirmation
from runwatch.view.problems.journal_entries import ProblemEntry, problem_entry_from_error
from runwatch.view.text.format import elapsed_clock, grouped_number, short_duration, state_cell, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.tui.shell.console_screen import ConsoleScreen

TYPED_CHARACTERS: Final = 6
"""How many characters of an id must be typed on a production profile (manual: decisions, "Read-only mode")."""

NOTICE_LINES: Final = 2
"""Up to this many lines of an outcome are shown in a notice; more have to be read."""

_REFUSED: Final = "refused"


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """One write of a dialog, which may be the retry of an unconfirmed one; the id of its record names its row."""

    id: str
    write: WriteRequest
    unconfirmed: UnconfirmedWrite | None = None


def find_id_member(operation: Operation) -> str:
    """Return the name of the response's id, or an empty text if the record has none of its own."""
    wire = operation.record.WIRE if operation.record is not None else None
    return "" if wire is None else wire.id


def describe_created_record(
    response: Any, id_name: str, status_of: Callable[[Mapping[str, Any]], str | None] | None = None
) -> StyledSpans:
    """Return the id and status of the record in a response; the first id if the record's own is missing.

    Args:
        status_of: Returns the status from the response, where that is not a member of its own.
    """
    if not isinstance(response, dict):
        return line("")
    record_id = find_record_id(response, id_name) or None
    if status_of is not None:
        status = status_of(response)
    else:
        status = next((response[name] for name in ("status", "state") if isinstance(response.get(name), str)), None)
    return tuple(label_span(f"   {line(text)}", Role.PLAIN) for text in (record_id, status) if text is not None)


def find_record_id(response: Any, id_name: str) -> str:
    """Return the id of the record in a response: its member ``id_name``, else the first id; empty if it has none."""
    names = (id_name, *(name for name in response if name.endswith("_id") and name != "tenant_id"))
    return next((response[name] for name in names if isinstance(response.get(name), str) and response[name]), "")


Done = Callable[[str, Any, bool], None]
"""Takes the id of a changed record, the response's JSON, and whether the dialog is still open.

If it is closed, the user does something else by now, so nothing may be selected or opened.
"""


class WriteCallbacks(NamedTuple):
    """What follows a write.

    Attributes:
        done: Called after each success.
        describe: Returns the text about the successful response of a single write, shown after "done"; ``None`` for the
            id and status of its record.
        after: Called with the response once the dialog of a single successful write has closed.
        secret_member: Member of a single write's response that holds a secret, shown only this once.
        refused: Called with the error of a single write that had no effect; returns the next step for the problem, or
            ``None`` for that of its code.
        completed: Returns from the response what the notice begins with, in place of the request's name and "done".
            Empty for these.
        settled: Called with the id of a run that needs no cancel because it has ended.
    """

    done: Done
    describe: Callable[[Any], Awaitable[StyledSpans]] | None = None
    after: Callable[[Any], Awaitable[None]] | None = None
    secret_member: str = ""
    refused: Callable[[RunwatchError], SafeText | None] | None = None
    completed: Callable[[Any], str] = lambda _: ""
    settled: Callable[[str], None] = lambda _: None


class WriteSender:
    """Sends the writes that its dialog confirms.

    The console owns the work: it goes on when the dialog and the screen that opened it are closed, and a
    notice then shows its outcome.
    """

    def __init__(
        self,
        screen: ConsoleScreen,
        session: ServiceSession,
        text: DialogText,
        items: Sequence[PendingWrite],
        callbacks: WriteCallbacks,
    ) -> None:
        self._callbacks: Final = callbacks
        self._response: Any = None
        self._has_succeeded = False
        self._notice: tuple[str, str] | None = None
        self._screen = screen
        self._console = screen.console
        self._session = session
        self._items = tuple(items)
        self._operation: Final = OPERATIONS[items[0].write.operation]
        self._work: Worker[None] | None = None
        self._is_held = False
        self._statuses: dict[str, str] = {}
        new = [item.write for item in self._items if item.unconfirmed is None]
        warnings = (unconfirmed_text(self._console, write.operation, write.path) for write in new)
        text = replace(text, warning=next(filter(None, warnings), None))
        self.dialog: Final = ConfirmDialog(text, screen, screen.header, self)

    def send(self) -> None:
        """Send the writes, or retry those with unknown outcome."""
        self._work = start_worker(self._console, self._send(), "sending", group="mutation")

    def send_now(self) -> None:
        """End the rate-limit hold that the writes wait for; a second 429 closes the gate again."""
        self._session.live.scheduler.send_anyway()

    def leave(self) -> None:
        """Send nothing more if the dialog closes during a rate-limit hold; requests under way continue.

        After a success, the follow-up runs once the screen knows that the dialog has closed, and then the notice is
        shown where it leads.
        """
        console = self._console
        if self.dialog.state == "done":
            if self._callbacks.after is not None and self._has_succeeded and len(self._items) == 1:
                console.call_later(self._callbacks.after, self._response)
            if self._notice is not None:
                console.call_later(console.notify_user, *self._notice)
        if self._is_held and self._work is not None:
            self._work.cancel()
            console.notify_user("Closed during a rate-limit hold; it was not sent", Role.WARN)

    async def _describe(self) -> StyledSpans:
        if self._callbacks.describe is not None:
            return await self._callbacks.describe(self._response)
        return describe_created_record(self._response, find_id_member(self._operation))

    async def _send(self) -> None:
        try:
            outcomes = []
            with self._session.batch([item.write for item in self._items]) as batch:
                for item in self._items:
                    outcomes.append(await self._deliver(item))
                    batch.settled += 1
            is_one = len(outcomes) == 1 and outcomes[0] is None
            description = await self._describe() if is_one else line("")
            try:
                # First, so that a form that opens next knows them. Their notice stays after the dialog has closed.
                await self._console.report_unconfirmed_writes()
            finally:
                self._show(outcomes, description)
        finally:
            self.dialog.let_leave()

    def _show(self, outcomes: Sequence[RunwatchError | None], description: StyledSpans) -> None:
        if not self.dialog.is_open:
            self._show_afterwards(outcomes)
            return
        if len(self._items) > 1:
            is_good = all(error is None for error in outcomes)
            words = label_span(self._count_outcomes(outcomes), Role.GOOD if is_good else Role.WARN)
            self.finish((words,), is_read_later=is_good)
            return
        (error,) = outcomes
        if error is None:
            if isinstance(self._response, dict):
                self.dialog.offer_id(find_record_id(self._response, find_id_member(self._operation)))
            has_secret = self._offer_secret()
            self.finish((label_span("done", Role.GOOD), *to_spans(description)), is_read_later=not has_secret)
        elif isinstance(error, ApiError) and not error.outcome_known:
            self.dialog.show_unknown_outcome(line(error.title))
        elif self._items[0].unconfirmed is not None and _is_over(error):
            self.finish((label_span("the run has already ended", Role.GOOD),))
        elif isinstance(error, WriteSettledError):
            self.finish((label_span(f"nothing was sent now: {error.detail}; the list shows what it did", Role.WARN),))
        else:
            (item,) = self._items
            # What kept a write from being sent says nothing about an earlier sending of it.
            is_new = item.unconfirmed is None and not isinstance(error, WriteInProgressError)
            had_no_effect = is_new or isinstance(error, ApiError)
            entry = self.problem_entry(error, had_no_effect=had_no_effect)
            step = self._callbacks.refused(error) if self._callbacks.refused else None
            # Without a response there is no code to explain, only what is wrong here or with the connection.
            if step is None and error.hint and not isinstance(error, ApiProblem):
                step = line(error.hint, None)
            self.dialog.show_refusal(entry, next_step=step, can_retry=isinstance(error, NoResponseError))

    def finish(self, outcome: StyledSpans, *, is_read_later: bool = True) -> None:
        """Close the dialog with a notice, or show the outcome on it if it or something else there has to be read.

        Warnings, and more lines than a notice holds, have to be read.
        """
        pieces = to_spans(outcome)
        text = "".join(piece for piece, _ in pieces)
        closes = is_read_later and text.count("\n") < NOTICE_LINES and all(role != Role.WARN for _, role in pieces)
        if closes:
            # What is new comes first, so that a narrow window cuts the id.
            done, *news = (" ".join(part.split()) for part in text.split("\n"))
            dot = f" {self._console.glyphs.dot} "
            if completed := self._callbacks.completed(self._response):
                parts = (completed, *news, done.removeprefix("done").strip())
                self._notice = dot.join(filter(None, parts)), Role.GOOD
            else:
                self._notice = f"{self._title()}: {dot.join((*news, done))}", Role.GOOD
        if self.dialog.is_open:
            self.dialog.finish(outcome, closes=closes)

    def problem_entry(self, error: RunwatchError, *, had_no_effect: bool = False) -> ProblemEntry:
        """Return an error of the session's service as an entry of the problem panel."""
        session = self._session
        return problem_entry_from_error(
            error, self._operation, session.target, session.clock.now(), had_no_effect=had_no_effect
        )

    def _count_outcomes(self, outcomes: Sequence[RunwatchError | None]) -> str:
        """Count the outcomes of several writes: ``1 cancelled, 1 unknown, 1 had ended``."""
        counts = Counter(
            self._success_word(item) if error is None else _outcome_word(error)
            for item, error in zip(self._items, outcomes, strict=True)
        )
        return ", ".join(f"{grouped_number(count)} {word}" for word, count in counts.items())

    def _success_word(self, item: PendingWrite) -> str:
        """Return what one of several successful writes counts as."""
        return self._statuses.get(item.id, "done")

    def _show_afterwards(self, outcomes: Sequence[RunwatchError | None]) -> None:
        """Show the outcome in a notice, and where it led, because the user has left the dialog meanwhile."""
        first = next((error for error in outcomes if error is not None), None)
        is_unknown = isinstance(first, ApiError) and not first.outcome_known
        is_one = len(outcomes) == 1
        completed = self._callbacks.completed(self._response) if is_one and first is None else ""
        words = self._count_outcomes(outcomes) if not is_one else "done" if first is None else first.title
        if is_one and is_unknown:
            words += ", outcome unknown"
        elif any(isinstance(error, ApiProblem) and _outcome_word(error) == _REFUSED for error in outcomes):
            words += "; :problems explains it"
        elif is_one and (record_id := self._record_to_open()):
            words += f"; :open {record_id} shows it"
        if is_one:
            self.dialog.state = "done" if first is None else "unknown" if is_unknown else "refused"
            if self._callbacks.refused is not None and self.dialog.state == "refused" and first is not None:
                self._callbacks.refused(first)
            if self._screen.is_attached:
                self._screen.dialog_closed(self.dialog)
        text = f"{completed}{words.removeprefix('done')}" if completed else f"{self._title()}: {words}"
        self._console.notify_user(text, Role.GOOD if first is None else Role.WARN)

    def _record_to_open(self) -> str:
        """Return the id of the record in the response, if a screen lists its kind."""
        record = self._operation.record
        is_listed = record is not None and is_listable(record) and isinstance(self._response, dict)
        return find_record_id(self._response, find_id_member(self._operation)) if is_listed else ""

    def _title(self) -> str:
        return self._operation.title

    def _offer_secret(self) -> bool:
        """Show the response's one-time secret on the dialog, if the action declares one; return whether there is."""
        member = self._callbacks.secret_member
        secret = self._response.get(member) if isinstance(self._response, dict) else None
        if not isinstance(secret, str) or not secret:
            return False
        self.dialog.offer_secret(line(member), Secret(secret))
        return True

    async def _deliver(self, item: PendingWrite) -> RunwatchError | None:
        def on_wait(seconds: float) -> None:
            self._is_held = True
            self._show_outcome(item, label_span(f"rate limited (429), sends in {elapsed_clock(seconds)}", Role.WARN))
            if self.dialog.is_open:
                console = self._console
                goes_at = time_of_day(console.clock.now() + timedelta(seconds=seconds), console.render_context())
                self.dialog.show_rate_limit(line(f"rate limited (429), sends at {goes_at}"))

        # Wait before sending, because only an unsent write can be cancelled with a known outcome.
        try:
            async with self._session.live.scheduler.user_turn(on_wait):
                if self._is_held:
                    self._is_held = False
                    self.dialog.go()
                self._show_outcome(item, label_span("sending", Role.LIVE))
                if item.unconfirmed is None:
                    result = await self._session.send_write(item.write)
                else:
                    result = await self._session.retry_write(item.unconfirmed)
        except RunwatchError as error:
            self._show_outcome(item, _outcome(error))
            if _is_over(error):
                self._callbacks.settled(item.id)
            return error
        status = result.value.get("status") if isinstance(result.value, dict) else None
        if status:
            self._statuses[item.id] = line(status)
        self._show_outcome(item, state_cell(status) if status else label_span("done", Role.GOOD))
        self._response, self._has_succeeded = result.value, True
        self._callbacks.done(item.id, result.value, self.dialog.is_open)
        return None

    def _show_outcome(self, item: PendingWrite, outcome: StyledSpan) -> None:
        if len(self._items) > 1 and self.dialog.is_open:
            self.dialog.show_outcome(item.id, (outcome,))


def _is_over(error: RunwatchError) -> bool:
    """Return whether a run was not cancelled because it has ended."""
    return isinstance(error, ApiError) and is_settled_cancel(error.operation, error)


def _outcome_word(error: RunwatchError) -> str:
    """Return the outcome of one of several writes, for their counts."""
    if isinstance(error, ApiError) and not error.outcome_known:
        return "unknown"
    return "had ended" if _is_over(error) else _REFUSED if isinstance(error, ApiProblem) else "not sent"


def _outcome(error: RunwatchError) -> StyledSpan:
    """Return a short outcome of one of several writes."""
    if isinstance(error, ApiError) and not error.outcome_known:
        return label_span("? unknown, retry later", Role.WARN)
    if isinstance(error, ApiProblem):
        if _is_over(error):
            return label_span("already final", Role.QUIET)
        return label_span(f"refused: {error.code or error.status}", Role.BAD)
    return label_span(error.title, Role.BAD)


def make_typed_confirmation(session: ServiceSession, record_id: str) -> TypedConfirmation | None:
    """Return what to type before changing one record; ``None`` unless the profile is for production."""
    if not session.target.production:
        return None
    what = line(f"the last {TYPED_CHARACTERS} characters of the id")
    return TypedConfirmation(what, record_id[-TYPED_CHARACTERS:])


def profile_label(session: ServiceSession) -> StyledSpans:
    """Return profile and mode for the frame of a dialog."""
    mode = mode_span(read_only=session.client.read_only)
    return (label_span(f"{line(session.target.profile)}, ", Role.PLAIN), mode)


def list_age(session: ServiceSession, kind: type[Record] | None) -> SafeText | None:
    """Return the age of the list that the user decides on; ``None`` if it was not read."""
    read_at = None if kind is None else session.store.collection(session.scope.profile, kind.KIND).read_at
    if read_at is None:
        return None
    return line(f"data is {short_duration(max(0.0, session.clock.monotonic() - read_at))} old")
