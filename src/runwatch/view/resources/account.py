"""The organization of the API key: identity, quota and balance."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from runwatch.records.account import (
    Account,
    Balance,
    Billing,
    Concurrency,
    CreditActivity,
    ExecutionQuota,
    Quota,
    TopUp,
)
from runwatch.records.record import Record
from runwatch.settings.view_state import ViewState
from runwatch.view.actions.organization import ACCOUNT_MAKES
from runwatch.view.spec.members import column, member_lines
from runwatch.view.spec.resource import ComputedLine, LineTarget, MemberLine, ResourceSpec, SectionSpec
from runwatch.view.text.format import (
    RenderContext,
    ago,
    gauge,
    grouped_number,
    money_exact,
    percent,
    time_of_day,
    usage_ratio,
    usage_role,
)
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import json_text, line, plain_decimal
from runwatch.view.text.styled_text import CellText, StyledText


def execution_quota(account: Account) -> ExecutionQuota:
    """Return the quota of runs; an empty record if the service states none."""
    return (account.quota or Quota({})).executions or ExecutionQuota({})


def has_times(account: Account) -> bool:
    """Return whether the account states any time: when its quota resets, or those of its balance."""
    balance = account.balance or Balance({})
    return bool(execution_quota(account).reset_at or balance.top_up_history or balance.credit_activity)


UNLIMITED: Final = "unlimited"
"""Shown for a limit of ``null``. Not in the specification; the local service sends it."""

NO_BALANCE: Final = "no balance kept"
"""Shown for a service that states a balance of 0 because it keeps none."""


def is_unlimited(part: Record) -> bool:
    """Return whether a limit is certainly ``null``, which differs from one that is missing or cannot be read."""
    return "limit" in part.raw and part.raw["limit"] is None


def _of(
    used: int | None, quota: ExecutionQuota | Concurrency, context: RenderContext, *, word: str = ""
) -> StyledText | None:
    """Format ``37 of 500`` with a gauge, as far as both are known."""
    if used is None:
        return None
    number = grouped_number(used)
    part = None if quota.limit is None else usage_ratio(Decimal(used), Decimal(quota.limit))
    if part is None:
        return StyledText(line(f"{number}{word}, {UNLIMITED}") if is_unlimited(quota) else number)
    text = f"{number} of {grouped_number(quota.limit)}  {gauge(part, 10, context.glyphs)} {percent(part)}"
    return StyledText(line(text), usage_role(part))


def _quota(account: Account, context: RenderContext) -> CellText:
    quota = execution_quota(account)
    return _of(quota.used, quota, context) or line(context.glyphs.unknown)


def quota_used(account: Account, context: RenderContext) -> StyledText | None:
    """Format how much of the run quota is used: ``37 of 500``; ``None`` if unknown.

    Without a limit, the number stands alone.
    """
    quota = execution_quota(account)
    if quota.used is None:
        return None
    if quota.limit is None:
        used = grouped_number(quota.used)
        return StyledText(used if is_unlimited(quota) else line(f"{used} of {context.glyphs.unknown}"))
    part = usage_ratio(Decimal(quota.used), Decimal(quota.limit))
    return StyledText(line(f"{grouped_number(quota.used)} of {grouped_number(quota.limit)}"), usage_role(part))


def _quota_text(account: Account, _: object, context: RenderContext) -> CellText | None:
    quota = execution_quota(account)
    return _of(quota.used, quota, context, word=" used")


def _running_text(account: Account, _: object, context: RenderContext) -> CellText | None:
    running = (account.quota or Quota({})).concurrency or Concurrency({})
    return _of(running.running, running, context)


def _as_limit(value: object, _: RenderContext) -> CellText:
    """Format a limit as sent; ``null`` means unlimited."""
    return line(UNLIMITED if value is None else json_text(value), None)


def _demo_text(value: object, context: RenderContext) -> CellText:
    if not isinstance(value, bool):
        return line(context.glyphs.nothing if value is None else json_text(value), None)
    return line("yes, a demo organization" if value else "no, a real organization")


def _fees_text(account: Account, _: object, __: RenderContext) -> CellText | None:
    billing = account.billing or Billing({})
    fees = (
        (billing.platform_fee_usd_per_execution, "a run"), (billing.review_composer_fee_usd_per_execution, "a review"),
    )  # fmt: skip
    parts = [f"{plain_decimal(fee)} USD {what}" for fee, what in fees if fee is not None]
    return line(", ".join(parts)) if parts else None


def _reset_text(account: Account, _: object, context: RenderContext) -> CellText | None:
    at = execution_quota(account).reset_at
    return None if at is None else line(f"{ago(at, context.now)}, {time_of_day(at, context)}")


def _rate_text(account: Account, _: object, __: RenderContext) -> CellText | None:
    quota = account.quota or Quota({})
    if "rate_limit_rpm" not in quota.raw:
        return None
    return grouped_number(quota.rate_limit_rpm) if quota.rate_limit_rpm is not None else line(UNLIMITED)


def _balance_text(account: Account, _: object, __: RenderContext) -> CellText | None:
    balance = account.balance_usd
    if account.keeps_no_balance:
        return StyledText(line(NO_BALANCE), Role.QUIET)
    return None if balance is None else money_exact(balance)


def _balance_cell(account: Account, context: RenderContext) -> CellText:
    return _balance_text(account, None, context) or line(context.glyphs.nothing)


def _to(screen: str, filter: str = "") -> Callable[[object, object], LineTarget]:
    return lambda _, __: LineTarget(ViewState(screen, filter=filter), line(""))


ACCOUNT: Final[ResourceSpec[Any]] = ResourceSpec[Account](
    record=Account,
    name="account",
    singular="account",
    title="Account",
    columns=(
        column("tenant|tenant_id|id", title="organization", min_cells=6),
        column("name=display_name", hide_order=3, min_cells=10),
        column("key=authenticated_principal_id", hide_order=4),
        column("tier=quota_tier", hide_order=1),
        column("balance=balance_usd", cell=_balance_cell, align="right", hide_order=6),
        column(
            "quota=quota.executions.used", title="runs", cell=_quota, hide_order=5, min_cells=9, value_type="number"
        ),
        column("rpm=quota.rate_limit_rpm", title="requests/min", align="right", hide_order=2),
    ),
    sections=(
        SectionSpec(
            "Limits",
            (
                ComputedLine("runs", _quota_text, leads=_to("runs")), ComputedLine("resets", _reset_text),
                ComputedLine("live now", _running_text, leads=_to("runs", "is:live")),
                ComputedLine("requests/min", _rate_text, leads=_to("requests")),
                ComputedLine("balance", _balance_text, leads=_to("receipts")), ComputedLine("fees", _fees_text),
            ),
        ),
        SectionSpec(
            "Account",
            (
                MemberLine("display_name", "name"), MemberLine("tenant_id"),
                MemberLine("authenticated_principal_id", "key", leads=_to("keys")), MemberLine("quota_tier", "tier"),
                MemberLine("is_demo", "demo", _demo_text),
            ),
        ),
        SectionSpec(
            "Quota",
            (
                MemberLine("quota.executions.limit", "executions.limit", _as_limit),
                MemberLine("quota.executions.used", "executions.used"),
                MemberLine("quota.executions.remaining", "executions.remaining", _as_limit),
                *member_lines("executions.reset_at:time executions.retry_after_s:s", under="quota"),
                MemberLine("quota.concurrency.limit", "concurrency.limit", _as_limit),
                MemberLine("quota.concurrency.running", "concurrency.running"),
                MemberLine("quota.rate_limit_rpm", "rate_limit_rpm", _as_limit),
            ),
        ),
        SectionSpec(
            "Balance",
            (
                ComputedLine("balance_usd", _balance_text, lambda _: "balance.balance_usd"),
                *member_lines("billing_email", under="balance"),
            ),
        ),
        SectionSpec(
            "Top-up", member_lines("at:time amount_usd:usd method receipt_emailed"),
            each="balance.top_up_history", item=TopUp, names="at",
        ),
        SectionSpec(
            "Activity", member_lines("at:time amount_usd:usd kind description reference"),
            each="balance.credit_activity", item=CreditActivity, names="at",
        ),
        SectionSpec("Billing", member_lines(
            "funded_state manage_available platform_fee_usd_per_execution:usd "
            "review_composer_fee_usd_per_execution:usd", under="billing"
        )),
    ),
    empty="The service returned no account data.",
    create_actions=ACCOUNT_MAKES,
)  # fmt: skip
