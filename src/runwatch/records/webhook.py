"""Webhooks and their deliveries (manual: interface, "Credentials, GitHub connections and webhooks").

The specification has only their paths; the members are those of the local service.
"""

from __future__ import annotations

from runwatch.records.record import Record, Wire, integer, many, moment, text, texts


class Webhook(Record):
    """An address notified of final runs. Only the responses that mint its signing secret hold it, as ``secret``."""

    KIND = "webhook"
    WIRE = Wire("/v1/webhooks", "webhooks", "webhook_id")

    webhook_id = text()
    url = text()
    event_types = texts()
    status = text()
    created_at = moment()
    secret_rotated_at = moment()
    secret = text()
    delivery_note = text()


class Delivery(Record):
    """One message to a webhook and its outcome; ``status_code`` is that of the last response."""

    KIND = "delivery"
    WIRE = Wire("/v1/webhooks/{webhook_id}/deliveries", "deliveries", "delivery_id", paged=True)

    delivery_id = text()
    webhook_id = text()
    event_id = text()
    event_type = text()
    execution_id = text()
    status = text()
    attempts = integer()
    next_attempt_at = moment()
    status_code = integer()
    error = text()
    replay_of = text()
    created_at = moment()
    delivered_at = moment()


class Deliveries(Record):
    """A page of deliveries, newest first."""

    KIND = "deliveries"

    deliveries = many(Delivery)
    next_cursor = text()
