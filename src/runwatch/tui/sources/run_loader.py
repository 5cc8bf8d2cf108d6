"""What the tabs of a run need beside the list: receipt, result, first events, errors of calls; each is read once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from runwatch.api.operations import list_operation
from runwatch.records.arm import Arm
from runwatch.records.event import RunEvent
from runwatch.tui.core.workers import start_worker
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.runs.run_narrative import MAX_NARRATED_EVENTS
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, block, line

if TYPE_CHECKING:
    from runwatch.api.errors import ApiError
    from runwatch.records.run import CallError, RunResult
    from runwatch.store.repositories.event_sequence import EventSequence
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console_screen import ConsoleScreen

_OF_EVENTS: Final = frozenset({"summary", "timeline"})
"""Tabs that show what events say."""

ShowSections = Callable[[str, str, tuple[DetailSection, ...]], None]
"""Shows the sections read: run id, tab, sections."""

ShowCallErrors = Callable[[str, "tuple[CallError, ...]"], None]
"""Shows how providers refused calls: run id, one error a call."""

ShowEvents = Callable[[str, Sequence[RunEvent], bool], None]
"""Shows the run narrative: run id, its first events, whether there are more."""


ShowArms = Callable[[str, "tuple[Arm, ...]"], None]
"""Shows what the saved models say of a run that found none ready: run id, saved models."""


class RunLoader:
    """Reads what a tab of a run needs and the list of runs does not contain.

    Args:
        show: Shows sections if the run is still selected.
        show_events: The same for the events of the narrative.
        show_call_errors: The same for what providers answered to calls that failed.
        show_arms: The same for the saved models.
    """

    def __init__(
        self,
        screen: ConsoleScreen,
        show: ShowSections,
        show_events: ShowEvents,
        show_call_errors: ShowCallErrors,
        show_arms: ShowArms,
    ) -> None:
        self._screen = screen
        self._show = show
        self._show_events = show_events
        self._show_call_errors = show_call_errors
        self._show_arms = show_arms
        self._asked: set[str] = set()

    def forget(self) -> None:
        """Read everything again on the next request, as for another run."""
        self._asked.clear()

    def read_for(self, tab: str, facts: RunFacts, events: EventSequence | None) -> None:
        """Read what a tab needs and is not known yet.

        Args:
            events: Its events as known; more events update the narrative and the timeline.
        """
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

    async def _read_events(self, run_id: str, events: EventSequence) -> None:
        """Read the run's first events for its narrative; the Events tab shows all."""
        found = await events.window(0, MAX_NARRATED_EVENTS + 1)
        self._show_events(run_id, found[:MAX_NARRATED_EVENTS], len(found) > MAX_NARRATED_EVENTS)

    async def _read_receipt(self, session: ServiceSession, run_id: str) -> None:
        from runwatch.api.errors import ApiError
        from runwatch.tui.sources.record_loader import store_record

        await session.live.scheduler.wait_for_user_turn()
        try:
            store_record(session, await session.client.get_receipt(run_id))
        except ApiError as error:
            self._report(run_id, "receipt", error)

    async def _read_call_errors(self, session: ServiceSession, run_id: str) -> None:
        """Read the run alone, because lists leave out what providers said; without it, the receipt has the status."""
        from runwatch.api.errors import ApiError

        await session.live.scheduler.wait_for_user_turn()
        with contextlib.suppress(ApiError):
            run = await session.client.get_run(run_id)
            self._show_call_errors(run_id, run.provider_errors or ())

    async def _read_arms(self, session: ServiceSession, run_id: str) -> None:
        """Read the saved models, because one may be ready once its connection was tested again."""
        from runwatch.api.errors import ApiError

        await session.live.scheduler.wait_for_user_turn()
        with contextlib.suppress(ApiError):
            pages = session.client.pages(list_operation(Arm))
            self._show_arms(run_id, tuple([arm async for page in pages for arm in page.records]))

    async def _read_result(self, session: ServiceSession, run_id: str) -> None:
        from runwatch.api.errors import ApiError

        await session.live.scheduler.wait_for_user_turn()
        try:
            result = await session.client.get_result(run_id)
        except ApiError as error:
            self._report(run_id, "result", error)
            return
        self._show(run_id, "result", _result_sections(result))

    def _report(self, run_id: str, what: str, error: ApiError) -> None:
        """Show why a read failed in place of its content."""
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
