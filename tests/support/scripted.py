"""A service on loopback that says exactly what a test wrote down, hostile or not.

::

    service = ScriptedService(runs=[run("ex_1", "completed")], receipts=[echo_receipt("ex_1")])
    service.say("GET", "/v1/account", Said(200, b"{", content_type="application/json"))
    async with service:
        ...                                     # call service.base_url

It answers the operations of runs, events, results, receipts and the account from those data, in pages (manual:
interface, "Paging"), and writes every JSON value so that a reader gets back exactly what the test gave.
It checks nothing.
Tests without an event loop use :func:`running_service`.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from runwatch.base.json import dumps
from runwatch.records.problem import PROBLEM_TYPE, Problem
from runwatch.records.record import Record
from runwatch.records.states import is_final
from tests.support import builders
from tests.support.http1 import Head, answer_bytes, read_body, read_head
from tests.support.listening import Listening
from tests.support.threads import in_thread

Raw = Record | Mapping[str, Any]
"""A record, or the object it would be a view over."""


@dataclass(frozen=True, slots=True)
class Said:
    """One answer, word for word.

    Attributes:
        status: Its status.
        body: The bytes of the body, or a value to be written as JSON, or a record.
        content_type: Its type; ``None`` for none; chosen by status where it is left empty.
        headers: Further headers.
    """

    status: int
    body: Any = b""
    content_type: str | None = ""
    headers: tuple[tuple[str, str], ...] = ()

    def wire(self) -> bytes:
        """The whole answer as it goes on the wire."""
        body = self.body if isinstance(self.body, bytes) else dumps(_plain(self.body)).encode("ascii")
        kind = self.content_type
        if kind == "":
            kind = "application/json" if self.status < 400 else PROBLEM_TYPE
        return answer_bytes(self.status, body, content_type=kind, headers=self.headers)


@dataclass(frozen=True, slots=True)
class Heard:
    """One request that the service got.

    Attributes:
        head: Its head, exactly.
        body: Its body, exactly.
    """

    head: Head
    body: bytes


class EventSource(Protocol):
    """Where the events of runs come from."""

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        """The run's events so far, those after the named one only; ``None`` for an unknown run."""
        ...


class _Listed:
    """Events that all exist; an unknown ``after`` gives all of them (manual: decisions, "Error responses")."""

    def __init__(self, events: Mapping[str, Iterable[Raw]]) -> None:
        self._events = {run_id: [_plain(event) for event in listed] for run_id, listed in events.items()}

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        listed = self._events.get(run_id)
        if listed is None or after is None:
            return listed
        ids = [event.get("event_id") for event in listed]
        return listed[ids.index(after) + 1 :] if after in ids else listed


class ScriptedService(Listening):
    """The service.

    Args:
        runs: What the list of runs gives, newest first, and what single reads find by id.
        events: Events by run id, or a source that knows them.
        receipts: What the list of receipts gives, and what single reads find by id.
        results: Results by run id.
        account: The account; ``None`` when the service does not offer it.
        submitted: What submits answer, one after another; then each makes a run with its own id.
        key: The key that requests must carry; ``None`` when anybody may ask.

    Attributes:
        heard: Every request, in order.
    """

    def __init__(
        self,
        *,
        runs: Iterable[Raw] = (),
        events: Mapping[str, Iterable[Raw]] | EventSource | None = None,
        receipts: Iterable[Raw] = (),
        results: Mapping[str, Raw] | None = None,
        account: Raw | None = None,
        submitted: Iterable[Raw] = (),
        key: str | None = None,
    ) -> None:
        super().__init__()
        self.heard: list[Heard] = []
        self.runs: Final = [_plain(run) for run in runs]
        self.receipts: Final = [_plain(receipt) for receipt in receipts]
        self._results = {run_id: _plain(result) for run_id, result in (results or {}).items()}
        self._account = _plain(account) if account is not None else None
        self._submitted = deque(_plain(run) for run in submitted)
        self._source: EventSource = (
            _Listed(events) if isinstance(events, Mapping) else events if events is not None else _Listed({})
        )
        self._key = key
        self._said: list[tuple[str, re.Pattern[str], deque[Said]]] = []

    @property
    def base_url(self) -> str:
        return self.origin

    def say(self, method: str, path: str, *answers: Said) -> None:
        """Answer requests with this method whose whole path matches with these answers, the last one for ever."""
        self._said.insert(0, (method, re.compile(path), deque(answers)))

    def requests(self, method: str = "*", path: str = ".*") -> list[Heard]:
        """The requests heard so far with this method whose whole path matches the pattern."""
        wanted = re.compile(path)
        return [
            heard
            for heard in self.heard
            if method in {"*", heard.head.method} and wanted.fullmatch(heard.head.path) is not None
        ]

    def current_runs(self) -> list[dict[str, Any]]:
        """The runs as they are now, newest first."""
        return self.runs

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await read_head(reader)) is not None:
            heard = Heard(head, await read_body(reader, head))
            self.heard.append(heard)
            writer.write(self._answer(heard).wire())
            await writer.drain()
            if (head.header("connection") or "").lower() == "close":
                break

    def _answer(self, heard: Heard) -> Said:
        head = heard.head
        for method, path, answers in self._said:
            if method in {"*", head.method} and path.fullmatch(head.path):
                return answers.popleft() if len(answers) > 1 else answers[0]
        if self._key is not None and head.header("authorization") != f"Bearer {self._key}":
            return _refused("unauthenticated")
        return self._operation(heard)

    def _operation(self, heard: Heard) -> Said:
        head = heard.head
        match (head.method, *head.segments):
            case ("POST", "v1", "executions"):
                return Said(200, self._submit())
            case ("GET", "v1", "executions"):
                return Said(200, self._page("executions", self.current_runs(), head.query))
            case ("GET", "v1", "executions", run_id):
                return _found(self._run(run_id))
            case ("GET", "v1", "executions", run_id, "events"):
                events = self._source.events(run_id, head.query.get("after"))
                return _refused("not_found") if events is None else Said(200, {"events": list(events)})
            case ("GET", "v1", "executions", run_id, "result"):
                return _found(self._results.get(run_id))
            case ("POST", "v1", "executions", run_id, "cancel"):
                return self._cancel(run_id)
            case ("GET", "v1", "receipts"):
                return Said(200, {"receipts": _filtered(self.receipts, head.query)})
            case ("GET", "v1", "receipts", run_id):
                return _found(_by_id(self.receipts, run_id))
            case ("GET", "v1", "account"):
                return _found(self._account)
        return _refused("not_found")

    def _run(self, run_id: str) -> dict[str, Any] | None:
        return _by_id(self.current_runs(), run_id)

    def _submit(self) -> dict[str, Any]:
        run = (
            self._submitted.popleft()
            if self._submitted
            else dict(builders.run(f"ex_scripted_{len(self.runs) + 1}", "accepted").raw)
        )
        self.runs.insert(0, run)
        return run

    def _cancel(self, run_id: str) -> Said:
        run = self._run(run_id)
        if run is None:
            return _refused("not_found")
        if is_final(run.get("status")):
            return _refused("invalid_state")
        run["status"] = "cancelled"
        return Said(200, run)

    def _page(self, member: str, items: list[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:
        """One page; the cursor is the position where the next one begins."""
        wanted = _filtered(items, query)
        start = int(query.get("cursor", "0"))
        end = start + int(query.get("limit", "50"))
        return {member: wanted[start:end], "next_cursor": str(end) if end < len(wanted) else None}


def _filtered(items: list[dict[str, Any]], query: Mapping[str, str]) -> list[dict[str, Any]]:
    status = query.get("status")
    return [item for item in items if status is None or item.get("status") == status]


def _by_id(items: list[dict[str, Any]], run_id: str) -> dict[str, Any] | None:
    return next((item for item in items if item.get("execution_id") == run_id), None)


def _found(value: dict[str, Any] | None) -> Said:
    return _refused("not_found") if value is None else Said(200, value)


def _refused(code: str) -> Said:
    problem: Problem = builders.problem(code)
    return Said(problem.status or 500, problem)


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return dict(value.raw)
    return dict(value) if isinstance(value, Mapping) else value


@contextlib.contextmanager
def running_service(service: ScriptedService) -> Iterator[ScriptedService]:
    """The service, served by its own thread while the block runs."""
    with in_thread(service) as (entered, _):
        yield entered
