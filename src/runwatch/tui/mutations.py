"""Starting and cancelling runs: the sheets that say what will happen."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.base.errors import RunwatchError
from runwatch.records.run import Run
from runwatch.store.change import RecordRead
from runwatch.store.desk import Desk
from runwatch.store.outbox import CANCEL, SUBMIT
from runwatch.store.outbox import Order as Write
from runwatch.tui.draw import Pieces, word
from runwatch.tui.sending import Item, Sending, no_next_step, profile_words, read_only_words, typed_end
from runwatch.tui.widgets.sheet import Order, SheetRow, Typed
from runwatch.view.body import body_block
from runwatch.view.drawn import Drawn, line
from runwatch.view.facts import RunFacts
from runwatch.view.format import clock, compact, seconds_since, short_id, state
from runwatch.view.glyphs import Role, state_glyph

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen


def cancel_runs(screen: ConsoleScreen, desk: Desk, runs: Sequence[RunFacts]) -> Sending:
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

    return Sending(screen, desk, order, writes, done)


def submit_run(
    screen: ConsoleScreen,
    desk: Desk,
    body: bytes,
    shown: Any,
    *,
    key: str,
    done: Callable[[str], None],
    refused: Callable[[RunwatchError], Drawn | None] = no_next_step,
) -> Sending:
    """The sheet that submits a run.

    Args:
        screen: The screen that opened it.
        desk: Where it goes.
        body: The exact bytes.
        shown: The same as a value, for the preview.
        key: The idempotency key.
        done: Called with the id of the accepted run.
        refused: Called when it was refused; what it answers is the next step that the problem names.
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
        body=body_block(shown),
        off=read_only_words(desk),
    )

    def accepted(_: str, answer: Any) -> None:
        run = Run(answer) if isinstance(answer, dict) else None
        if run is not None and run.id:
            now, monotonic = desk.clock.now(), desk.clock.monotonic()
            desk.store.apply(RecordRead(desk.scope.profile, Run.KIND, now, monotonic, run))
            done(run.id)
        desk.live.refresh(Run)

    return Sending(screen, desk, order, [Item("run", Write(SUBMIT, {}, body, key))], accepted, refused=refused)


def _age(desk: Desk) -> Drawn | None:
    """How old the list is that this is decided on."""
    read_at = desk.store.collection(desk.scope.profile, Run.KIND).read_at
    return None if read_at is None else line(f"data is {compact(max(0.0, desk.clock.monotonic() - read_at))} old")


def _run_line(screen: ConsoleScreen, run: RunFacts) -> Pieces:
    glyphs = screen.console.glyphs
    created = run.run.created_at
    age = "" if created is None else clock(max(0.0, seconds_since(created, screen.console.clock.now())))
    return (
        word(f"{short_id(run.id, glyphs)}  ", Role.PLAIN),
        (state(run.status, glyphs), str(state_glyph(run.status, glyphs)[1])),
        word(f"  {age}  {line(run.model.value or glyphs.nothing)}"),
    )
