"""Sample credit: gives an organization with sample sources a balance. Not in the specification.

The specification refers users without credit to a billing site, which a private service does not have. Where sample
sources act as a pool of models (:func:`runwatch.service.models.catalog.is_pool`), a private page takes its place. No
money moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from runwatch.records.requests.organization import TopUpRequest
from runwatch.service import amounts
from runwatch.service.access import private_entry
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.errors import RefusalError
from runwatch.service.http.endpoints import Endpoint, takes
from runwatch.service.http.responses import ServiceResponse, make_continue_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.organization import wallet
from runwatch.service.routes.private_pages import EntryPage
from runwatch.service.setup.templates import OrganizationState
from runwatch.service.transaction import Transaction

KIND: Final = "top-up"

DESCRIPTION: Final = "Sample credit"


def begin(transaction: Transaction, call: ServiceCall, request: TopUpRequest) -> ServiceResponse:
    """Request sample credit; the response names the page that grants it, which is a secret.

    Refuses with ``invalid_state`` when the organization uses no sample sources.
    """
    if not OrganizationState.of(transaction, call.tenant_id).has_pool:
        raise RefusalError("invalid_state", "This organization uses no sample sources; there is nothing to pay for.")
    # The body as decoded has the exact digits.
    amount = str(amounts.amount_of(call.content["amount_usd"]))
    intent, continue_url = private_entry.begin(
        transaction, call.principal, KIND, call.tenant_id, origin=call.context.page_origin, amount_usd=amount
    )
    return make_continue_response({"intent_id": intent.intent_id, "expires_at": intent.expires_at}, continue_url)


async def _complete(call: ServiceCall, token: str, intent: EntryIntent, fields: Mapping[str, str]) -> dict[str, Any]:
    def effect(transaction: Transaction) -> dict[str, Any]:
        used = private_entry.use(transaction, KIND, token)
        wallet.top_up(transaction, used.tenant_id, Decimal(used.details["amount_usd"]), DESCRIPTION)
        balance = wallet.spendable(transaction, used.tenant_id)
        assert balance is not None
        return {"intent_id": used.intent_id, "balance_usd": amounts.numeral(balance)}

    return await call.context.database.write(effect)


ENTRIES: Final = {
    KIND: EntryPage(
        title="Sample credit",
        button="Add sample credit",
        facts=lambda intent: [("Amount", f"{intent.details['amount_usd']} US dollars")],
        sentences=lambda intent: [
            f"This adds {intent.details['amount_usd']} US dollars of sample credit to your organization's balance. "
            "No money moves.",
            "From then on the organization has a balance, and live runs are paid from it.",
        ],
        complete=_complete,
        done=lambda intent: [
            f"{intent.details['amount_usd']} US dollars of sample credit were added to the balance. No money moved.",
            "Go back to the console: the account shows the balance.",
        ],
    )
}

ENDPOINTS: Final = (Endpoint("POST", "/v1/account/top-up-intents", takes(TopUpRequest, begin), takes_body=True),)
