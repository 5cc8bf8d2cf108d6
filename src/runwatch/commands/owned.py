"""Printing what was read of several profiles: a column for the profile, and in JSON an object around each record.

JSON gives every value exactly as the service sent it, so that the profile stands beside the record and never in it:
``{"profile": …, "record": …}``, in arrays and in lines alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runwatch.commands.call import Call
from runwatch.commands.printing import Printer
from runwatch.commands.profiles import Each, owned
from runwatch.records.record import Record
from runwatch.settings.model import Settings
from runwatch.view import plain, table
from runwatch.view.drawn import line
from runwatch.view.owners import PROFILE, Owners
from runwatch.view.resource import ResourceSpec


class OwnedPrinter(Printer):
    """Prints the records of one resource, of several profiles.

    Args:
        call: The call of the command line.
        settings: How moments and states are shown.
        spec: The resource.
    """

    def __init__(self, call: Call, settings: Settings, spec: ResourceSpec[Any]) -> None:
        self._owners = Owners()
        super().__init__(call, settings, self._owners.lead(spec))
        self._members = self._fields
        if self._fields is not None:
            self._fields = [PROFILE, *(name for name in self._fields if name != PROFILE)]

    def each(self, each: Each[list[Any]]) -> None:
        """Print the lists of several profiles as one.

        Raises:
            UsageError: the filter cannot be read.
        """
        values = [(got.profile, value) for got in each.got for value in got.value]
        subjects: dict[int, Any] = {}
        for position, (profile, value) in enumerate(values):
            if isinstance(value, dict):
                subjects[position] = self._spec.subject(self._spec.record(value))
                self._owners.note(subjects[position], profile)
        rows = self._rows([value for _, value in values], subjects)
        if self._filter or self._output.form == "csv":
            values = [(self._owners.of(row.subject), row.subject.raw) for row in rows]
        if self._output.form == "table":
            if rows or not each.failed:
                self._table(rows)
        else:
            self._exact(values)

    def single(self, each: Each[Record]) -> None:
        """Print one record of each profile."""
        values = [(got.profile, got.value.raw) for got in each.got]
        if self._output.form != "table":
            self._exact(values)
        elif self._fields is not None:
            subjects = [self._spec.subject(got.value) for got in each.got]
            for subject, got in zip(subjects, each.got, strict=True):
                self._owners.note(subject, got.profile)
            rows = table.rows(self._spec, subjects, self.context)
            self._lines(plain.table(self._spec, rows, fields=self._fields))
        else:
            for number, got in enumerate(each.got):
                self._lines([*([line("")] if number else []), line(f"profile {line(got.profile)}"), line("")])
                self._lines(plain.details(self._spec, got.value, self.context))

    def _exact(self, values: Sequence[tuple[str, Any]]) -> None:
        if self._output.form == "csv":
            raws, profiles = [raw for _, raw in values], [profile for profile, _ in values]
            self._lines(plain.csv_lines(self._spec.record, raws, self._members, profiles=profiles))
            return
        found = [owned(profile, self._projected(value)) for profile, value in values]
        self._lines(plain.json_array(found) if self._output.form == "json" else plain.ndjson(found))

    def _projected(self, value: Any) -> Any:
        return value if self._members is None or not isinstance(value, dict) else plain.project(value, self._members)
