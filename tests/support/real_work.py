"""What threads and requests of this process are doing, for tests that turn a clock by hand.

Time of such a clock goes by only when nothing is under way: otherwise a slow machine would see fewer reads and writes
in the same simulated minute than a fast one.
"""

from __future__ import annotations

import asyncio
import threading
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

from runwatch.api.http.exchange import HttpRequest, HttpResponse
from runwatch.api.http.transport import Transport


class RealWork:
    """Counts what has begun and not ended.

    Attributes:
        threads: How many jobs of thread pools have not ended.
        requests: How many requests have not ended.
        programs: How many programs are waited for.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._changed_at = time.monotonic()
        self.threads = 0
        self.requests = 0
        self.programs = 0

    @property
    def is_idle(self) -> bool:
        """Whether no thread and no request is under way, and the loop has heard of every end."""
        return self.threads == 0 and self.requests == 0

    @property
    def quiet_s(self) -> float:
        """Seconds since something began or ended."""
        return time.monotonic() - self._changed_at

    def count_thread(self, job: Future[Any]) -> None:
        """Count a job of a thread until the loop has been told of its end; called on any thread."""
        self._count(1)
        here = threading.get_ident()

        def ended(_: object) -> None:
            if threading.get_ident() == here:
                self._tell(job)
            else:
                # Behind the callback that tells the loop, which comes later than this one.
                job._done_callbacks.append(self._tell)  # type: ignore[attr-defined]

        job.add_done_callback(ended)

    def _tell(self, _: object) -> None:
        if not self._loop.is_closed():
            # Who waits for the job is told in the turn before.
            self._loop.call_soon_threadsafe(self._loop.call_soon, self._count, -1)

    def _count(self, more: int) -> None:
        with self._lock:
            self.threads += more
            self._changed_at = time.monotonic()


@asynccontextmanager
async def real_work() -> AsyncIterator[RealWork]:
    """Count the jobs of thread pools, the requests and the programs that begin while the block runs."""
    work = RealWork()
    submit: Callable[..., Future[Any]] = ThreadPoolExecutor.submit
    send, wait = Transport.send, Process.wait

    def counted_submit(pool: ThreadPoolExecutor, /, *job: Any, **named: Any) -> Future[Any]:
        future = submit(pool, *job, **named)
        work.count_thread(future)
        return future

    async def counted_send(transport: Transport, request: HttpRequest) -> HttpResponse:
        work.requests += 1
        try:
            return await send(transport, request)
        finally:
            work.requests -= 1

    async def counted_wait(program: Process) -> int:
        work.programs += 1
        try:
            return await wait(program)
        finally:
            work.programs -= 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ThreadPoolExecutor, "submit", counted_submit)
        patch.setattr(Transport, "send", counted_send)
        patch.setattr(Process, "wait", counted_wait)
        yield work
