"""Receipt totals, computed by a worker if there are many, and their comparison with the usage report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from runwatch.records.receipt import Receipt
from runwatch.records.usage import Usage
from runwatch.tui.core.time_slices import run_in_slices
from runwatch.tui.core.workers import start_worker
from runwatch.tui.sources.report_reader import make_report_poller
from runwatch.view.receipts.totals import ReceiptTotals, UsageReconciliation, comparable_days, reconcile_with_usage
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console_screen import ConsoleScreen

MAX_SYNC_RECEIPTS: Final = 500
"""Up to this many receipts are added up at once, in less than a frame; more are added up by a worker."""


class ReceiptTotalsModel:
    """Totals of some receipts, kept until the receipts change; ``done`` is called when a worker has computed new ones.

    Many receipts are added up once each: another order, or more receipts, only need those that are not in the sums yet.
    """

    def __init__(self, screen: ConsoleScreen, group: str, done: Callable[[], None]) -> None:
        self._screen = screen
        self._group = group
        self._done = done
        self._of: Sequence[Any] | None = None
        self._added: list[Receipt] = []
        self._so_far = ReceiptTotals()
        self.sums: ReceiptTotals | None = None

    def take(self, things: Sequence[Any], receipt_of: Callable[[Any], Receipt]) -> ReceiptTotals | None:
        """Return the totals of the receipts in rows or records, in any list object.

        ``None`` while a worker adds up, because those before are of other receipts.
        """
        # Elements of new lists are compared by identity first, which is fast.
        if self._of is not None and (things is self._of or things == self._of):
            return self.sums
        self._of = things
        if len(things) <= MAX_SYNC_RECEIPTS:
            sums = ReceiptTotals()
            for thing in things:
                sums.add(receipt_of(thing))
            self.sums = sums
        else:
            self.sums = None
            start_worker(self._screen, self._add(things, receipt_of), "adding up", group=self._group, exclusive=True)
        return self.sums

    def close(self) -> None:
        """Release the list, which may be very long."""
        self._of = None
        self._added = []

    async def _add(self, things: Sequence[Any], receipt_of: Callable[[Any], Receipt]) -> None:
        known = set[int]()
        if self._added:
            wanted = set[int]()
            await run_in_slices(things, lambda thing: wanted.add(id(receipt_of(thing))))
            await run_in_slices(self._added, lambda receipt: known.add(id(receipt)))
            if not known <= wanted:
                self._added, self._so_far = [], ReceiptTotals()
                known.clear()
            del wanted

        def add(thing: Any) -> None:
            receipt = receipt_of(thing)
            if id(receipt) not in known:
                self._so_far.add(receipt.unpacked())
                self._added.append(receipt)

        await run_in_slices(things, add)
        if self._of is things:
            # A new object: what is made of these sums is kept as long as they are the same.
            self.sums = replace(self._so_far)
            self._done()


class UsageReconciler:
    """Comparison of all receipts with the usage report of the same days, which is polled once a minute."""

    def __init__(self, session: ServiceSession) -> None:
        self._session = session
        self._reports = make_report_poller(session)
        self._made_of: tuple[ReceiptTotals, Usage, tuple[str, str], float] | None = None
        self._since: tuple[ReceiptTotals, float] | None = None
        self._made: UsageReconciliation | SafeText = line("")

    def compare(self, sums: ReceiptTotals | None, *, is_whole: bool) -> UsageReconciliation | SafeText:
        """Return the comparison, or why there is none yet: totals are being added up, or the list may go on."""
        from runwatch.store.live.report_poller import ReportQuery

        if sums is None:
            return line("not compared yet: adding up the receipts")
        today = self._session.clock.now().astimezone(UTC).date().isoformat()
        days = comparable_days(sums, today, is_whole=is_whole)
        if days is None:
            lacks = "there is no receipt" if is_whole and not sums.total.count else "no day has all its receipts loaded"
            return line(f"not compared: {lacks}")
        report = ReportQuery("getUsage", Usage, (("from", days[0]), ("to", days[1])))
        self._reports.show(report)
        collection = self._session.store.collection(self._session.scope.profile, report.kind)
        usage = next((record for record in collection.records if isinstance(record, Usage)), None)
        if usage is None:
            failure = collection.failure
            return line("not compared yet: reading usage" if failure is None else f"not compared: {failure.title}")
        apart_s = self._apart_s(sums, collection.read_at)
        made_of = self._made_of
        if made_of is None or made_of[0] is not sums or made_of[1] is not usage or made_of[2:] != (days, apart_s):
            self._made_of = (sums, usage, days, apart_s)
            self._made = reconcile_with_usage(sums.days, usage, *days, apart_s=apart_s)
        return self._made

    def _apart_s(self, sums: ReceiptTotals, usage_at: float | None) -> float:
        """Return the seconds between the report and the receipts; 0 if they were the same before and after it."""
        listed_at = self._session.store.collection(self._session.scope.profile, Receipt.KIND).read_at
        if listed_at is None or usage_at is None:
            return 0.0
        if self._since is None or self._since[0] is not sums:
            self._since = (sums, listed_at)
        return max(0.0, self._since[1] - usage_at, usage_at - listed_at)

    def refresh(self) -> None:
        self._reports.refresh()

    def close(self) -> None:
        self._reports.show()
