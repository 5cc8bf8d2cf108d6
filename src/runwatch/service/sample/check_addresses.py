"""Keep the sample checks at the service's own address, which changes with its port."""

from __future__ import annotations

from dataclasses import replace

from runwatch.base.clock import format_iso
from runwatch.service.address_policy import SAMPLE_CHECKS_PATH
from runwatch.service.checks import bindings, verifiers
from runwatch.service.tables import sample_organizations_table, verifiers_table
from runwatch.service.transaction import Row, Transaction


def update_check_addresses(transaction: Transaction, origin: str) -> None:
    """Move every check from the service's old address to the new one; do nothing if it is unchanged.

    The check stays the same check at the same service, so a key entered for it moves too. The new address is
    nevertheless a change of the check, which its hash and revision show.
    """
    for sample in transaction.list_all(sample_organizations_table, {}):
        if sample["origin"] == origin:
            continue
        start = f"{sample['origin']}{SAMPLE_CHECKS_PATH}"
        for row in transaction.list_all(verifiers_table, {}):
            if row["endpoint"]["url"].startswith(start):
                _move(transaction, row, f"{origin}{SAMPLE_CHECKS_PATH}{row['endpoint']['url'].removeprefix(start)}")
        transaction.change(sample_organizations_table, {"api_key_id": sample["api_key_id"]}, origin=origin)


def _move(transaction: Transaction, row: Row, url: str) -> None:
    verifier_id, endpoint = row["verifier_id"], {**row["endpoint"], "url": url}
    transaction.change(
        verifiers_table,
        {"verifier_id": verifier_id},
        endpoint=endpoint,
        hash=verifiers.definition_hash(row["version"], endpoint, row["input_data_classes"], row["scoring"]),
        revision=row["revision"] + 1,
        updated_at=format_iso(transaction.now),
    )
    binding = bindings.load(transaction, verifier_id)
    if binding.origin is not None:
        bindings.save(transaction, verifier_id, replace(binding, origin=bindings.find_origin(url)))
