"""Records of every kind with a text of one's own in them: in all strings at once, or in one after another.

Unlike :mod:`tests.support.packed`, which turns a few whole records round, this follows the registry: a resource that is
new tomorrow is filled without a line here, and fails the tests until it has a whole record to begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from runwatch.records.record import Record
from runwatch.view.spec.resource import ResourceSpec
from tests.support import builders, resources
from tests.support.packed import kinds

Raw = dict[str, Any]

_DEPTH: Final = 5
"""How deep records within records are filled; a kind that holds itself ends there."""


def all_members(kind: type[Record], text: str, depth: int = 0) -> Raw:
    """Every declared member of a kind, and an unknown one, with the text in every string and every open name."""
    raw = {name: _value(member.schema.get("type"), member.kind, text, depth) for name, member in kind.MEMBERS.items()}
    raw.setdefault(text, text)
    return raw


def _value(form: str | None, kind: type[Record] | None, text: str, depth: int) -> Any:
    if kind is not None:
        inner = all_members(kind, text, depth + 1) if depth < _DEPTH else {}
        return inner if form == "object" else [inner]
    match form:
        case "number" | "integer":
            return 7
        case "boolean":
            return True
        case "object":
            return {text: text, "inner": {text: [text]}}
        case "array":
            return [text, text]
    return text


def whole(spec: ResourceSpec[Any]) -> Raw:
    """An ordinary record of a resource.

    Raises:
        LookupError: there is none yet.
    """
    if spec.name in {"problems", "requests"}:
        return _kept(spec.name)
    known = [*resources.WHOLE, *kinds().values()]
    for record in known:
        if type(record) is spec.record:
            return dict(record.raw)
    raise LookupError(f"{spec.name} has no whole record in tests.support")


def _kept(name: str) -> Raw:
    """A line of this machine's journal."""
    common = {
        "time": "2026-11-21T12:00:00.000Z", "profile": "work", "origin": "https://api.example.com", "method": "POST",
        "path": "/v1/executions", "operation": "postExecutions", "status": 400, "code": "validation_failed",
        "instance": "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11", "key": "key-1", "attempt": 1, "elapsed_s": 1,
    }  # fmt: skip
    if name == "requests":
        return common | {"query": "limit=50", "sent_bytes": 10, "received_bytes": 20, "error": "reset"}
    problem = builders.validation_problem(task__objective="Required.")
    return common | {"title": "No", "detail": "No.", "cause": "none", "raw": dict(problem.raw)}


def one_string_after_another(raw: Raw) -> Iterator[tuple[str, Callable[[str], Raw]]]:
    """For each string in a record: its place, and a function that puts another text in just that place."""
    for path in _strings(raw, ()):
        yield ".".join(map(str, path)), _putting(raw, path)


def _strings(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(inner, (*path, name))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _strings(inner, (*path, position))


def _putting(raw: Raw, path: tuple[str | int, ...]) -> Callable[[str], Raw]:
    def with_text(text: str) -> Raw:
        changed: Raw = _put(raw, path, text)
        return changed

    return with_text


def _put(value: Any, path: tuple[str | int, ...], text: str) -> Any:
    if not path:
        return text
    first, *rest = path
    if isinstance(first, int):
        return [_put(inner, tuple(rest), text) if at == first else inner for at, inner in enumerate(value)]
    return {name: _put(inner, tuple(rest), text) if name == first else inner for name, inner in value.items()}
