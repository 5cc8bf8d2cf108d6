"""The processes of a team service: interfaces and workers that share one PostgreSQL database."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

import httpx
import psycopg

from tests.support import postgres
from tests.support.service import ServiceProcess

AGAIN_S: Final = 0.2
STARTS: Final = 30
"""How often a start is tried: it ends at once while the database is away."""


class Team:
    """Processes with data directories of their own, which run while the block does.

    Args:
        directory: Where the data directories are made; names the database too.
        apis: How many processes serve the interface.
        workers: How many drive runs.
        places: Most runs that each worker drives at once.
        options: Further arguments of every process.
        limits: Further arguments of the interfaces.
        is_started: Whether the block begins with every process started.

    Attributes:
        apis: The processes with the interface.
        workers: The ones that drive runs.
    """

    def __init__(
        self,
        directory: Path,
        *,
        apis: int = 1,
        workers: int = 1,
        places: int = 8,
        options: Sequence[str] = (),
        limits: Sequence[str] = (),
        is_started: bool = True,
    ) -> None:
        self._is_started = is_started
        self._directory = directory
        self._address = postgres.database_for(directory).reveal()
        env = environment(directory)
        api, worker = ("--api-only", *limits, *options), ("--worker-only", "--concurrency", str(places), *options)
        self.apis = [ServiceProcess(directory / f"api{n}", *api, env=env) for n in range(apis)]
        self.workers = [ServiceProcess(directory / f"worker{n}", *worker, env=env) for n in range(workers)]

    @property
    def api_key(self) -> str:
        """A key that is good at every interface."""
        return self.apis[0].api_key

    def address(self, chance: random.Random) -> str:
        """Where one of the interfaces listens, or will again."""
        return chance.choice(self.apis).base_url

    def client(self) -> httpx.AsyncClient:
        """A caller with the key, of the first interface unless a whole address says otherwise."""
        headers = {"Authorization": f"Bearer {self.api_key}"}
        return httpx.AsyncClient(base_url=self.apis[0].base_url, headers=headers, timeout=60)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement in the database, and return its rows."""
        return postgres.run_sql(statement, self._address.partition("?")[0].rpartition("/")[2])

    async def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Do the same beside the event loop, again for as long as the database is away."""
        while True:
            try:
                return await asyncio.to_thread(self.sql, statement)
            except psycopg.OperationalError:
                await asyncio.sleep(AGAIN_S)

    def __enter__(self) -> Self:
        """Start every process, unless they are started one by one."""
        if not self._is_started:
            return self
        try:
            for process in (*self.apis, *self.workers):
                process.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Kill every process, and drop the database."""
        for process in (*self.apis, *self.workers):
            process.kill()
        postgres.drop_database(self._directory)


def environment(directory: Path) -> dict[str, str]:
    """What processes need to know to share the database that a directory names, and a master key."""
    return {
        "RUNWATCH_DATABASE": postgres.database_for(directory).reveal(),
        "RUNWATCH_CONFIG": str(settings_of(directory)),
    }


def settings_of(directory: Path) -> Path:
    """The settings file beside which the master key of these processes is."""
    return directory / "settings.toml"


@contextlib.contextmanager
def running_service(data_dir: Path, *options: str) -> Iterator[ServiceProcess]:
    """A service as a process; if the test run wants it (:mod:`tests.support.postgres`) beside a worker."""
    if postgres.IS_TEAM:
        with Team(data_dir, options=options) as team:
            yield team.apis[0]
    else:
        with ServiceProcess(data_dir, *options) as service:
            yield service


async def restart(process: ServiceProcess) -> None:
    """Kill a process and start it again, as a service manager does.

    Raises:
        AssertionError: it does not start, however often it is tried.
    """
    await asyncio.to_thread(process.kill)
    for left in reversed(range(STARTS)):
        try:
            await asyncio.to_thread(process.start)
        except AssertionError:
            if not left:
                raise
            await asyncio.sleep(AGAIN_S)
        else:
            return
