"""A dialog on the screen and the writes behind it: what was sent, and what came of it row by row.

Everything goes through the outbox of the session, so that a write whose answer is lost can be asked for again with the
same key and the same bytes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from textual.worker import Worker

from runwatch.api.errors import ApiError, ApiProblem
from runwatch.api.operations import OPERATIONS, Operation
from runwatch.base.clock import format_iso
from runwatch.base.errors import RunwatchError
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.store.repositories.outbox import CANCEL, UnconfirmedWrite
from runwatch.store.repositories.outbox import WriteRequest as Write
from runwatch.store.session import ServiceSession
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.core.workers import start_worker
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog, DialogText, TypedConfirmation
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.text.format import elapsed_clock, state_label, time_of_day
from runwatch.view.text.glyphs import Role, state_glyph
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen

TYPED_CHARACTERS: Final = 6
"""How much of an id has to be typed on a production profile (DESIGN 4, Read-only mode)."""


@dataclass(frozen=True, slots=True)
class DialogWrite:
    """One write of a dialog.

    Attributes:
        id: The record it is about; names its row.
        write: What is sent.
        kept: The write as it was kept, where it is asked again.
    """

    id: str
    write: Write
    kept: UnconfirmedWrite | None = None


def find_id_member(operation: Operation) -> str:
    """The member of an operation's answer that names the record; empty where the record has no id of its own."""
    wire = operation.record.WIRE if operation.record is not None else None
    return "" if wire is None else wire.id


def describe_created_record(answer: Any, id_name: str) -> StyledSpans:
    """What an answer tells of the record that came of it: its id, and how it stands.

    Args:
        answer: The decoded answer.
        id_name: The member that names the record; where the answer has none of it, its first id is told.
    """
    if not isinstance(answer, dict):
        return line("")
    names = (id_name, *(name for name in answer if name.endswith("_id") and name != "tenant_id"))
    record_id = next((answer[name] for name in names if isinstance(answer.get(name), str) and answer[name]), None)
    status = next((answer[name] for name in ("status", "state") if isinstance(answer.get(name), str)), None)
    return tuple(label_span(f"   {line(text)}", Role.PLAIN) for text in (record_id, status) if text is not None)


def no_extra_step(_: RunwatchError) -> SafeText | None:
    """The next step that a problem's own code names is good enough."""
    return None


def _nothing_after(_: Any) -> None:
    pass


class WriteDialog:
    """A dialog on the screen and the writes behind it.

    Args:
        screen: The screen that opened it.
        session: Where the writes go.
        order: What the dialog says.
        items: The writes, in order.
        done: Called with the id of each record that was changed, and the answer's JSON.
        told: What the dialog says of the good answer of a single write, beside that it is done.
        refused: Called with the error of a single write that did nothing; what it answers is the next step that the
            problem names, ``None`` for the one of the error's code.
        after: Called with the answer when the dialog of a single write that is done has been left.
    """

    def __init__(
        self,
        screen: ConsoleScreen,
        session: ServiceSession,
        order: DialogText,
        items: Sequence[DialogWrite],
        done: Callable[[str, Any], None],
        *,
        told: Callable[[Any], Awaitable[StyledSpans]] | None = None,
        refused: Callable[[RunwatchError], SafeText | None] = no_extra_step,
        after: Callable[[Any], None] = _nothing_after,
    ) -> None:
        self._after = after
        self._told = told or self._tell_record
        self._refused = refused
        self._answer: Any = None
        self._screen = screen
        self._session = session
        self._items = tuple(items)
        self._done = done
        self._work: Worker[None] | None = None
        self._is_held = False
        self.dialog: Final = ConfirmDialog(order, screen)

    def send(self) -> None:
        """Send what the dialog says, or ask again for what is unknown; for the messages of the dialog."""
        self._work = start_worker(self._screen, self._send(), "sending", group="mutation")

    def leave(self) -> None:
        """Send nothing more when the dialog is left while a 429 holds it; what is under way goes on.

        What comes after a write that is done comes once the screen has heard that the dialog is gone.
        """
        if self.dialog.state == "done" and len(self._items) == 1:
            self._screen.console.call_later(self._after, self._answer)
        if self._is_held and self._work is not None:
            self._work.cancel()
            self._screen.notify_user("closed during a rate-limit hold; it was not sent", Role.WARN)

    async def _tell_record(self, answer: Any) -> StyledSpans:
        return describe_created_record(answer, find_id_member(OPERATIONS[self._items[0].write.operation]))

    async def _send(self) -> None:
        outcomes = [await self._deliver(item) for item in self._items]
        is_one = len(outcomes) == 1 and outcomes[0] is None
        self._show(outcomes, await self._told(self._answer) if is_one else line(""))
        # What could not be settled stays said after the dialog is gone.
        await self._screen.console.report_unconfirmed_writes()

    def _show(self, outcomes: Sequence[RunwatchError | None], told: StyledSpans) -> None:
        """Say on the dialog what came of it all."""
        if len(self._items) > 1:
            good = sum(error is None for error in outcomes)
            role = Role.GOOD if good == len(outcomes) else Role.WARN
            self.dialog.finish((label_span(f"{good} of {len(outcomes)} done", role),))
            return
        (error,) = outcomes
        if error is None:
            self.dialog.finish((label_span("done", Role.GOOD), *to_spans(told)))
            self._offer_secret()
        elif isinstance(error, ApiError) and not error.outcome_known:
            self.dialog.show_unknown_outcome(line(error.title))
        elif self._items[0].kept is not None and _is_over(error):
            self.dialog.finish((label_span("the run has already ended", Role.GOOD),))
        else:
            entry = make_problem_entry(self._session, self._items[0].write.operation, error)
            self.dialog.show_refusal(entry, next_step=self._refused(error))

    def _offer_secret(self) -> None:
        """Have the dialog offer the secret that the answer tells this once, where the action says that it does."""
        from runwatch.view.resources.registry import mutation_for_operation

        mutation = mutation_for_operation(self._items[0].write.operation)
        name = "" if mutation is None else mutation.one_time_member
        secret = self._answer.get(name) if name and isinstance(self._answer, dict) else None
        if isinstance(secret, str) and secret:
            self.dialog.offer_secret(line(name), Secret(secret))

    async def _deliver(self, item: DialogWrite) -> RunwatchError | None:
        def told(seconds: float) -> None:
            self._is_held = True
            self._tell(item, label_span(f"rate limited (429), sends in {elapsed_clock(seconds)}", Role.WARN))
            if self.dialog.is_mounted:
                console = self._screen.console
                goes_at = time_of_day(console.clock.now() + timedelta(seconds=seconds), console.render_context())
                self.dialog.show_rate_limit(line(f"rate limited (429), sends at {goes_at}"))

        # Waiting comes before sending, because only what has not begun can be given up without a doubt.
        await self._session.live.scheduler.wait_for_user_turn(told)
        if self._is_held:
            self._is_held = False
            self.dialog.go()
        self._tell(item, label_span("sending", Role.LIVE))
        try:
            if item.kept is None:
                answer = await self._session.send_write(item.write, told)
            else:
                answer = await self._session.retry_write(item.kept, told)
        except RunwatchError as error:
            self._tell(item, _outcome(error))
            return error
        status = answer.value.get("status") if isinstance(answer.value, dict) else None
        self._tell(
            item, (state_label(status), str(state_glyph(status)[1])) if status else label_span("done", Role.GOOD)
        )
        self._answer = answer.value
        self._done(item.id, answer.value)
        return None

    def _tell(self, item: DialogWrite, outcome: StyledSpan) -> None:
        if len(self._items) > 1 and self.dialog.is_mounted:
            self.dialog.show_outcome(item.id, (outcome,))


def _is_over(error: RunwatchError) -> bool:
    """Whether a run was not cancelled because it has ended."""
    return isinstance(error, ApiProblem) and error.operation == CANCEL and error.code == "invalid_state"


def _outcome(error: RunwatchError) -> StyledSpan:
    """What came of one write among several, in a few words."""
    if isinstance(error, ApiError) and not error.outcome_known:
        return label_span("? unknown, retry later", Role.WARN)
    if isinstance(error, ApiProblem):
        if _is_over(error):
            return label_span("already final", Role.QUIET)
        return label_span(f"refused: {error.code or error.status}", Role.BAD)
    return label_span(error.title, Role.BAD)


def make_problem_entry(session: ServiceSession, operation: str, error: RunwatchError) -> ProblemEntry:
    """An error of the session's service as the problem panel shows it."""
    return problem_entry_from_error(error, operation, session.target, session.clock.now())


def problem_entry_from_error(error: RunwatchError, operation: str, target: Target, at: datetime) -> ProblemEntry:
    """An error as the problem panel shows it; one without a Problem is worded as what it is."""
    facts = OPERATIONS[operation]
    entry: dict[str, Any] = {
        "time": format_iso(at),
        "profile": target.profile,
        "origin": target.origin,
        "method": facts.method,
        "path": facts.path,
        "operation": operation,
        "title": error.title,
    }
    if error.detail:
        entry["detail"] = error.detail
    if isinstance(error, ApiError):
        entry["attempt"] = error.attempts
        if error.key:
            entry["key"] = error.key
    if isinstance(error, ApiProblem):
        problem = error.problem
        entry |= {"status": error.status, "code": error.code, "raw": dict(problem.raw)}
        if problem.instance:
            entry["instance"] = problem.instance
    return ProblemEntry(entry)


def request_text(operation: str, path: Mapping[str, str]) -> SafeText:
    """Method and path of a request, with its parameters in their places."""
    facts = OPERATIONS[operation]
    shown = facts.path
    for name, value in path.items():
        shown = shown.replace(f"{{{name}}}", quote(value, safe=""))
    return line(f"{facts.method} {shown}", None)


def make_typed_confirmation(session: ServiceSession, record_id: str) -> TypedConfirmation | None:
    """What has to be typed before something is done to one record; ``None`` where the profile is no production one."""
    if not session.target.production:
        return None
    prompt = f"production profile: type the last {TYPED_CHARACTERS} characters of the id"
    return TypedConfirmation(line(prompt), record_id[-TYPED_CHARACTERS:])


def profile_label(session: ServiceSession) -> StyledSpans:
    """Profile and mode, for the frame of a dialog."""
    mode = label_span("READ-ONLY", Role.WARN) if session.client.read_only else label_span("can change", Role.PLAIN)
    return (label_span(f"{line(session.target.profile)} ", Role.PLAIN), mode)


def read_only_text(session: ServiceSession) -> SafeText | None:
    """Why nothing can be sent, where that is so."""
    return line("This profile is read-only; nothing can be sent.") if session.client.read_only else None
