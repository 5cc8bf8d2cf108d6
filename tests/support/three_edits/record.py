"""The first edit: ``records/gadget.py``."""

from __future__ import annotations

from runwatch.records.record import Record, Wire, amount, moment, text


class Gadget(Record):
    """Something a service keeps."""

    KIND = "gadget"
    WIRE = Wire("/v1/gadgets", "gadgets", "gadget_id", paged=True, filters=("status",))

    gadget_id = text("gadget_id")
    status = text("status")
    price_usd = amount("price_usd")
    made_at = moment("made_at")
    execution_id = text("execution_id")
