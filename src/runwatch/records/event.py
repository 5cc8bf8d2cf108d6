"""Events of a run (manual: interface, "Events")."""

from __future__ import annotations

from typing import Any

from runwatch.base.json import dumps, loads
from runwatch.records.check import RecordedCheck, VerificationCheck
from runwatch.records.record import Record, Wire, moment, one, text
from runwatch.records.states import is_final


class RunEvent(Record):
    """One event of a run.

    Only ``type`` = ``lifecycle`` is certain; ``verification_check`` and ``recorded_check`` carry the member of their
    name, and any other type is kept and shown as received. A run-level event is sent without a ``slice_id`` member; on
    reading, ``null`` counts as missing.

    ``note`` adds to the end of a slice in words, and ``arm_id`` names the saved model that a slice goes on with. Only
    the local service sends them.

    Attributes:
        text: The event's exact JSON text, where the decoder kept it.
    """

    __slots__ = ("text",)

    KIND = "event"
    WIRE = Wire("/v1/executions/{execution_id}/events", "events", "event_id")

    event_id = text()
    execution_id = text()
    slice_id = text()
    type = text()
    state = text()
    reason = text()
    acted_by = text()
    note = text()
    arm_id = text()
    at = moment()
    verification_check = one(VerificationCheck)
    recorded_check = one(RecordedCheck)

    def __init__(self, raw: dict[str, Any], text: str | None = None) -> None:
        self._raw = raw
        self._shape = None
        self.text = text

    @classmethod
    def stored(cls, text: str) -> RunEvent:
        """Return the event with this JSON text, which is decoded when a member is read."""
        event = cls.__new__(cls)
        event._shape = None
        event.text = text
        return event

    def __getattr__(self, name: str) -> Any:
        """Decode a stored event."""
        if name != "_raw" or self.text is None:
            raise AttributeError(name)
        self._raw = loads(self.text)
        return self._raw

    @property
    def wire_text(self) -> str:
        """The event's JSON text, exactly as received."""
        return self.text if self.text is not None else dumps(self._raw)

    @property
    def ends_run(self) -> bool:
        """Whether this is the run-level lifecycle event with a final state, after which no event follows."""
        raw = self._raw
        return raw.get("type") == "lifecycle" and raw.get("slice_id") is None and is_final(raw.get("state"))
