"""One service in this process with one organization that has everything, for all tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
import pytest
import pytest_asyncio

from runwatch.base.clock import Clock, SystemClock
from runwatch.settings.master_key import find_master_keys
from tests.contract.operation import Good, Operation
from tests.contract.organization import Organization
from tests.contract.surroundings import organization_of
from tests.service.conftest import Local, forgive_strangers, serve_in_process
from tests.support import postgres
from tests.support.clock import FakeClock
from tests.support.service import ServiceProcess
from tests.support.team import environment, settings_of


@dataclass(slots=True)
class Desk:
    """The service and its organization, as a test uses them.

    Attributes:
        service: The service.
        organization: The organization.
    """

    service: Local
    organization: Organization
    _goods: dict[str, Good] = field(default_factory=dict)

    async def good(self, operation: Operation) -> Good:
        """A request that would be done, the same one for every test that has it refused."""
        if operation.id not in self._goods:
            self._goods[operation.id] = await operation.make(self.organization)
        return self._goods[operation.id]

    async def send(
        self,
        operation: Operation,
        good: Good,
        *,
        client: httpx.AsyncClient | None = None,
        headers: Mapping[str, str | None] | None = None,
        content: bytes | None = None,
    ) -> httpx.Response:
        """Send a request with a new idempotency key; headers that are given take the place of the usual ones."""
        body = good.content if content is None else content
        usual: dict[str, str | None] = {"Content-Type": "application/json"} if body else {}
        if operation.method != "GET":
            usual["Idempotency-Key"] = self.organization.fresh("send")
        return await (client or self.organization.http).request(
            operation.method, operation.path_of(good.ids), params=dict(good.query), content=body,
            headers={name: value for name, value in {**usual, **(headers or {})}.items() if value is not None},
        )  # fmt: skip


def every(operations: Iterable[Operation]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("operation", list(operations), ids=lambda operation: operation.id)


@pytest.fixture(autouse=True)
def forgiven(request: pytest.FixtureRequest) -> None:
    """Forget before a test what strangers have sent: the time of the service does not go by by itself."""
    if "session" in request.fixturenames:
        forgive_strangers(request.getfixturevalue("session").service)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """The service and its organization. Such a module marks its tests with ``asyncio(loop_scope="module")``."""
    options: dict[str, Any] = {"allow_loopback_checks": True, "allow_signup": True}
    data_dir = tmp_path_factory.mktemp("contract") / "service"
    async with AsyncExitStack() as stack:
        clock: Clock = FakeClock()
        if postgres.IS_TEAM:
            clock = SystemClock()
            options |= {"max_runs": 0, "master_keys": partial(find_master_keys, settings_of(data_dir))}
        service = await stack.enter_async_context(serve_in_process(data_dir, clock, **options))
        base_url = service.running.file.base_url
        desk = Desk(service, await stack.enter_async_context(organization_of(base_url, service.key)))
        if postgres.IS_TEAM:
            # Some runs of these tests stay under way, each in its place. It ends before those whom it calls.
            worker = ("--worker-only", "--concurrency", "1000", "--allow-loopback-checks")
            stack.enter_context(ServiceProcess(data_dir / "worker", *worker, env=environment(data_dir)))
        yield desk
    postgres.drop_database(data_dir)
