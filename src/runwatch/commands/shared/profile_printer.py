"""Print records of several profiles: with a profile column, or in JSON with an object around each record.

JSON has every value exactly as sent, so the profile is beside the record, never in it: ``{"profile": …, "record": …}``,
in arrays and in lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.list_reader import ListedItems
from runwatch.commands.shared.profile_reader import ProfileResults
from runwatch.commands.shared.record_printer import RecordPrinter, exact_lines
from runwatch.records.record import Record
from runwatch.settings.declarations import Settings
from runwatch.view.export import text_output
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table import rows as table
from runwatch.view.table.profile_column import PROFILE, RecordProfiles
from runwatch.view.text.safe_text import line


class ProfilePrinter(RecordPrinter):
    """Prints records of one resource from several profiles."""

    def __init__(self, call: Invocation, settings: Settings, spec: ResourceSpec[Any]) -> None:
        self._owners = RecordProfiles()
        super().__init__(call, settings, self._owners.add_column(spec))
        if self._fields is not None:
            self._fields = [PROFILE, *(name for name in self._fields if name != PROFILE)]
            self._asked = tuple(self._fields[1:])

    def print_lists(self, each: ProfileResults[ListedItems]) -> None:
        """Print the lists of several profiles as one.

        Raises:
            UsageError: The filter is invalid.
        """
        values = [(profile, value) for profile, items in each.got.items() for value in items]
        self._check_records([value for _, value in values])
        subjects: dict[int, Any] = {}
        for position, (profile, value) in enumerate(values):
            if isinstance(value, dict):
                subjects[position] = self._spec.subject(self._spec.record(value))
                self._owners.add(subjects[position], profile)
        rows = self._rows([value for _, value in values], subjects)
        if self._filter or self._columns or self._output.form == "csv":
            values = [(self._owners.of(row.subject), self._with_columns(row)) for row in rows]
        if self._output.form == "table":
            if rows or not each.failed:
                self._table(rows)
        else:
            self._exact(values)

    def print_records(self, each: ProfileResults[Record]) -> None:
        self.check_fields([record.raw for record in each.got.values()])
        if self._output.form != "table":
            rows = table.build_rows(self._spec, list(each.got.values()), self.context) if self._columns else []
            exact = map(self._with_columns, rows) if rows else (record.raw for record in each.got.values())
            self._exact(list(zip(each.got, exact, strict=True)))
        elif self._fields is not None:
            subjects = [self._spec.subject(record) for record in each.got.values()]
            for subject, profile in zip(subjects, each.got, strict=True):
                self._owners.add(subject, profile)
            rows = table.build_rows(self._spec, subjects, self.context)
            self._shown(text_output.table_lines(self._spec, rows, fields=self._fields))
        else:
            for number, (profile, record) in enumerate(each.got.items()):
                self._output.lines([*([line("")] if number else []), line(f"profile {line(profile)}"), line("")])
                self._shown(text_output.detail_lines(self._spec, record, self.context))

    def _exact(self, values: Sequence[tuple[str, Any]]) -> None:
        if self._output.form == "csv":
            raws, profiles = [raw for _, raw in values], [profile for profile, _ in values]
            self._output.lines(text_output.csv_lines(self._spec.record, raws, self.paths, profiles=profiles))
            return
        found = [{"profile": profile, "record": text_output.project(raw, self.paths)} for profile, raw in values]
        self._output.lines(exact_lines(self._output.form, self._spec.record, found))
