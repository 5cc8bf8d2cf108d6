"""Organization of a key: quota, balance, billing (manual: interface, "Account and tenants")."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_line
from runwatch.records.record import Record, Wire, amount, flag, integer, many, moment, one, text

_REPLACED_BY: Final = {
    "source_connection": "sources rotate",
    "verifier": "verifiers connect",
    "agent": "agents connect",
    "webhook": "webhooks rotate",
}
"""Commands that replace a secret, by the kind of its owner."""


class ExecutionQuota(Record):
    """Quota of runs that may still be submitted."""

    limit = integer()
    used = integer()
    remaining = integer()
    reset_at = moment()
    retry_after_s = integer()


class Concurrency(Record):
    """How many runs may be live at once."""

    limit = integer()
    running = integer()


class Quota(Record):
    """Limits of the organization; ``rate_limit_rpm`` counts requests a minute."""

    executions = one(ExecutionQuota)
    concurrency = one(Concurrency)
    rate_limit_rpm = integer()


class TopUp(Record):
    at = moment()
    amount_usd = amount()
    method = text()
    stripe_event_id = text()
    receipt_emailed = flag()


class CreditActivity(Record):
    """A change of the wallet."""

    at = moment()
    amount_usd = amount()
    kind = text()
    description = text()
    reference = text()
    receipt_emailed = flag()


class Balance(Record):
    """The wallet, in US dollars."""

    balance_usd = amount()
    top_up_history = many(TopUp)
    credit_activity = many(CreditActivity)
    billing_email = text()


class Billing(Record):
    """Payment terms of the organization."""

    funded_state = text()
    manage_available = flag()
    platform_fee_usd_per_execution = amount()
    review_composer_fee_usd_per_execution = amount()


class ClosedSecret(Record):
    """A record whose secret cannot be opened with any master key. An open member of the local service; it never holds
    the secret.

    ``resource_type`` is ``source_connection``, ``verifier``, ``agent`` or ``webhook``.
    """

    resource_type = text()
    resource_id = text()
    display_name = text()

    @property
    def advice(self) -> str:
        """What the secret is for, and the command that replaces it."""
        kind, known = self.resource_type or "", self.resource_id or ""
        words = _REPLACED_BY.get(kind)
        if words is None or not known:
            return f"the secret of {clean_line(kind)} {clean_line(known)}: this version of runwatch cannot replace it"
        command = runwatch_command(words, known)
        if kind == "webhook":
            return f"the signing secret of the webhook {clean_line(known)}; make a new one: {command}"
        named = f"the source '{clean_line(self.display_name or known)}'" if kind == "source_connection" else known
        return f"the key of {clean_line(named)}; enter it again: {command}"


class Account(Record):
    """The caller's organization and principal, and what is left to spend."""

    KIND = "account"
    WIRE = Wire("/v1/account", "", "tenant_id")

    tenant_id = text()
    authenticated_principal_id = text()
    display_name = text()
    quota_tier = text()
    is_demo = flag()
    quota = one(Quota)
    balance = one(Balance)
    billing = one(Billing)
    closed_secrets = many(ClosedSecret)

    @property
    def balance_usd(self) -> Decimal | None:
        """The balance in US dollars; ``None`` if it is not stated or the service keeps none.

        A balance has to be stated. The local service states 0 and the ``funded_state`` ``sandbox`` where it keeps none.
        """
        stated = self.balance.balance_usd if self.balance is not None else None
        is_kept = stated != 0 or self.billing is None or self.billing.funded_state != "sandbox"
        return stated if is_kept else None

    @property
    def keeps_no_balance(self) -> bool:
        """Whether the service states a balance but keeps none."""
        return self.balance is not None and self.balance.balance_usd is not None and self.balance_usd is None


class TopUpIntent(Record):
    """A one-time permission to add sample credit on a private page; ``continue_url`` is a secret. Not in the
    specification.
    """

    KIND = "top_up_intent"

    intent_id = text()
    continue_url = text()
    expires_at = moment()
