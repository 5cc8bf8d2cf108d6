"""Requests a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runwatch.service.database import ServiceDatabase
from runwatch.service.errors import RefusalError
from runwatch.service.http.rate_limits import RateLimiter, SharedRateLimiter
from tests.service.conftest import Serving
from tests.support.clock import FakeClock
from tests.support.problems import check


@pytest.fixture(params=["process", "database"])
def limited(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[int, FakeClock], RateLimiter]]:
    """Makes a limit of one process, or of all processes that use a database."""
    if request.param == "process":
        yield RateLimiter
        return
    opened: list[ServiceDatabase] = []

    def shared(most: int, clock: FakeClock) -> RateLimiter:
        opened.append(ServiceDatabase.open(tmp_path / "service.db", clock))
        return SharedRateLimiter(most, clock, opened[-1])

    yield shared
    for database in opened:
        database.close()


Limited = Callable[[int, FakeClock], RateLimiter]


async def refused_for(limit: RateLimiter, key: str) -> int | None:
    try:
        await limit.admit(key)
    except RefusalError as refusal:
        return refusal.retry_after_s
    return None


async def test_the_window_slides_and_refused_requests_do_not_count(limited: Limited) -> None:
    clock = FakeClock()
    limit = limited(3, clock)
    for _ in range(3):
        assert await refused_for(limit, "key_1") is None
        clock.advance(10)
    assert await refused_for(limit, "key_1") == 30
    clock.advance(29.5)
    assert await refused_for(limit, "key_1") == 1
    clock.advance(0.5)
    assert await refused_for(limit, "key_1") is None
    assert await refused_for(limit, "key_1") == 10


async def test_each_key_has_a_window_of_its_own(limited: Limited) -> None:
    limit = limited(1, FakeClock())
    assert await refused_for(limit, "key_1") is None
    assert await refused_for(limit, "key_2") is None
    assert await refused_for(limit, "key_1") == 60


async def test_without_a_limit_everything_is_admitted() -> None:
    limit = RateLimiter(None, FakeClock())
    assert [await refused_for(limit, "key_1") for _ in range(500)] == [None] * 500


async def test_a_limited_service_publishes_its_limit_and_says_how_long_to_wait(serving: Serving) -> None:
    async with serving(rate_limit_rpm=2) as service:
        assert (await service.get("/v1/account"))["quota"]["rate_limit_rpm"] == 2
        check(await service.http.get("/v1/nothing"), "not_found")
        answer = await service.http.get("/v1/account")
        problem = check(answer, "rate_limited")
        assert problem.retry_after_s == 60
        assert answer.headers["retry-after"] == "60"
        service.fake_clock.advance(60)
        await service.get("/v1/account")
