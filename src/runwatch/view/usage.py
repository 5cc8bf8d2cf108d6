"""What was used in a period: sums in sight, and plots by day, model, saved model and key. Pure.

Every plotted line leads to the list that it sums up. Money is decimal throughout. A day that a report leaves out is a
gap, because the report says nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from runwatch.records.apikey import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.records.spend import total
from runwatch.records.usage import ArmUsage, DayUsage, KeyUsage, Period, Usage, UsageTotals
from runwatch.settings.session import View
from runwatch.view import flat
from runwatch.view.charts import Plotted, RoomOf, bar_section, column_section, largest_first
from runwatch.view.detail import FLAW, REST, Line, Section
from runwatch.view.drawn import Drawn, block, decimal_text, json_text, line
from runwatch.view.format import Context, count, money_exact, short_id, spent
from runwatch.view.glyphs import Role
from runwatch.view.query_text import quoted

COLUMN_ROWS: Final = 4
"""The height of the plot by day."""

MANY_DAYS: Final = 8
"""From so many days on they are plotted as columns too, because as lines they do not fit a window."""

MOST_DAYS: Final = 400
"""A longer period is plotted without the gaps between its days."""

NO_DAYS: Final = "The answer has no days."
"""What stands for the days of a report that lists none, not even an empty list."""

NO_MODEL: Final = "not known here"
"""What stands for the model of a saved model that is not listed, or is none."""


@dataclass(frozen=True, slots=True)
class Names:
    """What is known of the things that a report names by id.

    Attributes:
        arms: Saved models by id.
        keys: API keys by id.
    """

    arms: Mapping[str, Arm] = field(default_factory=dict)
    keys: Mapping[str, ApiKey] = field(default_factory=dict)

    def arm(self, arm_id: str | None, context: Context) -> Drawn:
        """A saved model by its name, or its id where the name is not known."""
        known = self.arms.get(arm_id or "")
        return line(known.display_name) if known and known.display_name else short_id(arm_id, context.glyphs)

    def model(self, arm_id: str | None) -> str | None:
        """The model behind a saved model."""
        known = self.arms.get(arm_id or "")
        return None if known is None else known.model_id

    def key(self, key_id: str | None, context: Context) -> Drawn:
        """An API key by its name, or its id where the name is not known."""
        known = self.keys.get(key_id or "")
        return line(known.display_name) if known and known.display_name else short_id(key_id, context.glyphs)


def usage_sections(usage: Usage, names: Names, room_of: RoomOf, context: Context) -> list[Section]:
    """A usage report, ready to draw.

    Args:
        usage: The report.
        names: What is known of what it names.
        room_of: The cells that plots have.
        context: What it is drawn with.
    """
    period = usage.period or Period({})
    models = _by_model(usage.by_arm or (), names)
    arms = [_arm(one, period, names, context) for one in usage.by_arm or ()]
    keys = [_key(one, names, context) for one in usage.by_key or ()]
    return [
        _totals(usage, context),
        *_days(usage, period, room_of, context),
        *bar_section("Spend by model", largest_first(models), room_of, context),
        *bar_section("Spend by saved model", largest_first(arms), room_of, context),
        *bar_section("Spend by API key", largest_first(keys), room_of, context),
        *rest_of(usage),
    ]


def rest_of(record: Record) -> list[Section]:
    """Members that nobody here knows, and those whose value is not of the expected type: nothing is hidden."""
    lines = [Line(line(name), block(json_text(value))) for name, value in record.unknown().items()]
    for path in record.flaws():
        value = flat.at(record.raw, flat.split(path))
        lines.append(Line(line(path), line("" if value is flat.MISSING else json_text(value)), Role.WARN, FLAW))
    return [Section(line(REST), tuple(lines))] if lines else []


def receipts_of(period: Period, *, arm_id: str | None = None) -> View:
    """The receipts that a report of a period sums up, as a view to go to.

    A run counts on the day (UTC) on which it became final, as the local service counts it.
    """
    terms = []
    first, last = _day(period.start), _day(period.end)
    if first is not None:
        terms.append(f"completed>={first}")
    if last is not None and last < date.max:
        terms.append(f"completed<{last + timedelta(days=1)}")
    if arm_id:
        terms.append(f"arm={quoted(arm_id)}")
    return View("receipts", filter=" ".join(terms))


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text[:10])
    except ValueError:
        return None


# The sums.


def _totals(usage: Usage, context: Context) -> Section:
    totals, period = usage.totals or UsageTotals({}), usage.period or Period({})
    start, end = (day or context.glyphs.unknown for day in (period.start, period.end))
    spend, role = _spend(totals, context)
    receipts = receipts_of(period)
    return Section(
        line("Used"),
        (
            Line(line("period"), line(f"{start} to {end}, days in UTC")),
            Line(line("runs"), count(totals.executions), target=receipts),
            Line(line("spend"), spend, role, target=receipts),
            Line(
                line("tokens"),
                line(f"{count(totals.input_tokens)} in {context.glyphs.dot} {count(totals.output_tokens)} out"),
            ),
            Line(line("provider calls"), line(f"{count(totals.calls)} for {count(totals.slices)} slices")),
        ),
    )


def _spend(totals: UsageTotals, context: Context) -> tuple[Drawn, Role]:
    """Usage and fee added up in sight; where the service's own sum is another one, it is said to be."""
    usage, fee, whole = totals.passthrough_usd, totals.platform_usd, totals.usd
    lacking = totals.unknown_calls
    if lacking and whole is not None:
        calls = f"the cost of {count(lacking)} call{'s' * (lacking != 1)} is not known"
        return line(f"{spent(whole, lacking, money_exact)}: {calls}"), Role.WARN
    if usage is None or fee is None:
        return line(context.glyphs.unknown if whole is None else f"{decimal_text(whole)} USD"), Role.PLAIN
    added = f"{decimal_text(usage)} usage + {decimal_text(fee)} fee = {decimal_text(usage + fee)} USD"
    if whole is None or whole == usage + fee:
        return line(added), Role.PLAIN
    return line(f"{added}, but the service says {decimal_text(whole)} USD"), Role.WARN


# The plots.


def _days(usage: Usage, period: Period, room_of: RoomOf, context: Context) -> list[Section]:
    by_day = {one.date: one for one in usage.by_day or () if one.date}
    if not by_day:
        said = NO_DAYS if usage.by_day is None else "No run became final in this period."
        return [Section(line("Spend by day"), (Line(line(""), line(said), Role.QUIET),))]
    plotted = [_one_day(by_day[day], context) for day in sorted(by_day, reverse=True)]
    listed = _every_day(period, sorted(by_day))
    if len(listed) < MANY_DAYS:
        return bar_section("Spend by day", plotted, room_of, context)
    values = [(day, by_day[day].usd if day in by_day else None) for day in listed]
    return [
        *column_section("Spend by day", values, COLUMN_ROWS, room_of, context),
        *bar_section("Day by day", plotted, room_of, context),
    ]


def _every_day(period: Period, known: Sequence[str]) -> list[str]:
    """Every day from the first of the period to the last known one; only the known ones of a period without an end."""
    first, last = _day(period.start), _day(known[-1])
    if first is None or last is None or not 0 <= (last - first).days <= MOST_DAYS:
        return list(known)
    return sorted(
        {(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)} | {*known}
    )


def _one_day(day: DayUsage, context: Context) -> Plotted:
    target = receipts_of(Period({"from": day.date, "to": day.date}))
    return Plotted(line(day.date), day.usd, _usd(day, context), _counted((day.executions, "run")), target)


def _by_model(arms: Sequence[ArmUsage], names: Names) -> list[Plotted]:
    """Spend by the model behind the saved ones; nothing where no model is known."""
    models = [names.model(one.arm_id) or NO_MODEL for one in arms]
    if all(model == NO_MODEL for model in models):
        return []
    found = []
    for model in dict.fromkeys(models):
        own = [one for one, its in zip(arms, models, strict=True) if its == model]
        usd = total(one.usd or Decimal(0) for one in own)
        selected = sum(one.selected_count or 0 for one in own)
        target = None if model == NO_MODEL else View("receipts", filter=f"model={quoted(model)}")
        lacking = sum(one.unknown_calls or 0 for one in own)
        found.append(Plotted(line(model), usd, spent(usd, lacking), _counted((selected, "selection")), target))
    return found


def _arm(one: ArmUsage, period: Period, names: Names, context: Context) -> Plotted:
    more = _counted((one.selected_count, "selection"), (one.fallback_count or None, "fallback"))
    target = receipts_of(period, arm_id=one.arm_id)
    return Plotted(names.arm(one.arm_id, context), one.usd, _usd(one, context), more, target)


def _key(one: KeyUsage, names: Names, context: Context) -> Plotted:
    target = (ApiKey.KIND, one.api_key_id) if one.api_key_id else None
    more = _counted((one.executions, "run"))
    return Plotted(names.key(one.api_key_id, context), one.usd, _usd(one, context), more, target)


def _usd(part: ArmUsage | DayUsage | KeyUsage, context: Context) -> Drawn:
    return line(context.glyphs.unknown) if part.usd is None else spent(part.usd, part.unknown_calls)


def _counted(*counted: tuple[int | None, str]) -> str:
    return ", ".join(f"{count(number)} {noun}{'s' * (number != 1)}" for number, noun in counted if number is not None)
