"""Which secrets no master key opens any more, in words that say what they belong to and how to enter them again."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from runwatch.base.shell import runwatch_command
from runwatch.base.text import clean_line
from runwatch.service.checks import bindings
from runwatch.service.tables.checks import bindings as bindings_table
from runwatch.service.tables.models import connections
from runwatch.service.tables.organization import webhooks
from runwatch.service.transaction import Transaction

_CONNECT = {"verifier": "verifiers connect", "agent": "agents connect"}


def describe(handles: Collection[str], transaction: Transaction) -> tuple[str, ...]:
    """A line for each record whose secret is in use and among those that cannot be opened.

    Args:
        handles: The handles of the secrets that cannot be opened.
        transaction: Reads the records.
    """
    return tuple(_lines(frozenset(handles), transaction)) if handles else ()


def _lines(handles: frozenset[str], transaction: Transaction) -> Iterator[str]:
    for row in transaction.every(connections, {}):
        if row["secret_handle"] in handles:
            name, known = clean_line(row["display_name"]), row["connection_id"]
            yield f"the key of the source '{name}': enter it again: {runwatch_command('sources rotate', known)}"
    for row in transaction.every(bindings_table, {}):
        if bindings.secret_handle_of(transaction, row["subject_id"], transaction.now) in handles:
            verb, known = _CONNECT.get(row["kind"], f"{row['kind']} connect"), row["subject_id"]
            yield f"the key of {known}: enter it again: {runwatch_command(verb, known)}"
    for row in transaction.every(webhooks, {}):
        if row["secret_handle"] in handles:
            known = row["webhook_id"]
            renewed = runwatch_command("webhooks rotate", known)
            yield f"the signing secret of the webhook {known}: make a new one: {renewed}"
