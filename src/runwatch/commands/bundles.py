"""``problems show --bundle FILE``: the support bundle of a problem, written to a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from runwatch.commands.call import Call
from runwatch.commands.export_file import check_free, save
from runwatch.commands.session import load_settings, open_journal, resolver
from runwatch.store.lookback import Nearby, look_around
from runwatch.view.around import Around
from runwatch.view.bundle import bundle, bundle_bytes
from runwatch.view.entries import ProblemEntry
from runwatch.view.happenings import happenings


def write_bundle(call: Call, problem: ProblemEntry) -> None:
    """Write the bundle of a problem, and name the file.

    Raises:
        UsageError: the file is there already.
        RunwatchError: the file cannot be written.
    """
    name = str(Path(call.options.bundle).expanduser().absolute())
    check_free(call, name)
    around = Around((problem.time,)) if problem.time is not None else Around(())

    async def read() -> Nearby:
        async with open_journal(call) as journal:
            return await look_around(journal, around.windows)

    near = happenings(around, asyncio.run(read()))
    chosen = resolver(call, load_settings(call))
    settings = [{"key": item.key, "value": item.value, "source": str(item.source)} for item in chosen.values()]
    content = bundle(problem, near, made_at=call.clock.now(), settings=settings)
    save(call, name, bundle_bytes(content), "the support bundle is in")
