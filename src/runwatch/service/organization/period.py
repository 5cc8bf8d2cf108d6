"""The days that a report covers (manual: interface, "Usage"; manual: interface, "Evaluation summary and compliance
export").

The specification names ``period``, ``from`` and ``to`` without their format. Here ``period`` is ``YYYY-MM``, ``from``
and ``to`` are inclusive dates in UTC, and a report with neither covers the current month.
"""

from __future__ import annotations

import calendar
import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from runwatch.service.errors import make_validation_error

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ServicePeriod:
    """Whole days in UTC, the last one included; ``None`` is open."""

    first: date | None
    last: date | None

    @property
    def since(self) -> str:
        """Return a text that sorts before every stored timestamp of the period."""
        return "" if self.first is None else self.first.isoformat()

    @property
    def before(self) -> str:
        """Return a text that sorts after every stored timestamp of the period and before all later ones."""
        # No day has an hour 24, so this sorts between the day's last timestamp and the next day's first. An open end
        # sorts after every year.
        return "T" if self.last is None else f"{self.last.isoformat()}T24"

    def to_json(self) -> dict[str, str | None]:
        return {
            "from": None if self.first is None else self.first.isoformat(),
            "to": None if self.last is None else self.last.isoformat(),
        }


def month_of(moment: datetime) -> tuple[datetime, datetime]:
    """Return the first moment of a timestamp's month, and of the next month."""
    first = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    # No month has 32 days, so this always falls into the next month.
    return first, (first + timedelta(days=32)).replace(day=1)


def read_period(query: Mapping[str, str], now: datetime) -> ServicePeriod:
    """Parse the ``period`` of a report, or its ``from`` and ``to``.

    Refuses with ``validation_failed`` for an invalid format, only one end, or both ways at once.
    """
    month = query.get("period", "")
    window = read_window(query)
    if month:
        if query.get("from") or query.get("to"):
            raise make_validation_error(("period", "Goes with neither from nor to."))
        return _month(month)
    if window.first is None and window.last is None:
        return _month(now.strftime("%Y-%m"))
    if window.first is None:
        raise make_validation_error(("from", "Required with to."))
    if window.last is None:
        raise make_validation_error(("to", "Required with from."))
    return window


def read_window(query: Mapping[str, str]) -> ServicePeriod:
    """Parse ``from`` and ``to`` of a report, each optional. Refuses with ``validation_failed``."""
    window = ServicePeriod(_day(query, "from"), _day(query, "to"))
    if window.first is not None and window.last is not None and window.first > window.last:
        raise make_validation_error(("to", "Must not be before from."))
    return window


def _month(text: str) -> ServicePeriod:
    first = _date(f"{text}-01", "period", "Must be a month, such as 2026-11.")
    return ServicePeriod(first, first.replace(day=calendar.monthrange(first.year, first.month)[1]))


def _day(query: Mapping[str, str], name: str) -> date | None:
    text = query.get(name, "")
    return _date(text, name, "Must be a date, such as 2026-11-20.") if text else None


def _date(text: str, name: str, message: str) -> date:
    # Python also reads other forms of ISO 8601.
    if _DATE.fullmatch(text):
        with contextlib.suppress(ValueError):
            return date.fromisoformat(text)
    raise make_validation_error((name, message))
