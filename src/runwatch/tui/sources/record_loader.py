"""Records of a kind, loaded once if not known yet, and single objects read on request."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from runwatch.api.errors import ApiProblem
from runwatch.api.operations import OPERATIONS, fill_path, is_listable, list_operation
from runwatch.base.errors import RunwatchError
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.store.session import ServiceSession
from runwatch.store.state.changes import ListRead, RecordRead
from runwatch.tui.core.workers import start_worker
from runwatch.view.problems.explanations import next_step
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.safe_text import line
from runwatch.view.text.shell_commands import add_service

if TYPE_CHECKING:
    from runwatch.records.event import RunEvent
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen

R = TypeVar("R", bound=Record)


async def load_records(session: ServiceSession, kind: type[R], *, reads_again: bool = False) -> Sequence[R]:
    """Return the records of a kind from the store, after reading their list, again or if this session has not done so.

    If the list cannot be read, return the known records; :func:`is_list_loaded` says whether they may be incomplete.
    """
    if (reads_again or not is_list_loaded(session, kind)) and is_listable(kind):
        # The failure is in the journal, and the known records are still useful.
        with contextlib.suppress(RunwatchError):
            await _read(session, kind)
    return known_records(session, kind)


def known_records(session: ServiceSession, kind: type[R]) -> Sequence[R]:
    return cast("Sequence[R]", session.store.collection(session.scope.profile, kind.KIND).records)


def is_list_loaded(session: ServiceSession, kind: type[Record]) -> bool:
    """Return whether this session has read the list of a kind."""
    return session.store.collection(session.scope.profile, kind.KIND).read_at is not None


def reload_lists(screen: ConsoleScreen, session: ServiceSession, kinds: Iterable[type[Record]]) -> None:
    """Reload lists after a change: those polled for the screen, and others that were read before."""
    shown = screen.polled_lists()
    for kind in kinds:
        if kind in shown:
            session.live.refresh(kind)
        elif is_listable(kind) and is_list_loaded(session, kind):
            start_worker(screen.console, _read(session, kind), f"reading the list of {kind.KIND} again")


async def read_object(session: ServiceSession, operation: str, record_id: str) -> dict[str, Any]:
    """Read the object of a record for the user.

    Raises:
        RunwatchError: It cannot be read, or the response is not an object.
    """
    async with session.live.scheduler.user_turn():
        result = await session.client.request(operation, path=fill_path(OPERATIONS[operation], record_id))
    if not isinstance(result.value, dict):
        raise RunwatchError(
            "The response is not a record", detail=f"{OPERATIONS[operation].title} did not return an object"
        )
    return result.value


async def _read(session: ServiceSession, kind: type[Record]) -> None:
    records: list[Record] = []
    is_whole = False
    async with session.live.scheduler.user_turn():
        async for page in session.client.pages(list_operation(kind)):
            records += page.records
            is_whole = page.end_is_proven and page.next_cursor is None
    now, monotonic = session.clock.now(), session.clock.monotonic()
    session.store.apply(
        ListRead(
            session.scope.profile, kind.KIND, now, monotonic, tuple(records), complete=True, end_is_proven=is_whole
        )
    )


def store_record(session: ServiceSession, record: Record) -> None:
    now, monotonic = session.clock.now(), session.clock.monotonic()
    session.store.apply(RecordRead(session.scope.profile, record.KIND, now, monotonic, record))


def as_known_now(session: ServiceSession, facts: RunFacts) -> RunFacts:
    """Return a run with what the store and its events say of it now."""
    profile, run_id = session.scope.profile, facts.id
    stored = session.store.get(profile, Run.KIND, run_id)
    return facts._replace(
        run=stored.record if stored is not None and isinstance(stored.record, Run) else facts.run,
        stored=stored,
        receipt=session.store.find(profile, Receipt, run_id) or facts.receipt,
        last_event=session.live.tails.last_event(run_id) or facts.last_event,
    )


def is_live(session: ServiceSession, run_id: str) -> bool:
    """Return whether a run has not ended, by the list and its events; one that has left the list is not live."""
    tails = session.live.tails
    run = session.store.find(session.scope.profile, Run, run_id)
    if run is None:
        return not is_list_loaded(session, Run) and not tails.last_update(run_id).is_complete
    return not tails.last_update(run_id).is_complete and not as_known_now(session, RunFacts(run)).is_final


def is_end_known(session: ServiceSession, run_id: str, known: Sequence[RunEvent]) -> bool:
    """Return whether no event of a run follows the known ones: its tail has read all, or the last of them ends it."""
    return session.live.tails.last_update(run_id).is_complete or any(event.ends_run for event in known[-1:])


def find_live_runs(session: ServiceSession, *, newest_first: bool) -> list[str]:
    """Return the ids of the live runs in the order in which they were created, or the other way round."""
    live = [run for run in known_records(session, Run) if not run.is_final and is_live(session, run.id)]
    live.sort(key=lambda run: str(run.raw.get("created_at") or ""), reverse=newest_first)
    return [run.id for run in live]


class PassedRuns:
    """Counts the runs, too short to be seen live, that began and ended since a view was opened.

    ``since`` is when that was; ``None`` before the list of runs was read.
    """

    def __init__(self) -> None:
        self.since: datetime | None = None
        self._known: frozenset[str] = frozenset()
        self._newest: datetime | None = None

    def begin(self, session: ServiceSession) -> None:
        """Take what the list holds as older than the view, once it is read."""
        if self.since is None and is_list_loaded(session, Run):
            runs = known_records(session, Run)
            self.since, self._known = session.clock.now(), frozenset(run.id for run in runs)
            self._newest = max((run.created_at for run in runs if run.created_at is not None), default=None)

    def count(self, session: ServiceSession, listed: Container[str]) -> int:
        """Return their number; runs that the view has shown, and those of older pages, read meanwhile, do not count."""
        if self.since is None:
            return 0
        # Most runs are known, which is looked up fastest.
        new = (run for run in known_records(session, Run) if run.id not in self._known and run.id not in listed)
        return sum(run.is_final and self._is_new(run) for run in new)

    def _is_new(self, run: Run) -> bool:
        since = self._newest or self.since
        return since is not None and run.created_at is not None and run.created_at >= since


async def read_named(session: ServiceSession, kind: type[Run] | type[Receipt], record_id: str) -> Run | Receipt:
    """Read a run or a receipt by its id for the user, and store it.

    Raises:
        ApiError: It cannot be read.
    """
    client = session.client
    async with session.live.scheduler.user_turn():
        record = await (client.get_run(record_id) if kind is Run else client.get_receipt(record_id))
    store_record(session, record)
    return record


async def find_record(session: ServiceSession, kind: type[Record], record_id: str) -> Record | None:
    """Return a record, read if it is not known; ``None`` if it does not exist.

    Raises:
        RunwatchError: It cannot be read.
    """
    known = session.store.get(session.scope.profile, kind.KIND, record_id)
    if known is not None:
        return known.record
    if kind is Run or kind is Receipt:
        try:
            return await read_named(session, kind, record_id)
        except ApiProblem as error:
            if error.status == 404:
                return None
            raise
    return next((record for record in await load_records(session, kind) if record.id == record_id), None)


async def _has_no_record(session: ServiceSession, kind: str, record_id: str) -> bool:
    """Return whether a list that is known to its end has no record of an id."""
    # Imported here, because the first paint needs neither all resources nor the journal.
    from runwatch.tui.sources.journal_source import JournalSource
    from runwatch.view.resources.registry import resource_for_kind

    spec = resource_for_kind(kind)
    if spec.is_local:
        source = JournalSource(spec, session.clock, session)
        source.fold(is_folded=False)
        # The record may be older than those that the list shows.
        source.widen(everything=True)
        await source.read()
        return source.end_is_proven() and not any(entry.id == record_id for entry in source.items())
    records = await load_records(session, spec.record)
    is_whole = session.store.collection(session.scope.profile, spec.kind).end_is_proven
    return is_whole and not any(record.id == record_id for record in records)


async def load_named_record(console: Console, session: ServiceSession, kind: str, record_id: str) -> None:
    """Read an unknown record; if that fails or there is none, say so until the user has seen it."""
    if session.store.get(session.scope.profile, kind, record_id) is not None:
        return
    if kind not in {Run.KIND, Receipt.KIND}:
        if await _has_no_record(session, kind, record_id):
            console.warn(f"{line(record_id, None)}: not found")
        return
    try:
        await read_named(session, Run if kind == Run.KIND else Receipt, record_id)
    except RunwatchError as error:
        if isinstance(error, ApiProblem) and error.status == 404:
            console.mark_gone(kind, record_id)
        await session.journal.flush()
        step = next_step(error.code, error.status) if isinstance(error, ApiProblem) else error.hint
        parts = [f"{record_id}: {error}", f"instance {error.support_id}" if error.support_id else None, step]
        said = " \u00b7 ".join(line(part, None) for part in parts if part)
        console.warn(add_service(said, console.shell_service))
