"""Long lists that come again: what has not changed is taken as the object that is known, so that comparing is quick."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from runwatch.records.record import Record
from runwatch.store.state import Known

STEP: Final = 500
"""Records that are compared at a time: a few milliseconds."""


async def known_again(known: Mapping[str, Known], records: Sequence[Record]) -> list[Record]:
    """The records, those that are known as they are exchanged for the objects that are known.

    It gives the event loop a turn after each :data:`STEP`. The store then sees at once that the two are the same; and
    what was decoded a second time is given back.

    Args:
        known: What is known, by id; it may become another while this goes on.
        records: What came.
    """
    found: list[Record] = []
    for start in range(0, len(records), STEP):
        for record in records[start : start + STEP]:
            before = known.get(record.id)
            found.append(before.record if before is not None and before.record == record else record)
        if start + STEP < len(records):
            await asyncio.sleep(0)
    return found
