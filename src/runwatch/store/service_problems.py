"""Lookup of Problems that the local service stored, over HTTP like every other read (manual: decisions, "Truth")."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from runwatch.base.clock import Clock, format_iso
from runwatch.base.network.service_target import Target
from runwatch.base.paths import Paths
from runwatch.records.service_problem import ProblemLookup, ServiceProblem
from runwatch.settings.declarations import LOCAL

if TYPE_CHECKING:
    from runwatch.api.client import Client

LOOKUP: Final = "getProblemLookups"

NOT_RUNNING: Final = "it is not running"
"""Reason for a lookup that did not happen, because no local service runs."""

MAX_INSTANCES: Final = 50
"""Maximum instances to look up from one text."""

_INSTANCE: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class ServiceProblems:
    """Result of a lookup in the local service.

    Attributes:
        problems: What was found, newest first.
        kept: How many Problems the service stores; ``None`` when it does not say.
        since: Time of the oldest.
        until: Time of the newest.
        neighbours: The nearest Problems before and after, where nothing was found.
    """

    problems: tuple[ServiceProblem, ...] = ()
    kept: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    neighbours: tuple[ServiceProblem, ...] = ()


def find_instances(text: str) -> list[str]:
    """Return the complete instances in a text, in the service's spelling; the service cannot look up parts."""
    plain = (match[0].replace("-", "") for match in _INSTANCE.finditer(text.lower()))
    cuts = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
    found = ("-".join(each[start:end] for start, end in cuts) for each in plain)
    return list(dict.fromkeys(found))[:MAX_INSTANCES]


async def find_service_problems(client: Client, stretches: Sequence[tuple[datetime, datetime]]) -> ServiceProblems:
    """Return the Problems of a service within time ranges."""
    found: list[ServiceProblem] = []
    near: list[ServiceProblem] = []
    answered = ServiceProblems()
    for since, until in stretches:
        answered = await _look(client, since=format_iso(since), until=format_iso(until))
        found[:0], near = answered.problems, [*near, *answered.neighbours]
    return ServiceProblems(tuple(found), answered.kept, answered.since, answered.until, () if found else tuple(near))


async def find_by_instances(client: Client, instances: Sequence[str]) -> ServiceProblems:
    """Return the Problems with these instances."""
    return await _look(client, instance=",".join(instances))


@asynccontextmanager
async def connect_running_service(paths: Paths, clock: Clock) -> AsyncIterator[Client | None]:
    """Yield a client of the installation's running local service, or ``None`` if none runs.

    It is not started: a stopped service has sent no response since it ended, and the earlier ones can be looked up when
    it runs again.

    Raises:
        LocalServiceError: It runs but does not respond.
    """
    import asyncio

    # Imported here because views import this module and need neither a client nor a service.
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
    """Return whether a target is the local service, where a key can look up its own Problems."""
    return target.profile == LOCAL


async def _look(client: Client, **query: str) -> ServiceProblems:
    value = (await client.request(LOOKUP, query=query)).value
    lookup = ProblemLookup(value if isinstance(value, dict) else {})
    near = tuple(each for each in (lookup.before, lookup.after) if each is not None)
    return ServiceProblems(tuple(lookup.problems or ()), lookup.kept, lookup.oldest_at, lookup.newest_at, near)
