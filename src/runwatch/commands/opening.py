"""``open FILE``: show records that somebody kept in a file, without any service."""

from __future__ import annotations

from typing import Any

from runwatch.base.errors import UsageError
from runwatch.base.json import loads
from runwatch.commands.call import Call
from runwatch.commands.printing import Printer
from runwatch.commands.session import load_settings
from runwatch.records.record import Record
from runwatch.view.bundle import entries_of, is_bundle
from runwatch.view.filed import record_of
from runwatch.view.recognise import items_of_json
from runwatch.view.registry import by_kind
from runwatch.view.resources.problems import PROBLEMS


def open_file(call: Call) -> int:
    """``open``: a record, a list or lines of records, drawn as the verb that reads them would."""
    values = _values(call)
    settings = load_settings(call).settings
    whole = values[0] if len(values) == 1 else None
    if isinstance(whole, dict) and is_bundle(whole):
        entry = next(iter(entries_of(whole)[0]), None)
        if entry is None:
            raise _unknown(call)
        Printer(call, settings, PROBLEMS).record(entry, whole if call.output.is_json else entry.raw)
        return 0
    items = values if whole is None else items_of_json(whole) if record_of_json(whole) is None else None
    if items is not None:
        first = next((found for item in items if (found := record_of_json(item)) is not None), None)
        if first is None:
            raise _unknown(call)
        Printer(call, settings, by_kind(first.KIND)).records(items)
        return 0
    record = record_of_json(whole)
    if record is None or not isinstance(whole, dict):
        raise _unknown(call)
    Printer(call, settings, by_kind(record.KIND)).record(record, whole)
    return 0


def record_of_json(value: Any) -> Record | None:
    """The record that a JSON value is; ``None`` for a list, and for what runwatch does not know."""
    return record_of(value) if isinstance(value, dict) else None


def _values(call: Call) -> list[Any]:
    """The one JSON value of the file, or one for each of its lines.

    Raises:
        UsageError: the file cannot be read, or is neither JSON nor lines of JSON.
    """
    content = call.read_input(call.options.file).removeprefix(b"\xef\xbb\xbf").strip()
    try:
        return [loads(content)]
    except ValueError as error:
        reason = str(error)
    try:
        found = [loads(line) for line in content.splitlines() if line.strip()]
    except ValueError:
        found = []
    if len(found) < 2:
        raise UsageError("The file is neither JSON nor lines of JSON", detail=reason)
    return found


def _unknown(call: Call) -> UsageError:
    return UsageError(
        "No record that runwatch knows is in the file",
        detail=call.options.file,
        hint="It shows what its own verbs print with --json, and answers of the service.",
    )
