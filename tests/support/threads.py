"""An event loop in its own thread, so that tests without a loop can use asyncio helpers."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """A running loop that other threads hand coroutines to."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test-loop", daemon=True)
        self._thread.start()

    def call(self, coroutine: Coroutine[Any, Any, T], timeout: float = 60.0) -> T:
        """Run a coroutine on the loop and return its result, or raise what it raised.

        Raises:
            TimeoutError: it took longer than ``timeout`` seconds.
        """
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout)

    def close(self) -> None:
        """Stop the loop, end its thread, and give back what it holds."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


@contextlib.contextmanager
def in_thread(manager: AbstractAsyncContextManager[T]) -> Iterator[tuple[T, LoopThread]]:
    """Enter an asynchronous context manager on a loop in another thread."""
    thread = LoopThread()
    try:
        entered = thread.call(manager.__aenter__())
        try:
            yield entered, thread
        finally:
            thread.call(manager.__aexit__(None, None, None))
    finally:
        thread.close()
