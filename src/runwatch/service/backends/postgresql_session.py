"""One session of a PostgreSQL database: it gives up a server that is silent, and stores every text."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.pq import TransactionStatus
from psycopg.pq.abc import PGconn
from psycopg.types.string import StrDumperUnknown, TextLoader

_Result = TypeVar("_Result")
_Row = tuple[Any, ...]
_Waiting = Generator[Any, Any, _Result]


SILENT_S: Final = 30.0
"""Seconds that the server may take to answer a statement."""


class Session(psycopg.Connection[_Row]):
    """A session that is given up when the server has not answered a statement for too long.

    Attributes:
        limit_s: Seconds that an answer may take; ``None`` for no limit, as at a start, which may migrate tables.
    """

    limit_s: float | None = SILENT_S

    def wait(self, gen: _Waiting[_Result], *arguments: Any, **more: Any) -> _Result:
        if self.limit_s is None:
            return super().wait(gen, *arguments, **more)
        try:
            return super().wait(_limited(gen, self.limit_s, self.pgconn), *arguments, **more)
        except SilenceError:
            # What the server may still say belongs to nobody.
            self.close()
            raise


class AsyncSession(psycopg.AsyncConnection[Any]):
    """The same on the event loop, with the limit :data:`SILENT_S`. It may wait for notifications for ever."""

    async def wait(self, gen: _Waiting[_Result], *arguments: Any, **more: Any) -> _Result:
        try:
            return await super().wait(_limited(gen, SILENT_S, self.pgconn), *arguments, **more)
        except SilenceError:
            await self.close()
            raise


class SilenceError(psycopg.OperationalError):
    """The server has not answered in time."""


def _limited(gen: _Waiting[_Result], limit_s: float, connection: PGconn) -> _Waiting[_Result]:
    """Pass a generator of psycopg on, which is resumed with nothing every tenth of a second while nothing comes."""
    until = time.monotonic() + limit_s
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            is_late = not ready and time.monotonic() > until
            if is_late and connection.transaction_status == TransactionStatus.ACTIVE:
                raise SilenceError(f"the server has not answered for {limit_s:g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        return cast("_Result", end.value)


_MARK: Final = "\ufdd0"
"""A code point that is no character: stands before ``0`` for NUL, which PostgreSQL's texts cannot hold, and before
``1`` for itself.
"""


def text_adapters() -> AdaptersMap:
    """Return adapters of sessions in which every text can be stored, NUL among its characters."""
    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_dumper(str, _Dumper)
    adapters.register_loader("text", _Loader)
    return adapters


class _Dumper(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        if "\0" in obj or _MARK in obj:
            obj = obj.replace(_MARK, f"{_MARK}1").replace("\0", f"{_MARK}0")
        return super().dump(obj)


class _Loader(TextLoader):
    def load(self, data: Any) -> Any:
        text = super().load(data)
        if isinstance(text, str) and _MARK in text:
            return text.replace(f"{_MARK}0", "\0").replace(f"{_MARK}1", _MARK)
        return text
