"""Fencing of a run's drivers, for engines in which a driver can be replaced while it still runs.

A driver that is thought dead may only have been stopped, and goes on beside its successor. So each driver claims its
run, which raises the run's fencing number, and every write of the driver carries the number. The database decides: a
write with an older number is refused, a reservation of budget for a call included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from runwatch.service.database import TransactionRunner
from runwatch.service.execution import runs
from runwatch.service.execution.state_machine import RunState
from runwatch.service.tables import run_claims_table
from runwatch.service.transaction import Transaction

T = TypeVar("T")


class FencedOutError(Exception):
    """Another driver has claimed the run."""


def claim(transaction: Transaction, execution_id: str) -> tuple[RunState, int]:
    """Raise the fencing number of a run; return the run and the number. Earlier drivers write nothing from now on."""
    run = runs.load(transaction, execution_id)
    where = {"execution_id": execution_id}
    known = transaction.one(run_claims_table, where)
    fence = 1 if known is None else known["fence"] + 1
    transaction.put(run_claims_table, where, known, fence=fence)
    return run, fence


class FencedDatabase:
    """The database as one driver of a run uses it."""

    def __init__(self, database: TransactionRunner, execution_id: str, fence: int) -> None:
        self._database = database
        self._where = {"execution_id": execution_id}
        self._fence = fence

    async def read(self, function: Callable[[Transaction], T]) -> T:
        return await self._database.read(function)

    async def write(self, function: Callable[[Transaction], T]) -> T:
        """Run a writing function; see :meth:`runwatch.service.database.ServiceDatabase.write`.

        Raises FencedOutError, and writes nothing, if another driver has claimed the run.
        """

        def fenced(transaction: Transaction) -> T:
            if transaction.get(run_claims_table, self._where)["fence"] != self._fence:
                raise FencedOutError
            return function(transaction)

        return await self._database.write(fenced)
