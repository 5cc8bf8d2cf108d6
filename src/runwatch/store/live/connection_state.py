"""State of the connection, from the last answer of any read (manual: decisions, "Connection")."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from runwatch.api.calls import RequestAttempt
from runwatch.api.errors import CUT_ERROR, TOO_LARGE_ERROR, UNSENT_ERRORS, UNUSABLE_ERROR
from runwatch.records.problem import NOT_A_PROBLEM

PROBE_S: Final = 3.0
"""Pause between two attempts to reach a service that does not respond, so that its return is seen within 5 s."""

FAILURES_IN_ROW: Final = 3
"""After this many failures without an answer of the service in between, the console does not call itself live."""


class ConnectionState:
    """Whether the service responds.

    A read that is repeated counts only when its last attempt has failed. A write that fails says nothing by itself, so
    a read asks at once. A Problem is a response of the service, whatever its status and request; an error page of a
    proxy is not, nor is an answer that cannot be read. One operation that gets such pages while others get responses
    says nothing of the service, so the pages count once a second operation gets one. Nor does one whose connections
    break, once others have got responses since.

    Args:
        retries: How many more times a request is sent.
        on_doubt: Called when a request has failed for good, and the service may be lost; with the seconds after which
            to ask it.
        on_return: Called when the service responds again.
        may_retry: Returns whether a failed read is sent again, while its retries last.
        on_mended: Called when a path whose last read failed gets a usable answer.

    Attributes:
        has_responded: Whether the service has responded in this session.
        has_api_responded: Whether one of its responses was the interface's: other servers have pages of their own.
        failing_since: When the first of at least three failures in a row was; ``None`` while the service responds.
            They are of two paths or more, or of three calls that were not sent again, so that one broken list says
            nothing of the others.
        lost_since: When the first read failed since the last response; ``None`` while the service responds.
        came: What came in place of the last answer, such as an error page; empty if nothing came, or an answer.
    """

    def __init__(
        self,
        retries: int,
        on_doubt: Callable[[float], None],
        on_return: Callable[[], None],
        on_mended: Callable[[], None],
        *,
        may_retry: Callable[[], bool] = lambda: True,
    ) -> None:
        self._retries = retries
        self._on_doubt = on_doubt
        self._on_return = on_return
        self._on_mended = on_mended
        self._may_retry = may_retry
        self._failing: set[str] = set()
        self._failed_at: datetime | None = None
        self._with_error_pages: set[str] = set()
        self._lost: set[str] = set()
        """Operations of which a read was lost for good, and none got a response since."""
        self._broken: set[str] = set()
        """Those of them after whose loss others got a response, so that their losses say nothing of the service."""
        self._failed_in_row: list[RequestAttempt] = []
        self._is_unreachable = False
        self.failing_since: datetime | None = None
        self.has_responded = self.has_api_responded = False
        self.lost_since: datetime | None = None
        self.came = ""

    def note(self, attempt: RequestAttempt) -> None:
        """Learn from a request attempt; one that the caller cancelled says nothing."""
        if attempt.status is None and attempt.error == "cancelled":
            return
        is_usable = _is_response(attempt) and attempt.error in {None, TOO_LARGE_ERROR}
        is_of_api = attempt.problem.code != NOT_A_PROBLEM if attempt.problem else is_usable
        self.has_api_responded = self.has_api_responded or is_of_api
        is_last = attempt.attempt > self._retries or attempt.error == UNUSABLE_ERROR
        if attempt.method not in {"GET", "HEAD"} and not _is_response(attempt):
            if (is_last or attempt.key is None) and self.lost_since is None:
                self._on_doubt(0.0)
            return
        is_mended = is_usable and attempt.path in self._failing
        (self._failing.discard if is_usable else self._failing.add)(attempt.path)
        self._count_failures(attempt, is_usable=is_usable)
        self.came = "" if is_usable else _what_came(attempt)
        if _is_response(attempt):
            self.has_responded, self._failed_at = True, None
            self._with_error_pages.clear()
            self._lost.discard(attempt.operation)
            self._broken = set(self._lost)
            self._find_again()
            if is_mended:
                self._on_mended()
            return
        self._failed_at, self._is_unreachable = self._failed_at or attempt.at, False
        is_last = is_last or not self._may_retry()
        if not is_last or self.lost_since is not None:
            return
        if self.came:
            self._with_error_pages.add(attempt.operation)
        else:
            self._lost.add(attempt.operation)
        is_alone = attempt.operation in self._broken and attempt.error not in UNSENT_ERRORS
        if len(self._with_error_pages) > 1 or not (self.came or is_alone):
            self.lost_since = self._failed_at
        self._on_doubt(PROBE_S)

    def note_connect(self, at: datetime, *, is_open: bool) -> None:
        """Learn from a connection without a request, which is tried while no request may be sent.

        One that opens only takes back what one that did not open has said: behind it the service may still be lost.
        """
        if not is_open and self.lost_since is None:
            self.lost_since, self._is_unreachable, self.came = self._failed_at or at, True, ""
            self._on_doubt(PROBE_S)
        elif is_open and self._is_unreachable:
            self._failed_at = None
            self._find_again()

    def _find_again(self) -> None:
        self._is_unreachable = False
        if self.lost_since is not None:
            self.lost_since = None
            self._on_return()

    def _count_failures(self, attempt: RequestAttempt, *, is_usable: bool) -> None:
        if is_usable:
            self._failed_in_row.clear()
            self.failing_since = None
            return
        row = self._failed_in_row = [*self._failed_in_row, attempt][-FAILURES_IN_ROW:]
        is_one_call = len({failed.path for failed in row}) == 1 and len({failed.attempt for failed in row}) > 1
        if len(row) == FAILURES_IN_ROW and not is_one_call:
            self.failing_since = self.failing_since or row[0].at


def _is_response(attempt: RequestAttempt) -> bool:
    if attempt.status is None:
        return attempt.error == TOO_LARGE_ERROR
    if attempt.error == UNUSABLE_ERROR:
        return False
    return attempt.status < 500 or (attempt.problem is not None and attempt.problem.code != NOT_A_PROBLEM)


def _what_came(attempt: RequestAttempt) -> str:
    """Describe what came in place of an answer; empty if nothing came, or a response of the service."""
    if attempt.status is None:
        return "an answer that breaks off" if attempt.error == CUT_ERROR else ""
    if _is_response(attempt):
        return ""
    if not attempt.received_bytes:
        what = "an empty answer"
    else:
        what = "an error page" if attempt.status >= 500 else "an unreadable answer"
    return f"{what} ({attempt.status})"
