"""Execution of one call: rate-limit gate, transport, retries, and the error for a call that failed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeVar

from runwatch.api import error_builder
from runwatch.api.decoding.item_stream import UnreadableBodyError
from runwatch.api.error_builder import AttemptHistory, OperationCall
from runwatch.api.errors import UNUSABLE_ERROR, ApiError, ApiProblem, NoResponseError
from runwatch.api.http.exchange import ConnectionLostError, HttpResponse
from runwatch.api.http.transport import Transport
from runwatch.api.problem_parser import parse_problem
from runwatch.api.rate_limit_gate import RateLimitGate, parse_retry_after_s
from runwatch.api.retry_policy import find_retry_wait
from runwatch.base.clock import Clock
from runwatch.base.network.retry_after import parse_http_date
from runwatch.base.network.service_target import Target
from runwatch.records.problem import Problem

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallResult:
    """A successful call.

    Attributes:
        response: The response to the last attempt.
        value: The decoded JSON; ``None`` where the response has no body.
        attempts: How many times the request was sent.
        elapsed_s: Seconds from the first attempt to the end, waits included.
    """

    response: HttpResponse
    value: object = field(repr=False)
    attempts: int
    elapsed_s: float


class RequestAttempt(NamedTuple):
    """One request attempt, for the journal. It never holds a secret.

    Attributes:
        at: When it was sent, UTC.
        path: The path as sent, or the operation's path template where the address is a secret.
        query: The query as sent, without the question mark; empty where the address is a secret.
        status: The HTTP status, or ``None`` when no response came.
        elapsed_s: Seconds until the response was read, or lost.
        attempt: The attempt's number within its call, from 1.
        received_bytes: Bytes of the response body on the wire.
        error: Why there is no usable response and no Problem: a kind of :class:`~runwatch.api.errors.NoResponseError`,
            ``unusable``, or ``cancelled`` when the caller cancelled.
        served_at: When the response was made, by the service's clock; ``None`` if it does not say.
    """

    at: datetime
    operation: str
    method: str
    path: str
    query: str
    status: int | None
    elapsed_s: float
    attempt: int
    key: str | None
    sent_bytes: int
    received_bytes: int
    error: str | None
    problem: Problem | None
    profile: str
    origin: str
    served_at: datetime | None = None


class CallExecutor:
    """Makes the calls of one client.

    Args:
        gate: Holds calls back after a 429.
        retries: How many more times a request may be sent.
        observe: Called with every attempt. Its exceptions are logged and go no further.
    """

    def __init__(
        self,
        target: Target,
        transport: Transport,
        clock: Clock,
        gate: RateLimitGate,
        retries: int,
        observe: Callable[[RequestAttempt], None] | None,
    ) -> None:
        self._target = target
        self._transport = transport
        self._clock = clock
        self._gate = gate
        self._retries = retries
        self.may_retry_read: Callable[[], bool] = lambda: True
        self._observe = observe

    async def make(self, call: OperationCall, read: Callable[[HttpResponse], Awaitable[T]]) -> tuple[T, CallResult]:
        """Send the request, retry where that is allowed, and read the response.

        Args:
            read: Converts a successful response to the caller's value, or raises
                :class:`~runwatch.api.decoding.item_stream.UnreadableBodyError`.

        Returns:
            The value from ``read``, and a result whose own ``value`` is ``None``.

        Raises:
            RateLimitedError: An earlier 429 holds the call back; nothing was sent.
            ApiError: The call failed.
        """
        operation, request = call.operation, call.request
        self._gate.check(operation.id, key=request.key)
        start = self._clock.monotonic()
        history = AttemptHistory()
        while True:
            history.attempts += 1
            try:
                value, response = await self._attempt(call, read, history)
                return value, CallResult(response, None, history.attempts, self._clock.monotonic() - start)
            except ApiError as error:
                failure = error
            wait = self._wait_after(failure, call, history)
            if wait is None:
                raise failure
            history.add(failure)
            await self._clock.sleep(wait)
            if self._gate.seconds_left(operation.id) > 0:
                # Another call received a 429 in the meantime, so end with the failure of this one.
                raise failure

    def _wait_after(self, failure: ApiError, call: OperationCall, history: AttemptHistory) -> float | None:
        """Return the seconds until the next attempt, or ``None`` if there is no other attempt."""
        if call.request.method in {"GET", "HEAD"} and not self.may_retry_read():
            return None
        return find_retry_wait(
            call.request.method,
            keyed=call.request.key is not None,
            attempt=history.attempts,
            status=failure.status if isinstance(failure, ApiProblem) else None,
            lost=failure.kind if isinstance(failure, NoResponseError) else None,
            retries=self._retries,
            chance=self._clock.chance(),
        )

    async def _attempt(
        self, call: OperationCall, read: Callable[[HttpResponse], Awaitable[T]], history: AttemptHistory
    ) -> tuple[T, HttpResponse]:
        """Send once, notify the observer, and return the response or raise its error."""
        attempt = _Attempt(self._clock.now(), self._clock.monotonic())
        try:
            value, attempt.response = await self._send(call, read, history, attempt)
        except (ApiError, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError):
                attempt.error = "cancelled"
            self._report(call, history, attempt)
            raise
        self._report(call, history, attempt)
        return value, attempt.response

    async def _send(
        self,
        call: OperationCall,
        read: Callable[[HttpResponse], Awaitable[T]],
        history: AttemptHistory,
        attempt: _Attempt,
    ) -> tuple[T, HttpResponse]:
        # Errors are raised outside the handlers: as their context, the caught ones would keep the frames that hold the
        # request and the body, and so perhaps the key.
        lost = None
        try:
            response = await self._transport.send(call.request)
        except ConnectionLostError as error:
            lost = error
        if lost is not None:
            attempt.error = lost.kind
            attempt.received_bytes = lost.received_bytes
            raise error_builder.build_no_response(lost, call, history, self._target)
        attempt.response = response
        attempt.ended = self._clock.monotonic()
        if not response.is_success:
            problem, is_synthetic = parse_problem(response)
            attempt.problem = problem
            wait_s = self._close_gate(problem, response, call) if response.status == 429 else None
            raise error_builder.build_api_problem(
                problem, response.status, call, history, is_synthetic=is_synthetic, wait_s=wait_s
            )
        try:
            if response.flaw is not None:
                raise UnreadableBodyError(response.flaw)
            return await read(response), response
        except UnreadableBodyError as error:
            reason = str(error)
        attempt.error = UNUSABLE_ERROR
        raise error_builder.build_unusable_response(reason, response, call, history)

    def _close_gate(self, problem: Problem, response: HttpResponse, call: OperationCall) -> float:
        """Close the gate after a 429 and return the seconds. Any code but ``quota_exceeded`` holds the whole origin."""
        seconds = parse_retry_after_s(problem, response.headers.get("retry-after"), self._clock.now())
        operation = call.operation.id if problem.code == "quota_exceeded" else None
        self._gate.close(operation, seconds, problem.instance)
        return seconds

    def _report(self, call: OperationCall, history: AttemptHistory, attempt: _Attempt) -> None:
        if self._observe is None:
            return
        request, response = call.request, attempt.response
        ended = self._clock.monotonic() if attempt.ended is None else attempt.ended
        observed = RequestAttempt(
            at=attempt.at,
            operation=call.operation.id,
            method=request.method,
            path=call.operation.path if call.operation.secret_address else request.path,
            query="" if call.operation.secret_address else request.query,
            status=None if response is None else response.status,
            elapsed_s=round(ended - attempt.began, 6),
            attempt=history.attempts,
            key=request.key,
            sent_bytes=len(request.body or b""),
            received_bytes=attempt.received_bytes if response is None else response.received_bytes,
            error=attempt.error,
            problem=attempt.problem,
            profile=self._target.profile,
            origin=self._target.origin,
            served_at=None if response is None else parse_http_date(response.headers.get("date")),
        )
        try:
            self._observe(observed)
        except Exception:
            _log.exception("the observer of requests failed")


@dataclass(slots=True)
class _Attempt:
    """What is known about an attempt while it runs."""

    at: datetime
    began: float
    ended: float | None = None
    response: HttpResponse | None = None
    received_bytes: int = 0
    error: str | None = None
    problem: Problem | None = None
