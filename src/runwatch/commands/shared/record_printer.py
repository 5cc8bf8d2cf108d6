"""Print records to stdout in the requested format: as text, or exact for programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, cast

from runwatch.base.closest_word import closest_word
from runwatch.base.errors import UsageError
from runwatch.base.json import loads
from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.cli.output import CommandOutput
from runwatch.commands.cli.suggested_commands import find_service
from runwatch.commands.shared.list_reader import ListedItems, is_selective
from runwatch.commands.shared.session import CommandSession
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.record import Page, Record
from runwatch.settings.declarations import Settings
from runwatch.settings.resolver import find_ascii_variable
from runwatch.view.export import text_output
from runwatch.view.export.receipt_rows import SLICE_COLUMNS
from runwatch.view.resources.events import EVENTS
from runwatch.view.runs.event_lines import render_event
from runwatch.view.spec.resource import Column, Field, ResourceSpec
from runwatch.view.table import rows as table
from runwatch.view.table.column_choice import list_columns
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext, TimeMode
from runwatch.view.text.glyphs import ASCII, GLYPHS
from runwatch.view.text.safe_text import iso_text, plain_decimal

MAX_SEEN: Final = 1000
"""Maximum rows to look for a value that resembles the one in a filter without a match."""


class RecordPrinter:
    """Prints records of one resource for one invocation.

    Attributes:
        paths: The path of the member for each name in ``--fields``; ``None`` for all members.
    """

    def __init__(self, call: Invocation, settings: Settings, spec: ResourceSpec[Any]) -> None:
        self._output: CommandOutput = call.output
        self._spec = _with_whole_ids(spec)
        self._fields = parse_fields(call)
        self._asked = tuple(self._fields or ())
        self.paths: dict[str, str] | None = None if self._fields is None else {name: name for name in self._fields}
        # Columns of the table that are put together from several members.
        self._columns: dict[str, Field[Any]] = {}
        self._filter = call.options.filter
        # The first rows that the filter has seen, for the value that was probably meant.
        self._seen: list[table.RecordRow[Any]] = []
        self._is_selective = is_selective(call) or call.options.arm_id is not None
        self._named = settings.filters
        self._chosen = settings.columns
        self.context = make_render_context(call, settings)

    def records(self, values: Sequence[Any], subjects: Mapping[int, Any] | None = None) -> None:
        """Print a list.

        Args:
            values: Decoded items. Items that are not objects appear in JSON only.
            subjects: Subjects of rows by position, for rows that show more than the item.

        Raises:
            UsageError: The filter is invalid, or ``--fields`` names what no record has.
        """
        self._check_records(values)
        if self._output.form == "table":
            self._table(self._rows(values, subjects or {}))
            return
        exact: Sequence[Any] = values
        if self._filter or self._columns:
            exact = [self._with_columns(row) for row in self._rows(values, subjects or {})]
        self._output.lines(exact_lines(self._output.form, self._spec.record, exact, self.paths))

    def select(self, values: Sequence[Any], subjects: Mapping[int, Any] | None = None) -> list[Any]:
        """Return the items that match ``--filter``, in order; items that are not objects are kept.

        Args:
            subjects: As for :meth:`records`.

        Raises:
            UsageError: The filter is invalid.
        """
        if not self._filter:
            return list(values)
        others = [value for value in values if not isinstance(value, dict)]
        return [row.subject.raw for row in self._rows(values, subjects or {})] + others

    def record(self, item: Any, raw: Mapping[str, Any]) -> None:
        self.check_fields([raw])
        if self._columns:
            raw = self._with_columns(table.build_rows(self._spec, [item], self.context)[0])
        form = self._output.form
        if form == "json":
            self._output.lines([text_output.json_record(raw, self.paths)])
        elif form != "table":
            self._output.lines(exact_lines(form, self._spec.record, [raw], self.paths))
        elif self._fields is not None:
            rows = table.build_rows(self._spec, [item], self.context)
            self._shown(text_output.table_lines(self._spec, rows, fields=self._fields))
        else:
            # Advice of the service, such as a template's next actions, names commands without the service.
            lines = text_output.detail_lines(self._spec, item, self.context)
            self._shown(map(self._output.complete, lines))

    def check_fields(self, raws: Sequence[Any]) -> None:
        """Refuse a field that is neither declared nor in any of the records, such as a misspelled one.

        The name of a column means the one member that it shows, or for its value if that is put together from
        several, and keeps its own name in the output. For an amount, the member has to be named: it has all digits.

        Args:
            raws: Decoded items; those that are not objects do not count.

        Raises:
            UsageError: There is one. Of an empty list only what resembles a declared field is refused, because a
                service may send members that are not declared.
        """
        known = dict.fromkeys(_known_fields(self._spec, self._output.form))
        for name in self._asked:
            path = json_paths.parse_path(name)
            member = self._spec.record.MEMBERS.get(str(path[0]))
            # Of an object or array without declared members, any member may be named.
            is_open = member is not None and len(path) > 1 and member.schema.get("type") != "object"
            is_open = is_open or (member is not None and member.kind is None)
            if name in known or is_open or any(_has(raw, path) for raw in raws):
                continue
            members = _column_members(self._spec, name)
            if len(members) == 1 and self.paths is not None:
                self.paths[name] = members[0]
                continue
            amount, field = _amount_member(self._spec, name), self._spec.field(name)
            if field is not None and not members and amount is None:
                self._columns[name] = field
                continue
            guess = next(iter(members), None) or amount or closest_word(name, known)
            if raws or guess:
                schema = runwatch_command("schema", self._spec.kind)
                raise UsageError(
                    f"There is no field '{clean_line(name)}' in {self._spec.name}",
                    detail=f"did you mean '{guess}'?" if guess else None,
                    hint=f"One of {', '.join(known)}." if self._spec.is_local else f"'{schema}' lists the members.",
                )

    def add_columns(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return records as sent, with the values of the named columns that no single member has."""
        if not self._columns:
            return values
        items = [self._spec.record(value) for value in values if isinstance(value, dict)]
        return [self._with_columns(row) for row in table.build_rows(self._spec, items, self.context)]

    def _with_columns(self, row: table.RecordRow[Any]) -> Mapping[str, Any]:
        values = {name: _exact(field.value(row.subject)) for name, field in self._columns.items()}
        return {**row.subject.raw, **values}

    def _check_records(self, values: Sequence[Any]) -> None:
        """Check the fields of the items that are records, and warn of others."""
        whole = (
            values.records
            if isinstance(values, ListedItems)
            else [value for value in values if isinstance(value, dict)]
        )
        records = len(whole)
        self.check_fields(values if records else ())
        if records < len(values):
            self._output.warn(f"{len(values) - records} items of the list are not records")

    def _rows(self, values: Sequence[Any], subjects: Mapping[int, Any]) -> list[table.RecordRow[Any]]:
        items = [
            subjects.get(position) or self._spec.record(value)
            for position, value in enumerate(values)
            if isinstance(value, dict)
        ]
        rows = table.build_rows(self._spec, items, self.context)
        if self._filter:
            from runwatch.view.query.parser import parse_filter

            query = parse_filter(self._filter, self._spec, named=self._named)
            self._seen += rows[: MAX_SEEN - len(self._seen)]
            rows = query.keep(rows)
        return rows

    def _table(self, rows: list[table.RecordRow[Any]]) -> None:
        if not rows:
            self._output.note(self._nothing_text())
            return
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        spec = self._spec
        if self._fields is None and spec.name in self._chosen:
            from runwatch.view.table.column_choice import choose_columns, unknown_columns_text

            chosen = choose_columns(spec, self._chosen)
            if chosen.unknown:
                self._output.warn(unknown_columns_text(spec, chosen))
            spec = replace(spec, columns=chosen.columns)
        self._shown(text_output.table_lines(spec, rows, width=width, fields=self._fields))

    def _nothing_text(self) -> str:
        if not self._is_selective:
            return self._spec.empty
        if not self._filter:
            return "nothing matches"
        from runwatch.view.query.parser import parse_filter
        from runwatch.view.query.suggested_values import suggest_value

        def values_of(name: str) -> Iterator[str]:
            field = self._spec.field(name)
            yield from () if field is None else field.choices
            yield from (value for row in self._seen if isinstance(value := row.value(name), str) and value)

        near = suggest_value(parse_filter(self._filter, self._spec, named=self._named).term, values_of)
        return f"nothing matches; did you mean {near}?" if near else "nothing matches"

    def _shown(self, lines: Iterable[str]) -> None:
        self._output.lines(map(self.context.glyphs.plain, lines))


def exact_lines(
    form: str, record: type[Record], values: Sequence[Any], paths: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Return decoded values as lines of JSON, NDJSON or CSV; of the members at ``paths``, or of all."""
    if form == "csv":
        return text_output.csv_lines(record, values, paths)
    return (text_output.json_array_lines if form == "json" else text_output.ndjson_lines)(values, paths)


def _with_whole_ids(spec: ResourceSpec[Any]) -> ResourceSpec[Any]:
    """Return the resource with uncut ids, because users copy them into the next command."""

    def whole(column: Column[Any]) -> Column[Any]:
        if "id" not in column.aliases:
            return column
        return replace(column, cell=None, format=None, min_cells=column.max_cells * 10, max_cells=column.max_cells * 10)

    return replace(spec, columns=tuple(whole(column) for column in spec.columns))


def _exact(value: object) -> object:
    """Return the value of a column for JSON and CSV."""
    if isinstance(value, datetime):
        return iso_text(value)
    return loads(plain_decimal(value)) if isinstance(value, Decimal) else value


def _has(raw: object, path: json_paths.JsonPath) -> bool:
    return isinstance(raw, Mapping) and json_paths.get_at(raw, path) is not json_paths.MISSING


def _known_fields(spec: ResourceSpec[Any], form: str) -> Iterator[str]:
    """Yield the fields that ``--fields`` may name in a format, whatever the records have."""
    yield from json_paths.declared_paths(spec.record)
    yield from spec.record.MEMBERS
    if form == "table":
        yield from list_columns(spec)
        yield from (alias for field in spec.all_fields() for alias in field.aliases)
    elif form == "csv" and spec.record is Receipt:
        yield from SLICE_COLUMNS


def _column_members(spec: ResourceSpec[Any], name: str) -> list[str]:
    """Return the paths of the members that a column of this name may show, because it is called like them."""
    field = spec.field(name)
    names = set() if field is None else {field.id, *field.aliases}
    own = [each for each, member in spec.record.MEMBERS.items() if each in names and member.kind is None]
    return own or [path for path in json_paths.declared_paths(spec.record) if path.rpartition(".")[2] in names]


def _amount_member(spec: ResourceSpec[Any], name: str) -> str | None:
    """Return the member that a column of this name is closest to: the same word with a unit, as ``spend_usd``."""
    field = spec.field(name)
    starts = () if field is None else tuple(f"{each}_" for each in (field.id, *field.aliases))
    return next((member for member in spec.record.MEMBERS if member.startswith(starts)), None)


def parse_fields(call: Invocation) -> list[str] | None:
    """Return the members named by ``--fields``, or ``None`` for all.

    Raises:
        UsageError: It names none.
    """
    if call.options.fields is None:
        return None
    fields = [name.strip() for name in call.options.fields.split(",") if name.strip()]
    if not fields:
        raise UsageError("--fields has no field name")
    return fields


def make_render_context(call: Invocation, settings: Settings) -> RenderContext:
    """Return the render context of the invocation, with ASCII glyphs where stdout or the terminal asks for them."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    is_usual = Settings.glyphs.key not in settings.chosen
    is_ascii = encoding != "utf8" or (is_usual and find_ascii_variable(call.environment))
    glyphs = ASCII if is_ascii else GLYPHS[settings.glyphs]
    return RenderContext(call.clock.now(), glyphs, cast(TimeMode, settings.time), service=find_service(call.options))


def print_record(session: CommandSession, spec: ResourceSpec[Any], record: Record) -> None:
    RecordPrinter(session.call, session.settings, spec).record(record, record.raw)


def print_events(call: Invocation, settings: Settings, page: Page[RunEvent]) -> None:
    """Print a page of events: as text lines, NDJSON, or CSV."""
    fields = parse_fields(call)
    output = call.output
    if output.is_json:
        printer = RecordPrinter(call, settings, EVENTS)
        printer.check_fields([event.raw for event in page.records])
        lines: Iterable[str] = text_output.ndjson_lines(printer.add_columns(page.values), printer.paths)
    elif output.form == "csv" or fields is not None:
        RecordPrinter(call, settings, EVENTS).records(page.values)
        return
    else:
        context = make_render_context(call, settings)
        lines = (context.glyphs.plain(render_event(event, context).plain()) for event in page.records)
    output.lines(lines)
    if not page.values:
        output.note(EVENTS.empty)


def print_outcomes(call: Invocation, outcomes: Sequence[Mapping[str, Any]]) -> None:
    """Print the outcome for each run that a command was given."""
    form = call.output.form
    if form == "table":
        call.output.lines(clean_line(f"{row['execution_id']}  {row['outcome']}{_status(row)}") for row in outcomes)
    else:
        call.output.lines(exact_lines(form, Record, outcomes))


def _status(row: Mapping[str, Any]) -> str:
    status = row.get("status")
    return f"  {status}" if status and status != row["outcome"] else ""
