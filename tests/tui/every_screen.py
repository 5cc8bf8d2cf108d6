"""Every screen of the console by its name, and stores put into every state of C4.

A new line of :data:`runwatch.tui.screens.registry.PAGE_CLASSES` or of the registry is in :data:`SCREENS` by itself, and
so in every test that goes over all screens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.records.account import Account
from runwatch.records.compliance import ComplianceExport
from runwatch.records.evaluation import EvalSummary
from runwatch.records.problem import Problem
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.records.usage import Usage
from runwatch.store.live.poller import Poller
from runwatch.store.state.changes import ListRead, ReadFailed, ReadFailure, ReadStarted, StoreChange
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.freshness import LoadState
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.screens.base.report_screen import ReportScreen
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.registry import PAGE_CLASSES
from runwatch.tui.screens.reports.overview import OverviewScreen
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.view.resources.registry import RESOURCES
from tests.support import resources
from tests.support.builders import account, problem
from tests.tui import noon
from tests.tui.console import Driven
from tests.tui.samples import NOON

_PAGES: Final = {path: name for name, path in reversed(PAGE_CLASSES.items())}
"""The first name of each page."""

SCREENS: Final = tuple(
    dict.fromkeys(
        [*(spec.name for spec in RESOURCES if spec.has_screen and spec.name not in PAGE_CLASSES), *_PAGES.values()]
    )
)
"""The names of all screens, each screen once."""

INSTANCE: Final = "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11"

LISTED: Final[dict[str, Callable[[], Sequence[Record]]]] = {
    Run.KIND: noon.runs, Receipt.KIND: noon.receipts, Account.KIND: lambda: [account()], **resources.LISTS,
}  # fmt: skip
"""What a list of each kind gives."""

REPORTED: Final[dict[type[Record], Callable[[], Record]]] = {
    Usage: resources.usage, EvalSummary: resources.eval_summary, ComplianceExport: resources.compliance_export,
}  # fmt: skip
"""What a report gives."""

FAILURES: Final = {
    LoadState.OFFLINE: ReadFailure(
        FailureKind.OFFLINE, "Nothing responds at this address", "Check that the service runs there.",
        detail="http://127.0.0.1:40213, connection refused, 3 attempts",
    ),
    LoadState.NO_ANSWER: ReadFailure(
        FailureKind.NO_ANSWER, "The service cannot answer now", "Try again later.",
        problem("upstream_error", status=502, instance=INSTANCE),
    ),
    LoadState.NOT_AUTHORISED: ReadFailure(
        FailureKind.NOT_AUTHORISED, "The request has no usable key", "Check the key of this profile.",
        problem("unauthenticated", instance=INSTANCE),
    ),
    LoadState.NOT_OFFERED: ReadFailure(FailureKind.NOT_OFFERED, "Nothing is there", None, problem("not_found")),
    LoadState.ERROR: ReadFailure(
        FailureKind.ERROR, "The response cannot be used", "Check the base URL.",
        detail="it is no JSON (text/html, 1,204 bytes)",
    ),
}  # fmt: skip


def keep_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the live jobs still, so that the store holds what a test put into it."""

    async def still(_: Poller) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Poller, "run", still)


class Scene:
    """Puts everything that the screen in front shows into the states of a collection.

    Args:
        driven: The console.
        given: What lists and reports give, by kind; the sample records otherwise.
    """

    def __init__(self, driven: Driven, given: Callable[[str], Sequence[Record]] | None = None) -> None:
        self._driven = driven
        self._given = given or records_of
        screen = driven.app.screen
        assert isinstance(screen, ConsoleScreen)
        self.kinds: Final = kinds_of(screen)

    def change(self, kind: str, change: type[StoreChange], ago_s: float, **more: Any) -> None:
        """Apply a change that came this many seconds ago."""
        driven = self._driven
        at, monotonic = driven.clock.now() - timedelta(seconds=ago_s), driven.clock.monotonic() - ago_s
        driven.app.store.apply(change(driven.session.scope.profile, kind, at, monotonic, **more))

    def read(self, kind: str, ago_s: float, **more: Any) -> None:
        records = more.pop("records", None)
        found = tuple(self._given(kind)) if records is None else records
        self.change(kind, ListRead, ago_s, **{"records": found, "complete": True, "end_is_proven": True, **more})

    def enter(self, state: LoadState) -> None:
        """Put every collection of the screen into a state, whatever was known of it before."""
        self._connect(is_lost=state is LoadState.OFFLINE)
        for kind in self.kinds:
            self._driven.app.store.forget(self._driven.session.scope.profile, kind)
            self._enter(kind, state)

    def _connect(self, *, is_lost: bool) -> None:
        """Have the service respond, or lose it 58 seconds ago."""
        told = RequestAttempt(
            at=self._driven.clock.now() - timedelta(seconds=58), operation="getExecutions", method="GET",
            path="/v1/executions", query="", status=None if is_lost else 200, elapsed_s=0.1, attempt=3, key=None,
            sent_bytes=0, received_bytes=0, error="refused" if is_lost else None, problem=None, profile="environment",
            origin="http://127.0.0.1:40213",
        )  # fmt: skip
        self._driven.session.live.connection.note(told)

    def _enter(self, kind: str, state: LoadState) -> None:
        match state:
            case LoadState.LOADING:
                self.change(kind, ReadStarted, 1.2, what="GET /v1/things")
            case LoadState.EMPTY:
                # A report is always there, even if empty.
                self.read(kind, 2, records=() if kind in LISTED else [type(it)({}) for it in records_of(kind)])
            case LoadState.FRESH:
                self.read(kind, 2)
            case LoadState.REFRESHING:
                self.read(kind, 4)
                self.change(kind, ReadStarted, 0.4, what="GET /v1/things")
            case LoadState.STALE:
                self.read(kind, 140)
            case LoadState.PARTIAL:
                self.read(kind, 2, misfits=2, end_is_proven=False)
            case LoadState.RATE_LIMITED:
                self.read(kind, 31)
                self._driven.session.client.gate.close(None, 23)
            case _:
                self.read(kind, 61)
                self.change(kind, ReadFailed, 58, failure=FAILURES[state])


def kinds_of(screen: ConsoleScreen) -> tuple[str, ...]:
    """What a screen reads: the runs and the account, which are always read, its lists, and its reports."""
    if isinstance(screen, ListScreen):
        # The state of a list is that of its own records; the journals of this machine depend on the runs.
        return (Run.KIND,) if screen.spec.is_local else tuple(kind.KIND for kind in screen.polled_lists())
    kinds = [Run.KIND, Account.KIND, *(kind.KIND for kind in screen.polled_lists())]
    if isinstance(screen, ReportScreen):
        kinds.extend(report.kind for report in screen.reports_for(screen.period))
    return tuple(dict.fromkeys(kinds))


def records_of(kind: str) -> Sequence[Record]:
    """The sample records of a list, or of a report whose kind goes on with what was asked.

    Raises:
        KeyError: there are none, which a new resource needs in :mod:`tests.support.resources`.
    """
    if kind in LISTED:
        return LISTED[kind]()
    return next([make()] for record, make in REPORTED.items() if kind.partition(" ")[0] == record.KIND)


def write_journal(driven: Driven) -> None:
    """Write what went wrong this noon into the journal."""
    said = {"validation_failed": 14, "rate_limited": 61, "not_found": 340}
    for number, (code, ago_s) in enumerate(said.items()):
        is_submit = code == "validation_failed"
        told: Problem = problem(code, instance=f"{number}{INSTANCE[1:]}")
        driven.session.journal.note(
            RequestAttempt(
                at=NOON - timedelta(seconds=ago_s), operation="postExecutions" if is_submit else "getExecutions",
                method="POST" if is_submit else "GET",
                path="/v1/executions" if code != "not_found" else "/v1/executions/ex_1",
                query="" if is_submit else "limit=100", status=told.status, elapsed_s=0.143, attempt=1,
                key="7c1e9f30-0000-4000-8000-000000000000" if is_submit else None, sent_bytes=212 if is_submit else 0,
                received_bytes=431, error=None, problem=told, profile="environment", origin="http://127.0.0.1:40213",
            ),
        )  # fmt: skip


async def settle_drawn(driven: Driven) -> None:
    """Have everything drawn that was changed, and the detail of the row under the cursor."""
    screen = driven.app.screen
    if isinstance(screen, ListScreen) and screen.spec.is_local:
        screen.read_source()
        await driven.settle()
    if isinstance(screen, OverviewScreen):
        # Its first read of the journal may end before or after the journal of the scene is written.
        screen._read()
        await driven.settle()
    driven.app._notify_screens()
    driven.app._tick()
    await driven.settle()
    if isinstance(screen, ResourceScreen):
        screen.show_detail()
        await driven.settle()
    # A worker reads from the database.
    workers = driven.app.workers
    await driven.until(lambda: all(worker.is_finished for worker in workers), "the work beside the screen to end")
    driven.app._tick()
    await driven.settle()
