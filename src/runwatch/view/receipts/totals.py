"""Totals of receipts: by day, by model, and compared with the service's usage report.

Sums are decimal and incremental, so a hundred thousand receipts can be added in time slices. A receipt counts on the
day (UTC) on which its run became final, as in a usage report (manual: interface, "Usage"). The usage of a model is the
cost of its calls from the receipt's attempts, as in a usage report; a slice without attempts counts for its selected
model. The platform's fee belongs to no model and has its own line, so the lines of a table add up to its total. That
division is not in the specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Final

from runwatch.records.receipt import Receipt, ReceiptSlice
from runwatch.records.spend import estimated_calls, unknown_calls
from runwatch.records.usage import DayUsage, Usage, UsageTotals
from runwatch.view.runs.run_facts import find_selected_option
from runwatch.view.text.format import counted, estimated, short_duration
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line, plain_decimal

NO_DAY: Final = ""
"""The day of a receipt without a date."""

FEE: Final = "platform fee"
NO_MODEL: Final = "model not reported"
NO_CALL: Final = "no model called"
NO_STATUS: Final = "status not reported"

# Sums of amounts whose magnitudes differ by fewer digits than this are exact.
_EXACT: Final = Context(prec=100)
_CENTS: Final = Decimal("0.01")
_ZERO: Final = Decimal(0)


@dataclass(slots=True)
class SpendSum:
    """A sum of costs: the known part in US dollars, and how many provider calls have no known or an estimated cost."""

    usd: Decimal = Decimal(0)
    count: int = 0
    unknown_calls: int = 0
    estimated_calls: int = 0

    def add(self, usd: Decimal, unknown_calls: int = 0, estimated_calls: int = 0, *, count: int = 1) -> None:
        self.usd = _EXACT.add(self.usd, usd)
        self.count += count
        self.unknown_calls += unknown_calls
        self.estimated_calls += estimated_calls

    def merge(self, other: SpendSum) -> None:
        self.add(other.usd, other.unknown_calls, other.estimated_calls, count=other.count)


@dataclass(slots=True)
class ReceiptTotals:
    """Totals of some receipts.

    Attributes:
        total: Usage plus fee of receipts that state both; the known part if calls have an unknown cost.
        fees: The platform's fees in ``total``, in US dollars.
        without_cost: Number of receipts without a cost.
        partial: Number of receipts whose cost lacks calls of unknown cost.
        days: By day, ``YYYY-MM-DD`` or :data:`NO_DAY`, including test runs with zero cost.
        models: By model key, :data:`FEE`, :data:`NO_MODEL` or :data:`NO_CALL`. A model counts the receipts
            with an amount for it and those that selected it last; each receipt with a cost counts at least once.
        day_models: The spend of each day by model, in US dollars.
        day_statuses: The spend of each day by the run's status, in US dollars.
    """

    total: SpendSum = field(default_factory=SpendSum)
    fees: Decimal = Decimal(0)
    without_cost: int = 0
    partial: int = 0
    tests: int = 0
    days: dict[str, SpendSum] = field(default_factory=dict)
    models: dict[str, SpendSum] = field(default_factory=dict)
    day_models: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    day_statuses: dict[str, dict[str, Decimal]] = field(default_factory=dict)

    @property
    def usage(self) -> Decimal:
        """The models' part of the total, in US dollars."""
        return _EXACT.subtract(self.total.usd, self.fees)

    @property
    def is_exact(self) -> bool:
        """Whether the total is complete, not a lower bound."""
        return not self.without_cost and not self.partial

    def add(self, receipt: Receipt) -> None:
        spend, lacking = receipt.known_spend_usd, receipt.unknown_calls
        self.tests += receipt.mode == "echo"
        if spend is None:
            self.without_cost += 1
            return
        self.partial += bool(lacking)
        guessed = receipt.estimated_calls
        self.total.add(spend, lacking, guessed)
        day = find_receipt_day(receipt)
        self.days.setdefault(day, SpendSum()).add(spend, lacking, guessed)
        by_model, by_status = self.day_models.setdefault(day, {}), self.day_statuses.setdefault(day, {})
        status = receipt.status or NO_STATUS
        by_status[status] = _EXACT.add(by_status.get(status, _ZERO), spend)
        # A filter finds a receipt by this model, whether or not it cost anything.
        own = find_selected_option(receipt).model_key
        parts: dict[str, SpendSum] = {}
        for name, usd, unknown, estimates in _parts(receipt):
            parts.setdefault(name, SpendSum()).add(usd, unknown, estimates)
        self.fees = _EXACT.add(self.fees, parts[FEE].usd)
        for name, part in parts.items():
            if part.usd:
                by_model[name] = _EXACT.add(by_model.get(name, _ZERO), part.usd)
            if part.usd or part.unknown_calls or part.estimated_calls or name == own:
                self.models.setdefault(name, SpendSum()).add(part.usd, part.unknown_calls, part.estimated_calls)
        if own is None and not spend and not lacking and not guessed:
            self.models.setdefault(NO_CALL, SpendSum()).add(_ZERO)


def find_receipt_day(receipt: Receipt) -> str:
    """Return the day in UTC on which the run became final, or on which it was created if the end is unknown."""
    at = receipt.completed_at or receipt.created_at
    return NO_DAY if at is None else _day(at)


def day_filter(day: str) -> str:
    """Return the filter for the receipts of a day, ``YYYY-MM-DD``; without an upper bound for the last possible day."""
    first = date.fromisoformat(day)
    end = "" if first == date.max else f" completed<{first + timedelta(days=1)}"
    return f"completed>={first}{end}"


def _day(at: datetime) -> str:
    try:
        return at.astimezone(UTC).date().isoformat()
    except OverflowError:
        return at.date().isoformat()


def _parts(receipt: Receipt) -> Iterator[tuple[str, Decimal, int, int]]:
    """Yield the parts of a receipt's spend by purpose, with their calls of unknown and estimated cost."""
    totals = receipt.totals
    assert totals is not None
    assert totals.usd is not None
    assert totals.platform_fee_usd is not None
    yield FEE, totals.platform_fee_usd, 0, 0
    rest, lacking = totals.usd, receipt.unknown_calls
    for part in receipt.slices or ():
        usd = part.cost.usd if part.cost is not None else None
        if usd is None:
            continue
        for model, spent, unknown, guessed in _calls_of(part, usd):
            rest = _EXACT.subtract(rest, spent)
            lacking -= unknown
            yield model or NO_MODEL, spent, unknown, guessed
    yield find_selected_option(receipt).model_key or NO_MODEL, rest, lacking, 0


def _calls_of(part: ReceiptSlice, usd: Decimal) -> Iterator[tuple[str | None, Decimal, int, int]]:
    """Yield the cost of each call of a slice with its model; the remainder counts for the selected model."""
    option = part.route.selected if part.route is not None else None
    selected = option.model_key if option is not None else None
    rest, lacking = usd, unknown_calls(part.raw)
    for call in part.attempts or ():
        is_selected = option is not None and option.arm_id == call.arm_id
        spent, unknown = call.usd or Decimal(0), unknown_calls(call.raw)
        rest, lacking = _EXACT.subtract(rest, spent), lacking - unknown
        yield call.model_key or (selected if is_selected else None), spent, unknown, estimated_calls(call.raw)
    yield selected, rest, lacking, 0 if part.attempts else estimated_calls(part.raw)


def total_text(sums: ReceiptTotals, *, is_whole: bool) -> SafeText:
    """Format the total for a frame: ``spend 4.12 USD``, marked if it may be incomplete or is partly estimated."""
    least = "" if is_whole and sums.is_exact else "at least "
    spend = line(f"spend {least}{format_amount(sums.total.usd)} USD")
    return estimated(spend, is_estimated=bool(sums.total.estimated_calls))


def format_amount(usd: Decimal) -> str:
    """Format an amount with all its digits and at least two decimals."""
    if abs(usd.adjusted()) > 30:
        return plain_decimal(usd)
    short = usd.normalize(_EXACT)
    exponent = short.as_tuple().exponent
    assert isinstance(exponent, int)
    return format(short.quantize(_CENTS, ROUND_HALF_EVEN, _EXACT) if exponent > -2 else short, "f")


@dataclass(frozen=True, slots=True)
class SpendComparison:
    """The receipts and the usage report for one day, or for all days: amounts in US dollars, ``None`` if the report has
    none, and calls of unknown cost.

    Attributes:
        day: The day; empty for all.
        apart_s: Seconds between the two reads, if receipts may have come between them; 0 if both are of one moment.
    """

    day: str
    receipts: Decimal
    usage: Decimal | None
    receipt_calls: int = 0
    usage_calls: int | None = None
    apart_s: float = 0.0

    @property
    def difference(self) -> Decimal:
        """The report's amount minus the receipts' amount; a day missing from the report counts as zero."""
        return _EXACT.subtract(self.usage or Decimal(0), self.receipts)

    @property
    def agrees(self) -> bool:
        return self.difference == 0 and self.usage_calls in {None, self.receipt_calls}

    @property
    def differs(self) -> bool:
        """Whether the two differ at one moment."""
        return not self.agrees and not self.apart_s

    @property
    def role(self) -> Role:
        return Role.GOOD if self.agrees else Role.WARN if self.differs else Role.QUIET

    @property
    def words(self) -> SafeText:
        """The result: ``agrees: 4.12 USD``, or ``differs by 0.05 USD: usage 4.17, receipts 4.12``."""
        unknown = f", and {counted(self.receipt_calls, 'call')} of unknown cost" if self.receipt_calls else ""
        if self.agrees:
            return line(f"agrees: {format_amount(self.receipts)} USD{unknown}")
        if not self.differs:
            apart = short_duration(max(1.0, self.apart_s))
            usage, receipts = format_amount(self.usage or _ZERO), format_amount(self.receipts)
            return line(f"not compared: usage {usage} and receipts {receipts} were read {apart} apart")
        if self.usage is None:
            return line(f"not in usage; receipts {format_amount(self.receipts)} USD")
        if self.difference == 0:
            return line(
                f"differs: usage names {counted(self.usage_calls or 0, 'call')} of unknown cost, receipts name "
                f"{self.receipt_calls}"
            )
        usage, by = format_amount(self.usage), format_amount(abs(self.difference))
        return line(f"differs by {by} USD: usage {usage}, receipts {format_amount(self.receipts)}")


@dataclass(frozen=True, slots=True)
class UsageReconciliation:
    """Comparison of receipts with a usage report, on the days, ``YYYY-MM-DD``, on which either side has an amount."""

    whole: SpendComparison
    days: tuple[SpendComparison, ...]
    first: str
    last: str

    @property
    def differing(self) -> tuple[SpendComparison, ...]:
        return tuple(day for day in self.days if day.differs)

    def day(self, name: str) -> SpendComparison | None:
        """Return one day, or ``None`` if it was not compared."""
        return next((day for day in self.days if day.day == name), None)


def comparable_days(sums: ReceiptTotals, today: str, *, is_whole: bool) -> tuple[str, str] | None:
    """Return the first and last day (UTC) whose receipts are all known; ``None`` if there are none.

    The earliest day of a list that was not read to its end may have more receipts.
    """
    days = sorted(name for name in sums.days if name != NO_DAY)
    if not is_whole:
        del days[:1]
    return (days[0], max(days[-1], today)) if days else None


def reconcile_with_usage(
    days: Mapping[str, SpendSum], usage: Usage, first: str, last: str, *, apart_s: float = 0.0
) -> UsageReconciliation:
    """Compare the totals of receipts with a usage report for the same days, of which the last one may still get
    receipts.
    """
    reported = {part.date: part for part in usage.by_day or () if part.date is not None}
    names = sorted(name for name in {*days, *reported} if first <= name <= last)
    compared = tuple(
        _compared(name, days.get(name, SpendSum()), reported.get(name), apart_s if name == last else 0.0)
        for name in names
    )
    total = SpendSum()
    for name in names:
        total.merge(days.get(name, SpendSum()))
    whole = _compared("", total, usage.totals, 0.0 if any(day.differs for day in compared) else apart_s)
    return UsageReconciliation(whole, compared, first, last)


def _compared(name: str, found: SpendSum, reported: DayUsage | UsageTotals | None, apart_s: float) -> SpendComparison:
    usd, unknown = (None, None) if reported is None else (reported.usd, reported.unknown_calls)
    return SpendComparison(name, found.usd, usd, found.unknown_calls, unknown, apart_s=apart_s)
