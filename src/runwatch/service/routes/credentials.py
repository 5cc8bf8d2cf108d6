"""Credential references (manual: interface, "Credentials, GitHub connections and webhooks")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.requests.review import CredentialWrite
from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.http.endpoints import Endpoint, lists, takes
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.ids import new_id
from runwatch.service.tables import credentials_table
from runwatch.service.transaction import Transaction, pick

_SHOWN: Final = "credential_ref display_name created_at"


def add_credential(transaction: Transaction, call: ServiceCall, body: CredentialWrite) -> dict[str, Any]:
    """Store a reference. It is a name without a key; the connection of a saved model is named by its own id."""
    reference = new_id("cred_ref", transaction.now)
    transaction.add(
        credentials_table,
        credential_ref=reference,
        tenant_id=call.tenant_id,
        display_name=body.display_name,
    )
    return pick(transaction.get(credentials_table, {"credential_ref": reference}), _SHOWN)


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/credentials", lists("credentials", credentials_table, lambda row: pick(row, _SHOWN))),
    Endpoint(
        "POST", "/v1/credentials", takes(CredentialWrite, add_credential), takes_body=True, permission=ARMS_MANAGE
    ),
)
