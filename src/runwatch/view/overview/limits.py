"""Lines for limits: requests, quota, balance, and recent problems.

Unknown values are shown as unknown: a list that the service does not offer is not zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from runwatch.records.account import Account
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.view.detail.pane_state import limit_wait_text, short_limit_wait_text
from runwatch.view.overview.links import LinkedLine, LinkSpan, ViewLink, join_lines, make_link_span, make_plain_span
from runwatch.view.overview.run_counts import QUARTER
from runwatch.view.resources.account import NO_BALANCE, UNLIMITED, execution_quota, is_unlimited
from runwatch.view.text.format import (
    RenderContext,
    grouped_number,
    request_rate,
    short_duration,
    usage_ratio,
    usage_role,
)
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import plain_decimal

NOT_IN_FILE: Final = "not in the file"

NO_CONNECTION: Final = "no try gets a connection"

LABEL: Final = 8
"""Width of the label before a number, in cells."""

SHOWN_AGE_S: Final = 10
"""From this age in seconds on, the account says how old it is, because it is read less often than runs."""


@dataclass(frozen=True, slots=True)
class AccountLimits:
    """Known limits of requests, quota and balance.

    Attributes:
        per_minute: Requests in the last minute that count against the limit.
        limit: Maximum requests per minute; ``None`` for no limit.
        account: The account; ``None`` if unknown.
        state: Why it is unknown.
        problems: Times of the problems in the journal; ``None`` before it was read.
        is_learned: Whether the limit is an estimate, because the service states none.
        in_file: Numbers of the requests and problems in an opened file, by the list's name; ``None`` for a service.
    """

    per_minute: int = 0
    limit: int | None = None
    left: int | None = None
    account: Account | None = None
    state: PaneState | None = None
    problems: Sequence[datetime] | None = None
    is_learned: bool = False
    in_file: Mapping[str, int] | None = None


def limit_lines(spending: AccountLimits, context: RenderContext) -> list[LinkedLine]:
    """Return lines for the request budget, quota, balance and recent problems."""
    return [
        _line("requests", _requests(spending)),
        *(_line(label, part) for label, part in _account_parts(spending, context)),
        _problem_line(spending, context),
    ]


def compact_limit_lines(spending: AccountLimits, context: RenderContext, cells: int) -> list[LinkedLine]:
    """Return the same in two lines, each part with its label."""
    dot, room = make_plain_span(f" {context.glyphs.dot} "), cells - LABEL - 1
    account: list[LinkedLine] = [
        (part,) if part.text == NO_BALANCE or label == "account" else (make_plain_span(f"{label} "), part)
        for label, part in _account_parts(spending, context)
    ]
    if age := account_age_text(spending):
        account.append((make_plain_span(age.removeprefix("account ")),))
    return [
        _line("requests", *join_lines([(_requests(spending),), _problem_line(spending, context)], dot, room)),
        _line("account", *join_lines(account, dot, room)),
    ]


def account_age_text(spending: AccountLimits) -> str:
    """Say how old quota and balance are where they are older than the runs beside them can be; else empty."""
    state = spending.state
    if spending.account is None or state is None or state.age_s is None or state.age_s < SHOWN_AGE_S:
        return ""
    return f"account read {short_duration(state.age_s)} ago"


def _line(label: str, *parts: LinkSpan) -> LinkedLine:
    return (make_plain_span(f"{label:<{LABEL}} "), *parts)


def _account_parts(spending: AccountLimits, context: RenderContext) -> list[tuple[str, LinkSpan]]:
    account = spending.account
    if account is None:
        why = "" if spending.state is None else missing_list_text(spending.state)
        return [("account", make_plain_span(why or "not read yet"))]
    return [("quota", _quota(account, context)), ("balance", _balance(account, context))]


def _requests(spending: AccountLimits) -> LinkSpan:
    if spending.in_file is not None:
        return _in_file(spending.in_file, "requests")
    if not spending.per_minute and spending.state is not None and spending.state.is_lost:
        # Tries that get no connection use up no limit; a zero would look like their number.
        return make_link_span(NO_CONNECTION, Role.PLAIN, ViewLink("requests"))
    is_low = spending.left is not None and spending.left < (spending.limit or 0) / 10
    return make_link_span(
        request_rate(spending.per_minute, spending.limit, "a minute", is_learned=spending.is_learned),
        Role.WARN if is_low else Role.PLAIN,
        ViewLink("requests"),
    )


def _quota(account: Account, context: RenderContext) -> LinkSpan:
    quota = execution_quota(account)
    if quota.used is None:
        return _unknown_span(context)
    part = None if quota.limit is None else usage_ratio(Decimal(quota.used), Decimal(quota.limit))
    role = Role.PLAIN if part is None or usage_role(part) is Role.GOOD else usage_role(part)
    limit = "" if quota.limit is None else f" of {grouped_number(quota.limit)}"
    used = f"{grouped_number(quota.used)}{limit} runs used{f', {UNLIMITED}' * is_unlimited(quota)}"
    return make_link_span(used, role, ViewLink("account"))


def _balance(account: Account, context: RenderContext) -> LinkSpan:
    balance = account.balance_usd
    if account.keeps_no_balance:
        return make_plain_span(NO_BALANCE)
    if balance is None:
        return _unknown_span(context)
    return make_link_span(
        f"{plain_decimal(balance)} USD", Role.WARN if balance <= 0 else Role.PLAIN, ViewLink("account")
    )


def _unknown_span(context: RenderContext) -> LinkSpan:
    return make_plain_span(f"{context.glyphs.unknown} not stated")


def _in_file(counts: Mapping[str, int], name: str) -> LinkSpan:
    if not counts[name]:
        return make_plain_span(NOT_IN_FILE)
    return make_link_span(f"{grouped_number(counts[name])} in the file", Role.PLAIN, ViewLink(name))


def _problem_line(spending: AccountLimits, context: RenderContext) -> LinkedLine:
    if spending.in_file is not None:
        return _line("problems", _in_file(spending.in_file, "problems"))
    if spending.problems is None:
        return _line("problems", make_plain_span("not read yet"))
    state = spending.state
    if not spending.problems and state is not None and state.is_lost and state.age_s is None:
        # A service that was never heard has no number of problems.
        return _line("problems", make_plain_span(context.glyphs.nothing))
    within = sum(context.now - at < QUARTER for at in spending.problems)
    rate = f"   {Decimal(within) / 15:.1f}/min" if within else ""
    role = Role.WARN if within else Role.PLAIN
    return _line("problems", make_link_span(f"{within} in 15 min{rate}", role, ViewLink("problems", "time<15m")))


def missing_list_text(state: PaneState) -> str:
    """Describe why a list is missing or out of date; empty if it is current."""
    match state.load:
        case LoadState.NOT_OFFERED:
            return "not offered by this service"
        case LoadState.NOT_AUTHORISED:
            return "not for this key"
        case LoadState.LOADING if _waits(state):
            return short_limit_wait_text(state.budget_s)
        case LoadState.LOADING:
            return "not read yet"
        case LoadState.OFFLINE | LoadState.NO_ANSWER | LoadState.ERROR:
            return "not read" if state.age_s is None else "old"
        case LoadState.ENDED if state.age_s is None:
            return NOT_IN_FILE
    return "" if state.age_s is not None else "not read yet"


def missing_lists_text(states: Mapping[str, PaneState]) -> str:
    """Describe missing lists, grouped by reason; those that wait for the request limit by the first read."""
    reasons: dict[str, list[str]] = {}
    waiting = {name: state.budget_s for name, state in states.items() if _waits(state)}
    for name, state in states.items():
        why = limit_wait_text(min(waiting.values())) if name in waiting else missing_list_text(state)
        if why:
            reasons.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in reasons.items())


def _waits(state: PaneState) -> bool:
    """Return whether a list was not read yet because of the request limit."""
    return state.load is LoadState.LOADING and state.budget_s > 0
