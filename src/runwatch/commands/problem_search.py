"""``problems find --at WHEN``: activity around a time, from the journal and the local service's store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.errors import LocalServiceError, RunwatchError
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.session import load_settings, open_journal
from runwatch.store.repositories.activity import ActivityResult, find_activity
from runwatch.store.service_problems import (
    NOT_RUNNING,
    ServiceProblems,
    connect_running_service,
    find_by_instances,
    find_instances,
    find_service_problems,
)
from runwatch.view.problems.activity import (
    ACTIVITY,
    activity_text,
    describe_search,
    find_nearest_activity,
    fold_reads,
    merge_activity,
)
from runwatch.view.problems.time_query import DEFAULT_RADIUS, TimeQuery, build_time_query, parse_radius


def find_by_time(call: Invocation) -> int:
    """``problems find --at``: print what this machine and the local service have for a time range.

    Raises:
        UsageError: The time, the radius or the zone is invalid.
        RunwatchError: Nothing was found; the message says what was searched and lists the nearest entries.
    """
    given = call.options
    settings = load_settings(call).settings
    zone = given.tz or ("local" if settings.time == "local" else "UTC")
    text = call.read_input("-").decode("utf-8", "replace") if given.text == "-" else given.text or ""
    within = DEFAULT_RADIUS if given.within is None else parse_radius(given.within)
    asked = build_time_query(given.at, call.clock.now(), zone=zone, within=within, text=text)
    if asked.explanation:
        call.output.note(asked.explanation)
    nearby, answered, without = asyncio.run(_look(call, asked))
    found = merge_activity(asked, nearby, answered)
    said = describe_search(asked, nearby, answered, without)
    if not found:
        near = [activity_text(each) for each in find_nearest_activity(asked, nearby, answered)]
        detail = "\n".join([said, *(["Nearest entries:", *near] if near else ["Nothing else is recorded."])])
        raise RunwatchError("Nothing recorded at that time", detail=detail, hint="--within 1h searches further.")
    # Programs, and those who look for a text, get every read.
    is_folded = call.output.form == "table" and not asked.text and not call.options.filter
    shown = fold_reads(found) if is_folded else found
    RecordPrinter(call, settings, ACTIVITY).records([dict(each.raw) for each in shown])
    call.output.note(said)
    return 0


def find_in_service(call: Invocation, text: str) -> tuple[ServiceProblems | None, str]:
    """Find problems in the local service's store by the whole instances in a text; or ``None`` and why it was not
    asked.
    """
    instances: Sequence[str] = find_instances(text)
    if not instances:
        return None, "it needs a whole instance id"
    return asyncio.run(_ask(call, lambda client: find_by_instances(client, instances)))


async def _look(call: Invocation, asked: TimeQuery) -> tuple[ActivityResult, ServiceProblems | None, str]:
    """Return the journal's activity; the service's problems; or why it was not asked."""
    async with open_journal(call) as journal:
        nearby = await find_activity(journal, asked.windows, asked.text)
    return nearby, *(await _ask(call, lambda client: find_service_problems(client, asked.windows)))


async def _ask(
    call: Invocation, question: Callable[[Client], Awaitable[ServiceProblems]]
) -> tuple[ServiceProblems | None, str]:
    """Query the local service's store; ``None`` and the reason if that is not possible."""
    try:
        async with connect_running_service(call.paths, call.clock) as client:
            return (None, NOT_RUNNING) if client is None else (await question(client), "")
    except (ApiError, LocalServiceError) as error:
        return None, str(error)
