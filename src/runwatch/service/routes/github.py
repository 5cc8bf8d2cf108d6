"""GitHub connections (manual: interface, "Credentials, GitHub connections and webhooks"). The list is not in the
specification, and neither is the private page on which an owner records a repository as connected.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.requests.review import GithubIntentRequest
from runwatch.service.access import private_entry
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.http.endpoints import Endpoint, lists, takes
from runwatch.service.http.responses import ServiceResponse, make_continue_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import github
from runwatch.service.routes.private_pages import EntryPage
from runwatch.service.tables import github_connections_table
from runwatch.service.transaction import Transaction


def begin(transaction: Transaction, call: ServiceCall, request: GithubIntentRequest) -> ServiceResponse:
    """Start the connection of one repository; the response names the page that completes it, which is a secret."""
    intent, continue_url = private_entry.begin(
        transaction, call.principal, github.ENTRY, request.repository, origin=call.context.page_origin
    )
    members = {"intent_id": intent.intent_id, "repository": request.repository, "expires_at": intent.expires_at}
    return make_continue_response(members, continue_url)


async def _complete(call: ServiceCall, token: str, intent: EntryIntent, fields: Mapping[str, str]) -> dict[str, Any]:
    def effect(transaction: Transaction) -> dict[str, Any]:
        used = private_entry.use(transaction, github.ENTRY, token)
        return github.connection_json(github.record(transaction, used.tenant_id, used.subject_id, used.principal_id))

    return await call.context.database.write(effect)


ENTRIES: Final = {
    github.ENTRY: EntryPage(
        title="Connect a GitHub repository",
        button="Record as connected",
        facts=lambda intent: [("Repository", intent.subject_id)],
        sentences=lambda intent: [
            "No GitHub App is installed on this service, so it cannot ask GitHub whether this repository is yours.",
            "You can record it as connected. It will be labelled unverified, and nothing is sent to GitHub.",
        ],
        complete=_complete,
        done=lambda intent: [
            f"{intent.subject_id} is recorded as connected, unverified.",
            "Go back to the console: its list of GitHub connections shows it.",
        ],
    )
}

_INTENTS: Final = "/v1/github-connections/intents"

ENDPOINTS: Final = (
    Endpoint(
        "POST",
        _INTENTS,
        takes(GithubIntentRequest, begin),
        takes_body=True,
        permission=ARMS_MANAGE,
        takes_cookie=True,
    ),
    Endpoint("GET", "/v1/github-connections", lists("connections", github_connections_table, github.connection_json)),
)
