"""The days that a report covers, and the names of common periods.

The interface defines the parameters ``from`` and ``to`` but not their format (manual: interface, "Usage"). runwatch
sends UTC dates, both included, as the local service reads them. The names are not in the specification.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from runwatch.base.errors import UsageError


@dataclass(frozen=True, slots=True)
class ReportPeriod:
    """Whole days in UTC, both included."""

    first: date
    last: date

    def query(self) -> dict[str, str]:
        """Return the period as query parameters of a report."""
        return {"from": self.first.isoformat(), "to": self.last.isoformat()}

    def text(self) -> str:
        """Return the period for a title: one day, or the first and the last."""
        return f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True, slots=True)
class NamedPeriod:
    """A period relative to the current day."""

    id: str
    title: str
    of: Callable[[date], ReportPeriod]

    def at(self, now: datetime) -> ReportPeriod:
        return self.of(now.astimezone(UTC).date())


PERIODS: Final[Mapping[str, NamedPeriod]] = {
    named.id: named
    for named in (
        NamedPeriod("today", "Today", lambda day: ReportPeriod(day, day)),
        NamedPeriod("7d", "7 days", lambda day: ReportPeriod(day - timedelta(days=6), day)),
        NamedPeriod("30d", "30 days", lambda day: ReportPeriod(day - timedelta(days=29), day)),
        NamedPeriod("month", "This month", lambda day: ReportPeriod(day.replace(day=1), day)),
    )
}
"""The named periods, shortest first."""

DEFAULT_PERIOD: Final = "7d"

PERIOD_HINT: Final = "a month such as 2026-10, or two days such as 2026-11-01 2026-11-15"

SHORT_PERIOD_HINT: Final = "such as 2026-10, or 2026-11-01 2026-11-15"
"""The same beside what is typed, also in 80 columns."""

_MONTH: Final = re.compile(r"[0-9]{4}-[0-9]{2}", re.ASCII)
_DAYS: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:(?:\s*\.\.\s*|\s+(?:to\s+)?)([0-9]{4}-[0-9]{2}-[0-9]{2}))?", re.ASCII
)


def parse_period(text: str, now: datetime) -> ReportPeriod:
    """Parse a period: a name, a month, a day, or the first and the last day.

    Raises:
        UsageError: It is none of these.
    """
    text = text.strip()
    if text in PERIODS:
        return PERIODS[text].at(now)
    try:
        if _MONTH.fullmatch(text):
            first = date.fromisoformat(f"{text}-01")
            return ReportPeriod(first, _month_end(first))
        match = _DAYS.fullmatch(text)
        if match is not None:
            first = date.fromisoformat(match[1])
            last = date.fromisoformat(match[2] or match[1])
            if first <= last:
                return ReportPeriod(first, last)
            raise UsageError("The last day is before the first one", hint=f"Type {PERIOD_HINT}.")
    except ValueError:
        raise UsageError(f"'{text}' is not in the calendar", hint=f"Type {PERIOD_HINT}.") from None
    raise UsageError(f"'{text}' is not a period", hint=f"Type {', '.join(PERIODS)}, {PERIOD_HINT}.")


def _month_end(first: date) -> date:
    # 32 days after the first is always in the next month; the calendar's last month has no next one.
    return (
        date.max
        if (first.year, first.month) == (9999, 12)
        else (first + timedelta(days=32)).replace(day=1) - timedelta(days=1)
    )
