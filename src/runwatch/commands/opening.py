"""``open FILE``: show records that somebody kept in a file, without any service."""

from __future__ import annotations

from typing import Any

from runwatch.base.errors import UsageError
from runwatch.base.json import loads
from runwatch.commands.call import Call
from runwatch.commands.printing import Printer
from runwatch.commands.session import load_settings
from runwatch.records.problem import Problem
from runwatch.view.entries import problem_entry
from runwatch.view.recognise import items_of_json, resource_of_json
from runwatch.view.resources.problems import PROBLEMS


def open_file(call: Call) -> int:
    """``open``: a record, a list or lines of records, drawn as the verb that reads them would."""
    values = _values(call)
    settings = load_settings(call).settings
    whole = values[0] if len(values) == 1 else None
    items = items_of_json(whole) if whole is not None else values
    if items is not None:
        spec = next((found for item in items if isinstance(item, dict) and (found := resource_of_json(item))), None)
        if spec is None:
            raise _unknown(call)
        Printer(call, settings, spec).records(items)
        return 0
    if not isinstance(whole, dict):
        raise _unknown(call)
    if Problem(whole).code and "instance" in whole:
        entry = problem_entry(Problem(whole), time=call.clock.now())
        Printer(call, settings, PROBLEMS).record(entry, whole)
        return 0
    spec = resource_of_json(whole)
    if spec is None:
        raise _unknown(call)
    Printer(call, settings, spec).record(spec.record(whole), whole)
    return 0


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
