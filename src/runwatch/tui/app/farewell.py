"""What goes on when the console is quit, named on the terminal afterwards: live runs, and writes without an answer."""

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


async def farewell_text(sessions: Iterable[ServiceSession], outbox_key: str) -> str:
    """Return which runs on the watch lists of these services are live, and how many writes have an unknown outcome,
    which the key retries.
    """
    lines: list[str] = []
    counted: set[tuple[str, str]] = set()
    for session in sessions:
        try:
            watched = await session.watch_list.list(session.scope)
            unconfirmed = await session.unconfirmed_writes()
        except RunwatchError as error:
            # Nothing is drawn any more, so the error goes to the log.
            _log.warning("%s", error)
            continue
        runs = (session.store.find(session.scope.profile, Run, each.run_id) for each in watched)
        live = [run.id for run in runs if run is not None and not run.is_final]
        if live:
            lines += _lines(session, live)
        # Profiles with the same key share their unconfirmed writes.
        owner = (session.scope.service, session.scope.principal)
        keys = {write.request.key for write in unconfirmed} | {write.request.key for write in session.sending}
        if keys and owner not in counted:
            lines.append(_unknown(session, len(keys), outbox_key))
        counted.add(owner)
    return "".join(f"{text}\n" for text in lines)


def _lines(session: ServiceSession, live: list[str]) -> list[str]:
    count = len(live)
    named = live[:MAX_NAMED_RUNS]
    follow = service_command(ShellService(profile_options(session.target.profile)), "runs watch", *named)
    head = f"{count} run{'s' * (count != 1)} of yours {'go' if count != 1 else 'goes'} on at {session.target.origin}:"
    more = [f"  and {count - len(named)} more"] if count > len(named) else []
    return [str(line(head, None)), *(f"  {line(run_id, None)}" for run_id in named), *more, f"Follow: {follow}"]


def _unknown(session: ServiceSession, count: int, outbox_key: str) -> str:
    is_one = count == 1
    what = "1 request has" if is_one else f"{count} requests have"
    console = " ".join(filter(None, ("runwatch", profile_options(session.target.profile))))
    words = f"{what} an unknown outcome; {outbox_key} in the console retries {'it' if is_one else 'them'}: {console}"
    return str(line(words, None))
