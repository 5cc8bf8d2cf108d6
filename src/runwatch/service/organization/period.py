"""The stretch of days that a report covers (wire reference 2.9 and 2.12).

The references name ``period``, ``from`` and ``to`` and leave their form open. Ours: ``period`` is ``YYYY-MM``, ``from``
and ``to`` are dates in UTC and both count, and a report for which neither is given covers the month that it is now.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from runwatch.service.errors import make_validation_error

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MONTH: Final = re.compile(r"[0-9]{4}-[0-9]{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ServicePeriod:
    """Whole days in UTC; ``None`` is open.

    Attributes:
        first: The first day that counts.
        last: The last day that counts.
    """

    first: date | None
    last: date | None

    @property
    def since(self) -> str:
        """A text that no moment within the period sorts before, as moments are stored."""
        return "" if self.first is None else self.first.isoformat()

    @property
    def before(self) -> str:
        """A text that every moment within the period sorts before, and none behind it."""
        # A day has no hour 24, so the text stands between its last moment and the first of the next day. An open end
        # stands behind every year.
        return "T" if self.last is None else f"{self.last.isoformat()}T24"

    @property
    def read_form(self) -> dict[str, str | None]:
        """The period as a report names it."""
        return {
            "from": None if self.first is None else self.first.isoformat(),
            "to": None if self.last is None else self.last.isoformat(),
        }


def month_of(moment: datetime) -> tuple[datetime, datetime]:
    """The first moment of a moment's month, and the first of the next month."""
    first = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    # No month has 32 days, so that is always in the next one.
    return first, (first + timedelta(days=32)).replace(day=1)


def read_period(query: Mapping[str, str], now: datetime) -> ServicePeriod:
    """The ``period`` of a report, or its ``from`` and ``to``.

    Raises:
        Refusal: ``validation_failed`` for another form, for only one end, or for both ways at once.
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
    """``from`` and ``to`` of a report, either of which may be left out.

    Raises:
        Refusal: ``validation_failed``.
    """
    window = ServicePeriod(_day(query, "from"), _day(query, "to"))
    if window.first is not None and window.last is not None and window.first > window.last:
        raise make_validation_error(("to", "Must not be before from."))
    return window


def _month(text: str) -> ServicePeriod:
    try:
        if not _MONTH.fullmatch(text):
            raise ValueError
        first = date.fromisoformat(f"{text}-01")
    except ValueError:
        raise make_validation_error(("period", "Must be a month, such as 2026-11.")) from None
    return ServicePeriod(first, first.replace(day=calendar.monthrange(first.year, first.month)[1]))


def _day(query: Mapping[str, str], name: str) -> date | None:
    text = query.get(name, "")
    if not text:
        return None
    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise make_validation_error((name, "Must be a date, such as 2026-11-20.")) from None
