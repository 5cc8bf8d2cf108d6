"""``list`` and ``show`` of every resource: the noun among a verb's words says which (DESIGN 3, A new resource)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runwatch.api.errors import ApiProblem
from runwatch.api.operations import list_operation, parameter_of, read_operation
from runwatch.base.errors import RunwatchError
from runwatch.commands.call import Call
from runwatch.commands.listing import NOT_OFFERED, meets_options, query_of, read_list
from runwatch.commands.printing import Printer
from runwatch.commands.profiles import asks_for_several, read_each
from runwatch.commands.session import Session, with_session
from runwatch.records.record import Record
from runwatch.view.owners import Owners
from runwatch.view.registry import RESOURCES, by_name
from runwatch.view.resource import ResourceSpec


def resource_of(call: Call) -> ResourceSpec[Any]:
    """The resource of a verb: the last of its words that is the noun of one, as in ``models deployments``."""
    nouns = {spec.name for spec in RESOURCES}
    return by_name(next(word for word in reversed(call.words) if word in nouns))


def list_records(call: Call) -> int:
    """``NOUN list``: every record that the service lists, filtered there where it can and here always."""
    return list_of(call, resource_of(call))


def list_of(call: Call, spec: ResourceSpec[Any]) -> int:
    """List the records of one resource, whatever the verb's words are; of several profiles where they are named."""
    if asks_for_several(call):
        from runwatch.commands.owned import OwnedPrinter

        # Filters may ask for the profile.
        asked = Owners().lead(spec)
        each = read_each(call, lambda session: _read_values(session, asked))
        OwnedPrinter(call, each.settings, spec).each(each)
        return each.code

    async def work(session: Session) -> int:
        printer = Printer(call, session.settings, spec)
        printer.records(await _read_values(session, spec))
        return 0

    return with_session(call, work)


async def _read_values(session: Session, spec: ResourceSpec[Any]) -> list[Any]:
    """The items that the options of the session's call ask for."""
    call = session.call
    query = query_of(call, spec, session.settings.filters)
    try:
        values = await read_list(session, list_operation(spec.record), query)
    except ApiProblem as problem:
        if problem.status in NOT_OFFERED:
            call.output.note(f"this service offers no list of {spec.name}")
        raise
    return meets_options(call, values)


def show(call: Call) -> int:
    """``NOUN show ID``: one record, read by its id or found in its list."""
    spec = resource_of(call)

    async def work(session: Session) -> int:
        print_record(session, spec, await read_record(session, spec, call.options.id))
        return 0

    return with_session(call, work)


async def read_record(session: Session, spec: ResourceSpec[Any], record_id: str) -> Record:
    """One record by its id; where the service reads single ones not at all, it is looked for in the list.

    Raises:
        RunwatchError: no record is called so.
        ApiError: it could not be read.
    """
    operation = read_operation(spec.record)
    if operation is not None:
        answer = await session.client.request(operation, path={parameter_of(operation): record_id})
        return as_record(spec.record, answer.value)
    async for page in session.client.pages(list_operation(spec.record)):
        for record in page.records:
            if record_id in names_of(record):
                found: Record = record
                return found
    raise RunwatchError(
        f"There is no {spec.singular} '{record_id}'", hint=f"runwatch {spec.name} list shows what there is."
    )


def names_of(record: Record) -> set[str]:
    """What a person may call a record: its id and, of a model, its key."""
    model = record.raw.get("model")
    key = model.get("model_key") if isinstance(model, Mapping) else None
    return {record.id} | ({key} if isinstance(key, str) else set())


def as_record(kind: type[Record], value: object) -> Record:
    """A decoded answer as a record.

    Raises:
        RunwatchError: it is no JSON object.
    """
    if not isinstance(value, dict):
        raise RunwatchError(
            "The answer is no record",
            detail=f"it is {'empty' if value is None else 'no JSON object'}",
            hint="Check that the base URL is that of the service.",
        )
    return kind(value)


def print_record(session: Session, spec: ResourceSpec[Any], record: Record) -> None:
    """Print one record in the form of the call."""
    Printer(session.call, session.settings, spec).record(record, record.raw)
