"""The client: typed methods for runs, receipts and the account, a generic request for everything (DESIGN, Client).

::

    async with Client(target) as client:
        run = await client.submit_run(body, key=str(uuid.uuid4()))
        async for event in client.follow(run.id):
            ...
        receipt = await client.get_receipt(run.id)

Every method raises errors of :mod:`runwatch.api.errors`, each with the attempts made and whether the outcome of a
write is known. Mutating methods demand an idempotency key, so that every mutation can be asked again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from runwatch.api.calls import CallExecutor, CallResult, RequestAttempt
from runwatch.api.decoding.decoder import (
    SLICED_DECODE_BYTES,
    decode_page,
    decode_page_sliced,
    decode_record,
    decode_value,
)
from runwatch.api.decoding.item_scanner import UnreadableBodyError
from runwatch.api.error_builder import OperationCall
from runwatch.api.errors import InvalidRequestError, ReadOnlyError, UnusableResponseError
from runwatch.api.http.exchange import HttpResponse
from runwatch.api.http.transport import Transport
from runwatch.api.operations import OPERATIONS, PRIVATE_ENTRY, Operation
from runwatch.api.rate_limit_gate import RateLimitGate
from runwatch.api.request_builder import QueryValue, build_request
from runwatch.api.retry_policy import RETRIES
from runwatch.api.run_follower import RunFollower
from runwatch.api.run_tail import EndStep, PauseStep, RunTail
from runwatch.api.secrets import build_secret_request, redact_answer_secrets
from runwatch.base.clock import Clock, SystemClock
from runwatch.base.log import keep_secret
from runwatch.base.secret import Secret
from runwatch.base.service_target import Target
from runwatch.records.account import Account
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.record import Page, Record
from runwatch.records.run import Run, RunResult

__all__ = ["CallResult", "Client", "RequestAttempt"]

R = TypeVar("R", bound=Record)

PAGE_SIZE: Final = 100
"""The ``limit`` that :meth:`Client.pages` asks a paged list for; the most a page may have (wire reference 1.7)."""

_NOTHING: Final[Mapping[str, Any]] = {}


class Client:
    """Calls one service as one profile.

    An asynchronous context manager: leaving it closes the connections. Nothing is opened before the first call.

    Args:
        target: The service, and the key for it.
        clock: Time, sleep and chance.
        read_only: Whether operations that mutate are refused before anything is sent.
        retries: How many more times a request is sent after a network failure or a 5XX, where it may be.
        gate: Where a 429 holds calls back; clients that share one wait together. By default a gate of its own.
        observe: Told of every attempt. It is called on the event loop and must be quick; what it raises is logged.
    """

    def __init__(
        self,
        target: Target,
        *,
        clock: Clock | None = None,
        read_only: bool = False,
        retries: int = RETRIES,
        gate: RateLimitGate | None = None,
        observe: Callable[[RequestAttempt], None] | None = None,
    ) -> None:
        self.target: Final = target
        self.read_only: Final = read_only
        self._clock = clock if clock is not None else SystemClock()
        self.gate: Final = gate if gate is not None else RateLimitGate(self._clock)
        self._transport = Transport(target)
        self._caller = CallExecutor(target, self._transport, self._clock, self.gate, retries, observe)
        if target.key is not None:
            keep_secret(target.key)

    async def __aenter__(self) -> Client:
        """Give the client itself; connections come with the first call."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def request(
        self,
        operation: str | Operation,
        *,
        path: Mapping[str, str] = _NOTHING,
        query: Mapping[str, QueryValue] = _NOTHING,
        body: bytes | None = None,
        key: str | None = None,
    ) -> CallResult:
        """Call any operation and get its decoded JSON; ``None`` for a 204 or, where no record is declared, no body.

        A write without a key is sent once and never again (specification, Errors); give one to every mutation.

        Args:
            operation: The id of a known operation, or one of the caller's own.
            path: The path's parameters; each goes back exactly as it came, percent-encoded completely.
            query: Query parameters; booleans become ``true`` or ``false``, ``None`` is left out.
            body: The exact bytes of the body, JSON in UTF-8; every attempt sends the same.
            key: The idempotency key; a blank one counts as none (wire reference 1.5).

        Raises:
            ReadOnlyRefused: the operation mutates and this client does not.
            InvalidRequest: a parameter breaks a rule of the interface.
            Held: a 429 holds the call back.
            NoAnswer: no complete answer came.
            ApiProblem: the service refused or failed.
            UnusableAnswer: a success cannot be read.
        """
        call = self._call(operation, path=path, query=query, body=body, key=key)

        async def read(reply: HttpResponse) -> object:
            if not reply.body and (reply.status == 204 or call.operation.record is None):
                return None
            return decode_value(reply.body)

        value, answer = await self._caller.make(call, read)
        redact_answer_secrets(call.operation, value)
        return replace(answer, value=value)

    async def enter_secret(self, address: Secret, secret: Secret) -> object:
        """Enter a secret on the private page that an intent names, and get what the page answers.

        It is sent once: a page takes one secret, and whether it did is read from the resource that it was for.

        Args:
            address: The ``continue_url`` of the intent.
            secret: What is entered. Neither it nor the address reaches a log, the journal or the disk.

        Raises:
            InvalidRequest: the page is not at the service's own address; nothing was sent.
            ApiError: as for :meth:`request`.
        """
        if self.read_only:
            raise ReadOnlyError(operation=PRIVATE_ENTRY.id, what=PRIVATE_ENTRY.title)
        call = OperationCall(PRIVATE_ENTRY, build_secret_request(self.target, address, secret))

        async def read(reply: HttpResponse) -> object:
            return decode_value(reply.body)

        return (await self._caller.make(call, read))[0]

    async def submit_run(self, body: bytes, *, key: str) -> Run:
        """Submit a run (``POST /v1/executions``).

        Args:
            body: The exact bytes of the request, as the outbox keeps them.
            key: The idempotency key; the same key with the same bytes is one run, always.

        Raises:
            ApiError: as for :meth:`request`. An answer without an ``execution_id`` is an ``UnusableResponseError``,
                after which the outcome is unknown.
        """
        call = self._call("postExecutions", body=body, key=key, needs_key=True)

        async def read(reply: HttpResponse) -> Run:
            run = decode_record(reply.body, Run)
            if not run.id:
                raise UnreadableBodyError("the answer has no execution_id")
            return run

        return (await self._caller.make(call, read))[0]

    async def list_runs(
        self,
        *,
        status: str | None = None,
        since: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[Run]:
        """One page of runs, newest first (``GET /v1/executions``).

        Args:
            status: Only runs in this state.
            since: Only runs from this ISO 8601 moment on.
            cursor: The ``next_cursor`` of the page before, exactly as it came.
            limit: How many runs a page has.

        Raises:
            ApiError: as for :meth:`request`.
        """
        query = {"status": status, "since": since, "cursor": cursor, "limit": limit}
        return await self._page(self._call("getExecutions", query=query), Run)

    async def get_run(self, execution_id: str) -> Run:
        """One run (``GET /v1/executions/{execution_id}``).

        Raises:
            ApiError: as for :meth:`request`.
        """
        return await self._record("getExecutionsByExecutionId", execution_id, Run)

    async def list_events(self, execution_id: str, *, after: str | None = None) -> Page[RunEvent]:
        """The events of a run, oldest first, each with its exact text (``GET /v1/executions/{execution_id}/events``).

        Args:
            execution_id: The run.
            after: Only events after the one with this id; a service that does not know it may answer all.

        Raises:
            ApiError: as for :meth:`request`.
        """
        call = self._call(
            "getExecutionsByExecutionIdEvents", path={"execution_id": execution_id}, query={"after": after}
        )
        return await self._page(call, RunEvent)

    async def get_result(self, execution_id: str) -> RunResult:
        """The model output of a completed live run (``GET /v1/executions/{execution_id}/result``).

        A test run has none, and the service keeps one for a bounded time only.

        Raises:
            ApiError: as for :meth:`request`.
        """
        return await self._record("getExecutionsByExecutionIdResult", execution_id, RunResult)

    async def cancel_run(self, execution_id: str, *, key: str) -> Run:
        """Cancel a run (``POST /v1/executions/{execution_id}/cancel``).

        It does not reverse a provider call in progress. A replayed answer may be old; read the run to see its state.

        Raises:
            ApiError: as for :meth:`request`.
        """
        return await self._record("postExecutionsByExecutionIdCancel", execution_id, Run, key=key, needs_key=True)

    async def list_receipts(
        self, *, since: str | None = None, status: str | None = None, arm_id: str | None = None
    ) -> Page[Receipt]:
        """The receipts of final runs (``GET /v1/receipts``).

        Args:
            since: Only receipts from this ISO 8601 moment on.
            status: Only of runs that ended in this state.
            arm_id: Only of runs that used this saved model.

        Raises:
            ApiError: as for :meth:`request`.
        """
        query = {"since": since, "status": status, "arm_id": arm_id}
        return await self._page(self._call("getReceipts", query=query), Receipt)

    async def get_receipt(self, execution_id: str) -> Receipt:
        """The receipt of a final run (``GET /v1/receipts/{execution_id}``).

        Raises:
            ApiError: as for :meth:`request`.
        """
        return await self._record("getReceiptsByExecutionId", execution_id, Receipt)

    async def get_account(self) -> Account:
        """The organization behind the key: principal, quota, rate limit, balance (``GET /v1/account``).

        Raises:
            ApiError: as for :meth:`request`.
        """
        return await self._record("getAccount", None, Account)

    async def pages(
        self,
        operation: str | Operation,
        *,
        path: Mapping[str, str] = _NOTHING,
        query: Mapping[str, QueryValue] = _NOTHING,
        limit: int | None = None,
        again: Callable[[Record], Record] | None = None,
    ) -> AsyncIterator[Page[Any]]:
        """The pages of a list up to its end, or up to ``limit`` items; the last page is cut to fit.

        Filters are repeated with every page, cursors go back exactly as they came (wire reference 1.7). Unless the
        query names a ``limit`` of its own, a paged list is asked for pages as large as they may be.

        Args:
            operation: The id of a known operation that lists records, or one of the caller's own.
            path: The path's parameters.
            query: Query parameters, as for :meth:`request`.
            limit: How many items are read; ``None`` for all.
            again: Gives the record that is kept for one that came: the known one where the two are equal.

        Raises:
            ApiError: as for :meth:`request`. A cursor that comes back a second time is an ``UnusableResponseError``.
        """
        known = self._operation(operation)
        record = _record_of(known)
        asked = dict(query)
        taken = 0
        seen = {asked.get("cursor")}
        while limit is None or taken < limit:
            if record.WIRE is not None and record.WIRE.paged and "limit" not in query:
                asked["limit"] = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - taken)
            page = await self._page(self._call(known, path=path, query=asked), record, again)
            if limit is not None and taken + len(page.values) > limit:
                page = _cut(page, limit - taken)
            taken += len(page.values)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return
            if cursor in seen:
                raise UnusableResponseError(
                    "The list does not end",
                    status=200,
                    operation=known.id,
                    attempts=1,
                    outcome_known=True,
                    key=None,
                    detail="the service gave the same next_cursor twice",
                    hint="What came before is complete. Tell support that this list repeats its cursor.",
                )
            seen.add(cursor)
            asked["cursor"] = cursor

    async def follow(self, execution_id: str, *, after: str | None = None) -> AsyncIterator[RunEvent]:
        """The events of a run as they happen, each once, until the run has ended (wire reference 3.2).

        A failure that the retries do not get over is raised; go on later with the id of the last event as ``after``.
        A service that does not know that id any more gives all events again. To survive both without thinking about
        it, follow through the store (:mod:`runwatch.store.live.run_follower`).

        Args:
            execution_id: The run.
            after: The id of the last event known already.

        Raises:
            ApiError: as for :meth:`request`.
        """
        follower = RunFollower(self, execution_id, RunTail(after))
        while not isinstance(step := await follower.step(), EndStep):
            if isinstance(step, PauseStep):
                await self._clock.sleep(step.seconds)
                continue
            for event in step.new:
                yield event

    def _operation(self, operation: str | Operation) -> Operation:
        if isinstance(operation, Operation):
            return operation
        known = OPERATIONS.get(operation)
        if known is None:
            errors = [{"field": "operation", "message": f"There is no operation {operation}."}]
            raise InvalidRequestError(operation=operation, errors=errors)
        return known

    def _call(
        self,
        operation: str | Operation,
        *,
        path: Mapping[str, str] = _NOTHING,
        query: Mapping[str, QueryValue] = _NOTHING,
        body: bytes | None = None,
        key: str | None = None,
        needs_key: bool = False,
    ) -> OperationCall:
        known = self._operation(operation)
        if known.mutates and self.read_only:
            raise ReadOnlyError(operation=known.id, what=known.title, key=key)
        return OperationCall(
            known, build_request(known, path=path, query=query, body=body, key=key, needs_key=needs_key)
        )

    async def _record(
        self,
        operation: str,
        execution_id: str | None,
        record: type[R],
        *,
        key: str | None = None,
        needs_key: bool = False,
    ) -> R:
        path = _NOTHING if execution_id is None else {"execution_id": execution_id}

        async def read(reply: HttpResponse) -> R:
            return decode_record(reply.body, record)

        return (await self._caller.make(self._call(operation, path=path, key=key, needs_key=needs_key), read))[0]

    async def _page(
        self, call: OperationCall, record: type[R], again: Callable[[Record], Record] | None = None
    ) -> Page[R]:
        async def read(reply: HttpResponse) -> Page[R]:
            if len(reply.body) > SLICED_DECODE_BYTES:
                return await decode_page_sliced(reply.body, record, self._clock, again)
            return decode_page(reply.body, record, again)

        return (await self._caller.make(call, read))[0]


def _record_of(operation: Operation) -> type[Record]:
    if operation.record is None or not operation.lists:
        errors = [{"field": "operation", "message": f"{operation.id} does not list records."}]
        raise InvalidRequestError(operation=operation.id, errors=errors)
    return operation.record


def _cut(page: Page[Any], count: int) -> Page[Any]:
    """The first items of a page. It has no cursor, because the next page begins behind what was cut off."""
    values = page.values[:count]
    records = page.records[: sum(isinstance(value, dict) for value in values)]
    return Page(values, records, end_is_proven=False, extra=page.extra)
