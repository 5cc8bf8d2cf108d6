"""Formats for money, times, states, sizes and ids in lists, details and timelines.

Every function accepts what a record gives, including ``None``, and returns safe text. Money is decimal throughout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, InvalidOperation
from math import ceil
from typing import Final, Literal

from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.base.text import cell_width
from runwatch.view.text.glyphs import UNICODE, Glyphs, Role, state_glyph
from runwatch.view.text.safe_text import SafeText, elide_middle, elide_start, line, plain_decimal, truncate
from runwatch.view.text.shell_commands import ANY_SERVICE, ShellService
from runwatch.view.text.styled_text import StyledText

TimeMode = Literal["relative", "local", "utc"]
"""How times are shown: as an age, in the local time zone, or in UTC."""

MIN_COLUMNS: Final = 80
MIN_ROWS: Final = 20
"""The smallest window of the console (manual: decisions, "Interface conventions")."""

LIST_PLACES: Final = Decimal("0.0001")
"""Money in lists has four decimals; details show all digits that the service sent."""

UNKNOWN: Final = "unknown"
"""Shown for an amount of which no part is known."""

NUMBER_WORDS: Final = ("e",)
"""The words in a number of any size, in lower case, for :attr:`runwatch.view.spec.resource.Column.words`."""

AMOUNT_WORDS: Final = (*NUMBER_WORDS, "at", "least", UNKNOWN)
"""The words of :func:`spent_amount` and :func:`about`."""

DURATION_WORDS: Final = (*NUMBER_WORDS, "ms", "s", "min", "h", "d")
"""The words of :func:`duration` and :func:`elapsed_clock`."""

SKEW_S: Final = 30.0
"""Difference of two clocks in seconds from which ages and waits are wrong."""

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86400


@dataclass(frozen=True, slots=True)
class RenderContext:
    """Everything that rendering depends on besides the record.

    Attributes:
        now: The current wall time, aware. Ages are relative to it.
        zone: The zone for ``local`` times; ``None`` means the machine's.
        service: How a command in a shell calls the service that the record is from.
        names: The names of saved models by their id, as far as known.
        lost_at: Since when the service does not respond, or when an opened file was written: nothing later is known
            of its runs. ``None`` while it responds.
        is_of_file: Whether the record is from an opened file: what is missing there never comes.
    """

    now: datetime
    glyphs: Glyphs = UNICODE
    time: TimeMode = "relative"
    zone: tzinfo | None = None
    service: ShellService = ANY_SERVICE
    names: Mapping[str, str] = field(default_factory=dict, compare=False)
    lost_at: datetime | None = None
    is_of_file: bool = False


def money(amount: Decimal | None, *, is_part: bool = False) -> SafeText:
    """Format US dollars for a list with four decimals. A small amount never rounds to zero.

    If more is to be added (``is_part``), no more may be shown than is known, and a small amount has as many decimals as
    its first digit needs.
    """
    if amount is None:
        return line(None)
    if is_part and 0 < amount < LIST_PLACES:
        return line(plain_decimal(Decimal((0, amount.as_tuple().digits[:1], amount.adjusted()))))
    if 0 < abs(amount) < LIST_PLACES:
        return line(f"{'>-' if amount < 0 else '<'}{LIST_PLACES}")
    try:
        return line(format(amount.quantize(LIST_PLACES, ROUND_FLOOR if is_part else ROUND_HALF_EVEN), "f"))
    except InvalidOperation:
        return line(plain_decimal(amount))


def money_exact(amount: Decimal | None) -> SafeText:
    """Format US dollars for a detail with all digits that the service sent."""
    return line(None if amount is None else f"{plain_decimal(amount)} USD")


def known_amount(known: Decimal | None, unknown_calls: int | None) -> Decimal | None:
    """Return the known part of an amount in US dollars; ``None`` if nothing is known, which is not zero."""
    return None if unknown_calls and not known else known


def spent_amount(
    known: Decimal | None, unknown_calls: int | None, *, is_exact: bool = False, is_estimated: bool = False
) -> SafeText:
    """Format an amount in US dollars that may be partly unknown: the amount, ``at least`` the known part, or
    ``unknown``.

    An exact one has all its digits, as in a detail, and not four decimals, as in a list.
    """
    if unknown_calls and not known:
        return line(UNKNOWN)
    amount = money_exact(known) if is_exact else money(known, is_part=bool(unknown_calls))
    return estimated(line(f"at least {amount}") if unknown_calls else amount, is_estimated=is_estimated)


def over_limit(known: Decimal | None, limit: Decimal | None) -> str:
    """Return what follows a spent amount that exceeds the cost limit of its run, in US dollars; empty if it does
    not.
    """
    if known is None or limit is None or known <= limit:
        return ""
    return f", over its limit of {money_exact(limit)}"


def listed_amount(known: Decimal | None, unknown_calls: int | None, glyphs: Glyphs, *, is_estimated: bool) -> SafeText:
    """Format the known part of an amount in US dollars for a narrow column: ``0.0142``, ``≥0.0030``, ``~0.0007``."""
    if unknown_calls and not known:
        return line(UNKNOWN)
    least = glyphs.at_least if unknown_calls else ""
    return line(f"{least}{'~' * is_estimated}{money(known, is_part=bool(unknown_calls))}")


def estimated(amount: SafeText, *, is_estimated: bool) -> SafeText:
    """Append ``(estimated)`` to an amount from :func:`spent_amount` that is based on an estimate."""
    return line(f"{amount} (estimated)") if is_estimated and amount != UNKNOWN else amount


def about(amount: SafeText, *, is_estimated: bool) -> SafeText:
    """Put ``~`` before an estimated amount, for narrow columns."""
    return line(f"~{amount}") if is_estimated and amount != UNKNOWN else amount


def tokens(read: int | None, written: int | None, glyphs: Glyphs, *, is_partial: bool = False) -> SafeText:
    """Format tokens read and written. If a call did not report its own: ``at least`` the known part, or ``unknown``."""
    if is_partial and not read and not written:
        return line(f"tokens {UNKNOWN}")
    known = [
        f"{grouped_number(number)} {unit}" for number, unit in ((read, "in"), (written, "out")) if number is not None
    ]
    return line(f"{'at least ' * is_partial}{f' {glyphs.dot} '.join(known)}") if known else line("")


def seconds_since(at: datetime, now: datetime) -> float:
    """Return the seconds from a time to now; negative for a future time."""
    return (now - at).total_seconds()


def short_duration(seconds: float) -> str:
    """Format a duration in its largest unit: ``5s``, ``4m``, ``3h``, ``2d``."""
    whole = int(seconds)
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def age(at: datetime | None, now: datetime) -> SafeText:
    """Format an age for a list: ``5s``, ``4m``, ``3h``, ``2d``; ``in 5m`` for a future time.

    Clocks of two machines differ, so a time less than a minute ahead counts as now. Of the days to a future time, a
    started one counts as a whole one, as in the service's own count of days.
    """
    if at is None:
        return line(None)
    seconds = seconds_since(at, now)
    if seconds <= -_DAY:
        return line(f"in {ceil(-seconds / _DAY)}d")
    return line(f"in {short_duration(-seconds)}" if seconds <= -_MINUTE else short_duration(max(seconds, 0)))


def short_ago(at: datetime, now: datetime) -> SafeText:
    """Format how long ago something happened: ``5s ago``, ``2d ago``.

    What has happened is not in the future, so a time ahead, of a clock ahead of this one, counts as now.
    """
    return ago(min(at, now), now)


def ago(at: datetime | None, now: datetime) -> SafeText:
    """Format how far a time is from now: ``5s ago``, ``2d ago``, ``in 10d``."""
    text = age(at, now)
    return text if at is None or text.startswith("in ") else line(f"{text} ago")


def clock_difference(now: datetime, service_now: datetime) -> SafeText | None:
    """Describe how far this machine's clock is from the service's; ``None`` up to :data:`SKEW_S`."""
    seconds = (now - service_now).total_seconds()
    if abs(seconds) <= SKEW_S:
        return None
    return line(f"{duration(abs(seconds))} {'ahead of' if seconds > 0 else 'behind'} the service")


def elapsed_clock(seconds: Decimal | float | None) -> SafeText:
    """Format elapsed time as a clock: ``0:42``, ``1:02:03``, ``2d 03:04``."""
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
    """Format a duration: ``143 ms``, ``9.8 s``, ``3 min 5 s``, ``2 h 5 min``, ``3 d 2 h``."""
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


def time_of_day(at: datetime | None, context: RenderContext) -> SafeText:
    """Format a time for a timeline: hours, minutes and seconds, plus the part of the date that differs from today."""
    if at is None:
        return line(context.glyphs.unknown)
    shown, today = in_display_zone(at, context), in_display_zone(context.now, context)
    if shown.date() == today.date():
        return line(shown.strftime("%H:%M:%S"))
    return line(shown.strftime("%m-%d %H:%M:%S" if shown.year == today.year else "%Y-%m-%d %H:%M:%S"))


def without_seconds(text: SafeText) -> SafeText:
    """Return a time with a date, from :func:`time_of_day`, to the minute; any other text as it is."""
    date, has_date, time = text.rpartition(" ")
    return line(f"{date} {time[:5]}") if has_date and time.count(":") == 2 else text


def in_display_zone(at: datetime, context: RenderContext) -> datetime:
    """Convert a time to the display zone. A time that would leave the calendar keeps its own zone."""
    try:
        return at.astimezone(UTC if context.time == "utc" else context.zone)
    except (OverflowError, ValueError, OSError):
        return at


MAX_NAME: Final = 24
"""Maximum length of an id that is a name, such as that of a template, without an elision."""

BOTH_ENDS_CELLS: Final = 9
"""In less room both ends of a text, or a label before the end of an id, say nothing."""

_END_CELLS: Final = 5
"""The end of a shortened id and the mark before it."""

_LABEL_CELLS: Final = 4
"""Minimum cells of a label before an id."""

_PREFIX: Final = lazy_pattern(r"(?:[a-z][a-z0-9]{0,9}[_:])(?:[a-z]_)?")


def short_id(text: str | None, glyphs: Glyphs = UNICODE) -> SafeText:
    """Shorten an id: the prefix of its kind, or without one its first four characters, a mark, and its last four.

    Ids of up to twelve characters, names without a digit and ids that would not get shorter stay whole. The end tells
    apart ids that begin with the same timestamp, as many do.
    """
    if not text:
        return line(glyphs.unknown)
    shown = line(text)
    is_name = not any(map(str.isdigit, shown))
    if len(shown) <= (MAX_NAME if is_name else 12) and shown.isascii():
        return shown
    match = _PREFIX.match(shown)
    prefix = match[0] if match else ""
    rest = line(shown[len(prefix) :])
    if prefix:
        return line(prefix + elide_start(rest, _END_CELLS, glyphs.ellipsis))
    return elide_middle(rest, BOTH_ENDS_CELLS, glyphs.ellipsis)


def tell_apart(labels: Sequence[SafeText], ids: Sequence[str | None], glyphs: Glyphs) -> list[SafeText]:
    """Return the names of records, equal ones with the short form of their ids."""
    seen = Counter(labels)
    return [
        line(f"{label} {short_id(id, glyphs)}") if id and seen[label] > 1 else label
        for label, id in zip(labels, ids, strict=True)
    ]


def fit_id(text: SafeText, width: int, glyphs: Glyphs = UNICODE) -> SafeText:
    """Return an id in at most ``width`` cells: whole, as :func:`short_id` does, or where that is too long its end.

    Of a short id behind a label, the label is cut. Without room for a few cells of it, it stays alone: the user's word
    for the record says more than a piece of both.
    """
    if cell_width(text) <= width:
        return text
    label, has_label, end = text.rpartition(" ")
    if has_label:
        room = width - cell_width(line(end)) - 1
        if room < _LABEL_CELLS:
            return truncate(line(label), width, glyphs.ellipsis)
        return line(f"{truncate(line(label), room, glyphs.ellipsis)} {end}")
    short = short_id(text, glyphs)
    return short if cell_width(short) <= width else elide_start(short, min(width, _END_CELLS), glyphs.ellipsis)


def state_cell(state: str | None, glyphs: Glyphs = UNICODE) -> StyledText:
    """Format the state of a run or slice with its glyph and colour."""
    glyph, role = state_glyph(state, glyphs)
    return StyledText(line(glyph if state is None else f"{glyph} {line(state)}"), role)


def usage_ratio(used: Decimal | None, cap: Decimal | None) -> Decimal | None:
    """Return the used part of a cap, 1 for all of it; ``None`` unless both are known and the cap is above zero."""
    if used is None or cap is None or cap <= 0:
        return None
    return max(used / cap, Decimal(0))


def usage_role(part: Decimal | None) -> Role:
    """Return good below 70 %, warning below 90 %, bad otherwise (manual: decisions, "Interface conventions")."""
    if part is None:
        return Role.PLAIN
    return Role.GOOD if part < Decimal("0.7") else Role.WARN if part < Decimal("0.9") else Role.BAD


def gauge(part: Decimal, cells: int = 5, glyphs: Glyphs = UNICODE) -> SafeText:
    """Draw a bar of ``cells`` cells between its ends. It is empty at 0 %, and shows at least one full cell above."""
    start, full, empty, end = glyphs.bar
    filled = cells if part >= 1 else min(cells - 1, int(part * cells)) if part * cells >= 1 else int(part * 100 >= 1)
    return line(start + full * filled + empty * (cells - filled) + end)


def request_rate(used: int, limit: int | None, unit: str, *, is_learned: bool = False) -> str:
    """Describe the requests of the last minute; after a 429 the assumed limit can be below them.

    Args:
        used: Those that count against the limit.
        unit: The words after the number, such as ``requests/min``.
        is_learned: Whether the limit is an estimate, because the service states none.
    """
    if limit is None:
        return f"{used} {unit}"
    return f"{used} of {'about ' * is_learned}{limit} {unit}" if used <= limit else f"{used} {unit}, slowed to {limit}"


def percent(part: Decimal) -> SafeText:
    """Format a share in whole percent, ``<1 %`` for less, or ``LIMIT`` if nothing is left."""
    if part >= 1:
        return line("LIMIT")
    return line("<1 %" if 0 < part < Decimal("0.01") else f"{int(part * 100)} %")


def byte_size(count: int | None) -> SafeText:
    """Format a number of bytes: ``812 B``, ``14.2 kB``, ``3.1 MB``."""
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
    """Format a whole number with thousands separators: ``1,830``."""
    return line(None if number is None else f"{number:,}")


def counted(number: int, noun: str) -> SafeText:
    """Format a number of things: ``1 call``, ``1,830 calls``."""
    return line(f"{number:,} {noun}{'s' * (number != 1)}")
