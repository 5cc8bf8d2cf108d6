"""Webhooks and their deliveries (manual: webhooks, "A delivery"; manual: webhooks, "Tries").

For every run that becomes final, each webhook of its organization subscribed to that event gets one delivery, written
in the transaction that ends the run. Everything but the paths is this service's own.

Each webhook has its own queue of at most :data:`MAX_QUEUED` deliveries. When the queue is full, an event is stored as a
failed delivery with the error ``queue_full``, which a replay sends once there is room.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.finder import finder
from runwatch.service.errors import RefusalError
from runwatch.service.ids import new_id
from runwatch.service.tables import webhook_deliveries_table, webhooks_table
from runwatch.service.transaction import Row, Transaction, pick

RETRY_WAITS_S: Final = (10, 60, 600, 3600)
"""Seconds between the tries of a delivery."""

TRIES: Final = len(RETRY_WAITS_S) + 1

WEBHOOKS_EACH: Final = 20

MAX_QUEUED: Final = 1000

QUEUE_FULL: Final = "queue_full"
"""Error of a delivery whose webhook had a full queue."""

_SECRET_PREFIX: Final = "whsec_"  # noqa: S105
_SECRET_BYTES: Final = 32
_DELIVERY: Final = (
    "delivery_id webhook_id event_id event_type execution_id status attempts next_attempt_at status_code error "
    "replay_of created_at delivered_at"
)


def new_secret() -> Secret:
    return Secret(_SECRET_PREFIX + secrets.token_urlsafe(_SECRET_BYTES))


def headers_of(delivery: Row, secret: Secret, timestamp: int) -> dict[str, str]:
    """Build the headers of one try of a delivery, its signature among them."""
    signed = f"{timestamp}.{delivery['body']}".encode("ascii")
    signature = hmac.new(secret.reveal().encode("ascii"), signed, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "User-Agent": "runwatch-service",
        "Runwatch-Event": delivery["event_type"],
        "Runwatch-Delivery": delivery["delivery_id"],
        "Runwatch-Timestamp": str(timestamp),
        "Runwatch-Signature": f"v1={signature}",
    }


def add(transaction: Transaction, tenant_id: str, url: str, event_types: list[str], secret_handle: str) -> Row:
    """Store a new webhook. Refuses with ``invalid_state`` when the organization has the most webhooks allowed."""
    if transaction.count(webhooks_table, {"tenant_id": tenant_id}) >= WEBHOOKS_EACH:
        raise RefusalError("invalid_state", f"An organization has at most {WEBHOOKS_EACH} webhooks.")
    webhook_id = new_id("wh", transaction.now)
    transaction.add(
        webhooks_table,
        webhook_id=webhook_id,
        tenant_id=tenant_id,
        url=url,
        event_types=event_types,
        secret_handle=secret_handle,
    )
    return find(transaction, tenant_id, webhook_id)


find: Final = finder(webhooks_table, "webhook_id", "webhook")
"""Return the webhook with an id of an organization, or refuse with ``not_found``."""


_find_delivery: Final = finder(webhook_deliveries_table, "delivery_id", "delivery")


def every(transaction: Transaction, tenant_id: str) -> list[Row]:
    return list(transaction.newest(webhooks_table, {"tenant_id": tenant_id}))


def set_secret(transaction: Transaction, webhook_id: str, secret_handle: str) -> None:
    transaction.change(
        webhooks_table,
        {"webhook_id": webhook_id},
        secret_handle=secret_handle,
        secret_rotated_at=format_iso(transaction.now),
    )


def remove(transaction: Transaction, tenant_id: str, webhook_id: str) -> tuple[dict[str, Any], str]:
    """Remove a webhook and all its deliveries, including waiting ones.

    Returns:
        The acknowledgement, and the handle of its secret, for removal after the commit.

    Raises:
        RefusalError: ``not_found``.
    """
    row = find(transaction, tenant_id, webhook_id)
    where = {"webhook_id": webhook_id}
    waiting = transaction.count(webhook_deliveries_table, {**where, "status": "pending"})
    transaction.remove(webhook_deliveries_table, where)
    transaction.remove(webhooks_table, where)
    shown = {"webhook_id": webhook_id, "status": "removed", "removed_at": format_iso(transaction.now)}
    return {**shown, "effects": {"deliveries_dropped": waiting}}, row["secret_handle"]


def enqueue(transaction: Transaction, tenant_id: str, execution: Mapping[str, Any]) -> None:
    """Queue a delivery of a final run for every webhook subscribed to its event."""
    event_type = f"execution.{execution['status']}"
    receivers = [row for row in every(transaction, tenant_id) if event_type in row["event_types"]]
    if not receivers:
        return
    event_id = new_id("evt", transaction.now)
    body = dumps(
        {
            "event_id": event_id,
            "type": event_type,
            "created_at": format_iso(transaction.now),
            "tenant_id": tenant_id,
            "execution": execution,
        }
    )
    for row in reversed(receivers):
        _add_delivery(
            transaction,
            tenant_id=tenant_id,
            webhook_id=row["webhook_id"],
            event_id=event_id,
            event_type=event_type,
            execution_id=execution["execution_id"],
            body=body,
        )


def replay(transaction: Transaction, tenant_id: str, delivery_id: str) -> Row:
    """Queue the same event for the same webhook again as a new delivery, and return that.

    Refuses with ``not_found``, or ``invalid_state`` while the delivery is still being tried or the queue is full.
    """
    row = _find_delivery(transaction, tenant_id, delivery_id)
    if row["status"] == "pending":
        raise RefusalError("invalid_state", "The delivery is still being tried.")
    if not _has_room(transaction, row["webhook_id"]):
        raise RefusalError("invalid_state", f"{MAX_QUEUED} deliveries wait for this webhook; replay this one later.")
    copied = pick(row, "tenant_id webhook_id event_id event_type execution_id body")
    return _add_delivery(transaction, **copied, replay_of=delivery_id)


def deliveries(
    transaction: Transaction, tenant_id: str, webhook_id: str, *, before: int | None, limit: int
) -> list[Row]:
    """Return deliveries to a webhook, newest first. Refuses with ``not_found`` for the webhook."""
    find(transaction, tenant_id, webhook_id)
    return list(transaction.newest(webhook_deliveries_table, {"webhook_id": webhook_id}, before=before, limit=limit))


def due(transaction: Transaction, limit: int) -> list[tuple[Row, Row]]:
    """Return deliveries with a due try, oldest first and at most ``limit`` per webhook, each with its webhook."""
    rows = transaction.oldest_of_each(
        webhook_deliveries_table,
        "webhook_id",
        {"status": "pending"},
        until=("next_attempt_at", _later(transaction)),
        limit=limit,
    )
    return [(row, transaction.get(webhooks_table, {"webhook_id": row["webhook_id"]})) for row in rows]


def next_attempt_at(transaction: Transaction) -> str | None:
    """Return the time of the earliest try that is not due yet, or ``None``."""
    at: str | None = transaction.least(
        webhook_deliveries_table, "next_attempt_at", {"status": "pending"}, since=_later(transaction)
    )
    return at


def claim(transaction: Transaction, delivery: Row, lease_s: float) -> bool:
    """Take a delivery that is due for one try, so that no other process tries it for some seconds.

    Returns:
        Whether it was still as it was read.
    """
    where = {"delivery_id": delivery["delivery_id"]}
    row = transaction.one(webhook_deliveries_table, where)
    if row is None or any(row[name] != delivery[name] for name in ("status", "attempts", "next_attempt_at")):
        return False
    transaction.change(
        webhook_deliveries_table, where, next_attempt_at=format_iso(transaction.now + timedelta(seconds=lease_s))
    )
    return True


def record_try(transaction: Transaction, delivery: Row, *, status_code: int | None, error: str | None) -> None:
    """Store the outcome of a try, and schedule the next one unless it succeeded or was the last.

    Args:
        error: What went wrong; ``None`` when the webhook accepted the delivery.
    """
    attempts = delivery["attempts"] + 1
    is_last = error is None or attempts >= TRIES
    wait = timedelta(seconds=0 if is_last else RETRY_WAITS_S[attempts - 1])
    transaction.change(
        webhook_deliveries_table,
        {"delivery_id": delivery["delivery_id"]},
        status="delivered" if error is None else "failed" if is_last else "pending",
        attempts=attempts,
        next_attempt_at=None if is_last else format_iso(transaction.now + wait),
        status_code=status_code,
        error=error,
        delivered_at=format_iso(transaction.now) if error is None else None,
    )


def webhook_json(row: Row) -> dict[str, Any]:
    """Build the JSON of a webhook, without its secret."""
    return {
        **pick(row, "webhook_id url event_types"),
        "status": "active",
        "created_at": row["created_at"],
        "secret_rotated_at": row["secret_rotated_at"],
    }


def delivery_json(row: Row) -> dict[str, Any]:
    """Build the JSON of a delivery.

    ``status`` is ``pending``, ``delivered`` or ``failed``. ``error`` is the failure of the last try: ``http_error``,
    ``credential_unavailable``, ``queue_full`` (never tried), or a kind of
    :class:`runwatch.service.outbound.OutboundError`.
    """
    return pick(row, _DELIVERY)


def _later(transaction: Transaction) -> str:
    """Return the earliest time at which a delivery is not due yet."""
    return format_iso(transaction.now + timedelta(milliseconds=1))


def _has_room(transaction: Transaction, webhook_id: object) -> bool:
    where = {"webhook_id": webhook_id, "status": "pending"}
    return transaction.count(webhook_deliveries_table, where) < MAX_QUEUED


def _add_delivery(transaction: Transaction, **values: object) -> Row:
    delivery_id = new_id("whd", transaction.now)
    has_room = _has_room(transaction, values["webhook_id"])
    transaction.add(
        webhook_deliveries_table,
        delivery_id=delivery_id,
        status="pending" if has_room else "failed",
        attempts=0,
        next_attempt_at=format_iso(transaction.now) if has_room else None,
        error=None if has_room else QUEUE_FULL,
        **values,
    )
    return transaction.get(webhook_deliveries_table, {"delivery_id": delivery_id})
