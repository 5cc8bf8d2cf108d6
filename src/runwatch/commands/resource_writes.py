"""Commands that change records, derived from the mutations of specifications (:mod:`runwatch.view.spec.action`).

The console builds its forms from the same declarations; here the fields are options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from runwatch.api.errors import ApiError
from runwatch.api.operations import OPERATIONS, fill_path
from runwatch.base.errors import UsageError
from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.cli.error_report import report_error
from runwatch.commands.cli.exit_codes import SUCCESS
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.cli.resource_commands import find_command_actions, option_attribute
from runwatch.commands.cli.short_ids import name_seen_id
from runwatch.commands.shared.bulk_writes import Outcome, run_for_each_id
from runwatch.commands.shared.record_printer import print_record
from runwatch.commands.shared.record_reader import parse_record_of_kind
from runwatch.commands.shared.row_printer import print_rows
from runwatch.commands.shared.session import CommandSession
from runwatch.commands.shared.writes import read_body_option, read_idempotency_key, send_write
from runwatch.commands.shared.writes import run_write as writing
from runwatch.records.record import Record
from runwatch.view.actions.form import build_form, get_member, has_body, parse_field, put
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.action_parts import FormField
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.values import read_seconds

Finish = Callable[[CommandSession, Record, Mapping[str, Any]], None]


def run(call: Invocation) -> int:
    """``NOUN VERB``: send the command's write, and print the response as a record."""
    return run_write(call)


def run_write(call: Invocation, *, shown: ResourceSpec[Any] | None = None, finish: Finish | None = None) -> int:
    """Send the write named by the invocation's words, and print the response.

    Args:
        shown: Specification for printing the response, if it is not the resource's.
        finish: Prints more about the response; gets the record and the body that was sent.

    Raises:
        UsageError: Options are missing, contradictory or invalid.
    """
    spec, actions = find_command_actions(call.words)
    record_id = call.options.id
    if isinstance(record_id, list):
        return _destroy_each(call, spec, actions[0])
    action, body = _action_and_body(call, actions)
    mutation = _mutation(action)
    assert spec.record.WIRE is not None
    subject = None if record_id is None else spec.record({spec.record.WIRE.id: record_id})
    content = _content(mutation, subject, body)
    if record_id is None and not content:
        # A create request without members has no body, as in the official clients.
        content = None
    for unknown in build_form(mutation, subject).describe_unknown_members(content or {}):
        call.output.warn(unknown)
    key = read_idempotency_key(call)
    if call.options.dry_run:
        return _print_request(call, mutation, subject, content, key)

    async def work(session: CommandSession) -> int:
        label = _label(action, record_id)
        value = await send_write(session, mutation.operation, label, record_id=record_id or "", body=content, key=key)
        record = parse_record_of_kind(spec.record, value)
        print_record(session, shown or spec, record)
        if mutation.one_time_member:
            has_copy = bool(record.raw.get(mutation.one_time_member))
            show = call.output.note if has_copy else call.output.warn
            show(mutation.copy_note if has_copy else mutation.no_copy_note)
        if finish is not None:
            finish(session, record, content or {})
        return 0

    return writing(call, mutation.operation, work)


def _mutation(action: ResourceAction[Any]) -> Mutation[Any]:
    assert action.mutation is not None
    return action.mutation


def _label(action: ResourceAction[Any], record_id: str | None) -> str:
    """Return the label for the list of unconfirmed writes: ``change arm_1``."""
    label = action.label[:1].lower() + action.label[1:]
    return label if record_id is None else re.sub(r"\bit\b", lambda _: record_id, label, count=1)


def _destroy_each(call: Invocation, spec: ResourceSpec[Any], action: ResourceAction[Any]) -> int:
    mutation = _mutation(action)
    assert spec.record.WIRE is not None
    member = spec.record.WIRE.id

    async def write(session: CommandSession, record_id: str) -> tuple[Outcome, int]:
        try:
            value = await send_write(session, mutation.operation, _label(action, record_id), record_id=record_id)
        except ApiError as error:
            name_seen_id(error, call, record_id)
            outcome = "refused" if error.outcome_known else "unknown"
            return {member: record_id, "outcome": outcome, "status": None}, report_error(error, call.output)
        status = value.get("status") if isinstance(value, dict) else None
        return {member: record_id, "outcome": mutation.done, "status": status}, SUCCESS

    def show(outcomes: Sequence[Outcome]) -> None:
        print_rows(call.output, outcomes, (member, "outcome"))

    first_word = action.label.partition(" ")[0]
    return run_for_each_id(call, mutation.operation, write, show, first_word=first_word, singular=spec.singular)


def _action_and_body(
    call: Invocation, actions: Sequence[ResourceAction[Any]]
) -> tuple[ResourceAction[Any], dict[str, Any]]:
    """Return the action of the invocation, and the body from its options and ``--from``.

    Several actions may share a command if their fixed members tell them apart, such as ``kind``.
    """
    body = read_body_option(call)
    fields = {field.path: field for action in actions for field in _mutation(action).option_fields}
    for field in fields.values():
        value = _given(call, field)
        if value is not None:
            put(body, field.path, value)
    action = actions[0]
    if len(actions) > 1:
        action = next((fitting for fitting in actions if _fits(_mutation(fitting), body)), action)
    mutation = _mutation(action)
    if mutation.changes_only and not body:
        command = runwatch_command(" ".join(call.words))
        raise UsageError("Nothing to change", hint=f"{command} --help lists the options.")
    if not mutation.changes_only:
        needed = [field for field in mutation.option_fields if field.is_needed]
        missing = [field.option.name for field in needed if field.option and get_member(body, field.path) is None]
        if missing:
            command = runwatch_command(" ".join(call.words))
            raise UsageError(
                f"This needs {', '.join(missing)}",
                hint=f"{command} --help lists the options; --from takes the whole request from a JSON file.",
            )
    return action, body


def _fits(mutation: Mutation[Any], body: Mapping[str, Any]) -> bool:
    """Whether a body does not contradict the fixed text members of a mutation."""
    fixed = {} if mutation.members is None else mutation.members(None)
    return all(body.get(name, value) == value for name, value in fixed.items() if isinstance(value, str))


def _given(call: Invocation, field: FormField) -> Any:
    """Return the value that an option gives a field; ``None`` if it is not given."""
    option = field.option
    if option is None:
        return None
    given = call.options[option_attribute(option.name)]
    no, _ = option.negative
    if no and call.options[option_attribute(no)]:
        if given:
            raise UsageError(f"{option.name} and {no} cannot be used together")
        return False
    if given is None or given is False or given == []:
        return None
    if field.kind == "lines":
        return _text_of_file(call, given)
    if field.kind == "span":
        return _seconds(option.name, given, field.max_s)
    return parse_field(field, given) if field.kind == "json" else given


def _text_of_file(call: Invocation, name: str) -> str:
    try:
        return call.read_input(name).decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"'{clean_line(name)}' is not UTF-8 text") from None


def _seconds(option: str, text: str, max_s: int) -> int:
    seconds = read_seconds(text, max_s)
    if seconds is None:
        raise UsageError(
            f"{option} takes a duration, not '{clean_line(text)}'",
            hint=f"Give a number with its unit, from 1s to {max_s // 86_400}d, for example 30d or 12h.",
        )
    return seconds


def _content(mutation: Mutation[Any], subject: Record | None, body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the body to send, with fixed members and defaults; ``None`` if the write has no body."""
    if not has_body(mutation):
        return None
    members = {} if mutation.members is None else mutation.members(subject)
    content = {**members, **body}
    for field in mutation.option_fields:
        around = field.path.rpartition(".")[0]
        is_open = not around or isinstance(get_member(content, around), Mapping)
        if field.option is not None and field.option.uses_start and is_open and get_member(content, field.path) is None:
            put(content, field.path, parse_field(field, field.start(subject)))
    return content if mutation.transform is None else mutation.transform(content)


def _print_request(
    call: Invocation,
    mutation: Mutation[Any],
    subject: Record | None,
    content: dict[str, Any] | None,
    key: str | None,
) -> int:
    """Print the request without sending it, after the same validation as the console's form."""
    form = build_form(mutation, subject)
    options = {field.id: field.option.name for field in mutation.option_fields if field.option}
    problems = form.validate_body(content or {})
    if problems:
        lines = [f"{options[id]}: {said}" if id in options else said for id, said in problems.items()]
        raise UsageError(
            "The request is not valid",
            detail="\n".join(lines),
            hint="Nothing was sent. Correct the request and try again.",
        )
    operation = OPERATIONS[mutation.operation]
    address = operation.path.format_map(fill_path(operation, "" if subject is None else quote(subject.id, safe="")))
    call.output.json({"method": operation.method, "path": address, "idempotency_key": key, "body": content})
    return 0
