"""Changing something: a sheet that says what will happen, and what came of it row by row.

Everything goes through the outbox of the desk, so that a write whose answer is lost can be asked for again with the
same key and the same bytes.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from textual.worker import Worker

from runwatch.api.errors import ApiError, ApiProblem
from runwatch.api.operations import OPERATIONS
from runwatch.base.clock import iso
from runwatch.base.errors import RunwatchError
from runwatch.base.target import Target
from runwatch.records.run import Run
from runwatch.store.change import RecordRead
from runwatch.store.desk import Desk
from runwatch.store.outbox import CANCEL, SUBMIT, Kept
from runwatch.store.outbox import Order as Write
from runwatch.tui.draw import Piece, Pieces, word
from runwatch.tui.widgets.sheet import Order, Sheet, SheetRow, Typed
from runwatch.tui.work import start_work
from runwatch.view.drawn import Drawn, block, json_text, line
from runwatch.view.entries import ProblemEntry
from runwatch.view.facts import RunFacts
from runwatch.view.format import clock, compact, seconds_since, short_id, state, time_of_day
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


class Mutation:
    """A sheet on the screen and the writes behind it.

    Args:
        screen: The screen that opened it.
        desk: Where the writes go.
        order: What the sheet says.
        items: The writes, in order.
        done: Called with the id of each record that was changed, and the answer's JSON.
    """

    def __init__(
        self,
        screen: ConsoleScreen,
        desk: Desk,
        order: Order,
        items: Sequence[Item],
        done: Callable[[str, Any], None],
    ) -> None:
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
        """Send nothing more when the sheet is left while a 429 holds it; what is under way goes on."""
        if self._is_held and self._work is not None:
            self._work.cancel()
            self._screen.say("left while a 429 held it; it was not sent", Role.WARN)

    async def _send(self) -> None:
        self._show([await self._deliver(item) for item in self._items])
        # What could not be settled stays said after the sheet is gone.
        await self._screen.console.kept_writes.tell()

    def _show(self, outcomes: Sequence[RunwatchError | None]) -> None:
        """Say on the sheet what came of it all."""
        if len(self._items) > 1:
            good = sum(error is None for error in outcomes)
            role = Role.GOOD if good == len(outcomes) else Role.WARN
            self.sheet.finish((word(f"{good} of {len(outcomes)} done", role),))
            return
        (error,) = outcomes
        if error is None:
            self.sheet.finish((word("done", Role.GOOD),))
        elif isinstance(error, ApiError) and not error.outcome_known:
            self.sheet.lose(line(error.title))
        elif self._items[0].kept is not None and _is_over(error):
            self.sheet.finish((word("settled: the run has ended, and nothing is left to cancel", Role.GOOD),))
        else:
            self.sheet.refuse(problem_entry(self._desk, self._items[0].write.operation, error))

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


def cancel_runs(screen: ConsoleScreen, desk: Desk, runs: Sequence[RunFacts]) -> Mutation:
    """The sheet that cancels runs, those that are final left out of the count but not of the list."""
    live = [run for run in runs if not run.is_final]
    glyphs = screen.console.glyphs
    many = len(live) != 1
    noun = f"{len(live)} runs" if many else f"run {short_id(live[0].id, glyphs)}"
    rows = tuple(SheetRow(run.id, _run_line(screen, run)) for run in live) if many else ()
    if many and desk.target.production:
        typed: Typed | None = Typed(line("production profile: type the number of runs"), str(len(live)))
    else:
        typed = typed_end(desk, live[0].id)
    writes = [
        Item(
            run.id,
            Write(CANCEL, {"execution_id": run.id}, None, str(uuid.uuid4()), "cancel"),
        )
        for run in live
    ]
    left = desk.live.budget.left
    within = "" if left is None else f"   within {left} requests left this minute"
    order = Order(
        title=line(f"Cancel {noun} on {line(desk.target.profile)}"),
        sentence=line(
            f"Cancels {noun}. A provider call already under way is not reversed; a run that has ended in the meantime "
            "stays as it is."
        ),
        request=line(
            f"POST /v1/executions/{{id}}/cancel   {len(live)} × one key each{within}"
            if many
            else f"POST /v1/executions/{live[0].id}/cancel"
        ),
        keep=line("Keep them running" if many else "Keep it running"),
        confirm=line(f"Cancel {noun}"),
        profile=profile_words(desk),
        key=None if many else line(writes[0].write.key),
        rows=rows,
        typed=typed,
        age=_age(desk),
        off=read_only_words(desk),
    )

    def done(run_id: str, answer: Any) -> None:
        if isinstance(answer, dict):
            now, monotonic = desk.clock.now(), desk.clock.monotonic()
            desk.store.apply(RecordRead(desk.scope.profile, Run.KIND, now, monotonic, Run(answer)))
        # A replayed answer may be old, so that the run itself is read again.
        desk.live.refresh(Run)

    return Mutation(screen, desk, order, writes, done)


def submit_run(
    screen: ConsoleScreen, desk: Desk, body: bytes, shown: Any, *, key: str, done: Callable[[str], None]
) -> Mutation:
    """The sheet that submits a run.

    Args:
        screen: The screen that opened it.
        desk: Where it goes.
        body: The exact bytes.
        shown: The same as a value, for the preview.
        key: The idempotency key.
        done: Called with the id of the accepted run.
    """
    is_test = isinstance(shown, dict) and shown.get("mode") == "echo"
    order = Order(
        title=line(f"Start a {'test' if is_test else 'live'} run on {line(desk.target.profile)}"),
        sentence=line(
            "Starts a test run. It calls no model, costs nothing and leaves a receipt."
            if is_test
            else "Starts a live run. It calls a model and may spend up to the cost cap and the platform fee."
        ),
        request=line("POST /v1/executions"),
        keep=line("Do not start it"),
        confirm=line("Start the run"),
        profile=profile_words(desk),
        key=line(key),
        body=block(json_text(shown, 2)),
        off=read_only_words(desk),
    )

    def accepted(_: str, answer: Any) -> None:
        run = Run(answer) if isinstance(answer, dict) else None
        if run is not None and run.id:
            now, monotonic = desk.clock.now(), desk.clock.monotonic()
            desk.store.apply(RecordRead(desk.scope.profile, Run.KIND, now, monotonic, run))
            done(run.id)
        desk.live.refresh(Run)

    return Mutation(screen, desk, order, [Item("run", Write(SUBMIT, {}, body, key))], accepted)


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


def _age(desk: Desk) -> Drawn | None:
    """How old the list is that this is decided on."""
    read_at = desk.store.collection(desk.scope.profile, Run.KIND).read_at
    return None if read_at is None else line(f"data is {compact(max(0.0, desk.clock.monotonic() - read_at))} old")


def read_only_words(desk: Desk) -> Drawn | None:
    """Why nothing can be sent, where that is so."""
    return line("This profile is read-only; nothing can be sent.") if desk.client.read_only else None


def _run_line(screen: ConsoleScreen, run: RunFacts) -> Pieces:
    glyphs = screen.console.glyphs
    created = run.run.created_at
    age = "" if created is None else clock(max(0.0, seconds_since(created, screen.console.clock.now())))
    return (
        word(f"{short_id(run.id, glyphs)}  ", Role.PLAIN),
        (state(run.status, glyphs), str(state_glyph(run.status, glyphs)[1])),
        word(f"  {age}  {line(run.model.value or glyphs.nothing)}"),
    )
