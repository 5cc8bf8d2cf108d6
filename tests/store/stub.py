"""A client whose answers a test writes down, and the errors they may be."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runwatch.api.calls import CallResult, RequestAttempt
from runwatch.api.client import Client
from runwatch.api.errors import ApiError, ApiProblem, NoResponseError, RateLimitedError, UnusableResponseError
from runwatch.api.http.exchange import HttpResponse
from runwatch.api.operations import Operation
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.records.account import Account
from runwatch.records.event import RunEvent
from runwatch.records.record import Page
from runwatch.records.run import Run
from runwatch.store.repositories.scope import Scope
from tests.support import builders
from tests.support.clock import START

ORIGIN = "https://api.example.com"
KEY = "solverapi_test_canary-8f21c0de"
SCOPE = Scope("work", "ten_01", "key_A1b2C3")


@dataclass(frozen=True, slots=True)
class Sent:
    """One write that the stub was given."""

    operation: str
    path: Mapping[str, str]
    body: bytes | None
    key: str | None


class StubClient(Client):
    """Answers each kind of call from its own queue; an error in it is raised, the last entry stays for ever."""

    def __init__(self, *, profile: str = "work", origin: str = ORIGIN, key: str | None = KEY) -> None:
        super().__init__(Target(profile, origin, None if key is None else Secret(key)))
        self.answers: deque[Any] = deque()
        self.event_pages: deque[Any] = deque()
        self.runs: deque[Any] = deque([builders.run(status="running")])
        self.accounts: deque[Any] = deque([builders.account()])
        self.sent: list[Sent] = []
        self.asked: list[str] = []

    async def request(
        self,
        operation: str | Operation,
        *,
        path: Mapping[str, str] = {},
        query: Mapping[str, str | int | bool | None] = {},
        body: bytes | None = None,
        key: str | None = None,
    ) -> CallResult:
        del query
        assert isinstance(operation, str)
        self.sent.append(Sent(operation, path, body, key))
        return answer(_next(self.answers))

    async def list_events(self, execution_id: str, *, after: str | None = None) -> Page[RunEvent]:
        self.asked.append(f"events of {execution_id} after {after}")
        said = _next(self.event_pages)
        events: Sequence[RunEvent] = said(after) if callable(said) else said
        return Page([dict(event.raw) for event in events], list(events))

    async def get_run(self, execution_id: str) -> Run:
        self.asked.append(f"run {execution_id}")
        run = _next(self.runs)
        assert isinstance(run, Run)
        return run

    async def get_account(self) -> Account:
        self.asked.append("account")
        account = _next(self.accounts)
        assert isinstance(account, Account)
        return account


def _next(queue: deque[Any]) -> Any:
    said = queue.popleft() if len(queue) > 1 else queue[0]
    if isinstance(said, ApiError):
        raise said
    return said


def answer(value: object, status: int = 200) -> CallResult:
    return CallResult(HttpResponse(status, {}, b"", 0), value, 1, 0.01)


def refused(
    code: str, *, status: int | None = None, known: bool = True, operation: str = "postExecutions"
) -> ApiProblem:
    """A Problem, with what the client makes of it."""
    problem = builders.problem(code, status=status)
    assert problem.status is not None
    assert problem.title is not None
    return ApiProblem(
        problem.title, problem=problem, status=problem.status, is_synthetic=False,
        wait_s=20.0 if problem.status == 429 else None, operation=operation, attempts=1, outcome_known=known, key=None,
        detail=None, hint=None, retryable=problem.status >= 500,
    )  # fmt: skip


def lost(kind: str = "reset", *, known: bool = False, operation: str = "postExecutions") -> NoResponseError:
    return NoResponseError(
        "The connection was lost before a response came", kind=kind, was_sent=not known, operation=operation,
        attempts=3, outcome_known=known, key=None, detail=ORIGIN, hint="Try again.",
    )  # fmt: skip


def held(seconds: float, *, operation: str = "postExecutions") -> RateLimitedError:
    """A call that an earlier 429 holds back."""
    return RateLimitedError(operation=operation, seconds=seconds)


def unusable(*, known: bool = False, operation: str = "postExecutions") -> UnusableResponseError:
    """A success that cannot be read."""
    return UnusableResponseError(
        "The response cannot be used", status=200, operation=operation, attempts=1, outcome_known=known, key=None,
        detail="it is HTML", hint="Check the base URL.",
    )  # fmt: skip


def exchange(number: int = 1, **over: Any) -> RequestAttempt:
    facts: dict[str, Any] = {
        "at": START, "operation": "getExecutionsByExecutionId", "method": "GET", "path": f"/v1/executions/ex_{number}",
        "query": "", "status": 200, "elapsed_s": 0.012, "attempt": 1, "key": None, "sent_bytes": 0,
        "received_bytes": 420, "error": None, "problem": None, "profile": "work", "origin": ORIGIN,
    }  # fmt: skip
    return RequestAttempt(**{**facts, **over})
