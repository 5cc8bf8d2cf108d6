"""Bodies for the protected key of an output check or a review agent (manual: interface, "Verifiers").

None of them carries a key: the user types it on a private page.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator, model_validator

from runwatch.records.requests.body import ClosedBody, OpenBody

OPERATION_KEY: Final = re.compile(r"[A-Za-z0-9._:-]{1,256}")
"""Form of an operation key, which may be the id of an intent."""

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ZONE_CHARACTERS: Final = 64
_PARTS: Final[dict[str, frozenset[str]]] = {
    "no_expiration": frozenset({"kind"}),
    "preset_days": frozenset({"kind", "days"}),
    "calendar_date": frozenset({"kind", "date", "time_zone"}),
}


class StopChoice(ClosedBody):
    """When the service stops using a key.

    Attributes:
        date: The first day without the key, ``YYYY-MM-DD``.
        time_zone: The IANA name of the zone in which that day begins. Whether it exists is checked elsewhere, with the
            zone data.
    """

    kind: Literal["no_expiration", "preset_days", "calendar_date"]
    days: Literal[30, 90, 180, 365] | None = None
    date: str | None = None
    time_zone: Annotated[str, Field(min_length=1, max_length=_ZONE_CHARACTERS)] | None = None

    @field_validator("date")
    @classmethod
    def _date_is_one(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                is_one = _DATE.fullmatch(value) is not None and bool(date.fromisoformat(value))
            except ValueError:
                is_one = False
            if not is_one:
                raise ValueError("must be a date written YYYY-MM-DD")
        return value

    @model_validator(mode="after")
    def _parts_fit_the_kind(self) -> StopChoice:
        wanted = _PARTS[self.kind]
        if self.model_fields_set != wanted or any(getattr(self, name) is None for name in wanted):
            raise ValueError(f"{self.kind} takes {' and '.join(sorted(wanted - {'kind'})) or 'nothing'} beside kind")
        return self


class ConnectionIntentRequest(OpenBody):
    """The body that requests the private page of a key."""

    stop_choice: StopChoice


class _OperationBody(OpenBody):
    operation_key: str | None = None

    @field_validator("operation_key")
    @classmethod
    def _operation_key_is_one(cls, value: str | None) -> str | None:
        if value is not None and not OPERATION_KEY.fullmatch(value):
            raise ValueError("must be 1 to 256 letters, digits and . _ : -")
        return value


class ConnectionTestRequest(_OperationBody):
    """The body that tests a staged key and activates it.

    Attributes:
        handle: Names the staged key; it is not a secret.
        captured_generation: The connection's generation, as the private page returned it with the handle.
        operation_key: Identifies the outcome for a later lookup; the intent's id by default.
    """

    handle: Annotated[str, Field(min_length=1, max_length=256)]
    captured_generation: int


class ConnectionRevokeRequest(_OperationBody):
    """The body that stops the use of a key.

    Attributes:
        operation_key: Identifies the outcome for a later lookup. A repeated key does not stop a connection made in
            between.
    """
