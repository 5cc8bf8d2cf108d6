"""The organization behind the key: who it is, what is left to spend."""

from __future__ import annotations

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
from runwatch.view.drawn import decimal_text, json_text, line
from runwatch.view.format import Context, ago, count, gauge, money_exact, percent, share, share_role, time_of_day
from runwatch.view.resource import At, Column, ResourceSpec, SectionSpec, Shown, Styled, Told
from runwatch.view.resources.common import as_moment, as_seconds, as_usd, usd
from runwatch.view.writes.organization import ACCOUNT_MAKES


def _executions(account: Account) -> ExecutionQuota:
    return (account.quota or Quota({})).executions or ExecutionQuota({})


def _concurrency(account: Account) -> Concurrency:
    return (account.quota or Quota({})).concurrency or Concurrency({})


def _balance(account: Account) -> Decimal | None:
    return (account.balance or Balance({})).balance_usd


UNLIMITED: Final = "unlimited"
"""What a limit of ``null`` means: any number would claim one (ours, as the local service answers)."""


def _is_unlimited(part: Record) -> bool:
    return "limit" in part.raw and part.raw["limit"] is None


def _of(used: int | None, limit: int | None, part_of: Record, context: Context) -> Styled | None:
    """``37 of 500`` with a gauge, as far as both are known."""
    if used is None:
        return None
    part = None if limit is None else share(Decimal(used), Decimal(limit))
    if part is None:
        return Styled(line(f"{count(used)}, {UNLIMITED}") if _is_unlimited(part_of) else count(used))
    text = f"{count(used)} of {count(limit)}  {gauge(part, 10, context.glyphs)} {percent(part)}"
    return Styled(line(text), share_role(part))


def _quota(account: Account, context: Context) -> Shown:
    quota = _executions(account)
    return _of(quota.used, quota.limit, quota, context) or line(context.glyphs.unknown)


def runs_used(account: Account) -> int | None:
    """How many runs of the quota are used."""
    return _executions(account).used


def quota_used(account: Account, context: Context) -> Styled | None:
    """How much of the quota of runs is used, in a few cells: ``37 of 500``; ``None`` where that is not told.

    Where there is no limit, the number stands alone.
    """
    quota = _executions(account)
    if quota.used is None:
        return None
    if quota.limit is None:
        used = count(quota.used)
        return Styled(used if _is_unlimited(quota) else line(f"{used} of {context.glyphs.unknown}"))
    part = share(Decimal(quota.used), Decimal(quota.limit))
    return Styled(line(f"{count(quota.used)} of {count(quota.limit)}"), share_role(part))


def _told_quota(account: Account, _: object, context: Context) -> Shown | None:
    quota = _executions(account)
    return _of(quota.used, quota.limit, quota, context)


def _told_running(account: Account, _: object, context: Context) -> Shown | None:
    running = _concurrency(account)
    return _of(running.running, running.limit, running, context)


def _as_limit(value: object, _: Context) -> Shown:
    """A limit as it came; ``null`` is none."""
    return line(UNLIMITED if value is None else json_text(value), None)


def _told_fees(account: Account, _: object, __: Context) -> Shown | None:
    """What one run and one review cost beside what models cost."""
    billing = account.billing or Billing({})
    fees = (
        (billing.platform_fee_usd_per_execution, "a run"), (billing.review_composer_fee_usd_per_execution, "a review"),
    )  # fmt: skip
    told = [f"{decimal_text(fee)} USD {what}" for fee, what in fees if fee is not None]
    return line(", ".join(told)) if told else None


def _told_reset(account: Account, _: object, context: Context) -> Shown | None:
    """When the quota of runs begins anew."""
    at = _executions(account).reset_at
    return None if at is None else line(f"{ago(at, context.now)}, {time_of_day(at, context)}")


def _told_rate(account: Account, _: object, __: Context) -> Shown | None:
    quota = account.quota or Quota({})
    if "rate_limit_rpm" not in quota.raw:
        return None
    return count(quota.rate_limit_rpm) if quota.rate_limit_rpm is not None else line(UNLIMITED)


def _told_balance(account: Account, _: object, __: Context) -> Shown | None:
    balance = _balance(account)
    return None if balance is None else money_exact(balance)


ACCOUNT: Final[ResourceSpec[Any]] = ResourceSpec[Account](
    record=Account,
    name="account",
    singular="account",
    title="Account",
    columns=(
        Column(id="tenant", title="organization", aliases=("tenant_id", "id"), value=lambda it: it.id, least=6),
        Column(id="name", title="name", value=lambda it: it.display_name, leaves=3, least=10),
        Column(id="key", title="key", value=lambda it: it.authenticated_principal_id, leaves=4),
        Column(id="tier", title="tier", value=lambda it: it.quota_tier, leaves=1),
        Column(id="balance", title="balance", value=_balance, format=usd, align="right", leaves=6),
        Column(id="quota", title="runs", value=lambda it: _executions(it).used, cell=_quota, leaves=5, least=9),
        Column(id="rpm", title="requests/min", value=lambda it: (it.quota or Quota({})).rate_limit_rpm, align="right",
               leaves=2),
    ),
    sections=(
        SectionSpec(
            "Left",
            (
                Told("runs", _told_quota), Told("begins anew", _told_reset), Told("live now", _told_running),
                Told("requests/min", _told_rate), Told("balance", _told_balance), Told("fees", _told_fees),
            ),
        ),
        SectionSpec(
            "Account",
            (
                At("display_name", "name"), At("tenant_id"), At("authenticated_principal_id", "key"),
                At("quota_tier", "tier"), At("is_demo"),
            ),
        ),
        SectionSpec(
            "Quota",
            (
                At("quota.executions.limit", "executions.limit", _as_limit),
                At("quota.executions.used", "executions.used"),
                At("quota.executions.remaining", "executions.remaining", _as_limit),
                At("quota.executions.reset_at", "executions.reset_at", as_moment),
                At("quota.executions.retry_after_s", "executions.retry_after_s", as_seconds),
                At("quota.concurrency.limit", "concurrency.limit", _as_limit),
                At("quota.concurrency.running", "concurrency.running"),
                At("quota.rate_limit_rpm", "rate_limit_rpm", _as_limit),
            ),
        ),
        SectionSpec(
            "Balance",
            (At("balance.balance_usd", "balance_usd", as_usd), At("balance.billing_email", "billing_email")),
        ),
        SectionSpec(
            "Top-up",
            (At("at", format=as_moment), At("amount_usd", format=as_usd), At("method"), At("receipt_emailed")),
            each="balance.top_up_history", item=TopUp, names="at",
        ),
        SectionSpec(
            "Activity",
            (
                At("at", format=as_moment), At("amount_usd", format=as_usd), At("kind"), At("description"),
                At("reference"),
            ),
            each="balance.credit_activity", item=CreditActivity, names="at",
        ),
        SectionSpec(
            "Billing",
            (
                At("billing.funded_state", "funded_state"),
                At("billing.manage_available", "manage_available"),
                At("billing.platform_fee_usd_per_execution", "platform_fee_usd_per_execution", as_usd),
                At("billing.review_composer_fee_usd_per_execution", "review_composer_fee_usd_per_execution", as_usd),
            ),
        ),
    ),
    empty="The service told nothing about the account.",
    makes=ACCOUNT_MAKES,
)  # fmt: skip
