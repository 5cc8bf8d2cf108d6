"""Validate ``auth_ref`` of a check's or an agent's endpoint (manual: security, "Misplaced secrets")."""

from __future__ import annotations

from typing import Final

from runwatch.service.checks import bindings
from runwatch.service.errors import make_validation_error
from runwatch.service.tables import credentials_table
from runwatch.service.transaction import Transaction

UNKNOWN: Final = (
    "Names neither a credential reference of the organization nor the key in use here. Leave it empty; enter the key on"
    " the private page once the check or agent is registered."
)


def check_auth_ref(
    transaction: Transaction, tenant_id: str, url: str, auth_ref: str, subject_id: str | None = None
) -> None:
    """Refuse an unknown reference.

    An endpoint receives only the key of its own connection, so a reference names that key, or a credential reference of
    the organization, which holds no key.

    Args:
        subject_id: The check or agent; ``None`` while it is being registered.

    Raises:
        RefusalError: ``validation_failed``.
    """
    if not auth_ref:
        return
    if transaction.one(credentials_table, {"credential_ref": auth_ref, "tenant_id": tenant_id}) is not None:
        return
    if subject_id is not None:
        binding = bindings.load(transaction, subject_id)
        if (binding.handle, binding.origin) == (auth_ref, bindings.find_origin(url)):
            return
    raise make_validation_error(("endpoint.auth_ref", UNKNOWN))
