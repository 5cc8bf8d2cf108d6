"""Dialogs that start and cancel runs."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runwatch.api.operations import CANCEL, SUBMIT
from runwatch.base.errors import RunwatchError
from runwatch.base.json import encode_body
from runwatch.base.text import cell_width
from runwatch.records.run import Run
from runwatch.store.repositories.outbox import WriteRequest
from runwatch.store.session import ServiceSession
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.flows.writes.write_sender import (
    Done,
    PendingWrite,
    WriteCallbacks,
    WriteSender,
    list_age,
    make_typed_confirmation,
    profile_label,
)
from runwatch.tui.shell.record_screen import RecordScreen
from runwatch.tui.sources.record_loader import as_known_now, store_record
from runwatch.tui.widgets.panes.confirm_dialog import DialogRow, DialogText, TypedConfirmation
from runwatch.view.actions.form import render_request_body
from runwatch.view.actions.run_form import FORM
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.format import elapsed_clock, grouped_number, short_id, spent_amount, state_cell
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, fit, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen


def open_cancel(screen: ConsoleScreen, *runs: RunFacts) -> None:
    """Open the dialog that cancels runs; final runs are left out."""
    session = screen.writing_session()
    if session is None:
        return
    unfinished = [run for run in runs if not run.is_final]
    if not runs:
        screen.refuse_key("There is no run to cancel.")
    elif not unfinished:
        ended = (
            f"Run {short_id(runs[0].id, screen.console.glyphs)} has already ended"
            if len(runs) == 1
            else f"All of these {grouped_number(len(runs))} runs have already ended"
        )
        screen.refuse_key(f"{ended} and cannot be cancelled.")
    else:
        final = [run.id for run in runs if run.is_final]
        screen.app.push_screen(_build_cancel_dialog(screen, session, unfinished, final).dialog)


def _build_cancel_dialog(
    screen: ConsoleScreen, session: ServiceSession, runs: Sequence[RunFacts], ended: Sequence[str]
) -> WriteSender:
    """Build the sender of the cancels of at least one run; its dialog says how many marked runs had ended already."""
    glyphs = screen.console.glyphs
    many = len(runs) != 1
    noun = f"{grouped_number(len(runs))} runs" if many else f"run {short_id(runs[0].id, glyphs)}"
    if many and session.target.production:
        typed: TypedConfirmation | None = TypedConfirmation(line("the number of runs"), str(len(runs)))
    else:
        typed = make_typed_confirmation(session, runs[0].id)
    writes = [
        PendingWrite(
            run.id,
            WriteRequest(CANCEL, {"execution_id": run.id}, None, str(uuid.uuid4()), "cancel"),
        )
        for run in runs
    ]
    left = session.live.budget.left
    within = "" if left is None else f"   within {left} requests left this minute"

    def make_updated() -> DialogText:
        known = [as_known_now(session, run) for run in runs]
        is_over = all(run.is_final for run in known)
        named = f"{noun}{'' if many else f' ({_run_text(screen, known[0])})'}"
        subject = f"All {named} have" if many else f"Run {named.removeprefix('run ')} has"
        sentence = (
            f"{subject} ended in the meantime. There is nothing left to cancel."
            if is_over
            else f"Cancels {named}. A provider call already under way is not reversed; a run that has ended in the"
            f" meantime stays as it is.{_left_out(len(ended))}"
        )
        return replace(
            text,
            sentence=line(sentence),
            is_over=is_over,
            rows=_run_rows(screen, known) if many else (),
            age=list_age(session, Run),
        )

    text = DialogText(
        title=line(f"Cancel {noun} on {line(session.target.profile)}"),
        sentence=line(""),
        request=line(
            f"POST /v1/executions/{{id}}/cancel   {grouped_number(len(runs))} × one key each{within}"
            if many
            else f"POST /v1/executions/{runs[0].id}/cancel"
        ),
        keep=line("Keep them running" if many else "Keep it running"),
        confirm=line(f"Cancel {noun}"),
        profile=profile_label(session),
        key=None if many else line(writes[0].write.key),
        typed=typed,
        record_id="" if many else runs[0].id,
        is_destructive=True,
        make_updated=make_updated,
    )

    def done(run_id: str, response: Any, _: bool) -> None:
        if isinstance(response, dict):
            store_record(session, Run(response))
        settled(run_id)

    def settled(run_id: str) -> None:
        # A mark stays on a run that may still have to be cancelled.
        if isinstance(screen, RecordScreen):
            screen.unmark({run_id, *ended})
        # A replayed response may be old, so read the run again.
        session.live.refresh(Run)

    callbacks = make_cancel_callbacks(done)._replace(settled=settled)
    return WriteSender(screen, session, make_updated(), writes, callbacks)


def build_submit_sender(
    screen: ConsoleScreen,
    session: ServiceSession,
    body: bytes,
    shown: Any,
    *,
    key: str,
    done: Callable[[str, bool], None],
    refused: Callable[[RunwatchError], SafeText | None] | None = None,
) -> WriteSender:
    """Build the sender of a submit, with its dialog.

    Args:
        body: The exact bytes.
        shown: The body as a value, for the preview.
        done: Called with the id of the accepted run, and whether the dialog is still open.
        refused: Called with the error of a rejected request; returns the next step for the problem, if any.
    """
    is_test = isinstance(shown, dict) and shown.get("mode") == "echo"
    text = DialogText(
        title=line(f"Start a {'test' if is_test else 'live'} run on {line(session.target.profile)}"),
        sentence=line(
            "Starts a test run. It calls no model, costs nothing and leaves a receipt."
            if is_test
            else "Starts a live run. It calls a model and may spend up to the cost cap and the platform fee."
        ),
        request=line("POST /v1/executions"),
        keep=line("Do not start it"),
        confirm=line("Start the run"),
        profile=profile_label(session),
        key=line(key),
        body=render_request_body(shown),
    )

    def accepted(_: str, response: Any, is_watched: bool) -> None:
        run = Run(response)
        store_record(session, run)
        done(run.id, is_watched)

    writes = [PendingWrite("run", WriteRequest(SUBMIT, {}, body, key))]
    return WriteSender(screen, session, text, writes, make_submit_callbacks(screen, accepted)._replace(refused=refused))


def make_cancel_callbacks(cancelled: Done) -> WriteCallbacks:
    """Return what follows a cancel: a notice that names the run."""
    return WriteCallbacks(cancelled, _say_nothing, completed=_cancel_text)


async def _say_nothing(_: Any) -> StyledSpans:
    """Add nothing to a notice that names the run."""
    return line("")


def _cancel_text(response: Any) -> str:
    """Say which run is cancelled, or is to be; empty without a response, as for a run that had ended."""
    run = Run(response) if isinstance(response, dict) else Run({})
    done = "Cancelled" if run.status == "cancelled" else "Asked to cancel"
    return f"{done} run {line(run.id)}" if run.id else ""


def make_submit_callbacks(screen: ConsoleScreen, accepted: Done) -> WriteCallbacks:
    """Return what follows a submit: its run opens, and a notice says that it is started.

    "done" would be taken for the state of the run.
    """

    def started(response: Any) -> str:
        return f"Started run {line(Run(response).id)}"

    return WriteCallbacks(accepted, _say_nothing, make_run_opener(screen), completed=started)


def make_run_opener(screen: ConsoleScreen) -> Callable[[Any], Awaitable[None]]:
    """Return what follows the dialog of a submitted run: its detail."""

    async def open_it(response: Any) -> None:
        await screen.console.open_run(Run(response).id)

    return open_it


def forget_draft(console: Console, body: bytes | None) -> None:
    """Forget each draft of the run form that makes this body, whose run is accepted."""
    for run_id, draft in list(console.run_drafts.items()):
        if encode_body(FORM.body(draft.values)) == body:
            del console.run_drafts[run_id]


def _run_rows(screen: ConsoleScreen, runs: Sequence[RunFacts]) -> tuple[DialogRow, ...]:
    ids = max(cell_width(short_id(run.id, screen.console.glyphs)) for run in runs)
    return tuple(DialogRow(run.id, _run_line(screen, run, ids)) for run in runs)


def _run_line(screen: ConsoleScreen, run: RunFacts, ids: int) -> StyledSpans:
    glyphs = screen.console.glyphs
    state = state_cell(run.status, glyphs)
    return (
        label_span(f"{fit(short_id(run.id, glyphs), ids)}  ", Role.PLAIN),
        (fit(state.text, 11), state.role),
        label_span(f"  {_elapsed(screen, run):>5}  {line(run.model.value or glyphs.nothing)}"),
    )


def _run_text(screen: ConsoleScreen, run: RunFacts) -> str:
    """Return state, duration, model and spend of a run, as far as they are known."""
    known = None if run.is_cost_open else run.known_cost_usd.value
    spent = "" if known is None else f"{spent_amount(known, run.unknown_calls)} USD spent"
    words = (state_cell(run.status, screen.console.glyphs).text, _elapsed(screen, run), run.model.value, spent)
    return ", ".join(line(word) for word in words if word)


def _elapsed(screen: ConsoleScreen, run: RunFacts) -> str:
    seconds = run.running_s(run.ended_at.value or screen.console.clock.now())
    return "" if seconds is None else elapsed_clock(seconds)


def _left_out(ended: int) -> str:
    if not ended:
        return ""
    return f" {ended} marked run{'s have' if ended > 1 else ' has'} ended and {'are' if ended > 1 else 'is'} left out."
