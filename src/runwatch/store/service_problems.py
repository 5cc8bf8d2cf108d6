"""The local service's own store of answered Problems, asked over HTTP as everything else (DESIGN 5, Truth)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from runwatch.base.clock import Clock, format_iso
from runwatch.base.paths import Paths
from runwatch.base.service_target import Target
from runwatch.records.service_problem import ProblemLookup, ServiceProblem
from runwatch.settings.declarations import LOCAL

if TYPE_CHECKING:
    from runwatch.api.client import Client

LOOKUP_PATH: Final = "getProblemLookups"

NOT_RUNNING: Final = "it is not running"
"""Why the store was not asked, where no local service runs."""

MAX_INSTANCES: Final = 50
"""How many instances are looked for in one text."""

_INSTANCE: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class ServiceProblems:
    """What the local service's store gave.

    Attributes:
        problems: What was found, newest first.
        kept: How many Problems the store holds; ``None`` when the service does not say.
        since: From when the oldest is.
        until: From when the newest is.
        neighbours: The nearest Problems before and behind, where nothing was found.
    """

    problems: tuple[ServiceProblem, ...] = ()
    kept: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    neighbours: tuple[ServiceProblem, ...] = ()


def find_instances(text: str) -> list[str]:
    """The whole instances that stand in a text, as a service writes them; the store finds no parts of them."""
    plain = (match[0].replace("-", "") for match in _INSTANCE.finditer(text.lower()))
    cuts = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
    found = ("-".join(each[start:end] for start, end in cuts) for each in plain)
    return list(dict.fromkeys(found))[:MAX_INSTANCES]


async def find_service_problems(client: Client, stretches: Sequence[tuple[datetime, datetime]]) -> ServiceProblems:
    """The Problems that a service answered within stretches of time.

    Raises:
        ApiError: the service does not tell.
    """
    found: list[ServiceProblem] = []
    near: list[ServiceProblem] = []
    answered = ServiceProblems()
    for since, until in stretches:
        answered = await _look(client, since=format_iso(since), until=format_iso(until))
        found[:0], near = answered.problems, [*near, *answered.neighbours]
    return ServiceProblems(tuple(found), answered.kept, answered.since, answered.until, () if found else tuple(near))


async def find_by_instances(client: Client, instances: Sequence[str]) -> ServiceProblems:
    """The Problems of these instances that a service answered.

    Raises:
        ApiError: the service does not tell.
    """
    return await _look(client, instance=",".join(instances))


@asynccontextmanager
async def connect_running_service(paths: Paths, clock: Clock) -> AsyncIterator[Client | None]:
    """A client of the local service of an installation while the block runs; ``None`` when none runs.

    It is not started, because one that is not running has answered nobody since, and what it answered before is told
    as soon as it runs again.

    Raises:
        LocalServiceError: one runs and does not answer.
    """
    import asyncio

    # Only now, because views of what was found know this module and need neither a client nor a service.
    from runwatch.api.client import Client
    from runwatch.settings import local_service

    service = await asyncio.to_thread(
        local_service.find_running, paths.local_service_dir, settings_file=paths.settings_file
    )
    if service is None:
        yield None
        return
    async with Client(service.target(), clock=clock, read_only=True, retries=0) as client:
        yield client


def is_local_service(target: Target) -> bool:
    """Whether a target is the local service, which tells its own key what it answered."""
    return target.profile == LOCAL


async def _look(client: Client, **query: str) -> ServiceProblems:
    value = (await client.request(LOOKUP_PATH, query=query)).value
    lookup = ProblemLookup(value if isinstance(value, dict) else {})
    near = tuple(each for each in (lookup.before, lookup.after) if each is not None)
    return ServiceProblems(tuple(lookup.problems or ()), lookup.kept, lookup.oldest_at, lookup.newest_at, near)
