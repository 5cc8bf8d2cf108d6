"""Sample credit: how an organization that uses the sample sources gets a balance (ours).

The references send whoever lacks credit to a billing site, which a private service has none of. Where sample sources
stand for a pool of models (:func:`runwatch.service.models.catalog.is_pool`) a private page takes its place. No money
moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from runwatch.records.requests.account import TopUpRequest
from runwatch.service import money
from runwatch.service.access import entry
from runwatch.service.access.entry import Intent
from runwatch.service.errors import Refusal
from runwatch.service.http.answer import Answer, answer_once
from runwatch.service.http.bodies import read_as
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.http.pages import Field
from runwatch.service.organization import wallet
from runwatch.service.setup.templates import Estate
from runwatch.service.transaction import Transaction

KIND: Final = "top-up"
"""The word in the address of the page."""

DESCRIPTION: Final = "Sample credit"
"""What the list of changes of the balance says of it."""


async def begin(call: Call) -> Answer:
    """Ask for sample credit; the answer names the page that grants it, which is a secret.

    Raises:
        Refusal: ``invalid_state``, when the organization uses no sample sources.
    """
    read_as(TopUpRequest, call.content)
    amount = money.amount_of(call.content["amount_usd"])

    def effect(transaction: Transaction) -> Answer:
        tenant_id = call.principal.tenant_id
        if not Estate.of(transaction, tenant_id).has_pool:
            raise Refusal("invalid_state", "This organization uses no sample sources; there is nothing to pay for.")
        intent, continue_url = entry.begin(
            transaction, call.principal, KIND, tenant_id, origin=call.context.origin, amount_usd=str(amount)
        )
        told = {"intent_id": intent.intent_id, "expires_at": intent.expires_at}
        return answer_once({**told, "continue_url": continue_url}, {**told, "continue_url": None})

    return await call.write(effect)


class TopUpEntry:
    """The page on which a person grants sample credit."""

    title = "Sample credit"
    button = "Add sample credit"

    def facts(self, intent: Intent) -> list[tuple[str, str]]:
        """The amount."""
        return [("Amount", f"{intent.details['amount_usd']} US dollars")]

    def sentences(self, intent: Intent) -> list[str]:
        """What it is, and what it is not."""
        return [
            f"This adds {intent.details['amount_usd']} US dollars of sample credit to your organization's balance. "
            "No money moves.",
            "From then on the organization keeps a balance: its live runs are taken from it, and need one.",
        ]

    def fields(self, intent: Intent) -> list[Field]:
        """Nothing is entered."""
        return []

    async def complete(self, call: Call, token: str, intent: Intent, fields: Mapping[str, str]) -> dict[str, Any]:
        """Add to the balance."""

        def effect(transaction: Transaction) -> dict[str, Any]:
            used = entry.use(transaction, KIND, token)
            wallet.top_up(transaction, used.tenant_id, Decimal(used.details["amount_usd"]), DESCRIPTION)
            balance = wallet.spendable(transaction, used.tenant_id)
            assert balance is not None
            return {"intent_id": used.intent_id, "balance_usd": money.numeral(balance)}

        return await call.context.database.write(effect)

    def done(self, intent: Intent) -> list[str]:
        """What happened."""
        return [
            f"{intent.details['amount_usd']} US dollars of sample credit were added to the balance. No money moved.",
            "Go back to the console: the account shows the balance.",
        ]


ENTRIES: Final = {KIND: TopUpEntry()}
"""The kind of entry that this page serves."""

ENDPOINTS: Final = (Endpoint("POST", "/v1/account/top-up-intents", begin, takes_body=True),)
