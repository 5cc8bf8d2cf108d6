"""``problems find --at WHEN``: problems, requests and ended runs around a moment; and the local service's own store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.errors import LocalServiceError, RunwatchError
from runwatch.commands.call import Call
from runwatch.commands.printing import Printer
from runwatch.commands.session import load_settings, open_journal
from runwatch.store.answered import NOT_RUNNING, Answered, answered_around, answered_as, instances_in, running_service
from runwatch.store.lookback import Nearby, look_around
from runwatch.view.around import WITHIN, Around, around, read_span
from runwatch.view.happenings import AROUND, happenings, in_a_line, neighbours, searched


def find_around(call: Call) -> int:
    """``problems find --at``: what this machine and the local service keep of the time around a moment.

    Raises:
        UsageError: the time, the span or the zone cannot be read.
        RunwatchError: nothing is kept from that time; what was searched, and the neighbours in time, are told.
    """
    given = call.options
    settings = load_settings(call).settings
    zone = given.tz or ("local" if settings.time == "local" else "UTC")
    text = call.read_input("-").decode("utf-8", "replace") if given.text == "-" else given.text or ""
    within = WITHIN if given.within is None else read_span(given.within)
    asked = around(given.at, call.clock.now(), zone=zone, within=within, text=text)
    if asked.told:
        call.output.note(asked.told)
    nearby, answered, without = asyncio.run(_look(call, asked))
    found = happenings(asked, nearby, answered)
    said = searched(asked, nearby, answered, without)
    if not found:
        near = [in_a_line(each) for each in neighbours(asked, nearby, answered)]
        detail = "\n".join([said, *(["The nearest are:", *near] if near else ["Nothing else is kept either."])])
        raise RunwatchError("Nothing is kept from that time", detail=detail, hint="--within 1h looks farther.")
    Printer(call, settings, AROUND).records([dict(each.raw) for each in found])
    call.output.note(said)
    return 0


def find_answered(call: Call, text: str) -> tuple[Answered | None, str]:
    """The Problems of a text's whole instances in the local service's store; or ``None``, and why it was not asked."""
    instances: Sequence[str] = instances_in(text)
    if not instances:
        return None, "it finds whole instances only, and none stands in the text"
    return asyncio.run(_ask(call, lambda client: answered_as(client, instances)))


async def _look(call: Call, asked: Around) -> tuple[Nearby, Answered | None, str]:
    """What the journal has; what the service's store has, or why it was not asked."""
    async with open_journal(call) as journal:
        nearby = await look_around(journal, asked.windows, asked.text)
    return nearby, *(await _ask(call, lambda client: answered_around(client, asked.windows)))


async def _ask(call: Call, question: Callable[[Client], Awaitable[Answered]]) -> tuple[Answered | None, str]:
    """The answer of the local service's store, or ``None`` and why there is none."""
    try:
        async with running_service(call.paths, call.clock) as client:
            return (None, NOT_RUNNING) if client is None else (await question(client), "")
    except (ApiError, LocalServiceError) as error:
        return None, str(error)
