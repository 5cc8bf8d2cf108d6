"""Records that somebody kept in a file: exports of any kind, answers of the service, journals and support bundles.

What each piece of JSON is, is told by its members. A file is read step by step, so that a console that reads a hundred
thousand receipts goes on drawing. One broken line spoils only itself.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runwatch.api.decoding.decoder import SLICED_DECODE_BYTES
from runwatch.api.decoding.item_scanner import UnreadableBodyError
from runwatch.api.decoding.item_stream import ItemStream
from runwatch.base.errors import UsageError
from runwatch.base.json import loads
from runwatch.records.problem import Problem
from runwatch.records.record import Record
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.problems.support_bundle import is_bundle, parse_bundle
from runwatch.view.resources.registry import RESOURCES, resource_for_kind
from runwatch.view.spec.resource import ResourceSpec

_PIECE: Final = 1 << 18
_HEAD: Final = 65_536
_LINES: Final = 256
"""Lines that are taken in together."""

_HINT: Final = (
    "runwatch opens what its own verbs and screens export as JSON or NDJSON, bundles, and answers of the service."
)

ReadSteps = Generator[float, None, "RecordFile"]
"""The reading of a file: yields how much of it is done, from 0 to 1, and gives what was in it."""


@dataclass(slots=True)
class RecordFile:
    """What a file holds.

    Attributes:
        records: The records of each kind by their id, in the file's order.
        is_bundle: Whether it is a support bundle.
        unknown: How many pieces of JSON are no records that runwatch knows, or have no id.
        repeated: How many came again with the id of an earlier one, in whose place they stand.
        broken: How many lines are no JSON.
        first_broken: The number of the first of them, counted from 1.
    """

    records: dict[str, dict[str, Record]] = field(default_factory=dict)
    is_bundle: bool = False
    unknown: int = 0
    repeated: int = 0
    broken: int = 0
    first_broken: int = 0

    @property
    def count(self) -> int:
        """How many records there are."""
        return sum(map(len, self.records.values()))

    @property
    def main(self) -> ResourceSpec[Any] | None:
        """The resource that most of the records are of; of a bundle the problems, which it is about.

        Events come after everything else: those of a run are shown with it.
        """
        if self.is_bundle:
            return resource_for_kind(ProblemEntry.KIND)
        specs = [resource_for_kind(kind) for kind in self.records]
        return max(specs, key=lambda spec: (spec.has_screen, len(self.records[spec.kind])), default=None)

    def flaws(self) -> str:
        """What of the file is not shown, in a sentence; empty when all of it is."""
        parts = []
        if self.broken:
            lines = "line is" if self.broken == 1 else "lines are"
            parts.append(f"{self.broken} {lines} no JSON, the first is line {self.first_broken}")
        if self.unknown:
            parts.append(f"{self.unknown} {'is' if self.unknown == 1 else 'are'} no record that runwatch knows")
        if self.repeated:
            parts.append(f"{self.repeated} came again with the same id, and the last one counts")
        return "; ".join(parts)

    def add(self, record: Record) -> None:
        """Take in a record."""
        if not record.id:
            self.unknown += 1
            return
        known = self.records.setdefault(record.KIND, {})
        self.repeated += record.id in known
        known[record.id] = record


def read_records(content: bytes) -> ReadSteps:
    """Read a file step by step.

    Raises:
        UsageError: it is neither JSON nor lines of JSON, or nothing in it is a record that runwatch knows.
    """
    text = yield from _decoded(content)
    filed = RecordFile()
    kinds = _Kinds()
    try:
        if is_ndjson(text):
            for done, values in _lines(text, filed):
                for value in values:
                    _take(filed, kinds, value)
                yield done
        elif len(text) <= SLICED_DECODE_BYTES:
            _take_whole(filed, kinds, loads(text))
        else:
            yield from _items(text, filed, kinds)
    except (ValueError, RecursionError) as error:
        raise UsageError("The file is neither JSON nor lines of JSON", detail=str(error), hint=_HINT) from None
    if not filed.count:
        what = "No line of the file is JSON" if filed.broken and not filed.unknown else "No record stands in the file"
        raise UsageError(what, detail=filed.flaws() or "it holds an empty list", hint=_HINT)
    return filed


def is_ndjson(text: str) -> bool:
    """Whether a text is more than one line, the first of which is JSON of its own."""
    head, _, rest = text.lstrip().partition("\n")
    if not rest.strip() or len(head) > SLICED_DECODE_BYTES or head.lstrip().startswith("["):
        return False
    try:
        loads(head)
    except (ValueError, RecursionError):
        # The first line may be the broken one of many; lines of one printed value do not begin with an object.
        second = rest.lstrip().partition("\n")[0]
        return head.rstrip() != "{" and second.startswith("{") and second.rstrip().endswith("}")
    return True


def _decoded(content: bytes) -> Generator[float, None, str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    pieces: list[str] = []
    try:
        for start in range(0, len(content), _PIECE):
            pieces.append(decoder.decode(content[start : start + _PIECE]))
            yield 0.0
        pieces.append(decoder.decode(b"", final=True))
    except UnicodeDecodeError:
        raise UsageError("The file is no text in UTF-8", hint=_HINT) from None
    text = "".join(pieces).strip()
    if not text:
        raise UsageError("The file is empty", hint=_HINT)
    if text[0] not in "{[":
        detail = "It begins with neither { nor [."
        if "," in text.partition("\n")[0]:
            detail += " A table of CSV has lost the types of its values; export NDJSON or JSON to open it again."
        raise UsageError("The file is neither JSON nor lines of JSON", detail=detail, hint=_HINT)
    return text


def _lines(text: str, filed: RecordFile) -> Iterator[tuple[float, list[Any]]]:
    """The values of lines, some at a time, with how much of the text is behind them."""
    values: list[Any] = []
    at, number = 0, 0
    while at < len(text):
        # Not ``splitlines``: JSON may hold the separators of Unicode, which end no line of a file.
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        number += 1
        line = text[at:end].strip()
        at = end + 1
        if line:
            try:
                values.append(loads(line))
            except (ValueError, RecursionError):
                filed.broken += 1
                filed.first_broken = filed.first_broken or number
        if len(values) >= _LINES:
            yield at / len(text), values
            values = []
    yield 1.0, values


def _items(text: str, filed: RecordFile, kinds: _Kinds) -> Generator[float, None, None]:
    """The items of one long list, bare or in a member of an answer.

    Raises:
        ValueError: it is neither.
    """
    names = {spec.record.WIRE.items for spec in RESOURCES if spec.record.WIRE is not None and spec.record.WIRE.items}
    name = next((each for each in sorted(names) if re.search(rf'"{each}"\s*:\s*\[', text[:_HEAD])), "")
    done = 0
    try:
        for texts, values in ItemStream(iter((text,)), name, with_texts=True).chunks():
            for value in values:
                _take(filed, kinds, value)
            done += sum(map(len, texts))
            yield min(1.0, done / len(text))
    except UnreadableBodyError:
        if done:
            raise
        # Neither form of a list; what it is can only be told from the whole of it.
        _take_whole(filed, kinds, loads(text))


def _take_whole(filed: RecordFile, kinds: _Kinds, value: Any) -> None:
    """Take in one JSON value: a record, a list of records, or a bundle."""
    if is_bundle(value):
        filed.is_bundle = True
        problems, requests, runs = parse_bundle(value)
        for entry in (*problems, *requests):
            filed.add(entry)
        for run in runs:
            _take(filed, kinds, run)
        return
    items = None if journal_record_from_json(value) is not None else detect_items(value)
    for item in [value] if items is None else items:
        _take(filed, kinds, item)


def _take(filed: RecordFile, kinds: _Kinds, value: Any) -> None:
    record = kinds.record_of(value) if isinstance(value, dict) else None
    if record is None:
        filed.unknown += 1
    else:
        filed.add(record)


class _Kinds:
    """What records are, remembered by the names of their members: files hold many of few forms."""

    def __init__(self) -> None:
        self._known: dict[frozenset[str], type[Record]] = {}

    def record_of(self, value: dict[str, Any]) -> Record | None:
        names = frozenset(value)
        kind = self._known.get(names)
        if kind is not None:
            record = kind(value)
            if record.id:
                return record
        found = record_from_json(value)
        # What is of this machine is told by more than the names of its members.
        if found is not None and found.WIRE is not None:
            self._known[names] = type(found)
        return found


def record_from_json(value: Mapping[str, Any]) -> Record | None:
    """The record that a JSON object is, or ``None`` when runwatch knows none like it."""
    found = journal_record_from_json(value)
    if found is not None:
        return found
    spec = detect_resource(value)
    return None if spec is None else spec.record(dict(value))


def journal_record_from_json(value: Any) -> Record | None:
    """A line of the journal, or a bare Problem; ``None`` for anything else."""
    if not isinstance(value, Mapping):
        return None
    members = dict(value)
    if {"time", "method", "path", "attempt", "sent_bytes"} <= members.keys():
        return RequestEntry(members)
    if "time" in members and "instance" in members and ("code" in members or "raw" in members):
        return ProblemEntry(members)
    if Problem(members).code and "instance" in members:
        return ProblemEntry(
            {name: members[name] for name in ("title", "detail", "status", "instance") if name in members}
            | {"code": Problem(members).code, "raw": members}
        )
    return None


def detect_resource(value: Mapping[str, Any]) -> ResourceSpec[Any] | None:
    """The resource of a decoded record: of those whose id it has, the one that declares most of its members.

    The first of the registry wins where two declare as many; ``None`` when no resource knows the id.
    """
    own = dict(value)
    remote = [spec for spec in RESOURCES if not spec.is_local and spec.record(own).id]
    return max(remote, key=lambda spec: len(spec.record.MEMBERS.keys() & own.keys()), default=None)


def detect_items(value: object) -> list[Any] | None:
    """The items of a kept list, bare or as a service answers one; ``None`` for what is no list."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping) or detect_resource(value) is not None:
        return None
    names = [spec.record.WIRE.items for spec in RESOURCES if spec.record.WIRE is not None]
    found = (value[name] for name in names if isinstance(value.get(name), list))
    return next(found, None)
