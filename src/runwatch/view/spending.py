"""What is left to spend, in lines: requests, quota, balance; and the problems that were met.

What is not known is said to be so: a list that the service does not offer is no nought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from runwatch.records.account import Account, Balance, ExecutionQuota, Quota
from runwatch.store.freshness import LoadState, PaneState
from runwatch.view.census import QUARTER
from runwatch.view.drawn import decimal_text
from runwatch.view.format import Context, count, share, share_role
from runwatch.view.glyphs import Role
from runwatch.view.spots import Spot, SpotLine, Way, in_a_row, quiet, spot

LABEL: Final = 8
"""Cells of the word before a number."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What is known of requests, quota and balance.

    Attributes:
        per_minute: Requests of the last minute.
        limit: How many may go; ``None`` without a limit.
        left: How many of them are left.
        account: The account; ``None`` while it is not known.
        state: Why it is not.
        problems: When the problems of the journal were met; ``None`` before it was read.
    """

    per_minute: int = 0
    limit: int | None = None
    left: int | None = None
    account: Account | None = None
    state: PaneState | None = None
    problems: Sequence[datetime] | None = None


def spending_lines(spending: Spending, context: Context) -> list[SpotLine]:
    """The request budget, the quota of runs, the balance, and the problems that were met."""
    return [
        _line("requests", _requests(spending)),
        *_account_lines(spending, context),
        _problem_line(spending, context),
    ]


def spending_in_short(spending: Spending, context: Context, cells: int) -> list[SpotLine]:
    """The same in two lines."""
    dot = quiet(f" {context.glyphs.dot} ")
    account = [parts[1:] for parts in _account_lines(spending, context)]
    if spending.account is None:
        account = [(quiet("account "), *account[0])]
    parts = [(_requests(spending),), *account]
    return [
        (quiet(f"{'requests':<{LABEL}} "), *in_a_row(parts, dot, cells - LABEL - 1)),
        _problem_line(spending, context),
    ]


def _line(label: str, part: Spot) -> SpotLine:
    return (quiet(f"{label:<{LABEL}} "), part)


def _account_lines(spending: Spending, context: Context) -> list[SpotLine]:
    account = spending.account
    if account is None:
        why = "" if spending.state is None else missing_words(spending.state)
        return [_line("account", quiet(why or "not read yet"))]
    return [
        _line("quota", _quota(account, context)),
        _line("balance", _balance(account, context)),
    ]


def _requests(spending: Spending) -> Spot:
    left = "" if spending.left is None else f" left {spending.left}"
    limit = "" if spending.limit is None else f" of {spending.limit}"
    is_low = spending.left is not None and spending.left < (spending.limit or 0) / 10
    return spot(f"{spending.per_minute}/min{limit}{left}", Role.WARN if is_low else Role.PLAIN, Way("requests"))


def _quota(account: Account, context: Context) -> Spot:
    quota = (account.quota or Quota({})).executions or ExecutionQuota({})
    if quota.used is None:
        return _untold(context)
    part = None if quota.limit is None else share(Decimal(quota.used), Decimal(quota.limit))
    role = Role.PLAIN if part is None or share_role(part) is Role.GOOD else share_role(part)
    return spot(f"{count(quota.used)}{_of(quota.limit)} runs", role, Way("account"))


def _of(limit: int | None) -> str:
    return "" if limit is None else f" of {count(limit)}"


def _balance(account: Account, context: Context) -> Spot:
    balance = (account.balance or Balance({})).balance_usd
    if balance is None:
        return _untold(context)
    return spot(f"{decimal_text(balance)} USD", Role.WARN if balance <= 0 else Role.PLAIN, Way("account"))


def _untold(context: Context) -> Spot:
    return quiet(f"{context.glyphs.unknown} not told")


def _problem_line(spending: Spending, context: Context) -> SpotLine:
    if spending.problems is None:
        return _line("problems", quiet("not read yet"))
    within = sum(context.now - at < QUARTER for at in spending.problems)
    rate = f"   {Decimal(within) / 15:.1f}/min" if within else ""
    role = Role.WARN if within else Role.PLAIN
    return _line("problems", spot(f"{within} in 15 min{rate}", role, Way("problems", "time<15m")))


def missing_words(state: PaneState) -> str:
    """Why a list is not there, or is not what the service says now; empty where it is."""
    match state.load:
        case LoadState.NOT_OFFERED:
            return "not offered by this service"
        case LoadState.NOT_AUTHORISED:
            return "not for this key"
        case LoadState.LOADING:
            return "not read yet"
        case LoadState.OFFLINE | LoadState.ERROR:
            return "not read" if state.age_s is None else "old"
    return "" if state.age_s is not None else "not read yet"


def missing_lines(states: Mapping[str, PaneState]) -> str:
    """The same for several lists, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for name, state in states.items():
        why = missing_words(state)
        if why:
            reasons.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in reasons.items())
