"""``requests list``: HTTP requests sent by this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from runwatch.base.errors import RunwatchError
from runwatch.base.files import UnsafePlaceError
from runwatch.base.network.service_file import read_service_file
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.list_reader import is_selective, parse_limit, parse_since
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.session import load_settings, open_journal
from runwatch.store.repositories.journal import JournalPage
from runwatch.view.problems.copy_options import BODY_FILE, build_curl_command
from runwatch.view.problems.journal_entries import (
    RequestEntry,
    attach_problems,
    problem_from_journal,
    request_from_journal,
)
from runwatch.view.resources.requests import REQUESTS


def list_requests(call: Invocation) -> int:
    """``requests list``: print the latest requests, or the curl commands that repeat them."""

    async def read() -> JournalPage:
        async with open_journal(call) as journal:
            return await journal.sent(profile=call.options.profile, limit=None if is_selective(call) else limit)

    limit = parse_limit(call)
    since = parse_since(call)
    sent = asyncio.run(read())
    kept = (request_from_journal(line) for line in sent.requests if since is None or line.at >= since)
    found = attach_problems(kept, map(problem_from_journal, sent.problems))
    printer = RecordPrinter(call, load_settings(call).settings, REQUESTS)
    chosen = printer.select([dict(entry.raw) for entry in found])[:limit]
    if call.options.curl:
        _print_curl(call, map(RequestEntry, chosen))
    else:
        printer.records(chosen)
    return 0


def _print_curl(call: Invocation, entries: Iterable[RequestEntry]) -> None:
    # Only read the file: the local service is not started for a command that may never be used.
    socket = None
    try:
        written = read_service_file(call.paths.local_service_dir)
    except UnsafePlaceError as error:
        call.output.warn(f"The commands for the local service take no key: {error}")
    else:
        socket = None if written is None else written.socket
    needs_body = False
    for entry in entries:
        try:
            command = build_curl_command(entry, socket=socket)
        except RunwatchError as error:
            call.output.warn(f"{error} ({entry.id})")
        else:
            call.output.text(f"{command}\n")
            needs_body |= f"@{BODY_FILE}" in command
    if needs_body:
        call.output.note(f"bodies are not kept: write the one to send into {BODY_FILE}")
