"""``schema KIND``: the JSON schema of a request, or the declared members of a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from runwatch.base.closest_word import did_you_mean
from runwatch.base.errors import UsageError
from runwatch.commands.cli.invocation import Invocation
from runwatch.view.resources.resource_index import RESOURCE_INDEX

if TYPE_CHECKING:
    from runwatch.records.record import Record

RUN_REQUEST: Final = "run-request"


def records() -> Iterator[type[Record]]:
    """Yield each record class once per kind: those of resources, of other responses, and problems.

    Specifications are loaded one by one, so a caller that stops early loads few.
    """
    seen: set[str] = set()
    for record in _every_record():
        if record.KIND and record.KIND not in seen:
            seen.add(record.KIND)
            yield record


def _every_record() -> Iterator[type[Record]]:
    specs = (entry.load() for entry in RESOURCE_INDEX)
    yield from (spec.record for spec in specs if not spec.is_local)
    from runwatch.api.operations import OPERATIONS
    from runwatch.records.problem import Problem

    yield from (operation.record for operation in OPERATIONS.values() if operation.record is not None)
    yield Problem


def record_of_kind(kind: str) -> type[Record] | None:
    return next((record for record in records() if kind == record.KIND), None)


def schema(call: Invocation) -> int:
    """``schema``: print the schema of one kind, or the list of kinds."""
    kind = call.options.kind
    kinds = (RUN_REQUEST, *(record.KIND for record in records()))
    if kind is None:
        call.output.text("".join(f"{name}\n" for name in kinds))
        return 0
    if kind not in kinds:
        hint = f"One of {', '.join(kinds)}."
        raise UsageError(f"'{kind}' is not a kind", detail=did_you_mean(kind, kinds), hint=hint)
    if record := record_of_kind(kind):
        schema = {"title": record.__name__, **_object(record)}
    else:
        from runwatch.records.requests.run import RunRequest

        schema = RunRequest.model_json_schema()
    call.output.json({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    return 0


def _object(record: type[Record]) -> dict[str, Any]:
    """Return the declared members of a record. No member is required and others may occur: reading is tolerant."""
    meaning = (record.__doc__ or "").strip().partition("\n\n")[0]
    properties: dict[str, Any] = {}
    for name, member in record.MEMBERS.items():
        schema: dict[str, Any] = dict(member.schema)
        if member.kind is not None:
            nested = _object(member.kind)
            schema = nested if schema["type"] == "object" else {**schema, "items": nested}
        if "type" in schema:
            schema["type"] = [schema["type"], "null"]
        properties[name] = schema
    return {"description": " ".join(meaning.split()), "type": "object", "properties": properties}
