"""The organization behind the key: who it is, what is left to spend."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from runwatch.records.account import Account, Balance, Concurrency, CreditActivity, ExecutionQuota, Quota, TopUp
from runwatch.view.drawn import line
from runwatch.view.format import Context, count, gauge, money_exact, percent, share, share_role
from runwatch.view.resource import At, Column, ResourceSpec, SectionSpec, Shown, Styled, Told
from runwatch.view.resources.common import as_moment, as_seconds, as_usd, usd


def _executions(account: Account) -> ExecutionQuota:
    return (account.quota or Quota({})).executions or ExecutionQuota({})


def _concurrency(account: Account) -> Concurrency:
    return (account.quota or Quota({})).concurrency or Concurrency({})


def _balance(account: Account) -> Decimal | None:
    return (account.balance or Balance({})).balance_usd


def _of(used: int | None, limit: int | None, context: Context) -> Styled | None:
    """``37 of 500`` with a gauge, as far as both are known."""
    if used is None:
        return None
    part = None if limit is None else share(Decimal(used), Decimal(limit))
    if part is None:
        return Styled(count(used))
    text = f"{count(used)} of {count(limit)}  {gauge(part, 10, context.glyphs)} {percent(part)}"
    return Styled(line(text), share_role(part))


def _quota(account: Account, context: Context) -> Shown:
    quota = _executions(account)
    return _of(quota.used, quota.limit, context) or line(context.glyphs.unknown)


def _told_quota(account: Account, _: object, context: Context) -> Shown | None:
    quota = _executions(account)
    return _of(quota.used, quota.limit, context)


def _told_running(account: Account, _: object, context: Context) -> Shown | None:
    running = _concurrency(account)
    return _of(running.running, running.limit, context)


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
            "Account",
            (
                At("display_name"), At("tenant_id"), At("authenticated_principal_id"), At("quota_tier"), At("is_demo"),
                Told("balance", _told_balance), Told("runs", _told_quota), Told("live now", _told_running),
            ),
        ),
        SectionSpec(
            "Quota",
            (
                At("quota.executions.limit", "executions.limit"),
                At("quota.executions.used", "executions.used"),
                At("quota.executions.remaining", "executions.remaining"),
                At("quota.executions.reset_at", "executions.reset_at", as_moment),
                At("quota.executions.retry_after_s", "executions.retry_after_s", as_seconds),
                At("quota.concurrency.limit", "concurrency.limit"),
                At("quota.concurrency.running", "concurrency.running"),
                At("quota.rate_limit_rpm", "rate_limit_rpm"),
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
)  # fmt: skip
