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


async def load_records(desk: ServiceSession, kind: type[Record]) -> Sequence[Record]:
    """The records of a kind: those of the store, and where no list of them was read in this session, the list read now.

    A list that cannot be read gives what is known; whoever needs to know that it is not all asks
    :func:`is_list_loaded`.
    """
    if not is_list_loaded(desk, kind) and is_listable(kind):
        # The journal has what went wrong, and what is known is still of use.
        with contextlib.suppress(RunwatchError):
            await _read(desk, kind)
    return desk.store.collection(desk.scope.profile, kind.KIND).records


def is_list_loaded(desk: ServiceSession, kind: type[Record]) -> bool:
    """Whether the list of a kind was read in this session."""
    return desk.store.collection(desk.scope.profile, kind.KIND).read_at is not None


def reload_lists(screen: ConsoleScreen, desk: ServiceSession, kinds: Iterable[type[Record]]) -> None:
    """Read lists again because something was changed: those that the screen shows, and others that were read before."""
    shown = screen.polled_lists()
    for kind in kinds:
        if kind in shown:
            desk.live.refresh(kind)
        elif is_listable(kind) and is_list_loaded(desk, kind):
            start_worker(screen, _read(desk, kind), f"reading the list of {kind.KIND} again")


async def read_object(desk: ServiceSession, operation: str, path: Mapping[str, str]) -> dict[str, Any]:
    """Read one object for a person.

    Raises:
        RunwatchError: it cannot be read, or is no object.
    """
    await desk.live.scheduler.wait_for_user_turn()
    answer = await desk.client.request(operation, path=dict(path))
    if not isinstance(answer.value, dict):
        raise RunwatchError("The answer is no record", detail=f"{OPERATIONS[operation].title} answered no object")
    return answer.value


async def _read(desk: ServiceSession, kind: type[Record]) -> None:
    records: list[Record] = []
    is_whole = False
    await desk.live.scheduler.wait_for_user_turn()
    async for page in desk.client.pages(list_operation(kind)):
        records += page.records
        is_whole = page.end_is_proven and page.next_cursor is None
    now, monotonic = desk.clock.now(), desk.clock.monotonic()
    desk.store.apply(
        ListRead(desk.scope.profile, kind.KIND, now, monotonic, tuple(records), complete=True, end_is_proven=is_whole)
    )


async def load_named_record(console: Console, desk: ServiceSession, kind: str, record_id: str) -> None:
    """Read a record that is not known yet; why it cannot be read stays on the screen until a person has seen it."""
    if kind not in {Run.KIND, Receipt.KIND} or desk.store.get(desk.scope.profile, kind, record_id) is not None:
        return
    await desk.live.scheduler.wait_for_user_turn()
    read = desk.client.get_run if kind == Run.KIND else desk.client.get_receipt
    try:
        record: Run | Receipt = await read(record_id)
    except RunwatchError as error:
        await desk.journal.flush()
        step = explain_code(error.code).next_step if isinstance(error, ApiProblem) else error.hint
        parts = [f"{record_id}: {error}", f"instance {error.support_id}" if error.support_id else None, step]
        console.warn(" \u00b7 ".join(line(part, None) for part in parts if part))
        return
    desk.store.apply(RecordRead(desk.scope.profile, kind, desk.clock.now(), desk.clock.monotonic(), record))
