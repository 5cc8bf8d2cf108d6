"""Records on stdout, in the form that was asked for: drawn for people, exact for programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from runwatch.base.errors import UsageError
from runwatch.base.text import clean_line
from runwatch.commands.call import Call
from runwatch.commands.output import Output
from runwatch.records.event import RunEvent
from runwatch.records.record import Page, Record
from runwatch.settings.model import Settings
from runwatch.view import plain, table
from runwatch.view.format import Context, TimeMode
from runwatch.view.glyphs import ASCII, GLYPHS
from runwatch.view.query_text import parse
from runwatch.view.resource import Column, ResourceSpec
from runwatch.view.resources.events import EVENTS
from runwatch.view.timeline import event_line

TIMES: Final[Mapping[str, TimeMode]] = {"relative": "relative", "local": "local", "utc": "utc"}
"""How moments are shown, by the word in the settings."""


class Printer:
    """Prints the records of one resource for one call.

    Args:
        call: The call of the command line.
        settings: How moments and states are shown.
        spec: The resource.
    """

    def __init__(self, call: Call, settings: Settings, spec: ResourceSpec[Any]) -> None:
        self._output: Output = call.output
        self._spec = _with_whole_ids(spec)
        self._fields = fields_of(call)
        self._filter = call.options.filter
        self._is_selective = any(call.options[name] for name in ("filter", "status", "kind", "since", "arm_id"))
        self._named = settings.filters
        self._chosen = settings.columns
        self.context = context_of(call, settings)

    def records(self, values: Sequence[Any], subjects: Mapping[int, Any] | None = None) -> None:
        """Print a list.

        Args:
            values: The items as decoded; those that are no objects come out in JSON only.
            subjects: What a row is about where that is more than its item, by the item's position.

        Raises:
            UsageError: the filter cannot be read.
        """
        rows = self._rows(values, subjects or {})
        kept = [row.subject.raw for row in rows]
        exact: Sequence[Any] = kept if self._filter else values
        match self._output.form:
            case "json":
                self._lines(plain.json_array(exact, self._fields))
            case "ndjson":
                self._lines(plain.ndjson(exact, self._fields))
            case "csv":
                self._lines(plain.csv_lines(self._spec.record, kept, self._fields))
            case _:
                self._table(rows)

    def record(self, item: Any, raw: Mapping[str, Any]) -> None:
        """Print one record.

        Args:
            item: The record, or what is known about it.
            raw: The record as decoded.
        """
        match self._output.form:
            case "json":
                self._lines([plain.json_record(raw, self._fields)])
            case "ndjson":
                self._lines(plain.ndjson([raw], self._fields))
            case "csv":
                self._lines(plain.csv_lines(self._spec.record, [raw], self._fields))
            case _ if self._fields is not None:
                self._lines(plain.table(self._spec, table.rows(self._spec, [item], self.context), fields=self._fields))
            case _:
                self._lines(plain.details(self._spec, item, self.context))

    def _rows(self, values: Sequence[Any], subjects: Mapping[int, Any]) -> list[table.Row[Any]]:
        items = [
            subjects.get(position) or self._spec.record(value)
            for position, value in enumerate(values)
            if isinstance(value, dict)
        ]
        if len(items) < len(values):
            self._output.warn(f"{len(values) - len(items)} items of the list are no records")
        rows = table.rows(self._spec, items, self.context)
        if self._filter:
            query = parse(self._filter, self._spec, named=self._named)
            rows = table.select(rows, query.matches)
        return rows

    def _table(self, rows: list[table.Row[Any]]) -> None:
        if not rows:
            self._output.note("nothing matches" if self._is_selective else self._spec.empty)
            return
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        spec = self._spec
        if self._fields is None and spec.name in self._chosen:
            from runwatch.view.columns import chosen_columns, unknown_words

            chosen = chosen_columns(spec, self._chosen)
            if chosen.unknown:
                self._output.warn(unknown_words(spec, chosen))
            spec = replace(spec, columns=chosen.columns)
        self._lines(plain.table(spec, rows, width=width, fields=self._fields))

    def _lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._output.text(line + "\n")


def _with_whole_ids(spec: ResourceSpec[Any]) -> ResourceSpec[Any]:
    """The resource with its ids uncut, because people copy them from here into the next command."""

    def whole(column: Column[Any]) -> Column[Any]:
        if "id" not in column.aliases:
            return column
        return replace(column, cell=None, format=None, least=column.most * 10, most=column.most * 10)

    return replace(spec, columns=tuple(whole(column) for column in spec.columns))


def fields_of(call: Call) -> list[str] | None:
    """The members that ``--fields`` names, or ``None`` for all.

    Raises:
        UsageError: it names none.
    """
    if call.options.fields is None:
        return None
    fields = [name.strip() for name in call.options.fields.split(",") if name.strip()]
    if not fields:
        raise UsageError("--fields names no member")
    return fields


def context_of(call: Call, settings: Settings) -> Context:
    """How moments and states are drawn for this call; without UTF-8 no glyph leaves ASCII."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    glyphs = GLYPHS[settings.glyphs] if encoding == "utf8" else ASCII
    return Context(call.clock.now(), glyphs=glyphs, time=TIMES.get(settings.time, "relative"))


def print_events(call: Call, settings: Settings, page: Page[RunEvent]) -> None:
    """Print a page of events: one line an event for people, one JSON object a line, or CSV."""
    fields = fields_of(call)
    output = call.output
    if output.is_json:
        lines: Iterable[str] = plain.ndjson(page.values, fields)
    elif output.form == "csv" or fields is not None:
        Printer(call, settings, EVENTS).records(page.values)
        return
    else:
        context = context_of(call, settings)
        lines = (event_line(event, context).plain() for event in page.records)
    for line in lines:
        output.text(line + "\n")
    if not page.values:
        output.note(EVENTS.empty)


def print_outcomes(call: Call, outcomes: Sequence[Mapping[str, Any]]) -> None:
    """Print what became of each run that a verb was given."""
    output = call.output
    match output.form:
        case "json":
            lines: Iterable[str] = plain.json_array(outcomes)
        case "ndjson":
            lines = plain.ndjson(outcomes)
        case "csv":
            lines = plain.csv_lines(Record, outcomes)
        case _:
            lines = (clean_line(f"{row['execution_id']}  {row['outcome']}{_status(row)}") for row in outcomes)
    for line in lines:
        output.text(line + "\n")


def _status(row: Mapping[str, Any]) -> str:
    status = row.get("status")
    return f"  {status}" if status and status != row["outcome"] else ""
