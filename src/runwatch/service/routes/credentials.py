"""Credential references (manual: interface, "Credentials, GitHub connections and webhooks")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.requests.review import CredentialWrite
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint, parse_body
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.ids import new_id
from runwatch.service.tables.review import credentials
from runwatch.service.transaction import Row, Transaction


async def list_credentials(call: AuthenticatedRequest) -> ServiceResponse:
    """Return all references, newest first. The list has no pages."""
    mine = {"tenant_id": call.principal.tenant_id}
    rows = await call.read(lambda transaction: transaction.newest(credentials, mine))
    return make_json_response({"credentials": [_form(row) for row in rows]})


async def add_credential(call: AuthenticatedRequest) -> ServiceResponse:
    """Store a reference. It is a name without a key; the connection of a saved model is named by its own id."""
    body = parse_body(CredentialWrite, call.content)

    def effect(transaction: Transaction) -> ServiceResponse:
        reference = new_id("cred_ref", transaction.now)
        transaction.add(
            credentials,
            credential_ref=reference,
            tenant_id=call.principal.tenant_id,
            display_name=body.display_name,
            created_at=format_iso(transaction.now),
        )
        row = transaction.one(credentials, {"credential_ref": reference})
        assert row is not None
        return make_json_response(_form(row))

    return await call.write(effect)


def _form(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("credential_ref", "display_name", "created_at")}


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/credentials", list_credentials),
    Endpoint("POST", "/v1/credentials", add_credential, takes_body=True, permission=ARMS_MANAGE),
)
