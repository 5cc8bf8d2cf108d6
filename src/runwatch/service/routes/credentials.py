"""Credential references (specification, Credential reference; wire reference 2.14)."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.clock import iso
from runwatch.records.requests.review import CredentialWrite
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.http.answer import Answer, answer_json
from runwatch.service.http.bodies import read_as
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.ids import new_id
from runwatch.service.tables.review import credentials
from runwatch.service.transaction import Row, Transaction


async def list_credentials(call: Call) -> Answer:
    """All references, newest first; the list has no pages (wire reference 1.7)."""
    mine = {"tenant_id": call.principal.tenant_id}
    rows = await call.read(lambda transaction: transaction.newest(credentials, mine))
    return answer_json({"credentials": [_form(row) for row in rows]})


async def add_credential(call: Call) -> Answer:
    """Note a reference. It is a name without a key: the connection of a saved model is named by its own id."""
    body = read_as(CredentialWrite, call.content)

    def effect(transaction: Transaction) -> Answer:
        reference = new_id("cred_ref", transaction.now)
        transaction.add(
            credentials,
            credential_ref=reference,
            tenant_id=call.principal.tenant_id,
            display_name=body.display_name,
            created_at=iso(transaction.now),
        )
        row = transaction.one(credentials, {"credential_ref": reference})
        assert row is not None
        return answer_json(_form(row))

    return await call.write(effect)


def _form(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("credential_ref", "display_name", "created_at")}


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/credentials", list_credentials),
    Endpoint("POST", "/v1/credentials", add_credential, takes_body=True, permission=ARMS_MANAGE),
)
