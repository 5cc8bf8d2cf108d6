"""The organization behind a key (wire reference 2.10)."""

from __future__ import annotations

from typing import Final

from runwatch.base.clock import iso
from runwatch.service import runs
from runwatch.service.answer import Answer, answer_json
from runwatch.service.call import Call, Endpoint
from runwatch.service.database import Transaction
from runwatch.service.tables import runs as runs_table
from runwatch.service.tables import tenants


async def read_account(call: Call) -> Answer:
    """Who the caller is, and what is left to spend.

    A limit that this service does not have is ``null``, because any number would claim one: runs a month, runs at
    once, and requests a minute unless the service was started with a limit. What is used is counted. The wallet is
    empty and unfunded: nothing on this machine is paid for through the service.
    """
    principal = call.principal

    def read(transaction: Transaction) -> Answer:
        tenant = transaction.one(tenants, {"tenant_id": principal.tenant_id})
        assert tenant is not None
        mine = {"tenant_id": principal.tenant_id}
        month = transaction.now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return answer_json(
            {
                "tenant_id": principal.tenant_id,
                "authenticated_principal_id": principal.key_id,
                "display_name": tenant["display_name"],
                "quota_tier": "local",
                "is_demo": False,
                "quota": {
                    "executions": {
                        "limit": None,
                        "used": transaction.count(runs_table, mine, since=("created_at", iso(month))),
                        "remaining": None,
                        "reset_at": None,
                        "retry_after_s": None,
                    },
                    "concurrency": {"limit": None, "running": transaction.count(runs_table, {**mine, **runs.LIVE})},
                    "rate_limit_rpm": call.context.rate_limit.requests_per_minute,
                },
                "balance": {"balance_usd": 0, "top_up_history": [], "credit_activity": [], "billing_email": None},
                "billing": {
                    "funded_state": "sandbox",
                    "manage_available": False,
                    "platform_fee_usd_per_execution": 0,
                    "review_composer_fee_usd_per_execution": 0,
                },
            }
        )

    return await call.read(read)


ENDPOINTS: Final = (Endpoint("GET", "/v1/account", read_account),)
