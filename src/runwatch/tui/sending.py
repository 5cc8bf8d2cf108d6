"""A sheet on the screen and the writes behind it: what was sent, and what came of it row by row.

Everything goes through the outbox of the desk, so that a write whose answer is lost can be asked for again with the
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
from runwatch.base.clock import iso
from runwatch.base.errors import RunwatchError
from runwatch.base.secret import Secret
from runwatch.base.target import Target
from runwatch.store.desk import Desk
from runwatch.store.outbox import CANCEL, Kept
from runwatch.store.outbox import Order as Write
from runwatch.tui.draw import Piece, Pieces, pieces_of, word
from runwatch.tui.widgets.sheet import Order, Sheet, Typed
from runwatch.tui.work import start_work
from runwatch.view.drawn import Drawn, line
from runwatch.view.entries import ProblemEntry
from runwatch.view.format import clock, state, time_of_day
from runwatch.view.glyphs import Role, state_glyph

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen

TYPED_CHARACTERS: Final = 6
"""How much of an id has to be typed on a production profile (DESIGN 4, Read-only mode)."""


@dataclass(frozen=True, slots=True)
class Item:
    """One write of a sheet.

    Attributes:
        id: The record it is about; names its row.
        write: What is sent.
        kept: The write as it was kept, where it is asked again.
    """

    id: str
    write: Write
    kept: Kept | None = None


def id_member(operation: Operation) -> str:
    """The member of an operation's answer that names the record; empty where the record has no id of its own."""
    wire = operation.record.WIRE if operation.record is not None else None
    return "" if wire is None else wire.id


def came(answer: Any, id_name: str) -> Pieces:
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
    return tuple(word(f"   {line(text)}", Role.PLAIN) for text in (record_id, status) if text is not None)


def no_next_step(_: RunwatchError) -> Drawn | None:
    """The next step that a problem's own code names is good enough."""
    return None


def _nothing_after(_: Any) -> None:
    pass


class Sending:
    """A sheet on the screen and the writes behind it.

    Args:
        screen: The screen that opened it.
        desk: Where the writes go.
        order: What the sheet says.
        items: The writes, in order.
        done: Called with the id of each record that was changed, and the answer's JSON.
        told: What the sheet says of the good answer of a single write, beside that it is done.
        refused: Called with the error of a single write that did nothing; what it answers is the next step that the
            problem names, ``None`` for the one of the error's code.
        after: Called with the answer when the sheet of a single write that is done has been left.
    """

    def __init__(
        self,
        screen: ConsoleScreen,
        desk: Desk,
        order: Order,
        items: Sequence[Item],
        done: Callable[[str, Any], None],
        *,
        told: Callable[[Any], Awaitable[Pieces]] | None = None,
        refused: Callable[[RunwatchError], Drawn | None] = no_next_step,
        after: Callable[[Any], None] = _nothing_after,
    ) -> None:
        self._after = after
        self._told = told or self._tell_record
        self._refused = refused
        self._answer: Any = None
        self._screen = screen
        self._desk = desk
        self._items = tuple(items)
        self._done = done
        self._work: Worker[None] | None = None
        self._is_held = False
        self.sheet: Final = Sheet(order, screen)

    def send(self) -> None:
        """Send what the sheet says, or ask again for what is unknown; for the messages of the sheet."""
        self._work = start_work(self._screen, self._send(), "sending", group="mutation")

    def leave(self) -> None:
        """Send nothing more when the sheet is left while a 429 holds it; what is under way goes on.

        What comes after a write that is done comes once the screen has heard that the sheet is gone.
        """
        if self.sheet.state == "done" and len(self._items) == 1:
            self._screen.console.call_later(self._after, self._answer)
        if self._is_held and self._work is not None:
            self._work.cancel()
            self._screen.say("left while a 429 held it; it was not sent", Role.WARN)

    async def _tell_record(self, answer: Any) -> Pieces:
        return came(answer, id_member(OPERATIONS[self._items[0].write.operation]))

    async def _send(self) -> None:
        outcomes = [await self._deliver(item) for item in self._items]
        is_one = len(outcomes) == 1 and outcomes[0] is None
        self._show(outcomes, await self._told(self._answer) if is_one else line(""))
        # What could not be settled stays said after the sheet is gone.
        await self._screen.console.report_unconfirmed_writes()

    def _show(self, outcomes: Sequence[RunwatchError | None], told: Pieces) -> None:
        """Say on the sheet what came of it all."""
        if len(self._items) > 1:
            good = sum(error is None for error in outcomes)
            role = Role.GOOD if good == len(outcomes) else Role.WARN
            self.sheet.finish((word(f"{good} of {len(outcomes)} done", role),))
            return
        (error,) = outcomes
        if error is None:
            self.sheet.finish((word("done", Role.GOOD), *pieces_of(told)))
            self._offer_secret()
        elif isinstance(error, ApiError) and not error.outcome_known:
            self.sheet.lose(line(error.title))
        elif self._items[0].kept is not None and _is_over(error):
            self.sheet.finish((word("settled: the run has ended, and nothing is left to cancel", Role.GOOD),))
        else:
            entry = problem_entry(self._desk, self._items[0].write.operation, error)
            self.sheet.refuse(entry, next_step=self._refused(error))

    def _offer_secret(self) -> None:
        """Have the sheet offer the secret that the answer tells this once, where the action says that it does."""
        from runwatch.view.registry import mutation_of

        mutation = mutation_of(self._items[0].write.operation)
        name = "" if mutation is None else mutation.copies
        secret = self._answer.get(name) if name and isinstance(self._answer, dict) else None
        if isinstance(secret, str) and secret:
            self.sheet.offer_secret(line(name), Secret(secret))

    async def _deliver(self, item: Item) -> RunwatchError | None:
        def told(seconds: float) -> None:
            self._is_held = True
            self._tell(item, word(f"held by a 429 for {clock(seconds)}", Role.WARN))
            if self.sheet.is_mounted:
                console = self._screen.console
                goes_at = time_of_day(console.clock.now() + timedelta(seconds=seconds), console.context())
                self.sheet.hold(line(f"held by a 429; it goes at {goes_at}"))

        # Waiting comes before sending, because only what has not begun can be given up without a doubt.
        await self._desk.live.scheduler.turn_of_a_person(told)
        if self._is_held:
            self._is_held = False
            self.sheet.go()
        self._tell(item, word("sending", Role.LIVE))
        try:
            if item.kept is None:
                answer = await self._desk.act(item.write, told)
            else:
                answer = await self._desk.ask_again(item.kept, told)
        except RunwatchError as error:
            self._tell(item, _outcome(error))
            return error
        status = answer.value.get("status") if isinstance(answer.value, dict) else None
        self._tell(item, (state(status), str(state_glyph(status)[1])) if status else word("done", Role.GOOD))
        self._answer = answer.value
        self._done(item.id, answer.value)
        return None

    def _tell(self, item: Item, outcome: Piece) -> None:
        if len(self._items) > 1 and self.sheet.is_mounted:
            self.sheet.show_outcome(item.id, (outcome,))


def _is_over(error: RunwatchError) -> bool:
    """Whether a run was not cancelled because it has ended."""
    return isinstance(error, ApiProblem) and error.operation == CANCEL and error.code == "invalid_state"


def _outcome(error: RunwatchError) -> Piece:
    """What came of one write among several, in a few words."""
    if isinstance(error, ApiError) and not error.outcome_known:
        return word("? unknown, asked again later", Role.WARN)
    if isinstance(error, ApiProblem):
        if _is_over(error):
            return word("already final", Role.QUIET)
        return word(f"refused: {error.code or error.status}", Role.BAD)
    return word(error.title, Role.BAD)


def problem_entry(desk: Desk, operation: str, error: RunwatchError) -> ProblemEntry:
    """An error of the desk's service as the problem panel shows it."""
    return problem_of(error, operation, desk.target, desk.clock.now())


def problem_of(error: RunwatchError, operation: str, target: Target, at: datetime) -> ProblemEntry:
    """An error as the problem panel shows it; one without a Problem is worded as what it is."""
    facts = OPERATIONS[operation]
    entry: dict[str, Any] = {
        "time": iso(at),
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


def request_line(operation: str, path: Mapping[str, str]) -> Drawn:
    """Method and path of a request, with its parameters in their places."""
    facts = OPERATIONS[operation]
    shown = facts.path
    for name, value in path.items():
        shown = shown.replace(f"{{{name}}}", quote(value, safe=""))
    return line(f"{facts.method} {shown}", None)


def typed_end(desk: Desk, record_id: str) -> Typed | None:
    """What has to be typed before something is done to one record; ``None`` where the profile is no production one."""
    if not desk.target.production:
        return None
    prompt = f"production profile: type the last {TYPED_CHARACTERS} characters of the id"
    return Typed(line(prompt), record_id[-TYPED_CHARACTERS:])


def profile_words(desk: Desk) -> Pieces:
    """Profile and mode, for the frame of a sheet."""
    mode = word("READ-ONLY", Role.WARN) if desk.client.read_only else word("write", Role.PLAIN)
    return (word(f"{line(desk.target.profile)} ", Role.PLAIN), mode)


def read_only_words(desk: Desk) -> Drawn | None:
    """Why nothing can be sent, where that is so."""
    return line("This profile is read-only; nothing can be sent.") if desk.client.read_only else None
