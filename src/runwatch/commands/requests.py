"""``requests list``: the HTTP requests sent from this machine."""

from __future__ import annotations

import asyncio

from runwatch.commands.call import Call
from runwatch.commands.listing import LIMIT, since_of
from runwatch.commands.printing import Printer
from runwatch.commands.problems import EVERYTHING
from runwatch.commands.session import load_settings, open_journal
from runwatch.store.journal import ProblemLine, RequestLine
from runwatch.view.curl import curl
from runwatch.view.entries import problem_of_line, request_of_line, with_problems
from runwatch.view.resources.requests import REQUESTS


def list_requests(call: Call) -> int:
    """``requests list``: the latest requests, or the curl commands that repeat them."""

    async def read() -> tuple[list[RequestLine], list[ProblemLine]]:
        limit = LIMIT if call.options.limit is None else call.options.limit or EVERYTHING
        profile = call.options.profile
        async with open_journal(call) as journal:
            requests = await journal.requests(profile=profile, limit=limit)
            return requests, await journal.problems(profile=profile, limit=limit)

    since = since_of(call)
    lines, problems = asyncio.run(read())
    kept = (request_of_line(line) for line in lines if since is None or line.at >= since)
    found = with_problems(kept, map(problem_of_line, problems))
    if call.options.curl:
        for entry in found:
            call.output.text(f"{curl(entry)}\n")
        return 0
    Printer(call, load_settings(call).settings, REQUESTS).records([dict(entry.raw) for entry in found])
    return 0
