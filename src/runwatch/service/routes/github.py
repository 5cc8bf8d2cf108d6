"""GitHub connections (manual: interface, "Credentials, GitHub connections and webhooks"). The list is not in the
specification.
"""

from __future__ import annotations

from typing import Final

from runwatch.records.requests.review import GithubIntentRequest
from runwatch.service.access import private_entry
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint, parse_body
from runwatch.service.http.responses import ServiceResponse, make_json_response, make_one_time_response
from runwatch.service.models import github
from runwatch.service.tables.review import github_connections
from runwatch.service.transaction import Transaction


async def begin(call: AuthenticatedRequest) -> ServiceResponse:
    """Start the connection of one repository; the response names the page that completes it, which is a secret."""
    repository = parse_body(GithubIntentRequest, call.content).repository

    def effect(transaction: Transaction) -> ServiceResponse:
        intent, continue_url = private_entry.begin(
            transaction, call.principal, github.ENTRY, repository, origin=call.context.origin
        )
        told = {"intent_id": intent.intent_id, "repository": repository, "expires_at": intent.expires_at}
        return make_one_time_response({**told, "continue_url": continue_url}, {**told, "continue_url": None})

    return await call.write(effect)


async def list_connections(call: AuthenticatedRequest) -> ServiceResponse:
    """Return the repositories recorded as connected, newest first."""
    mine = {"tenant_id": call.principal.tenant_id}
    rows = await call.read(lambda transaction: transaction.newest(github_connections, mine))
    return make_json_response({"connections": [github.connection_json(row) for row in rows]})


ENDPOINTS: Final = (
    Endpoint(
        "POST", "/v1/github-connections/intents", begin, takes_body=True, permission=ARMS_MANAGE, takes_cookie=True
    ),
    Endpoint("GET", "/v1/github-connections", list_connections),
)
