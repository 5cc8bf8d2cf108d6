"""The operations of the service that this client calls (specification, Endpoints; wire reference 2.1, 2.2 and 2.10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from runwatch.records.account import Account
from runwatch.records.codes import CODES
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run, RunResult


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the service.

    Attributes:
        id: Its name in the specification.
        method: The HTTP method, in capitals.
        path: The path with its ``/v1`` prefix; parameters stand in braces.
        title: What it does, for people: "Cancel a run".
        mutates: Whether it changes something. A read-only client refuses it; stateless plans and quotes do not mutate
            though they are posted (DESIGN, Read-only mode).
        record: What it answers; of a list, what its items are. ``None`` when nobody declares it.
        lists: Whether it answers a list of records.
        refusals: Error codes of which each proves that the operation did nothing. ``None`` where any 4XX but 408 does.
    """

    id: str
    method: str
    path: str
    title: str
    mutates: bool = False
    record: type[Record] | None = None
    lists: bool = False
    refusals: frozenset[str] | None = None


RUN_REFUSALS: Final = frozenset(code for code, facts in CODES.items() if facts.refuses_run)
"""The eight codes that prove that a submit accepted no run (wire reference 1.8)."""

_ALL: Final = (
    Operation(
        "postExecutions", "POST", "/v1/executions", "Submit a run", mutates=True, record=Run, refusals=RUN_REFUSALS
    ),
    Operation("getExecutions", "GET", "/v1/executions", "List runs", record=Run, lists=True),
    Operation("getExecutionsByExecutionId", "GET", "/v1/executions/{execution_id}", "Read a run", record=Run),
    Operation(
        "getExecutionsByExecutionIdEvents",
        "GET",
        "/v1/executions/{execution_id}/events",
        "Read the events of a run",
        record=RunEvent,
        lists=True,
    ),
    Operation(
        "getExecutionsByExecutionIdResult",
        "GET",
        "/v1/executions/{execution_id}/result",
        "Read the result of a run",
        record=RunResult,
    ),
    Operation(
        "postExecutionsByExecutionIdCancel",
        "POST",
        "/v1/executions/{execution_id}/cancel",
        "Cancel a run",
        mutates=True,
        record=Run,
    ),
    Operation("getReceipts", "GET", "/v1/receipts", "List receipts", record=Receipt, lists=True),
    Operation("getReceiptsByExecutionId", "GET", "/v1/receipts/{execution_id}", "Read a receipt", record=Receipt),
    Operation("getAccount", "GET", "/v1/account", "Read the account", record=Account),
)

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({operation.id: operation for operation in _ALL})
"""Every operation by its id."""
