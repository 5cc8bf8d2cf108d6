"""A real service in this process: its own data directory, a real port, and clocks that tests turn."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio

from runwatch.base.clock import Clock, Timers, wait_first
from runwatch.base.files import private_directory
from runwatch.service.access.authentication import Principal, add_key, hash_secret, new_key
from runwatch.service.backends.backend import Backend
from runwatch.service.backends.postgresql import PostgresDatabase
from runwatch.service.http.connections import Bounds
from runwatch.service.http.context import RequestContext
from runwatch.service.http.problem_responder import ProblemResponder
from runwatch.service.http.rate_limits import AnonymousLimits
from runwatch.service.options import ServeOptions
from runwatch.service.server import RunningServer, run_server
from runwatch.service.tables import events_table, problems_table, tenants_table
from runwatch.service.transaction import Row, Transaction
from tests.support import postgres
from tests.support.clock import FakeClock
from tests.support.copied_tables import tables_copied
from tests.support.master_keys import master_keys

Json = dict[str, Any]


def echo_body(**more: Any) -> Json:
    """A test run's request body, with members replaced."""
    policy = {"data_classes": ["public"], "budget": {"max_cost_usd": 0.1, "max_runtime_s": 60}}
    return {"mode": "echo", "task": {"objective": "Say hello."}, "policy": policy, **more}


def capped(seconds: float, **more: Any) -> Json:
    """A test run's request body with this runtime cap."""
    policy = {"data_classes": ["public"], "budget": {"max_cost_usd": 0.1, "max_runtime_s": seconds}}
    return echo_body(policy=policy, **more)


@dataclass(slots=True)
class Local:
    """A running service as a test uses it.

    Attributes:
        running: The service.
        clock: Its clock.
        http: A client that sends the owner's key.
    """

    running: RunningServer
    clock: Clock
    http: httpx.AsyncClient
    _keys: int = field(default=0)

    @property
    def context(self) -> RequestContext:
        return self.running.context

    @property
    def fake_clock(self) -> FakeClock:
        """Its clock, where a test turns it."""
        assert isinstance(self.clock, FakeClock)
        return self.clock

    @property
    def key(self) -> str:
        return self.running.file.api_key.reveal()

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.running.file.base_url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    async def submit(self, body: Json | None = None, key: str | None = None) -> Json:
        self._keys += 1
        headers = {"Idempotency-Key": key or f"key-{self._keys}"}
        answer = await self.http.post("/v1/executions", json=body or echo_body(), headers=headers)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def get(self, path: str, **query: Any) -> Json:
        answer = await self.http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def events(self, run_id: str) -> list[Json]:
        return list((await self.get(f"/v1/executions/{run_id}/events"))["events"])

    async def finished(self, run_id: str) -> Json:
        """The run once the engine has let go of it; the clock must not be a manual one."""
        await self.context.engine.settled()
        return await self.get(f"/v1/executions/{run_id}")

    async def add_key(self, tenant_id: str | None = None, role: str = "owner") -> tuple[str, str]:
        """A second key, of the owner's organization unless another is named: the key and its id."""
        key = new_key()
        tenant = tenant_id or (await self.get("/v1/account"))["tenant_id"]
        key_id = await self.context.database.write(
            lambda transaction: add_key(transaction, tenant, key, role=role, display_name="second")
        )
        self.context.keys.add(hash_secret(key.reveal()), Principal(tenant, key_id, role))
        return key.reveal(), key_id

    async def stored_problem(self, instance: str) -> Row | None:
        await self.context.problems.flush()
        return await self.context.database.read(
            lambda transaction: transaction.one(problems_table, {"instance": instance})
        )


def bearing(key: str, **more: str) -> dict[str, str]:
    """The headers of a caller with this key, and others."""
    return {"Authorization": f"Bearer {key}", **more}


def keyed(key: str) -> dict[str, str]:
    """The header of a request that may be repeated."""
    return {"Idempotency-Key": key}


async def mint(local: Local, **body: Any) -> Json:
    """Make a key of the owner's organization through the service."""
    answer = await local.http.post("/v1/api-keys", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def me(local: Local, key: str | None = None) -> str:
    """The id of a key, the owner's unless another is given."""
    answer = await local.http.get("/v1/account", headers=bearing(key or local.key))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["authenticated_principal_id"])


async def other_tenant(local: Local) -> str:
    """A second organization in the same database."""
    await local.context.database.write(
        lambda transaction: transaction.add(tenants_table, tenant_id="ten_2", display_name="Others", created_at="now")
    )
    return "ten_2"


def forgive_strangers(local: Local) -> None:
    """Forget what callers without a key have sent so far, and how many of their Problems were kept."""
    context = local.context
    context.strangers = AnonymousLimits(context.clock, context.options.rate_limit_rpm)
    context.problems = ProblemResponder(context.database, context.clock, context.timers)


Serving = Callable[..., AbstractAsyncContextManager[Local]]


@contextlib.asynccontextmanager
async def serve_in_process(
    data_dir: Path, clock: Clock, *, timers: Timers | None = None, bounds: Bounds | None = None, **options: Any
) -> AsyncIterator[Local]:
    """Run a service of a data directory on a free port while the block runs."""
    if postgres.IS_CHOSEN:
        options = {"database": postgres.database_for(data_dir), **options}
    serve = ServeOptions(data_dir=data_dir, json=True, **{"master_keys": master_keys, **options})
    async with AsyncExitStack() as stack:
        with tables_copied():
            service = await stack.enter_async_context(run_server(serve, clock, timers=timers, bounds=bounds))
        headers = {"Authorization": f"Bearer {service.file.api_key.reveal()}"}
        async with httpx.AsyncClient(base_url=service.file.base_url, headers=headers, timeout=30) as client:
            yield Local(service, clock, client)


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """Where the service of a test keeps its data."""
    yield tmp_path / "service"
    postgres.drop_database(tmp_path / "service")


Either = Callable[[], Path | Backend]
"""What a database is opened from, as often as a test asks: the path of an SQLite file, or a PostgreSQL database."""


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Either]:
    """One after the other, in the short run if a test names them as its classes."""
    data_dir = private_directory(tmp_path / "data")
    if request.param == "sqlite":
        yield lambda: data_dir / "service.db"
        return
    yield lambda: PostgresDatabase(postgres.database_for(data_dir), data_dir)
    postgres.drop_database(data_dir)


@pytest.fixture
def serving(data_dir: Path) -> Serving:
    """Start the service of this test, also again after it ended."""

    def start(clock: Clock | None = None, **options: Any) -> AbstractAsyncContextManager[Local]:
        return serve_in_process(data_dir, clock or FakeClock(), **options)

    return start


@pytest.fixture
async def local(serving: Serving) -> AsyncIterator[Local]:
    """A service whose clock never waits: runs are final as soon as the event loop gets round to them."""
    async with serving() as service:
        yield service


@pytest.fixture
async def near(serving: Serving) -> AsyncIterator[Local]:
    """A service that may call checks, agents and receivers on this machine."""
    async with serving(allow_loopback_checks=True) as service:
        yield service


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Local]:
    """One service for all tests of a module that only ask it, and mind nothing that others have left there.

    Such a module marks its tests with ``pytest.mark.asyncio(loop_scope="module")``.
    """
    data_dir = tmp_path_factory.mktemp("shared") / "service"
    async with serve_in_process(data_dir, FakeClock()) as service:
        yield service
    postgres.drop_database(data_dir)


@pytest.fixture
async def held(serving: Serving) -> AsyncIterator[Local]:
    """A service whose clock moves only when the test advances it: until then runs stay as they are."""
    async with serving(FakeClock(manual=True)) as service:
        yield service


async def step(service: Local) -> None:
    """Let the one live run of a held service take exactly its next step."""
    clock = service.fake_clock
    await clock.until_sleeping()
    clock.advance_to_next()
    # The engine sleeps again once the step is on the disk, or has let go of the run because it is final.
    await wait_first(clock.until_sleeping(), service.context.engine.settled())


def event_bodies(run_id: str) -> Callable[[Transaction], list[str]]:
    """Reads the stored texts of a run's events."""
    return lambda transaction: [row["body"] for row in transaction.oldest(events_table, {"execution_id": run_id})]
