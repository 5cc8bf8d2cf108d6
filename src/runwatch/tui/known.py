"""The records of a kind as far as they are known, read once where that is not done yet; and one object, read now."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.api.operations import OPERATIONS, has_list, list_operation
from runwatch.base.errors import RunwatchError
from runwatch.records.record import Record
from runwatch.store.change import ListRead
from runwatch.store.desk import Desk
from runwatch.tui.work import start_work

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen


async def known_records(desk: Desk, kind: type[Record]) -> Sequence[Record]:
    """The records of a kind: those of the store, and where no list of them was read in this session, the list read now.

    A list that cannot be read gives what is known; whoever needs to know that it is not all asks :func:`is_known`.
    """
    if not is_known(desk, kind) and has_list(kind):
        # The journal has what went wrong, and what is known is still of use.
        with contextlib.suppress(RunwatchError):
            await _read(desk, kind)
    return desk.store.collection(desk.scope.profile, kind.KIND).records


def is_known(desk: Desk, kind: type[Record]) -> bool:
    """Whether the list of a kind was read in this session."""
    return desk.store.collection(desk.scope.profile, kind.KIND).read_at is not None


def read_again(screen: ConsoleScreen, desk: Desk, kinds: Iterable[type[Record]]) -> None:
    """Read lists again because something was changed: those that the screen shows, and others that were read before."""
    shown = screen.lists()
    for kind in kinds:
        if kind in shown:
            desk.live.refresh(kind)
        elif has_list(kind) and is_known(desk, kind):
            start_work(screen, _read(desk, kind), f"reading the list of {kind.KIND} again")


async def read_state(desk: Desk, operation: str, path: Mapping[str, str]) -> dict[str, Any]:
    """Read one object for a person.

    Raises:
        RunwatchError: it cannot be read, or is no object.
    """
    await desk.live.scheduler.turn_of_a_person()
    answer = await desk.client.request(operation, path=dict(path))
    if not isinstance(answer.value, dict):
        raise RunwatchError("The answer is no record", detail=f"{OPERATIONS[operation].title} answered no object")
    return answer.value


async def _read(desk: Desk, kind: type[Record]) -> None:
    records: list[Record] = []
    is_whole = False
    await desk.live.scheduler.turn_of_a_person()
    async for page in desk.client.pages(list_operation(kind)):
        records += page.records
        is_whole = page.end_is_proven and page.next_cursor is None
    now, monotonic = desk.clock.now(), desk.clock.monotonic()
    desk.store.apply(
        ListRead(desk.scope.profile, kind.KIND, now, monotonic, tuple(records), complete=True, end_is_proven=is_whole)
    )
