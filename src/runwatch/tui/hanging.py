"""Saying on a sheet what hangs on the record that it is about to destroy."""

from __future__ import annotations

from typing import Any

from runwatch.store.desk import Desk
from runwatch.tui.draw import word
from runwatch.tui.known import is_known, known_records
from runwatch.tui.widgets.sheet import Sheet
from runwatch.view.dependents import dependents, kinds_hanging_on, words_of
from runwatch.view.glyphs import Role


async def tell_dependents(desk: Desk, sheet: Sheet, subject: Any) -> None:
    """Name on the sheet what hangs on a record; lists that nobody has read yet are read first.

    Args:
        desk: Whose records.
        sheet: The sheet that destroys it.
        subject: The record.
    """
    wanted = kinds_hanging_on(subject)
    if not wanted:
        return
    sheet.note((word("looking for what hangs on it"),))
    known = {each: tuple(await known_records(desk, each)) for each in wanted}
    unread = [each for each in wanted if not is_known(desk, each)]
    found = dependents(subject, known)
    role = Role.WARN if found or unread else Role.QUIET
    sheet.note((word(words_of(found, [each.KIND for each in unread]), role),))
