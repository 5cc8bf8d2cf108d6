"""What the tabs of a run need beside the list: receipt, result, first events, errors of calls; each is read once."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from runwatch.api.operations import list_operation
from runwatch.records.arm import Arm
from runwatch.records.receipt import Receipt
from runwatch.tui.core.workers import start_worker
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.runs.run_narrative import MAX_NARRATED_EVENTS
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, block, line

if TYPE_CHECKING:
    from runwatch.api.errors import ApiError
    from runwatch.records.run import RunResult
    from runwatch.store.repositories.event_sequence import EventSequence
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.tui.widgets.panes.run_detail import RunDetail

_OF_EVENTS: Final = frozenset({"summary", "timeline"})
"""Tabs that show what events say."""


class RunLoader:
    """Reads what a tab of a run needs and the list of runs does not contain.

    Args:
        detail: Shows what is read as long as it shows the run; ``None`` if only the store has to know.
    """

    def __init__(self, screen: ConsoleScreen, detail: RunDetail | None = None) -> None:
        self._screen = screen
        self._detail = detail
        self._asked: set[str] = set()

    def forget(self) -> None:
        """Read everything again on the next request, as for another run."""
        self._asked.clear()

    def read_for(self, tab: str, facts: RunFacts, events: EventSequence | None) -> None:
        """Read what a tab needs and is not known yet; more events update the narrative and the timeline."""
        if tab in _OF_EVENTS and events is not None and self._asks(f"events {events.length}"):
            start_worker(
                self._screen, self._read_events(facts.id, events), "reading events", group="story", exclusive=True
            )
        session = self._screen.console.session
        if session is None or not facts.is_final:
            return
        needs_receipt = tab in {"receipt", *_OF_EVENTS} or (tab == "result" and not facts.has_result)
        if needs_receipt and facts.receipt is None and self._asks("receipt"):
            work = self._read_receipt(session, facts.id)
            start_worker(self._screen, work, "reading the receipt", group="receipt", exclusive=True)
        if tab in _OF_EVENTS and facts.has_failed_call and not facts.run.provider_errors and self._asks("call errors"):
            work = self._read_call_errors(session, facts.id)
            start_worker(self._screen, work, "reading the errors of calls", group="call errors", exclusive=True)
        if tab in {"summary", "result"} and facts.found_no_arm and self._asks("arms"):
            work = self._read_arms(session, facts.id)
            start_worker(self._screen, work, "reading the saved models", group="arms", exclusive=True)
        if tab == "result" and facts.has_result and self._asks("result"):
            work = self._read_result(session, facts.id)
            start_worker(self._screen, work, "reading the result", group="result", exclusive=True)

    def _asks(self, what: str) -> bool:
        """Return whether something is still to be read; each is read once per run, and again on refresh."""
        is_new = what not in self._asked
        self._asked.add(what)
        return is_new

    def _detail_of(self, run_id: str) -> RunDetail | None:
        """Return the detail if it still shows a run."""
        return self._detail if self._detail is not None and self._detail.run_id == run_id else None

    async def _read_events(self, run_id: str, events: EventSequence) -> None:
        """Read the run's first events for its narrative; the Events tab shows all."""
        found = await events.window(0, MAX_NARRATED_EVENTS + 1)
        if detail := self._detail_of(run_id):
            detail.show_story(found[:MAX_NARRATED_EVENTS], is_cut=len(found) > MAX_NARRATED_EVENTS)

    async def _read_receipt(self, session: ServiceSession, run_id: str) -> None:
        from runwatch.api.errors import ApiError
        from runwatch.tui.sources.record_loader import read_named

        try:
            await read_named(session, Receipt, run_id)
        except ApiError as error:
            self._report(run_id, "receipt", error)

    async def _read_call_errors(self, session: ServiceSession, run_id: str) -> None:
        """Read the run alone, because lists leave out what providers said; without it, the receipt has the status."""
        from runwatch.api.errors import ApiError

        with contextlib.suppress(ApiError):
            async with session.live.scheduler.user_turn():
                run = await session.client.get_run(run_id)
            if detail := self._detail_of(run_id):
                detail.show_call_errors(run.provider_errors or ())

    async def _read_arms(self, session: ServiceSession, run_id: str) -> None:
        """Read the saved models, because one may be ready once its connection was tested again."""
        from runwatch.api.errors import ApiError

        with contextlib.suppress(ApiError):
            async with session.live.scheduler.user_turn():
                pages = session.client.pages(list_operation(Arm))
                arms = tuple([arm async for page in pages for arm in page.records])
            if detail := self._detail_of(run_id):
                detail.show_arms(arms)

    async def _read_result(self, session: ServiceSession, run_id: str) -> None:
        from runwatch.api.errors import ApiError

        try:
            async with session.live.scheduler.user_turn():
                result = await session.client.get_result(run_id)
        except ApiError as error:
            self._report(run_id, "result", error)
            return
        self._show(run_id, "result", _result_sections(result))

    def _show(self, run_id: str, tab: str, sections: tuple[DetailSection, ...]) -> None:
        if detail := self._detail_of(run_id):
            detail.show_read(tab, sections)

    def _report(self, run_id: str, what: str, error: ApiError) -> None:
        key = self._screen.console.keys.shown("screen.refresh")
        self._show(run_id, what, _failed_sections(what, error, key))


def _failed_sections(what: str, error: ApiError, key: SafeText) -> tuple[DetailSection, ...]:
    from runwatch.api.errors import ApiProblem

    lines = [DetailLine(line(what), line(str(error), None), Role.BAD)]
    if isinstance(error, ApiProblem) and error.problem.instance:
        lines.append(DetailLine(line("instance"), line(error.problem.instance, None)))
    if error.hint:
        lines.append(DetailLine(line("next"), line(error.hint, None)))
    lines.append(DetailLine(line(""), line(f"{key} reads it again."), Role.QUIET))
    return (DetailSection(line(""), tuple(lines)),)


def _result_sections(result: RunResult) -> tuple[DetailSection, ...]:
    """Return the sections of a result: model output, shown on request and never stored."""
    kept = DetailLine(line("kept until"), line(result.retention_expires_at))
    text = DetailLine(line(""), block(result.final_text))
    return (DetailSection(line(""), (kept,)), DetailSection(line("final_text"), (text,)))
