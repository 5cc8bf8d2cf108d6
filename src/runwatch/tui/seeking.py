"""Reading one record by its id, because a person has named it and no list may ever show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runwatch.api.errors import ApiProblem
from runwatch.base.errors import RunwatchError
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.change import RecordRead
from runwatch.store.desk import Desk
from runwatch.view.drawn import line
from runwatch.view.explain import explain_code

if TYPE_CHECKING:
    from runwatch.tui.console import Console


async def seek_record(console: Console, desk: Desk, kind: str, record_id: str) -> None:
    """Read a record that is not known yet; why it cannot be read stays on the screen until a person has seen it."""
    if kind not in {Run.KIND, Receipt.KIND} or desk.store.get(desk.scope.profile, kind, record_id) is not None:
        return
    await desk.live.scheduler.turn_of_a_person()
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
