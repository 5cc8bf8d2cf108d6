"""A moment that the user names, and the time around it; ours, no reference has it.

People say when something happened by the clock on their wall. A clock that is put back shows an hour twice, and one
that is put forward leaves an hour out: both are looked at here, and said in words.
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

DEFAULT_RADIUS_S: Final = timedelta(minutes=5)
"""How far to both sides of a moment is looked unless something else is said."""

MAX_TEXT_CHARACTERS: Final = timedelta(days=366)
"""The farthest to both sides that may be asked for."""

LOCAL: Final = "local"
"""The name of this machine's own zone."""

_HINT: Final = "For example 2026-11-22T03:10, 2026-11-22T03:10:05Z, 03:10, or 2h for two hours ago."
_CLOCK: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_DATE: Final = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}")
_ZONE_WORDS: Final = frozenset({"in", "tz"})


class Window(NamedTuple):
    """A stretch of time, both ends included, in UTC."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class TimeQuery:
    """The time around a moment.

    Attributes:
        moments: The moment in UTC; two, the earlier first, where a clock showed it twice.
        within: How far to both sides.
        zone: The zone by which it was read, as people name it.
        told: What the user has to know about the reading of the time; empty when there is nothing to say.
        text: What has to stand in what is found; empty for everything.
    """

    moments: tuple[datetime, ...]
    within: timedelta = DEFAULT_RADIUS_S
    zone: str = "UTC"
    told: str = ""
    text: str = ""

    @property
    def windows(self) -> tuple[Window, ...]:
        """The stretches to look through, in order; two that touch are one."""
        found: list[Window] = []
        for moment in self.moments:
            window = Window(_moved(moment, -self.within), _moved(moment, self.within))
            if found and window.since <= found[-1].until:
                window = Window(found.pop().since, window.until)
            found.append(window)
        return tuple(found)

    def offset_s(self, moment: datetime) -> float:
        """Seconds from the nearest of the moments to another one; negative before it."""
        return min(((moment - own).total_seconds() for own in self.moments), key=abs)


def parse_time_query(text: str, now: datetime, zone: str = "UTC") -> TimeQuery:
    """What the user types: ``WHEN [within SPAN] [in ZONE] [TEXT]``, as in ``03:10 within 10m in Europe/Berlin``.

    Args:
        text: What was typed.
        now: The present moment.
        zone: The zone of times that name none.

    Raises:
        UsageError: there is no time in it, or a span or a zone cannot be read.
    """
    words = text.split()
    if not words:
        raise UsageError("A time is missing", hint=_HINT)
    when = words.pop(0)
    if _DATE.fullmatch(when) and words and _CLOCK.match(words[0]):
        when = f"{when}T{words.pop(0)}"
    within = DEFAULT_RADIUS_S
    while words and words[0] in {"within", *_ZONE_WORDS}:
        word = words.pop(0)
        if not words:
            raise UsageError("A span of time is missing" if word == "within" else "A zone is missing", detail=text)
        if word == "within":
            within = parse_radius(words.pop(0))
        else:
            zone = words.pop(0)
    return build_time_query(when, now, zone=zone, within=within, text=" ".join(words))


def build_time_query(
    when: str, now: datetime, *, zone: str = "UTC", within: timedelta = DEFAULT_RADIUS_S, text: str = ""
) -> TimeQuery:
    """The time around a moment.

    Args:
        when: A date with a time of day, with or without an offset from UTC; a time of day alone, which is the latest
            such one; a span such as ``2h``, which reaches back from now; or ``now``.
        now: The present moment.
        zone: The zone of times without an offset: a name such as ``Europe/Berlin``, ``UTC`` or ``local``.
        within: How far to both sides.
        text: What has to stand in what is found.

    Raises:
        UsageError: the time or the zone cannot be read.
    """
    own = find_zone(zone)
    name = "this machine's time" if own is None else zone
    if when == "now":
        return TimeQuery((now.astimezone(UTC),), within, name, text=text)
    # ``25:00`` would be a span of 25 minutes elsewhere; here it is a time that no clock shows.
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
        moments, told = _instants(found, own, name)
    except (ValueError, OverflowError):
        raise UsageError(f"'{when}' is no time", hint=_HINT) from None
    return TimeQuery(moments, within, name, told, text)


def parse_radius(text: str) -> timedelta:
    """How far to both sides: ``5m``, ``90s``, ``1h30m``.

    Raises:
        UsageError: it is no span of time, or one of more than a year.
    """
    bound = parse_value(text)
    if not isinstance(bound, Duration):
        raise UsageError(f"'{text}' is no span of time", hint="For example 90s, 5m or 1h30m.")
    return _as_delta(bound, text)


def find_zone(name: str) -> tzinfo | None:
    """The zone of a name of the IANA time zone database; ``None`` for ``local``.

    Raises:
        UsageError: there is none of that name.
    """
    if name.casefold() == LOCAL:
        return None
    if name.upper() in {"UTC", "Z"}:
        return UTC
    try:
        return ZoneInfo(name)
    # A part of a name is a directory of the database, and some texts are no names of files at all.
    except (KeyError, ValueError, OSError):
        folded = {known.casefold(): known for known in available_timezones()}
        last = {known.rpartition("/")[2]: known for known in folded}
        near = closest_word(name.casefold(), [*folded, *last])
        guess = folded[last.get(near, near)] if near else ""
        raise UsageError(
            f"There is no time zone named '{name}'",
            detail=f"the nearest is {guess}" if guess else None,
            hint="For example Europe/Berlin, UTC, or local for that of this machine.",
        ) from None


def _as_delta(span: Duration, text: str) -> timedelta:
    if span.seconds > MAX_TEXT_CHARACTERS.total_seconds():
        raise UsageError(f"'{text}' is more than a year")
    return timedelta(seconds=float(span.seconds))


def _time_of_day(match: re.Match[str]) -> time:
    hour, minute, second = (int(part or 0) for part in match.groups())
    return time(hour, minute, second)


def _latest(clock: time, now: datetime, zone: tzinfo | None) -> datetime:
    """The latest moment, by the clock of a zone, at which it showed that time."""
    today = _by_clock(now, zone)
    found = datetime.combine(today.date(), clock)
    return found if found <= today else found - timedelta(days=1)


def _instants(shown: datetime, zone: tzinfo | None, name: str) -> tuple[tuple[datetime, ...], str]:
    """The moments at which a clock of a zone showed a time, and what has to be said of them."""
    # Without ``fold`` the rule before a change holds, with it the one behind it (PEP 495).
    first, second = (_instant(shown.replace(fold=fold), zone) for fold in (0, 1))
    said = shown.isoformat(sep=" ", timespec="seconds" if shown.second or shown.microsecond else "minutes")
    if _by_clock(first, zone) != shown:
        real = _by_clock(first, zone)
        told = (
            f"In {name} the clocks were put forward over {said}, so that it never was. Looked at as {real:%H:%M} behind"
            f" the change, {_utc(first)}."
        )
        return (first,), told
    if first != second:
        told = (
            f"In {name} the clocks were put back, and {said} was twice: {_utc(first)} and {_utc(second)}. Both count."
        )
        return (first, second), told
    return (first,), ""


def _instant(shown: datetime, zone: tzinfo | None) -> datetime:
    # A time without a zone is that of this machine to ``astimezone``.
    return (shown if zone is None else shown.replace(tzinfo=zone)).astimezone(UTC)


def _by_clock(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%H:%M} UTC"


def _moved(moment: datetime, by: timedelta) -> datetime:
    """A moment later or earlier, at most at the edge of the calendar."""
    try:
        return moment + by
    except OverflowError:
        return (datetime.min if by < timedelta(0) else datetime.max).replace(tzinfo=UTC)


def contains_all_words(text: str, places: Iterable[str]) -> bool:
    """Whether every word of a text stands in one of the places; capitals make no difference."""
    folded = "\n".join(places).casefold()
    return all(word in folded for word in text.casefold().split())
