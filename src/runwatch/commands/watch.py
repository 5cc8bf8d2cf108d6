"""``runs watch``: print events of runs as they happen, one line each, until each run ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Final

from runwatch.api.client import Client
from runwatch.api.errors import ApiError, ApiProblem, RateLimitedError
from runwatch.base.clock import Clock
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.json import dumps
from runwatch.commands.cli.error_report import report_error
from runwatch.commands.cli.exit_codes import status_exit_code
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.cli.short_ids import name_seen_id
from runwatch.commands.shared.list_reader import DEFAULT_LIMIT, check_list_is_missing
from runwatch.commands.shared.record_printer import make_render_context
from runwatch.commands.shared.session import CommandSession, run_in_session
from runwatch.records.event import RunEvent
from runwatch.records.record import Page
from runwatch.records.run import Run
from runwatch.records.states import is_final
from runwatch.store.live.request_budget import UNKNOWN_REMOTE_RPM, RequestBudget
from runwatch.store.live.stored_run_tail import follow_run
from runwatch.store.state.changes import ReadFailure
from runwatch.store.state.failure_kind import FailureKind
from runwatch.view.export.text_output import csv_lines
from runwatch.view.runs.event_lines import render_event
from runwatch.view.text.format import duration, short_id
from runwatch.view.text.safe_text import line

GIVE_UP_S: Final = 900.0
"""Time without a response after which following stops, in seconds. Waiting for a 429 does not count."""

LEAST_WAIT_S: Final = 1.0
"""The shortest wait after a 429, in seconds: a service may ask for none."""

QUIET_S: Final = 5.0
"""Minimum time between two notes about a service that does not respond, in seconds."""


def watch(call: Invocation) -> int:
    """``runs watch``: follow the named runs, or all live ones."""
    ids: list[str] = list(dict.fromkeys(call.options.id))
    if bool(ids) == bool(call.options.all):
        raise UsageError("Name the runs to watch, or all of them with --all", hint="runwatch runs watch --help")

    async def work(session: CommandSession) -> int:
        chosen = ids or await _live_runs(session)
        if not chosen:
            call.output.note("no run is live")
            return 0
        return await Watcher(session, chosen).watch()

    return run_in_session(call, work)


async def _live_runs(session: CommandSession) -> list[str]:
    """Return the runs that are not final now, oldest first; a 429 is waited out."""
    client, runs = session.client, list[Run]()
    cursor: str | None = None
    is_read = False
    try:
        while not is_read:
            try:
                async for page in client.pages(
                    "getExecutions", query={"cursor": cursor}, limit=DEFAULT_LIMIT - len(runs)
                ):
                    runs += page.records
                    cursor = page.next_cursor
                is_read = True
            except (ApiProblem, RateLimitedError) as error:
                if isinstance(error, ApiProblem) and (error.status != 429 or error.code == "quota_exceeded"):
                    raise
                wait = max(client.gate.seconds_left(), LEAST_WAIT_S)
                session.call.output.note(_held_note(client, wait))
                await session.call.clock.sleep(wait)
    except ApiProblem as problem:
        await check_list_is_missing(session, problem)
        session.call.output.note("this service has no list of runs; these are the runs on your watch list")
        watched = await session.watch_list.list(await session.scope())
        runs = [await session.client.get_run(item.run_id) for item in watched[:DEFAULT_LIMIT]]
    return [run.id for run in reversed(runs) if run.id and not run.is_final]


def _held_note(client: Client, wait_s: float) -> str:
    return f"{line(client.target.host)} asks to wait; next try in {duration(wait_s)}"


class PacedReads:
    """Reads runs and their events when the request budget lets them go (manual: decisions, "Request budget")."""

    def __init__(self, client: Client, budget: RequestBudget, clock: Clock) -> None:
        self._client = client
        self._budget = budget
        self._clock = clock
        self._turns = asyncio.Lock()

    async def get_run(self, execution_id: str) -> Run:
        await self._wait_for_turn()
        return await self._client.get_run(execution_id)

    async def list_events(self, execution_id: str, *, after: str | None = None) -> Page[RunEvent]:
        await self._wait_for_turn()
        return await self._client.list_events(execution_id, after=after)

    async def _wait_for_turn(self) -> None:
        async with self._turns:
            while (wait := self._budget.background_wait_s()) > 0:
                await self._clock.sleep(wait)
            self._budget.note_sent()


class Watcher:
    """Follows runs and prints their events.

    Attributes:
        statuses: The final status of each run that has ended.
        states: The states that the events of each run named, from the first event on.
    """

    def __init__(self, session: CommandSession, ids: Sequence[str]) -> None:
        self._session = session
        self._call = session.call
        self._output = session.call.output
        self._ids = ids
        client, clock = session.client, session.call.clock
        limit = None if client.target.is_loopback else UNKNOWN_REMOTE_RPM
        self._budget = RequestBudget(clock, limit, is_published=False)
        self._reads = PacedReads(client, self._budget, clock)
        self.statuses: dict[str, str | None] = {}
        self.states: dict[str, set[str | None]] = {run_id: set() for run_id in ids}
        self._quiet_until = 0.0
        self._has_head = False

    async def watch(self) -> int:
        """Print events until every run is final, and return the exit code.

        With one run, its failure is the command's failure; with several, each failure is reported and the others
        continue.

        Raises:
            ApiError: The only run cannot be followed.
        """
        self._call.on_interrupt = "The runs continue; watching them again starts with the events seen so far."
        await self._session.forget_old_events()
        # If the account cannot be read, later requests fail the same way and report it.
        with contextlib.suppress(ApiError):
            quota = (await self._session.client.get_account()).quota
            if quota is not None and quota.rate_limit_rpm:
                self._budget.publish(quota.rate_limit_rpm)
        if len(self._ids) == 1:
            await self._follow(self._ids[0])
            return self._exit_code([])
        tasks = [asyncio.create_task(self._follow_and_report(run_id)) for run_id in self._ids]
        try:
            return self._exit_code(await asyncio.gather(*tasks))
        finally:
            # An error that is raised instead of reported, such as a closed pipe, ends all of them.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _exit_code(self, failures: Sequence[int]) -> int:
        failed = max(failures, default=0)
        if failed or not self._call.options.exit_status:
            return failed
        return status_exit_code(list(self.statuses.values()))

    async def _follow_and_report(self, run_id: str) -> int:
        try:
            await self._follow(run_id)
        except RunwatchError as error:
            self._output.warn(f"run {run_id} is no longer followed")
            name_seen_id(error, self._call, run_id)
            return report_error(error, self._output)
        return 0

    async def _follow(self, run_id: str) -> None:
        session = self._session
        status: str | None = None
        events = follow_run(
            self._reads,
            await session.scope(),
            session.event_store,
            run_id,
            clock=self._call.clock,
            patience_s=GIVE_UP_S,
            on_failure=self._report_failure,
        )
        async for event in events:
            self._print(run_id, event)
            self.states[run_id].add(event.state)
            if event.ends_run:
                status = event.state
        if not is_final(status):
            status = (await self._reads.get_run(run_id)).status
        self.statuses[run_id] = status

    def _print(self, run_id: str, event: RunEvent) -> None:
        if self._output.is_json:
            self._output.line(dumps(dict(event.raw)))
        elif self._output.form == "csv":
            head, *rows = csv_lines(RunEvent, [event.raw])
            for text in rows if self._has_head else [head, *rows]:
                self._output.line(text)
            self._has_head = True
        else:
            context = make_render_context(self._call, self._session.settings)
            run = short_id(run_id, context.glyphs) if len(self._ids) > 1 else None
            self._output.line(context.glyphs.plain(render_event(event, context).plain(run)))

    def _report_failure(self, failure: ReadFailure, seconds: float) -> None:
        """Print once for all runs why events are delayed, and again if it continues."""
        is_held = failure.kind is FailureKind.RATE_LIMITED
        if is_held:
            self._budget.note_limited()
        seconds = max(seconds, self._budget.background_wait_s())
        now = self._call.clock.monotonic()
        if now < self._quiet_until:
            return
        self._quiet_until = now + max(seconds, QUIET_S)
        client = self._session.client
        if is_held:
            self._output.note(_held_note(client, seconds))
        else:
            reason = line(f"no events from {client.target.host}: {failure.title}")
            self._output.note(f"{reason}; next try in {duration(seconds)}")
