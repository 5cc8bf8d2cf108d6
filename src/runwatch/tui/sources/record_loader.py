"""The records of a kind as far as they are known, read once where that is not done yet; and one object, read now."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.api.errors import ApiProblem
from runwatch.api.operations import OPERATIONS, is_listable, list_operation
from runwatch.base.errors import RunwatchError
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.store.session import ServiceSession
from runwatch.store.state.changes import ListRead, RecordRead
from runwatch.tui.core.workers import start_worker
from runwatch.view.problems.explanations import explain_code
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen


async def load_records(session: ServiceSession, kind: type[Record]) -> Sequence[Record]:
    """The records of a kind: those of the store, and where no list of them was read in this session, the list read now.

    A list that cannot be read gives what is known; whoever needs to know that it is not all asks
    :func:`is_list_loaded`.
    """
    if not is_list_loaded(session, kind) and is_listable(kind):
        # The journal has what went wrong, and what is known is still of use.
        with contextlib.suppress(RunwatchError):
            await _read(session, kind)
    return session.store.collection(session.scope.profile, kind.KIND).records


def is_list_loaded(session: ServiceSession, kind: type[Record]) -> bool:
    """Whether the list of a kind was read in this session."""
    return session.store.collection(session.scope.profile, kind.KIND).read_at is not None


def reload_lists(screen: ConsoleScreen, session: ServiceSession, kinds: Iterable[type[Record]]) -> None:
    """Read lists again because something was changed: those that the screen shows, and others that were read before."""
    shown = screen.polled_lists()
    for kind in kinds:
        if kind in shown:
            session.live.refresh(kind)
        elif is_listable(kind) and is_list_loaded(session, kind):
            start_worker(screen, _read(session, kind), f"reading the list of {kind.KIND} again")


async def read_object(session: ServiceSession, operation: str, path: Mapping[str, str]) -> dict[str, Any]:
    """Read one object for the user.

    Raises:
        RunwatchError: it cannot be read, or is no object.
    """
    await session.live.scheduler.wait_for_user_turn()
    answer = await session.client.request(operation, path=dict(path))
    if not isinstance(answer.value, dict):
        raise RunwatchError(
            "The response is not a record", detail=f"{OPERATIONS[operation].title} did not return an object"
        )
    return answer.value


async def _read(session: ServiceSession, kind: type[Record]) -> None:
    records: list[Record] = []
    is_whole = False
    await session.live.scheduler.wait_for_user_turn()
    async for page in session.client.pages(list_operation(kind)):
        records += page.records
        is_whole = page.end_is_proven and page.next_cursor is None
    now, monotonic = session.clock.now(), session.clock.monotonic()
    session.store.apply(
        ListRead(
            session.scope.profile, kind.KIND, now, monotonic, tuple(records), complete=True, end_is_proven=is_whole
        )
    )


async def load_named_record(console: Console, session: ServiceSession, kind: str, record_id: str) -> None:
    """Read a record that is not known yet; why it cannot be read stays on the screen until the user has seen it."""
    if kind not in {Run.KIND, Receipt.KIND} or session.store.get(session.scope.profile, kind, record_id) is not None:
        return
    await session.live.scheduler.wait_for_user_turn()
    read = session.client.get_run if kind == Run.KIND else session.client.get_receipt
    try:
        record: Run | Receipt = await read(record_id)
    except RunwatchError as error:
        await session.journal.flush()
        step = explain_code(error.code).next_step if isinstance(error, ApiProblem) else error.hint
        parts = [f"{record_id}: {error}", f"instance {error.support_id}" if error.support_id else None, step]
        console.warn(" \u00b7 ".join(line(part, None) for part in parts if part))
        return
    session.store.apply(RecordRead(session.scope.profile, kind, session.clock.now(), session.clock.monotonic(), record))
