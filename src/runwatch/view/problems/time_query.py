"""Parse a time as the user writes it, and the time range around it. Not in the specification.

Users say when something happened by local clock time. A clock set back shows an hour twice, a clock set forward skips
one; both cases are resolved here and explained.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from runwatch.base.closest_word import closest_word
from runwatch.base.errors import UsageError
from runwatch.view.text.values import Duration, parse_value

DEFAULT_RADIUS: Final = timedelta(minutes=5)

MAX_RADIUS: Final = timedelta(days=366)

LOCAL: Final = "local"
"""Name of this machine's zone."""

_HINT: Final = "For example 2026-11-22T03:10, 2026-11-22T03:10:05Z, 03:10, or 2h for two hours ago."
_CLOCK: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_DATE: Final = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}")
_ZONE_WORDS: Final = frozenset({"in", "tz"})


class Window(NamedTuple):
    """A time range in UTC, both ends included."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class TimeQuery:
    """A time and the search radius around it.

    Attributes:
        moments: The time in UTC; two times, earlier first, if the clock showed it twice.
        within: Radius before and after.
        zone: Display name of the zone in which the time was read.
        explanation: What was done about an ambiguous or skipped time; empty if none is needed.
    """

    moments: tuple[datetime, ...]
    within: timedelta = DEFAULT_RADIUS
    zone: str = "UTC"
    explanation: str = ""
    text: str = ""

    @property
    def windows(self) -> tuple[Window, ...]:
        """The time ranges to search, in order. Overlapping ranges are merged."""
        found: list[Window] = []
        for moment in self.moments:
            window = Window(_moved(moment, -self.within), _moved(moment, self.within))
            if found and window.since <= found[-1].until:
                window = Window(found.pop().since, window.until)
            found.append(window)
        return tuple(found)

    def offset_s(self, moment: datetime) -> float:
        """Return the seconds from the nearest of the times; negative before it."""
        return min(((moment - own).total_seconds() for own in self.moments), key=abs)


def parse_time_query(text: str, now: datetime, zone: str = "UTC") -> TimeQuery:
    """Parse ``WHEN [within SPAN] [in ZONE] [TEXT]``, as in ``03:10 within 10m in Europe/Berlin``.

    Raises:
        UsageError: There is no time, or a duration or zone is invalid.
    """
    words = text.split()
    if not words:
        raise UsageError("A time is missing", hint=_HINT)
    when = words.pop(0)
    if _DATE.fullmatch(when) and words and _CLOCK.match(words[0]):
        when = f"{when}T{words.pop(0)}"
    within = DEFAULT_RADIUS
    while words and words[0] in {"within", *_ZONE_WORDS}:
        word = words.pop(0)
        if not words:
            raise UsageError("A duration is missing" if word == "within" else "A zone is missing", detail=text)
        if word == "within":
            within = parse_radius(words.pop(0))
        else:
            zone = words.pop(0)
    return build_time_query(when, now, zone=zone, within=within, text=" ".join(words))


def build_time_query(
    when: str, now: datetime, *, zone: str = "UTC", within: timedelta = DEFAULT_RADIUS, text: str = ""
) -> TimeQuery:
    """Build the query for a time.

    Args:
        when: A date with a time of day, with or without a UTC offset; a time of day, which means its latest occurrence;
            a duration such as ``2h``, which counts back from now; or ``now``.
        zone: Zone of times without an offset: a name such as ``Europe/Berlin``, ``UTC`` or ``local``.
        within: Radius before and after.

    Raises:
        UsageError: The time or the zone is invalid.
    """
    own = find_zone(zone)
    name = "this machine's time" if own is None else zone
    if when == "now":
        return TimeQuery((now.astimezone(UTC),), within, name, text=text)
    # Elsewhere ``25:00`` is a duration of 25 minutes; here it is an invalid time of day.
    span = None if ":" in when else parse_value(when)
    if isinstance(span, Duration):
        return TimeQuery((_moved(now.astimezone(UTC), -_as_delta(span, when)),), within, name, text=text)
    clock = _CLOCK.fullmatch(when)
    try:
        if clock is not None:
            found = _latest(_time_of_day(clock), now, own)
        else:
            found = datetime.fromisoformat(when)
        if _DATE.fullmatch(when):
            raise UsageError(f"'{when}' has no time of day", hint=_HINT)
        if found.tzinfo is not None:
            return TimeQuery((found.astimezone(UTC),), within, name, text=text)
        moments, explanation = _instants(found, own, name)
    except (ValueError, OverflowError):
        raise UsageError(f"'{when}' is not a time", hint=_HINT) from None
    return TimeQuery(moments, within, name, explanation, text)


def parse_radius(text: str) -> timedelta:
    """Parse a search radius: ``5m``, ``90s``, ``1h30m``.

    Raises:
        UsageError: It is not a duration, or longer than a year.
    """
    bound = parse_value(text)
    if not isinstance(bound, Duration):
        raise UsageError(f"'{text}' is not a duration", hint="For example 90s, 5m or 1h30m.")
    return _as_delta(bound, text)


def find_zone(name: str) -> tzinfo | None:
    """Return the IANA time zone of this name; ``None`` for ``local``.

    Raises:
        UsageError: There is no such zone.
    """
    if name.casefold() == LOCAL:
        return None
    if name.upper() in {"UTC", "Z"}:
        return UTC
    try:
        return ZoneInfo(name)
    # A partial name is a directory of the database, and some texts are not valid file names.
    except (KeyError, ValueError, OSError):
        folded = {known.casefold(): known for known in available_timezones()}
        last = {known.rpartition("/")[2]: known for known in folded}
        near = closest_word(name.casefold(), [*folded, *last])
        guess = folded[last.get(near, near)] if near else ""
        raise UsageError(
            f"There is no time zone named '{name}'",
            detail=f"did you mean {guess}?" if guess else None,
            hint="For example Europe/Berlin, UTC, or local for that of this machine.",
        ) from None


def _as_delta(span: Duration, text: str) -> timedelta:
    if span.seconds > MAX_RADIUS.total_seconds():
        raise UsageError(f"'{text}' is more than a year")
    return timedelta(seconds=float(span.seconds))


def _time_of_day(match: re.Match[str]) -> time:
    hour, minute, second = (int(part or 0) for part in match.groups())
    return time(hour, minute, second)


def _latest(clock: time, now: datetime, zone: tzinfo | None) -> datetime:
    """Return the latest local time at which the clock of a zone showed this time of day."""
    today = _by_clock(now, zone)
    found = datetime.combine(today.date(), clock)
    return found if found <= today else found - timedelta(days=1)


def _instants(shown: datetime, zone: tzinfo | None, name: str) -> tuple[tuple[datetime, ...], str]:
    """Return the times at which the clock of a zone showed a local time, and an explanation."""
    # ``fold=0`` applies the rule before a clock change, ``fold=1`` the rule after it (PEP 495).
    first, second = (_instant(shown.replace(fold=fold), zone) for fold in (0, 1))
    said = shown.isoformat(sep=" ", timespec="seconds" if shown.second or shown.microsecond else "minutes")
    if _by_clock(first, zone) != shown:
        real = _by_clock(first, zone)
        explanation = (
            f"{said} does not exist in {name} because clocks moved forward. Using {real:%H:%M} ({_utc(first)}) instead."
        )
        return (first,), explanation
    if first != second:
        explanation = (
            f"{said} exists twice in {name} because clocks moved back: {_utc(first)} and {_utc(second)}. Using both."
        )
        return (first, second), explanation
    return (first,), ""


def _instant(shown: datetime, zone: tzinfo | None) -> datetime:
    # ``astimezone`` treats a naive time as local.
    return (shown if zone is None else shown.replace(tzinfo=zone)).astimezone(UTC)


def _by_clock(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%H:%M} UTC"


def _moved(moment: datetime, by: timedelta) -> datetime:
    """Shift a time, limited to the range of the calendar."""
    try:
        return moment + by
    except OverflowError:
        return (datetime.min if by < timedelta(0) else datetime.max).replace(tzinfo=UTC)


def contains_all_words(text: str, places: Iterable[str]) -> bool:
    """Whether every word of a text occurs in one of the places, ignoring case."""
    folded = "\n".join(places).casefold()
    return all(word in folded for word in text.casefold().split())
