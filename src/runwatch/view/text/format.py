"""How money, times, states, sizes and ids look; one place for lists, details and timelines.

Every function takes what a record gives, ``None`` included, and answers clean text. Money stays decimal all the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Final, Literal

from runwatch.view.text.glyphs import UNICODE, Glyphs, Role, state_glyph
from runwatch.view.text.safe_text import SafeText, elide_middle, line, plain_decimal

TimeMode = Literal["relative", "local", "utc"]
"""How moments are shown: as an age, in the zone of this machine, or in UTC."""

LIST_PLACES: Final = Decimal("0.0001")
"""Money in lists has four decimals; details have all the digits that the service sent."""

UNKNOWN: Final = "unknown"
"""The word for a spend of which nothing is known."""

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86400


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What drawing depends on besides the record.

    Attributes:
        now: The wall time that ages are counted to, aware.
        glyphs: The set of glyphs.
        time: How moments are shown.
        zone: The zone of ``local`` moments; ``None`` is the machine's.
    """

    now: datetime
    glyphs: Glyphs = UNICODE
    time: TimeMode = "relative"
    zone: tzinfo | None = None


def money(amount: Decimal | None) -> SafeText:
    """US dollars for a list: four decimals, and never a zero for what is none."""
    if amount is None:
        return line(None)
    if 0 < abs(amount) < LIST_PLACES:
        return line(f"{'>-' if amount < 0 else '<'}{LIST_PLACES}")
    try:
        return line(format(amount.quantize(LIST_PLACES, ROUND_HALF_EVEN), "f"))
    except InvalidOperation:
        return line(plain_decimal(amount))


def money_exact(amount: Decimal | None) -> SafeText:
    """US dollars for a detail, with the digits that the service sent."""
    return line(None if amount is None else f"{plain_decimal(amount)} USD")


def spent_amount(
    known: Decimal | None, unknown_calls: int | None, draw: Callable[[Decimal | None], SafeText] = money
) -> SafeText:
    """A spend of which a part may not be known: the amount, ``at least`` the known part, or ``unknown``.

    Args:
        known: The known part, in US dollars.
        unknown_calls: How many calls have no known cost.
        draw: Draws an amount.
    """
    if not unknown_calls:
        return draw(known)
    return line(f"at least {draw(known)}" if known else UNKNOWN)


def estimated(told: SafeText, *, is_estimated: bool) -> SafeText:
    """A spend as :func:`spent_amount` draws it, marked where it rests on a guess."""
    return line(f"{told} (estimated)") if is_estimated and told != UNKNOWN else told


def about(told: SafeText, *, is_estimated: bool) -> SafeText:
    """The same in a narrow column: ``~`` before an amount that rests on a guess."""
    return line(f"~{told}") if is_estimated and told != UNKNOWN else told


def tokens(read: int | None, written: int | None, glyphs: Glyphs, *, is_partial: bool = False) -> SafeText:
    """Tokens read and written; ``at least`` the known part, or ``unknown``, where a call did not report its own."""
    if is_partial and not read and not written:
        return line(f"tokens {UNKNOWN}")
    known = [
        f"{grouped_number(number)} {unit}" for number, unit in ((read, "in"), (written, "out")) if number is not None
    ]
    return line(f"{'at least ' * is_partial}{f' {glyphs.dot} '.join(known)}") if known else line("")


def seconds_since(at: datetime, now: datetime) -> float:
    """Seconds from a moment to now; negative for a moment to come."""
    return (now - at).total_seconds()


def short_duration(seconds: float) -> str:
    """A span in its largest unit: ``5s``, ``4m``, ``3h``, ``2d``."""
    whole = int(seconds)
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def age(at: datetime | None, now: datetime) -> SafeText:
    """How long ago, for a list: ``5s``, ``4m``, ``3h``, ``2d``; ``in 5m`` for a moment to come.

    Clocks of two machines differ, so a moment less than a minute ahead is now.
    """
    if at is None:
        return line(None)
    seconds = seconds_since(at, now)
    return line(f"in {short_duration(-seconds)}" if seconds <= -_MINUTE else short_duration(max(seconds, 0)))


def ago(at: datetime | None, now: datetime) -> SafeText:
    """How long ago, in a sentence: ``5 s ago``, ``2 d ago``, ``in 10 d``."""
    text = age(at, now)
    spaced = re.sub(r"(\d)([smhd])$", r"\1 \2", text)
    return text if at is None else line(spaced if spaced.startswith("in ") else f"{spaced} ago")


def elapsed_clock(seconds: Decimal | float | None) -> SafeText:
    """Elapsed time as a clock: ``0:42``, ``1:02:03``, ``2d 03:04``."""
    if seconds is None:
        return line(None)
    if not 0 <= seconds < 10_000 * _DAY:
        return duration(seconds)
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return line(f"{days}d {hour:02}:{minute:02}")
    return line(f"{hour}:{minute:02}:{second:02}" if hour else f"{minute}:{second:02}")


def duration(seconds: Decimal | float | None) -> SafeText:
    """A span in words: ``143 ms``, ``9.8 s``, ``3 min 5 s``, ``2 h 5 min``, ``3 d 2 h``."""
    if seconds is None:
        return line(None)
    if not 0 <= seconds < 10_000 * _DAY:
        return line(f"{line(seconds)} s")
    if seconds < 1:
        return line(f"{round(seconds * 1000)} ms")
    if seconds < _MINUTE:
        return line(f"{float(seconds):.1f}".removesuffix(".0") + " s")
    whole = int(seconds)
    for size, unit, part, rest in ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "min"), (_MINUTE, "min", 1, "s")):
        if whole >= size:
            small = whole % size // part
            return line(f"{whole // size} {unit} {small} {rest}" if small else f"{whole // size} {unit}")
    raise AssertionError("a minute and more is covered above")


def list_time(at: datetime | None, context: RenderContext) -> SafeText:
    """A moment for a list as the reader wants it: an age, or date and time in the local zone or UTC."""
    if at is None:
        return line(None)
    if context.time == "relative":
        return age(at, context.now)
    shown = in_display_zone(at, context)
    return line(shown.strftime("%Y-%m-%d %H:%M:%S") + ("Z" if context.time == "utc" else ""))


def time_of_day(at: datetime | None, context: RenderContext) -> SafeText:
    """A moment for a timeline: hours, minutes, seconds, with as much of the date as differs from today."""
    if at is None:
        return line(context.glyphs.unknown)
    shown, today = in_display_zone(at, context), in_display_zone(context.now, context)
    if shown.date() == today.date():
        return line(shown.strftime("%H:%M:%S"))
    return line(shown.strftime("%m-%d %H:%M:%S" if shown.year == today.year else "%Y-%m-%d %H:%M:%S"))


def in_display_zone(at: datetime, context: RenderContext) -> datetime:
    """A moment in the zone it is shown in; a moment at the edge of the calendar stays in its own."""
    try:
        return at.astimezone(UTC if context.time == "utc" else context.zone)
    except (OverflowError, ValueError, OSError):
        return at


_PREFIX: Final = re.compile(r"(?:[a-z][a-z0-9]{0,9}[_:])(?:[a-z]_)?")


def short_id(text: str | None, glyphs: Glyphs = UNICODE) -> SafeText:
    """An id for a list: its kind's prefix, four characters of each end, and a mark between them.

    Ids of up to twelve characters stay whole, and so does one that would not get shorter. A tail of four tells apart
    ids that start with the same moment, as many do.
    """
    if not text:
        return line(glyphs.unknown)
    shown = line(text)
    if len(shown) <= 12 and shown.isascii():
        return shown
    match = _PREFIX.match(shown)
    prefix = match[0] if match else ""
    rest = line(shown[len(prefix) :])
    return line(prefix + elide_middle(rest, 9, glyphs.ellipsis))


def state_label(word: str | None, glyphs: Glyphs = UNICODE) -> SafeText:
    """A state as glyph and word."""
    glyph = state_glyph(word, glyphs)[0]
    return line(glyph if word is None else f"{glyph} {line(word)}")


def usage_ratio(used: Decimal | None, cap: Decimal | None) -> Decimal | None:
    """The used part of a cap, 1 for all of it; ``None`` unless both numbers are known and the cap is above zero."""
    if used is None or cap is None or cap <= 0:
        return None
    return max(used / cap, Decimal(0))


def usage_role(part: Decimal | None) -> Role:
    """Good below 70 %, a warning below 90 %, bad from there on (console-anchors C5)."""
    if part is None:
        return Role.PLAIN
    return Role.GOOD if part < Decimal("0.7") else Role.WARN if part < Decimal("0.9") else Role.BAD


def gauge(part: Decimal, cells: int = 5, glyphs: Glyphs = UNICODE) -> SafeText:
    """A bar of ``cells`` cells between its ends; anything above zero shows at least one full cell."""
    start, full, empty, end = glyphs.bar
    filled = cells if part >= 1 else min(cells - 1, int(part * cells)) if part * cells >= 1 else int(part > 0)
    return line(start + full * filled + empty * (cells - filled) + end)


def percent(part: Decimal) -> SafeText:
    """A share in whole per cent, or ``LIMIT`` where nothing is left."""
    return line("LIMIT" if part >= 1 else f"{int(part * 100)} %")


def byte_size(count: int | None) -> SafeText:
    """A number of bytes: ``812 B``, ``14.2 kB``, ``3.1 MB``."""
    if count is None:
        return line(None)
    if abs(count) < 1000:
        return line(f"{count} B")
    amount = Decimal(count)
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if abs(amount) < 1000 or unit == "GB":
            return line(f"{format(amount, '.1f') if abs(amount) < 10**12 else amount} {unit}")
    raise AssertionError("the last unit takes every size")


def grouped_number(number: int | None) -> SafeText:
    """A whole number with its thousands apart: ``1,830``."""
    return line(None if number is None else f"{number:,}")
