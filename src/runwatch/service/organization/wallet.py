"""What an organization may still spend and submit (manual: interface, "Account and tenants").

An organization has no limits and no balance unless :func:`set_limits` sets some: a private service bills nothing. The
specification gives neither the size of a limit nor when it applies. This service decides: a live run needs a balance
above zero when it is submitted, whatever it will cost; every submitted run counts against the month (UTC) of its
submission; a limit of concurrent runs makes further runs wait.
"""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.service import amounts
from runwatch.service.errors import RefusalError
from runwatch.service.organization.period import month_of
from runwatch.service.tables import (
    run_counts_table,
    start_balances_table,
    tenant_limits_table,
    wallet_activity_table,
    wallet_charges_table,
    wallets_table,
)
from runwatch.service.transaction import Row, Transaction

PLATFORM_FEE_USD: Final = Decimal(0)
"""Fee of this service for a run, on top of the cost of its models."""


def admit_run(transaction: Transaction, tenant_id: str, mode: str) -> None:
    """Check that an organization may submit a run now.

    Refuses with ``credit_wallet_frozen`` or ``insufficient_credit`` for a live run, ``quota_exceeded`` for any, with
    the seconds until the end of the month.
    """
    if mode == "live":
        _check_funds(transaction, tenant_id)
    limit = _limits(transaction, tenant_id)["executions_per_month"]
    if limit is not None and _count(transaction, tenant_id)[0] >= limit:
        raise RefusalError(
            "quota_exceeded",
            f"{limit:,} runs a month may be submitted.",
            retry_after_s=_seconds_left(transaction),
        )


def count_run(transaction: Transaction, tenant_id: str, submitted_at: datetime, *, is_final: bool) -> None:
    """Count a run that was just submitted, or one that became final."""
    where = {"tenant_id": tenant_id, "month": _month(submitted_at)}
    column, known = "ended" if is_final else "submitted", transaction.one(run_counts_table, where)
    if known is None:
        transaction.add(run_counts_table, **where, **{"submitted": 0, "ended": 0, column: 1})
    else:
        transaction.change(run_counts_table, where, **{column: known[column] + 1})


def charge(transaction: Transaction, tenant_id: str, usd: Decimal, execution_id: str) -> None:
    """Subtract the cost of a run from the organization's balance, if it keeps one.

    A run is charged once; a second charge does nothing. The balance may become negative, because a call that costs more
    than the remaining balance is not undone.
    """
    wallet = transaction.one(wallets_table, {"tenant_id": tenant_id})
    if wallet is None or not usd or transaction.one(wallet_charges_table, {"execution_id": execution_id}) is not None:
        return
    transaction.add(
        wallet_charges_table,
        execution_id=execution_id,
        tenant_id=tenant_id,
        amount_usd=str(usd),
        at=format_iso(transaction.now),
    )
    _set_balance(transaction, tenant_id, amounts.less(Decimal(wallet["balance_usd"]), usd))


def concurrency_of(transaction: Transaction, tenant_id: str) -> int | None:
    """Return the organization's limit of concurrent runs; ``None`` for no limit."""
    limit: int | None = _limits(transaction, tenant_id)["concurrency"]
    return limit


def set_limits(
    transaction: Transaction,
    tenant_id: str,
    *,
    executions_per_month: int | None = None,
    concurrency: int | None = None,
) -> None:
    """Set limits of an organization; ``None`` keeps the current value."""
    given = {"executions_per_month": executions_per_month, "concurrency": concurrency}
    changed = {name: value for name, value in given.items() if value is not None}
    if changed:
        where = {"tenant_id": tenant_id}
        transaction.put(tenant_limits_table, where, transaction.one(tenant_limits_table, where), **changed)


def set_balance(transaction: Transaction, tenant_id: str, usd: Decimal) -> None:
    """Set the balance in US dollars; the difference is recorded as a manual adjustment."""
    before = _start_balance(transaction, tenant_id)
    if usd != before:
        change = amounts.less(usd, before)
        _change_balance(transaction, tenant_id, usd, change, "Balance set where the service runs")


def set_start_balance(transaction: Transaction, tenant_id: str, usd: Decimal) -> None:
    """Set the balance that a start names, unless the start before named the same: what was spent stays spent."""
    where = {"tenant_id": tenant_id}
    known = transaction.one(start_balances_table, where)
    if known is not None and Decimal(known["amount_usd"]) == usd:
        return
    transaction.put(start_balances_table, where, known, amount_usd=str(usd))
    set_balance(transaction, tenant_id, usd)


def spendable(transaction: Transaction, tenant_id: str) -> Decimal | None:
    """Return the spendable balance in US dollars: zero while frozen, ``None`` if no balance is kept."""
    wallet = transaction.one(wallets_table, {"tenant_id": tenant_id})
    if wallet is None:
        return None
    return Decimal(0) if wallet["is_frozen"] else Decimal(wallet["balance_usd"])


def top_up(transaction: Transaction, tenant_id: str, usd: Decimal, description: str) -> None:
    """Add to an organization's balance, starting one if none is kept."""
    before = _start_balance(transaction, tenant_id)
    _change_balance(transaction, tenant_id, amounts.sum_amounts((before, usd)), usd, description)


def quota_json(transaction: Transaction, tenant_id: str, rate_limit_rpm: int | None) -> dict[str, Any]:
    """Build the ``quota`` of an account.

    A missing limit is ``null``, because any number would claim one. Waiting runs count as running.
    """
    limits = _limits(transaction, tenant_id)
    limit, (used, running) = limits["executions_per_month"], _count(transaction, tenant_id)
    left = None if limit is None else max(0, limit - used)
    return {
        "executions": {
            "limit": limit,
            "used": used,
            "remaining": left,
            "reset_at": None if limit is None else format_iso(month_of(transaction.now)[1]),
            "retry_after_s": None if left is None else 0 if left else _seconds_left(transaction),
        },
        "concurrency": {"limit": limits["concurrency"], "running": running},
        "rate_limit_rpm": rate_limit_rpm,
    }


def funds_json(transaction: Transaction, tenant_id: str) -> dict[str, Any]:
    """Build ``balance`` and ``billing`` of an account.

    The balance is zero if none is kept. Charges of runs appear in usage, not here. ``funded_state`` is ``sandbox``,
    ``funded``, ``unfunded`` or ``frozen`` (not in the specification).
    """
    wallet = transaction.one(wallets_table, {"tenant_id": tenant_id})
    activity = [] if wallet is None else transaction.newest(wallet_activity_table, {"tenant_id": tenant_id})
    changes = [{"at": row["at"], "amount_usd": amounts.numeral(Decimal(row["amount_usd"]))} for row in activity]
    return {
        "balance": {
            "balance_usd": 0 if wallet is None else amounts.numeral(Decimal(wallet["balance_usd"])),
            "top_up_history": [{**entry, "method": "manual_adjustment", "stripe_event_id": None} for entry in changes],
            "credit_activity": [
                {**entry, "kind": "manual_adjustment", "description": row["description"], "reference": None}
                for entry, row in zip(changes, activity, strict=True)
            ],
            "billing_email": None,
        },
        "billing": {
            "funded_state": _funded_state(wallet),
            "manage_available": False,
            "platform_fee_usd_per_execution": amounts.numeral(PLATFORM_FEE_USD),
            "review_composer_fee_usd_per_execution": 0,
        },
    }


def _check_funds(transaction: Transaction, tenant_id: str) -> None:
    wallet = transaction.one(wallets_table, {"tenant_id": tenant_id})
    if wallet is None:
        return
    if wallet["is_frozen"]:
        raise RefusalError("credit_wallet_frozen", "Live runs are refused until the wallet is released.")
    balance = Decimal(wallet["balance_usd"])
    if balance <= 0 or balance < PLATFORM_FEE_USD:
        raise RefusalError("insufficient_credit", "A live run needs a balance above zero.")


def _funded_state(wallet: Row | None) -> str:
    if wallet is None:
        return "sandbox"
    if wallet["is_frozen"]:
        return "frozen"
    return "funded" if Decimal(wallet["balance_usd"]) > 0 else "unfunded"


def _start_balance(transaction: Transaction, tenant_id: str) -> Decimal:
    """Return the balance, starting one of zero if none is kept."""
    wallet = transaction.one(wallets_table, {"tenant_id": tenant_id})
    if wallet is None:
        transaction.add(wallets_table, tenant_id=tenant_id, balance_usd="0", is_frozen=False)
    return Decimal(0) if wallet is None else Decimal(wallet["balance_usd"])


def _change_balance(
    transaction: Transaction, tenant_id: str, balance: Decimal, change: Decimal, description: str
) -> None:
    _set_balance(transaction, tenant_id, balance)
    transaction.add(
        wallet_activity_table,
        tenant_id=tenant_id,
        at=format_iso(transaction.now),
        amount_usd=str(change),
        description=description,
    )


def _set_balance(transaction: Transaction, tenant_id: str, balance: Decimal) -> None:
    transaction.change(wallets_table, {"tenant_id": tenant_id}, balance_usd=str(balance))


def _limits(transaction: Transaction, tenant_id: str) -> dict[str, int | None]:
    row = transaction.one(tenant_limits_table, {"tenant_id": tenant_id})
    return {name: None if row is None else row[name] for name in ("executions_per_month", "concurrency")}


def _count(transaction: Transaction, tenant_id: str) -> tuple[int, int]:
    """Return how many runs were submitted this month, and how many of any month are not final."""
    rows = transaction.list_all(run_counts_table, {"tenant_id": tenant_id})
    first = _month(transaction.now)
    used = sum(row["submitted"] for row in rows if row["month"] >= first)
    return used, sum(row["submitted"] - row["ended"] for row in rows)


def _month(moment: datetime) -> str:
    return format_iso(moment)[:7]


def _seconds_left(transaction: Transaction) -> int:
    return max(1, math.ceil((month_of(transaction.now)[1] - transaction.now).total_seconds()))
