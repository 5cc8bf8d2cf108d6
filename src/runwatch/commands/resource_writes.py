"""Verbs that change records, made from the mutations of the resources' specifications (:mod:`runwatch.view.mutation`).

The same declaration gives the console its form; here its fields are options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from runwatch.api.operations import OPERATIONS
from runwatch.base.errors import UsageError
from runwatch.base.shell import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.call import Call
from runwatch.commands.outcomes import for_each
from runwatch.commands.resource_verbs import actions_of_verb, option_attribute
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session
from runwatch.commands.writing import body_from, given_key, need, write, writing
from runwatch.records.record import Record
from runwatch.view.bounds import read_seconds
from runwatch.view.form import form_of, has_body, put, value_of
from runwatch.view.mutation import Action, Ask, Mutation
from runwatch.view.resource import ResourceSpec

Finish = Callable[[Session, Record, Mapping[str, Any]], None]


def run(call: Call) -> int:
    """``NOUN VERB``: do the write of that verb, and print the answer as a record."""
    return run_write(call)


def run_write(call: Call, *, shown: ResourceSpec[Any] | None = None, finish: Finish | None = None) -> int:
    """Do the write that the call's words name, and print the answer.

    Args:
        call: The call.
        shown: How the answer is printed, where that is not as the resource's record.
        finish: Says more about the answer; gets the record and the body that was sent.

    Raises:
        UsageError: options are missing, contradict each other or cannot be read.
    """
    spec, actions = actions_of_verb(call.words)
    record_id = call.options.id
    if isinstance(record_id, list):
        return _destroy_each(call, spec, actions[0])
    action, body = _action_and_body(call, actions)
    mutation = _mutation(action)
    subject = None if record_id is None else _bare_record(spec, record_id)
    content = _content(call, mutation, subject, body)
    if record_id is None and not content:
        # What makes something may need no member at all, and the public clients send no body then.
        content = None
    path, key = mutation.path(subject), given_key(call)
    if call.options.dry_run:
        return _print_request(call, mutation, subject, path, content, key)

    async def work(session: Session) -> int:
        value = await write(session, mutation.operation, _label(action, record_id), path=path, body=content, key=key)
        record = as_record(spec.record, value)
        print_record(session, shown or spec, record)
        if mutation.copies:
            has_copy = bool(record.raw.get(mutation.copies))
            tell = call.output.note if has_copy else call.output.warn
            tell(mutation.copy_note if has_copy else mutation.no_copy_note)
        if finish is not None:
            finish(session, record, content or {})
        return 0

    return writing(call, mutation.operation, work)


def _mutation(action: Action[Any]) -> Mutation[Any]:
    assert action.mutation is not None
    return action.mutation


def _bare_record(spec: ResourceSpec[Any], record_id: str) -> Record:
    """A record of which nothing but the id is known."""
    assert spec.record.WIRE is not None
    return spec.record({spec.record.WIRE.id: record_id})


def _label(action: Action[Any], record_id: str | None) -> str:
    """What is written, for people who find it among the kept writes: ``change arm_1``."""
    label = action.label[:1].lower() + action.label[1:]
    return label if record_id is None else re.sub(r"\bit\b", lambda _: record_id, label, count=1)


def _destroy_each(call: Call, spec: ResourceSpec[Any], action: Action[Any]) -> int:
    mutation = _mutation(action)

    async def one(session: Session, record_id: str) -> str | None:
        path = mutation.path(_bare_record(spec, record_id))
        value = await write(session, mutation.operation, _label(action, record_id), path=path)
        return value.get("status") if isinstance(value, dict) else None

    assert spec.record.WIRE is not None
    return for_each(
        call,
        mutation.operation,
        one,
        asks=action.label.partition(" ")[0],
        singular=spec.singular,
        member=spec.record.WIRE.id,
        done=mutation.done,
    )


def _action_and_body(call: Call, actions: Sequence[Action[Any]]) -> tuple[Action[Any], dict[str, Any]]:
    """The action that the call means, and the members that its options and ``--from`` give.

    Several actions have one verb where their fixed members tell them apart, as the ``kind`` of what is saved does.

    Raises:
        UsageError: an option cannot be read, contradicts another one, or is missing.
    """
    body = body_from(call)
    asks = {ask.path: ask for action in actions for ask in _mutation(action).option_asks}
    for ask in asks.values():
        value = _given(call, ask)
        if value is not None:
            put(body, ask.path, value)
    action = actions[0]
    if len(actions) > 1:
        action = next((one for one in actions if _fits(_mutation(one), body)), action)
    mutation = _mutation(action)
    if mutation.changes_only and not body:
        command = runwatch_command(" ".join(call.words))
        raise UsageError("Nothing is to be changed", hint=f"{command} --help lists what can be.")
    if not mutation.changes_only:
        needed = [ask for ask in mutation.option_asks if ask.is_needed]
        need({ask.path: _member(body, ask.path) for ask in needed}, {a.path: a.option.name for a in needed if a.option})
    return action, body


def _fits(mutation: Mutation[Any], body: Mapping[str, Any]) -> bool:
    """Whether no member of a body says something else than a fixed text of the mutation."""
    fixed = {} if mutation.members is None else mutation.members(None)
    return all(body.get(name, value) == value for name, value in fixed.items() if isinstance(value, str))


def _member(body: Mapping[str, Any], path: str) -> Any:
    value: Any = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _given(call: Call, ask: Ask) -> Any:
    """The value that an option gives a field; ``None`` where it is left out.

    Raises:
        UsageError: the option cannot be read, or contradicts another one.
    """
    option = ask.option
    if option is None:
        return None
    given = call.options[option_attribute(option.name)]
    no, _ = option.negative
    if no and call.options[option_attribute(no)]:
        if given:
            raise UsageError(f"{option.name} and {no} exclude each other")
        return False
    if given is None or given is False or given == []:
        return None
    if ask.kind == "lines":
        return _text_of_file(call, given)
    if ask.kind == "span":
        return _seconds(option.name, given, ask.max_s)
    return value_of(ask, given) if ask.kind == "json" else given


def _text_of_file(call: Call, name: str) -> str:
    try:
        return call.read_input(name).decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"'{clean_line(name)}' is not UTF-8 text") from None


def _seconds(option: str, text: str, max_s: int) -> int:
    seconds = read_seconds(text, max_s)
    if seconds is None:
        raise UsageError(
            f"{option} takes a length of time, not '{clean_line(text)}'",
            hint=f"Give a number with its unit, from 1s to {max_s // 86_400}d, for example 30d or 12h.",
        )
    return seconds


def _content(
    call: Call, mutation: Mutation[Any], subject: Record | None, body: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The body as it is sent: with what nobody types and what is usual; ``None`` where the write has no body."""
    if not has_body(mutation):
        return None
    members = {} if mutation.members is None else mutation.members(subject)
    content = {**members, **body}
    for ask in mutation.option_asks:
        around = ask.path.rpartition(".")[0]
        is_open = not around or isinstance(_member(content, around), Mapping)
        if ask.option is not None and ask.option.uses_start and is_open and _member(content, ask.path) is None:
            put(content, ask.path, value_of(ask, ask.start(subject)))
    return content if mutation.shapes is None else mutation.shapes(content)


def _print_request(
    call: Call,
    mutation: Mutation[Any],
    subject: Record | None,
    path: Mapping[str, str],
    content: dict[str, Any] | None,
    key: str | None,
) -> int:
    """Print what would be sent, once it keeps the rules that the console's form keeps.

    Raises:
        UsageError: it breaks one; every field is named, by its option where it has one.
    """
    form = form_of(mutation, subject)
    options = {ask.id: ask.option.name for ask in mutation.option_asks if ask.option}
    problems = form.problems_of(content or {})
    if problems:
        lines = [f"{options[id]}: {said}" if id in options else said for id, said in problems.items()]
        raise UsageError(
            "The request breaks a rule of the interface", detail="\n".join(lines), hint="Nothing was sent."
        )
    operation = OPERATIONS[mutation.operation]
    address = operation.path.format_map({name: quote(value, safe="") for name, value in path.items()})
    call.output.json({"method": operation.method, "path": address, "idempotency_key": key, "body": content})
    return 0
