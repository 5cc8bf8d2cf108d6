"""``list`` and ``show`` of every resource, which is named by the command's words."""

from __future__ import annotations

import contextlib
from typing import Any

from runwatch.api.errors import ApiError, ApiProblem
from runwatch.api.operations import list_operation, read_operation
from runwatch.base.closest_word import did_you_mean
from runwatch.base.errors import RunwatchError
from runwatch.commands.cli.grammar import list_paths
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.list_reader import ListedItems, build_query, read_list
from runwatch.commands.shared.profile_reader import is_multi_profile, read_profiles
from runwatch.commands.shared.record_printer import RecordPrinter, print_record
from runwatch.commands.shared.record_reader import list_record_names, read_one
from runwatch.commands.shared.session import CommandSession, in_session, run_in_session
from runwatch.records.problem import NOT_OFFERED_STATUS
from runwatch.records.record import Record
from runwatch.view.resources.registry import RESOURCES, resource_named
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.profile_column import RecordProfiles


def _find_resource(call: Invocation) -> ResourceSpec[Any]:
    """Return the resource of a command: the last of its words that names one, as in ``models deployments``."""
    nouns = {spec.name for spec in RESOURCES}
    return resource_named(next(word for word in reversed(call.words) if word in nouns))


def list_records(call: Invocation) -> int:
    """``NOUN list``: print the listed records, filtered by the service if possible and always locally."""
    return read_named_list(call, _find_resource(call))


def read_named_list(call: Invocation, spec: ResourceSpec[Any]) -> int:
    """Print the records of a resource regardless of the command's words; of several profiles if requested."""
    if is_multi_profile(call):
        from runwatch.commands.shared.profile_printer import ProfilePrinter

        # The filter may refer to the profile.
        owners = RecordProfiles()
        asked = owners.add_column(spec)

        async def read(session: CommandSession) -> ListedItems:
            return await _read_values(session, asked, RecordPrinter(session.call, session.settings, asked), owners)

        each = read_profiles(call, read)
        ProfilePrinter(call, each.settings, spec).print_lists(each)
        return each.code

    async def work(session: CommandSession) -> int:
        printer = RecordPrinter(call, session.settings, spec)
        printer.records(await _read_values(session, spec, printer))
        return 0

    return run_in_session(call, work)


async def _read_values(
    session: CommandSession, spec: ResourceSpec[Any], printer: RecordPrinter, owners: RecordProfiles | None = None
) -> ListedItems:
    call = session.call
    query = build_query(session, spec)

    def keep(values: list[Any]) -> list[Any]:
        subjects: dict[int, Any] = {}
        for position, value in enumerate(values):
            if owners is not None and isinstance(value, dict):
                subjects[position] = spec.subject(spec.record(value))
                owners.add(subjects[position], session.client.target.profile)
        return printer.select(values, subjects)

    try:
        return await read_list(session, list_operation(spec.record), query, keep)
    except ApiProblem as problem:
        if problem.status in NOT_OFFERED_STATUS:
            can_show = read_operation(spec.record) is not None and (spec.name, "show") in list_paths()
            one = f"; {call.command(f'{spec.name} show')} ID reads one" if can_show else ""
            call.output.note(f"this service offers no list of {spec.name}{one}")
        raise


@in_session
async def show(session: CommandSession) -> int:
    """``NOUN show ID``: print one record, read by its id or found in its list."""
    spec = _find_resource(session.call)
    print_record(session, spec, await read_record(session, spec, session.call.options.id))
    return 0


async def read_record(session: CommandSession, spec: ResourceSpec[Any], record_id: str) -> Record:
    """Read one record by id; if the service has no such operation, search the list.

    Raises:
        RunwatchError: There is no such record.
    """
    operation = read_operation(spec.record)
    if operation is not None:
        try:
            return await read_one(session, operation.id, record_id, spec.record)
        except ApiProblem as problem:
            if problem.code == "not_found":
                near = did_you_mean(record_id, await _first_names(session, spec.record))
                problem.detail = " ".join(filter(None, [problem.detail, near]))
            raise
    names: dict[str, None] = {}
    async for page in session.client.pages(list_operation(spec.record)):
        for record in page.records:
            own = list_record_names(record)
            if record_id in own:
                found: Record = record
                return found
            names.update(dict.fromkeys(own))
    raise RunwatchError(
        f"There is no {spec.singular} '{record_id}'",
        detail=did_you_mean(record_id, names),
        hint=f"'runwatch {spec.name} list' shows them all.",
    )


async def _first_names(session: CommandSession, kind: type[Record]) -> set[str]:
    """Return the names of the records on the first page of a list; none if it cannot be read."""
    with contextlib.suppress(ApiError, LookupError):
        async for page in session.client.pages(list_operation(kind)):
            return {name for record in page.records for name in list_record_names(record)}
    return set()
