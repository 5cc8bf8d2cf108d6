"""The runs that go on when the console is quit, named on the terminal afterwards."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from runwatch.base.errors import RunwatchError
from runwatch.records.run import Run
from runwatch.view.text.safe_text import line
from runwatch.view.text.shell_commands import ShellService, profile_options, service_command

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession

MAX_NAMED_RUNS: Final = 10
"""How many runs are named; the others are counted."""

_log: Final = logging.getLogger(__name__)


async def find_left_runs(sessions: Iterable[ServiceSession]) -> str:
    """Return which runs on the watch lists of these services are live, and how to follow them; empty for none."""
    lines: list[str] = []
    for session in sessions:
        try:
            watched = await session.watch_list.list(session.scope)
        except RunwatchError as error:
            # Nothing is drawn any more, so the error goes to the log.
            _log.warning("%s", error)
            continue
        runs = (session.store.find(session.scope.profile, Run, each.run_id) for each in watched)
        live = [run.id for run in runs if run is not None and not run.is_final]
        if live:
            lines += _lines(session, live)
    return "".join(f"{text}\n" for text in lines)


def _lines(session: ServiceSession, live: list[str]) -> list[str]:
    count = len(live)
    named = live[:MAX_NAMED_RUNS]
    follow = service_command(ShellService(profile_options(session.target.profile)), "runs watch", *named)
    head = f"{count} run{'s' * (count != 1)} of yours {'go' if count != 1 else 'goes'} on at {session.target.origin}:"
    more = [f"  and {count - len(named)} more"] if count > len(named) else []
    return [str(line(head, None)), *(f"  {line(run_id, None)}" for run_id in named), *more, f"Follow: {follow}"]
