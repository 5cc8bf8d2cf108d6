"""``open FILE``: show records from a file, without a service."""

from __future__ import annotations

import contextlib
from typing import Any

from runwatch.base.errors import UsageError
from runwatch.base.json import loads
from runwatch.commands.cli.exit_codes import SUCCESS, USAGE
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.session import load_settings
from runwatch.records.record import Record
from runwatch.view.export.record_file import (
    RecordFile,
    detect_items,
    is_ndjson,
    read_json_lines,
    record_from_json,
)
from runwatch.view.problems.support_bundle import is_bundle, parse_bundle
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.resources.registry import resource_for_kind


def open_file(call: Invocation) -> int:
    """``open``: print a record, a list or NDJSON in the same way as the command that reads them.

    Lines that are no JSON are left out and named on stderr; the exit code then tells that not all was printed.
    """
    values, flaws = _read_values(call)
    if flaws:
        call.output.warn(f"{call.options.file}: {flaws}")
    _print_values(call, values, is_list=bool(flaws))
    return USAGE if flaws else SUCCESS


def _print_values(call: Invocation, values: list[Any], *, is_list: bool) -> None:
    settings = load_settings(call).settings
    whole = values[0] if len(values) == 1 and not is_list else None
    if isinstance(whole, dict) and is_bundle(whole):
        entry = next(iter(parse_bundle(whole)[1]), None)
        if entry is None:
            raise _unknown(call)
        RecordPrinter(call, settings, PROBLEMS).record(entry, whole if call.output.is_json else entry.raw)
        return
    items = values if whole is None else detect_items(whole) if parse_record(whole) is None else None
    if items is not None:
        first = next((found for item in items if (found := parse_record(item)) is not None), None)
        if first is None:
            raise _unknown(call)
        RecordPrinter(call, settings, resource_for_kind(first.KIND)).records(items)
        return
    record = parse_record(whole)
    if record is None or not isinstance(whole, dict):
        raise _unknown(call)
    RecordPrinter(call, settings, resource_for_kind(record.KIND)).record(record, whole)


def parse_record(value: Any) -> Record | None:
    """Return the record for a JSON value; ``None`` for a list and for unknown values."""
    return record_from_json(value) if isinstance(value, dict) else None


def _read_values(call: Invocation) -> tuple[list[Any], str]:
    """Read one JSON value from the file, or one from each line; return them, and what was left out in a sentence."""
    content = call.read_input(call.options.file).removeprefix(b"\xef\xbb\xbf").strip()
    try:
        return [loads(content)], ""
    except ValueError as error:
        reason = str(error)
    filed, found = RecordFile(), []
    # Bytes that are no UTF-8 change no value silently.
    with contextlib.suppress(UnicodeDecodeError):
        text = content.decode()
        if is_ndjson(text):
            found = [value for _, values in read_json_lines(text, filed) for value in values]
    if not found:
        raise UsageError("The file is neither JSON nor lines of JSON", detail=reason)
    return found, filed.flaws()


def _unknown(call: Invocation) -> UsageError:
    return UsageError(
        "The file has no record that runwatch knows",
        detail=call.options.file,
        hint="It opens the output of its own commands with --json, exports, and responses of the service.",
    )
