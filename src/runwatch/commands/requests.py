"""``requests list``: the HTTP requests sent from this machine."""

from __future__ import annotations

import asyncio

from runwatch.commands.call import Call
from runwatch.commands.listing import LIMIT, since_of
from runwatch.commands.printing import Printer
from runwatch.commands.problems import EVERYTHING
from runwatch.commands.session import load_settings, open_journal
from runwatch.store.journal import RequestLine
from runwatch.view.curl import curl
from runwatch.view.entries import request_of_line
from runwatch.view.resources.requests import REQUESTS


def list_requests(call: Call) -> int:
    """``requests list``: the latest requests, or the curl commands that repeat them."""

    async def read() -> list[RequestLine]:
        limit = LIMIT if call.options.limit is None else call.options.limit or EVERYTHING
        async with open_journal(call) as journal:
            return await journal.requests(profile=call.options.profile, limit=limit)

    since = since_of(call)
    found = [line for line in asyncio.run(read()) if since is None or line.at >= since]
    if call.options.curl:
        for line in found:
            call.output.text(f"{curl(request_of_line(line))}\n")
        return 0
    Printer(call, load_settings(call).settings, REQUESTS).records([dict(request_of_line(line).raw) for line in found])
    return 0
