"""GitHub connections (specification, Endpoints; wire reference 2.14). The list is ours."""

from __future__ import annotations

from typing import Final

from runwatch.records.requests.review import GithubIntentRequest
from runwatch.service.access import entry
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.http.answer import Answer, answer_json, answer_once
from runwatch.service.http.bodies import read_as
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.models import github
from runwatch.service.tables.review import github_connections
from runwatch.service.transaction import Transaction


async def begin(call: Call) -> Answer:
    """Start the connection of one repository; the answer names the page that finishes it, which is a secret."""
    repository = read_as(GithubIntentRequest, call.content).repository

    def effect(transaction: Transaction) -> Answer:
        intent, continue_url = entry.begin(
            transaction, call.principal, github.ENTRY, repository, origin=call.context.origin
        )
        told = {"intent_id": intent.intent_id, "repository": repository, "expires_at": intent.expires_at}
        return answer_once({**told, "continue_url": continue_url}, {**told, "continue_url": None})

    return await call.write(effect)


async def list_connections(call: Call) -> Answer:
    """The repositories that are recorded as connected, newest first."""
    mine = {"tenant_id": call.principal.tenant_id}
    rows = await call.read(lambda transaction: transaction.newest(github_connections, mine))
    return answer_json({"connections": [github.connection_form(row) for row in rows]})


ENDPOINTS: Final = (
    Endpoint(
        "POST", "/v1/github-connections/intents", begin, takes_body=True, permission=ARMS_MANAGE, takes_cookie=True
    ),
    Endpoint("GET", "/v1/github-connections", list_connections),
)
