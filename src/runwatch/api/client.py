"""Client with typed methods for runs, receipts and the account, and a generic request for every operation.

::

    async with Client(target) as client:
        receipt = await client.get_receipt(run_id)
        written = await client.request("postExecutions", body=body, key=str(uuid.uuid4()))

Every method raises errors of :mod:`runwatch.api.errors`, which hold the number of attempts and whether the outcome of a
write is known (manual: decisions, "Client and retries").
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
from runwatch.api.error_builder import OperationCall
from runwatch.api.errors import InvalidRequestError, ReadOnlyError, UnusableResponseError
from runwatch.api.http.exchange import HttpResponse
from runwatch.api.http.transport import Transport
from runwatch.api.operations import OPERATIONS, PRIVATE_ENTRY, Operation
from runwatch.api.rate_limit_gate import RateLimitGate
from runwatch.api.request_builder import QueryValue, build_request
from runwatch.api.retry_policy import RETRIES
from runwatch.api.secrets import build_secret_request, redact_response_secrets
from runwatch.base.clock import Clock, SystemClock
from runwatch.base.log import keep_secret
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.records.account import Account
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.record import Page, Record
from runwatch.records.run import Run, RunResult

R = TypeVar("R", bound=Record)

PAGE_SIZE: Final = 100
"""Page size that :meth:`Client.pages` requests; the largest one allowed (manual: interface, "Paging")."""

MAX_EMPTY_PAGES: Final = 100
"""Empty pages in a row after which :meth:`Client.pages` gives up: a list that has anything left shows some of it."""

_NOTHING: Final[Mapping[str, Any]] = {}


class Client:
    """Calls one service as one profile.

    Use it as an asynchronous context manager, which closes the connections at the end. No connection is opened before
    the first call.

    Every call raises an :class:`~runwatch.api.errors.ApiError` as :meth:`request` does.

    Args:
        target: The service, and the key for it.
        read_only: Refuse operations that mutate before anything is sent.
        retries: How many more times to send a request after a network failure or a 5XX, where a retry is allowed.
        observe: Called with every attempt, on the event loop, so it must be quick. Its exceptions are logged.
    """

    def __init__(
        self,
        target: Target,
        *,
        clock: Clock | None = None,
        read_only: bool = False,
        retries: int = RETRIES,
        observe: Callable[[RequestAttempt], None] | None = None,
    ) -> None:
        self.target: Final = target
        self.read_only: Final = read_only
        self._clock = clock if clock is not None else SystemClock()
        self.gate: Final = RateLimitGate(self._clock)
        self._transport = Transport(target)
        self._caller = CallExecutor(target, self._transport, self._clock, self.gate, retries, observe)
        if target.key is not None:
            keep_secret(target.key)

    async def __aenter__(self) -> Client:
        """Return the client; connections open with the first call."""
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def can_connect(self) -> bool | None:
        """Return whether a connection to the service opens, as :meth:`Transport.can_connect` does."""
        return await self._transport.can_connect()

    async def request(
        self,
        operation: str | Operation,
        *,
        path: Mapping[str, str] = _NOTHING,
        query: Mapping[str, QueryValue] = _NOTHING,
        body: bytes | None = None,
        key: str | None = None,
    ) -> CallResult:
        """Call an operation and return its decoded JSON: ``None`` for a 204, or for an empty body where no record is
        declared.

        A write without a key is never retried, so give every mutation a key (manual: interface, "Retries").

        Args:
            operation: The id of a known operation, or an operation of the caller's own.
            path: Path parameters. Each is sent exactly as received, with every reserved character percent-encoded.
            query: Query parameters; booleans become ``true`` or ``false``, ``None`` is left out.
            body: The exact bytes of the body, JSON in UTF-8; every attempt sends the same bytes.
            key: The idempotency key; a blank one counts as none (manual: interface, "Idempotency").

        Raises:
            ReadOnlyError: The operation mutates and this client is read-only.
            InvalidRequestError: A parameter breaks a rule of the interface.
            RateLimitedError: An earlier 429 holds the call back.
            NoResponseError: No complete response came.
            ApiProblem: The service refused or failed.
            UnusableResponseError: A successful response cannot be read.
        """
        call = self._call(operation, path=path, query=query, body=body, key=key)

        async def read(response: HttpResponse) -> object:
            if not response.body and (response.status == 204 or call.operation.record is None):
                return None
            return decode_value(response.body)

        value, result = await self._caller.make(call, read)
        redact_response_secrets(call.operation, value)
        return replace(result, value=value)

    async def enter_secret(self, address: Secret, secret: Secret) -> object:
        """Enter a secret on the private page that an intent names, and return the page's response.

        It is sent once, because a page accepts one secret. Read the resource to learn whether it was accepted.

        Args:
            address: The ``continue_url`` of the intent.
            secret: Neither it nor the address reaches a log, the journal or the disk.

        Raises:
            InvalidRequestError: The page is not at the service's own address; nothing was sent.
        """
        if self.read_only:
            raise ReadOnlyError(operation=PRIVATE_ENTRY.id, what=PRIVATE_ENTRY.title)
        call = OperationCall(PRIVATE_ENTRY, build_secret_request(self.target, address, secret))

        async def read(response: HttpResponse) -> object:
            return decode_value(response.body)

        return (await self._caller.make(call, read))[0]

    def limit_retries(self, may_retry_read: Callable[[], bool]) -> None:
        """Ask before each retry of a read, in the task that reads, whether it may be sent."""
        self._caller.may_retry_read = may_retry_read

    async def get_run(self, execution_id: str) -> Run:
        """Return one run (``GET /v1/executions/{execution_id}``)."""
        return await self._record("getExecutionsByExecutionId", execution_id, Run)

    async def list_events(self, execution_id: str, *, after: str | None = None) -> Page[RunEvent]:
        """Return the events of a run, oldest first, each with its exact text (``GET
        /v1/executions/{execution_id}/events``).

        Args:
            after: Only events after the one with this id. A service that does not know the id may return all events.
        """
        call = self._call(
            "getExecutionsByExecutionIdEvents", path={"execution_id": execution_id}, query={"after": after}
        )
        return await self._page(call, RunEvent)

    async def get_result(self, execution_id: str) -> RunResult:
        """Return the model output of a completed live run (``GET /v1/executions/{execution_id}/result``).

        A test run has no result, and the service keeps one for a limited time only.
        """
        return await self._record("getExecutionsByExecutionIdResult", execution_id, RunResult)

    async def get_receipt(self, execution_id: str) -> Receipt:
        """Return the receipt of a final run (``GET /v1/receipts/{execution_id}``)."""
        return await self._record("getReceiptsByExecutionId", execution_id, Receipt)

    async def get_account(self) -> Account:
        """Return the account of the key: principal, quota, rate limit, balance (``GET /v1/account``)."""
        return await self._record("getAccount", None, Account)

    async def page(
        self,
        operation: str | Operation,
        *,
        query: Mapping[str, QueryValue] = _NOTHING,
        intern: Callable[[Record], Record] | None = None,
    ) -> Page[Any]:
        """Return one page of a list.

        Args:
            query: Query parameters, as for :meth:`request`, ``cursor`` and ``limit`` included.
            intern: As for :meth:`pages`.
        """
        known = self._operation(operation)
        return await self._page(self._call(known, query=query), _record_of(known), intern)

    async def pages(
        self,
        operation: str | Operation,
        *,
        path: Mapping[str, str] = _NOTHING,
        query: Mapping[str, QueryValue] = _NOTHING,
        limit: int | None = None,
        intern: Callable[[Record], Record] | None = None,
    ) -> AsyncIterator[Page[Any]]:
        """Yield the pages of a list until its end or until ``limit`` items; the last page is cut to fit.

        Each page repeats the filters and sends the cursor back unchanged (manual: interface, "Paging"). A paged list
        uses the largest page size unless the query sets its own ``limit``.

        Args:
            operation: The id of a known operation that lists records, or an operation of the caller's own.
            query: Query parameters, as for :meth:`request`.
            limit: How many items to read; ``None`` for all.
            intern: Returns the record to keep for a received one: the stored record if the two are equal.

        Raises:
            ApiError: As for :meth:`request`. A repeated cursor, and :data:`MAX_EMPTY_PAGES` in a row, are an
                ``UnusableResponseError``.
        """
        known = self._operation(operation)
        record = _record_of(known)
        asked = dict(query)
        taken = empty = 0
        seen = {asked.get("cursor")}
        while limit is None or taken < limit:
            if record.WIRE is not None and record.WIRE.paged and "limit" not in query:
                asked["limit"] = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - taken)
            page = await self._page(self._call(known, path=path, query=asked), record, intern)
            if limit is not None and taken + len(page.values) > limit:
                page = _cut(page, limit - taken)
            taken += len(page.values)
            empty = 0 if page.values else empty + 1
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return
            if cursor in seen:
                raise _endless_list(known, "the service gave the same next_cursor twice", "repeats its cursor")
            if empty == MAX_EMPTY_PAGES:
                raise _endless_list(known, f"{empty} pages in a row were empty", "goes on with empty pages")
            seen.add(cursor)
            asked["cursor"] = cursor

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
    ) -> OperationCall:
        known = self._operation(operation)
        if known.mutates and self.read_only:
            raise ReadOnlyError(operation=known.id, what=known.title, key=key)
        return OperationCall(known, build_request(known, path=path, query=query, body=body, key=key))

    async def _record(self, operation: str, execution_id: str | None, record: type[R]) -> R:
        path = _NOTHING if execution_id is None else {"execution_id": execution_id}

        async def read(response: HttpResponse) -> R:
            return decode_record(response.body, record)

        return (await self._caller.make(self._call(operation, path=path), read))[0]

    async def _page(
        self, call: OperationCall, record: type[R], intern: Callable[[Record], Record] | None = None
    ) -> Page[R]:
        async def read(response: HttpResponse) -> Page[R]:
            if len(response.body) > SLICED_DECODE_BYTES:
                return await decode_page_sliced(response.body, record, self._clock, intern)
            return decode_page(response.body, record, intern)

        return (await self._caller.make(call, read))[0]


def _record_of(operation: Operation) -> type[Record]:
    if operation.record is None or not operation.lists:
        errors = [{"field": "operation", "message": f"{operation.id} does not list records."}]
        raise InvalidRequestError(operation=operation.id, errors=errors)
    return operation.record


def _cut(page: Page[Any], count: int) -> Page[Any]:
    """Return the first items of a page, without a cursor, because the next page starts after the items cut off."""
    values = page.values[:count]
    records = page.records[: sum(isinstance(value, (dict, Record)) for value in values)]
    return Page(values, records, end_is_proven=False, extra=page.extra)


def _endless_list(operation: Operation, detail: str, flaw: str) -> UnusableResponseError:
    return UnusableResponseError(
        "The list never ends",
        status=200,
        operation=operation.id,
        attempts=1,
        outcome_known=True,
        key=None,
        detail=detail,
        hint=f"The records before it are complete. Report to support that this list {flaw}.",
    )
