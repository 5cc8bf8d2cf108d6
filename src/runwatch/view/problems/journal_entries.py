"""Rows of the local journal as records: problems met and requests sent by this machine.

They come from the journal's database, not from the service, so they have members of their own. What the service sent is
kept unchanged in ``raw``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote

from runwatch.api.errors import UNSENT_ERRORS, ApiError, ApiProblem
from runwatch.api.operations import SUBMIT
from runwatch.base.clock import format_iso
from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.records.problem import PROBLEM_MEMBERS, Problem
from runwatch.records.record import Record, amount, flag, integer, mapping, moment, text

if TYPE_CHECKING:
    from datetime import datetime

    from runwatch.api.operations import Operation
    from runwatch.base.errors import RunwatchError
    from runwatch.base.network.service_target import Target
    from runwatch.store.repositories.journal import JournalProblem, JournalRequest

MAX_PAUSE_S: Final = 60.0
"""Longest time between two tries to reach a service that belong together, in seconds; the console tries more often."""

_RUN_PATH: Final = lazy_pattern(r"/v1/(?:executions|receipts)/([^/?]+)")


class _Entry(Record):
    """Members that both kinds of rows have."""

    time = moment("time")
    profile = text("profile")
    origin = text("origin")
    method = text("method")
    path = text("path")
    operation = text("operation")
    status = integer("status")
    code = text("code")
    instance = text("instance")
    key = text("key")
    attempt = integer("attempt")
    elapsed_s = amount("elapsed_s")

    @property
    def host(self) -> str | None:
        return None if self.origin is None else self.origin.rpartition("//")[2]

    @property
    def request(self) -> str | None:
        """Method and path, as far as known."""
        return " ".join(part for part in (self.method, self.path) if part) or None

    @property
    def is_submit(self) -> bool:
        """Whether it is the operation whose failures have an effect: whether a run was accepted."""
        return self.operation == SUBMIT

    @property
    def run_id(self) -> str | None:
        """The run that the path names; ``None`` if it names none."""
        match = _RUN_PATH.match(self.path or "")
        return None if match is None else unquote(match[1], errors="surrogateescape")


class ProblemEntry(_Entry):
    """One problem with the time and request where it occurred.

    Only the local service has its ``cause``, and only a write that was just sent has ``had_no_effect``: whether it
    certainly had none, as when no connection was made.
    """

    KIND = "problem"

    title = text("title")
    detail = text("detail")
    cause = text("cause")
    had_no_effect = flag("had_no_effect")
    body = mapping("raw")

    @property
    def id(self) -> str:
        """The ``instance``, or the time and the attempt for a problem without one."""
        return self.instance or f"{self._raw.get('time')}/{self._raw.get('attempt')}"

    @property
    def request_id(self) -> str:
        """The id of its request, equal to :attr:`RequestEntry.id`."""
        return _request_id(self._raw)

    @property
    def problem(self) -> Problem:
        """The problem as sent if that was kept, else rebuilt from the row."""
        if self.body is not None:
            return Problem(dict(self.body))
        names = (*PROBLEM_MEMBERS, "code")
        members = {name: self._raw[name] for name in names if self._raw.get(name) is not None}
        code = members.pop("code", None)
        if code is not None:
            members.setdefault("type", code)
        return Problem(members)


class RequestEntry(_Entry):
    """One request attempt. ``code`` and ``instance`` are those of its problem."""

    KIND = "request"

    query = text("query")
    sent_bytes = integer("sent_bytes")
    received_bytes = integer("received_bytes")
    error = text("error")
    tries = integer("tries")
    """Number of tries that a folded entry stands for; the other members are those of the newest."""

    since = moment("since")
    """The time of the first of them."""

    @property
    def id(self) -> str:
        """Unique id, made of time, operation, path and attempt; a folded entry keeps its id while tries are added."""
        if self.tries is not None:
            return f"{self._raw.get('since')}/{self.origin}"
        return _request_id(self._raw)

    @property
    def problem_id(self) -> str | None:
        """The id of its problem, equal to :attr:`ProblemEntry.id`; ``None`` if it has none."""
        if self.instance is None and self.code is None:
            return None
        return self.instance or f"{self._raw.get('time')}/{self._raw.get('attempt')}"

    @property
    def is_given_up(self) -> bool:
        return is_given_up(self.method, self.error)

    @property
    def is_problem(self) -> bool:
        return (self.error is not None and not self.is_given_up) or (self.status is not None and self.status >= 400)


def is_given_up(method: str | None, error: str | None) -> bool:
    """Return whether a request is a read whose answer was no longer wanted, as after the cursor went on."""
    return error == "cancelled" and method == "GET"


T = TypeVar("T", bound=Record)


def fold_unreached(entries: Sequence[T]) -> Sequence[T]:
    """Fold reads that got no connection, those after one another to one service, into one entry in place of the newest.

    A service that is gone is tried every few seconds, which would hide everything else. Tries after a pause are another
    entry, as nobody looked for the service meanwhile. An entry folded before counts with its tries.
    """
    groups: list[list[T]] = []
    pending: dict[str, list[T]] = {}
    ended: dict[str, datetime | None] = {}
    for entry in sorted(entries, key=lambda each: str(each.raw.get("time"))):
        method, error, origin = entry.raw.get("method"), entry.raw.get("error"), str(entry.raw.get("origin"))
        if error not in UNSENT_ERRORS:
            if not is_given_up(method, error):
                pending.pop(origin, None)
        elif method == "GET":
            tried = RequestEntry(dict(entry.raw))
            begun, last = tried.since or tried.time, ended.get(origin)
            is_late = begun is not None and last is not None and (begun - last).total_seconds() > MAX_PAUSE_S
            ended[origin] = tried.time
            if is_late or origin not in pending:
                groups.append([])
                pending[origin] = groups[-1]
            pending[origin].append(entry)
    folded: dict[int, T | None] = {}
    for group in groups:
        if len(group) > 1:
            first, newest = group[0].raw, group[-1].raw
            tries = sum(RequestEntry(dict(each.raw)).tries or 1 for each in group)
            members = {**newest, "tries": tries, "since": first.get("since", first.get("time"))}
            folded |= dict.fromkeys(map(id, group)) | {id(group[-1]): type(group[-1])(members)}
    if not folded:
        return entries
    return [shown for each in entries if (shown := folded.get(id(each), each)) is not None]


def _request_id(raw: Mapping[str, Any]) -> str:
    return "/".join(str(raw.get(name)) for name in ("time", "operation", "path", "attempt"))


def attach_problems(requests: Iterable[RequestEntry], problems: Iterable[ProblemEntry]) -> list[RequestEntry]:
    """Return the requests with code and instance of their problems."""
    met = {problem.request_id: problem for problem in problems}
    found = []
    for request in requests:
        problem = met.get(request.id)
        if problem is not None:
            # A problem without a code of its own can be opened from its request too.
            members = {"code": problem.code or problem.problem.code, "instance": problem.instance}
            request = RequestEntry({**request.raw, **known_members(members)})
        found.append(request)
    return found


def problem_from_journal(problem: JournalProblem) -> ProblemEntry:
    """Convert a journal problem to a record without unknown members."""
    members = {name: getattr(problem, name) for name in _COMMON} | {
        "title": problem.title,
        "detail": problem.detail,
        "instance": problem.instance,
        "code": problem.code or None,
        "raw": dict(problem.raw),
    }
    return ProblemEntry(known_members({"time": format_iso(problem.at), **members}))


def problem_entry_from_error(
    error: RunwatchError, operation: Operation, target: Target, at: datetime, *, had_no_effect: bool = False
) -> ProblemEntry:
    """Return an error as an entry of the problem panel, also without an RFC 9457 problem. ``had_no_effect`` is for a
    write that certainly did nothing.
    """
    members: dict[str, Any] = {
        "time": format_iso(at),
        "profile": target.profile,
        "origin": target.origin,
        "method": operation.method,
        "path": operation.path,
        "operation": operation.id,
        "title": error.title,
        "had_no_effect": had_no_effect or None,
        "detail": error.detail or None,
    }
    if isinstance(error, ApiError):
        members |= {"attempt": error.attempts, "key": error.key or None}
    if isinstance(error, ApiProblem):
        problem = error.problem
        members |= {"status": error.status, "code": error.code, "raw": dict(problem.raw)}
        members["instance"] = problem.instance or None
    return ProblemEntry(known_members(members))


def request_from_journal(request: JournalRequest) -> RequestEntry:
    """Convert a journal request to a record without unknown members."""
    names = (*_COMMON, "query", "elapsed_s", "sent_bytes", "received_bytes", "error")
    return RequestEntry(
        known_members({"time": format_iso(request.at), **{name: getattr(request, name) for name in names}})
    )


_COMMON: Final = ("profile", "origin", "method", "path", "operation", "status", "key", "attempt")


def known_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}
