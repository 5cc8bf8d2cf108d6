"""What several profiles have used in a period, side by side: a row for each, and what they add up to. Pure.

The columns, their words and the total are ours; every number is one that a service has told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context as Precision
from decimal import Decimal
from typing import Any, Final

from runwatch.records.account import Account
from runwatch.records.usage import Period, Usage, UsageTotals
from runwatch.view.receipts.totals import format_amount
from runwatch.view.resources.account import quota_used, runs_used
from runwatch.view.resources.organization import USAGE
from runwatch.view.spec.resource import Column, ResourceSpec
from runwatch.view.table.profile_column import PROFILE
from runwatch.view.text.format import RenderContext, about, estimated, grouped_number, spent_amount
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import CellText, StyledText

USD: Final = "USD"
"""The currency of amounts whose members are called so and that name no other one."""

# Sums of amounts that differ by less than this many digits are exact.
_EXACT: Final = Precision(prec=100)

_UNSAID: Final = StyledText(line(""))


@dataclass(frozen=True, slots=True)
class ProfileUsage:
    """What one profile has used, as far as its service has told.

    Attributes:
        profile: Its name, which is its id in a list.
        usage: The report; ``None`` where it could not be read.
        account: What is left to it; ``None`` where that is not known.
        read: When it was read, or why not, in a few words.
    """

    profile: str
    usage: Usage | None = None
    account: Account | None = None
    read: StyledText = _UNSAID

    @property
    def id(self) -> str:
        """The profile."""
        return self.profile

    @property
    def raw(self) -> Mapping[str, Any]:
        """The report as it came; empty where there is none."""
        return {} if self.usage is None else self.usage.raw

    @property
    def totals(self) -> UsageTotals:
        """The sums of the report."""
        return (self.usage and self.usage.totals) or UsageTotals({})

    @property
    def period(self) -> tuple[str, str] | None:
        """The first and the last day, as the service names them; ``None`` where it names none."""
        period = (self.usage and self.usage.period) or Period({})
        return None if period.start is None or period.end is None else (period.start, period.end)

    @property
    def currency(self) -> str:
        """What its amounts are in.

        The interface knows amounts in US dollars alone and calls them so; a service that adds a ``currency`` to its
        report or to the sums in it is taken at its word.
        """
        told = self.totals.raw.get("currency", self.raw.get("currency"))
        return told if isinstance(told, str) and told else USD


def combined_total_text(rows: Sequence[ProfileUsage]) -> SafeText:
    """What the profiles have used together: runs, and amounts with all their digits; empty for less than two reports.

    Nothing is added up that is not of one kind: amounts in several currencies, reports of several periods. Where a
    report is missing, the total says of how many profiles it is; where one tells no amount, it is a least one.
    """
    told = [row for row in rows if row.usage is not None]
    if len(told) < 2:
        return line("")
    currencies = sorted({row.currency for row in told})
    if len(currencies) > 1:
        return line(f"no total: amounts in {' and '.join(currencies)}")
    if len({row.period for row in told}) > 1:
        return line("no total: the periods differ")
    of = f"{len(told)} profiles" if len(told) == len(rows) else f"{len(told)} of {len(rows)} profiles"
    runs = sum(row.totals.executions or 0 for row in told)
    spent = line(f"{of}: {grouped_number(runs)} run{'s' * (runs != 1)}, {_spent(told)} {currencies[0]}")
    return estimated(spent, is_estimated=any(row.totals.estimated_calls for row in told))


def _spent(told: Sequence[ProfileUsage]) -> str:
    """The sum of all amounts, as usage and fee where these are told and add up to it."""
    totals = [row.totals for row in told]
    usage = _sum(one.passthrough_usd for one in totals)
    fee = _sum(one.platform_usd for one in totals)
    whole = _sum(one.usd for one in totals)
    if whole is None or any(one.unknown_calls for one in totals):
        least = _sum(one.usd for one in totals if one.usd is not None) or Decimal(0)
        return f"at least {format_amount(least)}"
    if usage is None or fee is None or _EXACT.add(usage, fee) != whole:
        return format_amount(whole)
    return f"{format_amount(usage)} usage + {format_amount(fee)} fee = {format_amount(whole)}"


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """All of them added up exactly; ``None`` where one is missing."""
    found = Decimal(0)
    for one in amounts:
        if one is None:
            return None
        found = _EXACT.add(found, one)
    return found


# The columns.


def _period(row: ProfileUsage, context: RenderContext) -> CellText:
    """The days, without the year where that is the present one."""
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

    return Column(
        id=name.removesuffix("_usd"), title=title, aliases=(name,), value=lambda row: value(row.totals), cell=cell,
        align="right", hide_order=leaves, min_cells=7,
    )  # fmt: skip


PROFILE_USAGE: Final[ResourceSpec[Any]] = ResourceSpec[ProfileUsage](
    record=Usage,
    name="reports",
    singular="report",
    title="Usage",
    columns=(
        Column(id=PROFILE, title=PROFILE, value=lambda row: row.profile, min_cells=6, max_cells=16),
        Column(id="period", title="period", value=lambda row: row.period and " to ".join(row.period), cell=_period,
               hide_order=1, min_cells=14),
        Column(id="runs", title="runs", aliases=("executions",), value=lambda row: row.totals.executions,
               format=lambda value, _: grouped_number(value), align="right"),
        _usd("passthrough_usd", "usage", lambda totals: totals.passthrough_usd, leaves=2),
        _usd("platform_usd", "fee", lambda totals: totals.platform_usd),
        _usd("usd", "USD", lambda totals: totals.usd),
        Column(id="quota", title="quota used", value=lambda row: row.account and runs_used(row.account), cell=_quota,
               align="right", min_cells=10),
    ),
    sections=USAGE.sections,
    empty="No profile was read.",
)  # fmt: skip
"""A row for each profile; the words of amounts are those of the page of one profile."""

READ: Final[Column[Any]] = Column(
    id="read", title="read", value=lambda row: str(row.read.text), cell=lambda row, _: row.read, min_cells=14
)
"""The column of a list that is read again and again: how old a row is, or what is wrong."""
