"""Usage of several profiles in a period: one row for each, and their total.

The columns, their titles and the total are not in the specification; every number comes from a service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from runwatch.records.account import Account
from runwatch.records.spend import sum_amounts
from runwatch.records.usage import Period, Usage, UsageTotals
from runwatch.view.receipts.totals import format_amount
from runwatch.view.resources.account import execution_quota, quota_used
from runwatch.view.resources.organization import USAGE
from runwatch.view.spec.members import column
from runwatch.view.spec.resource import Column, ResourceSpec
from runwatch.view.table.profile_column import PROFILE
from runwatch.view.text.format import RenderContext, about, counted, estimated, grouped_number, spent_amount
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import CellText, StyledText

USD: Final = "USD"
"""The currency of amounts in members named ``usd`` without another currency."""

_UNSAID: Final = StyledText(line(""))


@dataclass(frozen=True, slots=True)
class ProfileUsage:
    """The usage of one profile, as far as known; its name is its id in a list. ``read`` says in a few words when it was
    read, or why not.
    """

    profile: str
    usage: Usage | None = None
    account: Account | None = None
    read: StyledText = _UNSAID

    @property
    def id(self) -> str:
        return self.profile

    @property
    def raw(self) -> Mapping[str, Any]:
        """The report as sent; empty if there is none."""
        return {} if self.usage is None else self.usage.raw

    @property
    def totals(self) -> UsageTotals:
        return (self.usage and self.usage.totals) or UsageTotals({})

    @property
    def period(self) -> tuple[str, str] | None:
        """The first and the last day as named by the service; ``None`` if it names none."""
        period = (self.usage and self.usage.period) or Period({})
        return None if period.start is None or period.end is None else (period.start, period.end)

    @property
    def currency(self) -> str:
        """The currency of its amounts.

        The interface only has US dollars. If a service adds a ``currency`` to its report or totals, that is used.
        """
        currency = self.totals.raw.get("currency", self.raw.get("currency"))
        return currency if isinstance(currency, str) and currency else USD


def combined_total_text(rows: Sequence[ProfileUsage]) -> SafeText:
    """Format the total of all profiles: runs, and amounts with all their digits; empty for fewer than two reports.

    Amounts in several currencies and reports for different periods are not added up. The text says how many profiles
    are included if a report is missing, and "at least" if an amount is missing.
    """
    known = [row for row in rows if row.usage is not None]
    if len(known) < 2:
        return line("")
    currencies = sorted({row.currency for row in known})
    if len(currencies) > 1:
        return line(f"no total: amounts in {' and '.join(currencies)}")
    if len({row.period for row in known}) > 1:
        return line("no total: the periods differ")
    of = f"{len(known)} profiles" if len(known) == len(rows) else f"{len(known)} of {len(rows)} profiles"
    runs = sum(row.totals.executions or 0 for row in known)
    spent = line(f"{of}: {counted(runs, 'run')}, {_spent(known)} {currencies[0]}")
    return estimated(spent, is_estimated=any(row.totals.estimated_calls for row in known))


def _spent(known: Sequence[ProfileUsage]) -> str:
    """Return the sum of all amounts, as usage and fee if these are known and add up to it."""
    totals = [row.totals for row in known]
    usage = _sum(total.passthrough_usd for total in totals)
    fee = _sum(total.platform_usd for total in totals)
    whole = _sum(total.usd for total in totals)
    if whole is None or any(total.unknown_calls for total in totals):
        return f"at least {format_amount(sum_amounts(total.usd for total in totals if total.usd is not None))}"
    if usage is None or fee is None or sum_amounts((usage, fee)) != whole:
        return format_amount(whole)
    return f"{format_amount(usage)} usage + {format_amount(fee)} fee = {format_amount(whole)}"


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    every = list(amounts)
    known = [amount for amount in every if amount is not None]
    return sum_amounts(known) if len(known) == len(every) else None


def _period(row: ProfileUsage, context: RenderContext) -> CellText:
    """Format the days, without the year if it is the current one."""
    if row.period is None:
        return line(context.glyphs.unknown if row.usage is not None else context.glyphs.nothing)
    this = f"{context.now.year:04}-"
    first, last = (day[:10] for day in row.period)
    if first.startswith(this) and last.startswith(this):
        first, last = first.removeprefix(this), last.removeprefix(this)
    return line(first if first == last else f"{first} to {last}")


def _quota(row: ProfileUsage, context: RenderContext) -> CellText:
    shown = None if row.account is None else quota_used(row.account, context)
    return shown or line(context.glyphs.nothing)


def _usd(name: str, title: str, value: Callable[[UsageTotals], Decimal | None], leaves: int = 0) -> Column[Any]:
    def cell(row: ProfileUsage, context: RenderContext) -> CellText:
        usd = value(row.totals)
        if usd is None:
            return line(context.glyphs.unknown if row.usage is not None else context.glyphs.nothing)
        # The platform's fees are always known.
        is_fee = name == "platform_usd"
        is_estimated = bool(row.totals.estimated_calls) and not is_fee
        shown = about(spent_amount(usd, 0 if is_fee else row.totals.unknown_calls), is_estimated=is_estimated)
        return shown if row.currency == USD else line(f"{shown} {row.currency}")

    names = f"{name.removesuffix('_usd')}|{name}"
    return column(
        names, lambda row: value(row.totals), title=title, cell=cell, align="right", hide_order=leaves, min_cells=7
    )


PROFILE_USAGE: Final[ResourceSpec[Any]] = ResourceSpec[ProfileUsage](
    record=Usage,
    name="reports",
    singular="report",
    title="Usage",
    columns=(
        column(PROFILE, min_cells=6, max_cells=16),
        column("period", lambda it: it.period and " to ".join(it.period), cell=_period, hide_order=1, min_cells=14),
        column("runs|executions=totals.executions", format=lambda value, _: grouped_number(value), align="right"),
        _usd("passthrough_usd", "usage", lambda totals: totals.passthrough_usd, leaves=2),
        _usd("platform_usd", "fee", lambda totals: totals.platform_usd),
        _usd("usd", "USD", lambda totals: totals.usd),
        column("quota", lambda it: it.account and execution_quota(it.account).used, title="quota used", cell=_quota,
               align="right", min_cells=10),
    ),
    sections=USAGE.sections,
    empty="No profile was read.",
)  # fmt: skip
"""One row for each profile; amounts are named as on the page of one profile."""

READ: Final = column("read", lambda row: str(row.read.text), cell=lambda row, _: row.read, min_cells=14)
"""The column of a polled list that shows the age of a row, or what is wrong."""
