"""Webhooks and their deliveries (manual: interface, "Credentials, GitHub connections and webhooks").

The specification has only their paths; the members are those of the local service.
"""

from __future__ import annotations

from runwatch.records.record import Record, Wire, integer, many, moment, text, texts


class Webhook(Record):
    """An address notified of final runs. Only the responses that mint its signing secret hold it, as ``secret``."""

    KIND = "webhook"
    WIRE = Wire("/v1/webhooks", "webhooks", "webhook_id")

    webhook_id = text("webhook_id")
    url = text("url")
    event_types = texts("event_types")
    status = text("status")
    created_at = moment("created_at")
    secret_rotated_at = moment("secret_rotated_at")
    secret = text("secret")
    delivery_note = text("delivery_note")


class Delivery(Record):
    """One message to a webhook and its outcome; ``status_code`` is that of the last response."""

    KIND = "delivery"
    WIRE = Wire("/v1/webhooks/{webhook_id}/deliveries", "deliveries", "delivery_id", paged=True)

    delivery_id = text("delivery_id")
    webhook_id = text("webhook_id")
    event_id = text("event_id")
    event_type = text("event_type")
    execution_id = text("execution_id")
    status = text("status")
    attempts = integer("attempts")
    next_attempt_at = moment("next_attempt_at")
    status_code = integer("status_code")
    error = text("error")
    replay_of = text("replay_of")
    created_at = moment("created_at")
    delivered_at = moment("delivered_at")


class Deliveries(Record):
    """A page of deliveries, newest first."""

    KIND = "deliveries"

    deliveries = many(Delivery, "deliveries")
    next_cursor = text("next_cursor")
