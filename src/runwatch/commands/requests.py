"""``requests list``: the HTTP requests sent from this machine."""

from __future__ import annotations

import asyncio

from runwatch.base.errors import RunwatchError
from runwatch.base.servicefile import read_service_file
from runwatch.commands.call import Call
from runwatch.commands.listing import LIMIT, since_of
from runwatch.commands.printing import Printer
from runwatch.commands.problems import EVERYTHING
from runwatch.commands.session import load_settings, open_journal
from runwatch.store.journal import Sent
from runwatch.view.curl import curl
from runwatch.view.entries import problem_of_line, request_of_line, with_problems
from runwatch.view.resources.requests import REQUESTS


def list_requests(call: Call) -> int:
    """``requests list``: the latest requests, or the curl commands that repeat them."""

    async def read() -> Sent:
        limit = LIMIT if call.options.limit is None else call.options.limit or EVERYTHING
        async with open_journal(call) as journal:
            return await journal.sent(profile=call.options.profile, limit=limit)

    since = since_of(call)
    sent = asyncio.run(read())
    kept = (request_of_line(line) for line in sent.requests if since is None or line.at >= since)
    found = with_problems(kept, map(problem_of_line, sent.problems))
    if call.options.curl:
        # Only read: a service that does not run is not started for a command that nobody may ever use.
        written = read_service_file(call.paths.local_service_dir)
        socket = None if written is None else written.socket
        for entry in found:
            try:
                command = curl(entry, socket=socket)
            except RunwatchError as error:
                call.output.warn(f"{error} ({entry.id})")
            else:
                call.output.text(f"{command}\n")
        return 0
    Printer(call, load_settings(call).settings, REQUESTS).records([dict(entry.raw) for entry in found])
    return 0
