"""Read records from a file: exports, responses of the service, journals and support bundles.

The members of each JSON value decide what it is. Files are read in time slices, so the console stays responsive with a
hundred thousand receipts. A broken line affects only itself.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runwatch.api.decoding.decoder import SLICED_DECODE_BYTES
from runwatch.api.decoding.item_stream import ItemStream, UnreadableBodyError
from runwatch.base.errors import UsageError
from runwatch.base.json import loads
from runwatch.records.problem import Problem
from runwatch.records.record import Record
from runwatch.view.problems.activity import ActivityEntry
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.problems.support_bundle import is_bundle, parse_bundle
from runwatch.view.resources.registry import RESOURCES, resource_for_kind
from runwatch.view.spec.resource import ResourceSpec

_PIECE: Final = 1 << 18
_HEAD: Final = 65_536
_LINES: Final = 256

_HINT: Final = "runwatch opens its own JSON and NDJSON exports, support bundles, and responses of the service."

ReadSteps = Generator[float, None, "RecordFile"]
"""The reading of a file: yields the completed fraction from 0 to 1, and returns the contents."""


@dataclass(slots=True)
class RecordFile:
    """The contents of a file.

    Attributes:
        records: Records of each kind by id, in the file's order.
        is_bundle: Whether it is a support bundle.
        unknown: Number of JSON values that are not known records, or have no id.
        repeated: Number of records that replaced an earlier one with the same id.
        broken: Number of lines that are not JSON.
        first_broken: Number of the first such line, counted from 1.
    """

    records: dict[str, dict[str, Record]] = field(default_factory=dict)
    is_bundle: bool = False
    unknown: int = 0
    repeated: int = 0
    broken: int = 0
    first_broken: int = 0

    @property
    def count(self) -> int:
        return sum(map(len, self.records.values()))

    @property
    def main(self) -> ResourceSpec[Any] | None:
        """The resource with the most records; problems for a bundle, which is about one.

        Events come last, because they are shown with their run.
        """
        if self.is_bundle:
            return resource_for_kind(ProblemEntry.KIND)
        specs = [resource_for_kind(kind) for kind in self.records]
        return max(specs, key=lambda spec: (spec.has_screen, len(self.records[spec.kind])), default=None)

    def flaws(self) -> str:
        """Describe what is not shown, in a sentence; empty if everything is."""
        parts = []
        if self.broken:
            lines = "line is" if self.broken == 1 else "lines are"
            parts.append(f"{self.broken} {lines} no JSON, the first is line {self.first_broken}")
        if self.unknown:
            parts.append(
                f"{self.unknown} {'is not a record' if self.unknown == 1 else 'are not records'} that runwatch knows"
            )
        if self.repeated:
            is_one = self.repeated == 1
            repeats = "record repeats the id of another" if is_one else "records repeat ids of others"
            parts.append(f"{self.repeated} {repeats}, of which the last counts")
        return "; ".join(parts)

    def add(self, record: Record) -> None:
        if not record.id:
            self.unknown += 1
            return
        known = self.records.setdefault(record.KIND, {})
        self.repeated += record.id in known
        known[record.id] = record


def read_records(content: bytes) -> ReadSteps:
    """Read a file in time slices.

    Raises:
        UsageError: It is neither JSON nor NDJSON, or contains no known record.
    """
    text = yield from _decoded(content)
    filed = RecordFile()
    kinds = _Kinds()
    try:
        if is_ndjson(text):
            for done, values in read_json_lines(text, filed):
                for value in values:
                    _add_record(filed, kinds, value)
                yield done
        elif len(text) <= SLICED_DECODE_BYTES:
            _take_whole(filed, kinds, loads(text))
        else:
            yield from _items(text, filed, kinds)
    except (ValueError, RecursionError) as error:
        raise UsageError("The file is neither JSON nor lines of JSON", detail=str(error), hint=_HINT) from None
    if not filed.count:
        what = "No line of the file is JSON" if filed.broken and not filed.unknown else "The file has no record"
        raise UsageError(what, detail=filed.flaws() or "it has an empty list", hint=_HINT)
    return filed


def is_ndjson(text: str) -> bool:
    """Whether a text has several lines, the first of which is a JSON value."""
    head, _, rest = text.lstrip().partition("\n")
    if not rest.strip() or len(head) > SLICED_DECODE_BYTES or head.lstrip().startswith("["):
        return False
    try:
        loads(head)
    except (ValueError, RecursionError):
        # The first line may be a broken one; the lines of a single indented value do not begin with an object.
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
        raise UsageError("The file is not UTF-8 text", hint=_HINT) from None
    text = "".join(pieces).strip()
    if not text:
        raise UsageError("The file is empty", hint=_HINT)
    if text[0] not in "{[":
        detail = "It starts with neither { nor [."
        if "," in text.partition("\n")[0]:
            detail += " A table of CSV has lost the types of its values; export NDJSON or JSON to open it again."
        raise UsageError("The file is neither JSON nor lines of JSON", detail=detail, hint=_HINT)
    return text


def read_json_lines(text: str, filed: RecordFile) -> Iterator[tuple[float, list[Any]]]:
    """Yield the values of lines in batches, with the completed fraction of the text; count lines that are no JSON."""
    values: list[Any] = []
    at, number = 0, 0
    while at < len(text):
        # Not ``splitlines``: JSON may contain Unicode separators, which do not end a line of a file.
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
    """Read the items of one long list, bare or in a member of a response.

    Raises:
        ValueError: It is neither.
    """
    names = {spec.record.WIRE.items for spec in RESOURCES if spec.record.WIRE is not None and spec.record.WIRE.items}
    name = next((each for each in sorted(names) if re.search(rf'"{each}"\s*:\s*\[', text[:_HEAD])), "")
    done = 0
    try:
        for texts, values in ItemStream(iter((text,)), name, with_texts=True).chunks():
            for value in values:
                _add_record(filed, kinds, value)
            done += sum(map(len, texts))
            yield min(1.0, done / len(text))
    except UnreadableBodyError:
        if done:
            raise
        # It is neither form of a list, so it has to be decoded as a whole.
        _take_whole(filed, kinds, loads(text))


def _take_whole(filed: RecordFile, kinds: _Kinds, value: Any) -> None:
    if is_bundle(value):
        filed.is_bundle = True
        around, problems, requests, runs = parse_bundle(value)
        for entry in (*problems, *requests):
            filed.add(entry)
        for run in runs:
            _add_record(filed, kinds, run)
        # Several entries of the activity may be about one record, such as a run that two profiles read.
        filed.repeated = 0
        filed.records[ActivityEntry.KIND] = {entry.id: entry for entry in around}
        return
    items = None if journal_record_from_json(value) is not None else detect_items(value)
    for item in [value] if items is None else items:
        _add_record(filed, kinds, item)


def _add_record(filed: RecordFile, kinds: _Kinds, value: Any) -> None:
    record = kinds.record_of(value) if isinstance(value, dict) else None
    if record is None:
        filed.unknown += 1
    else:
        filed.add(record)


class _Kinds:
    """Record classes cached by member names, because a file has many records of few kinds."""

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
        # Local records are recognized by more than their member names, so they are not cached.
        if found is not None and found.WIRE is not None:
            self._known[names] = type(found)
        return found


def record_from_json(value: Mapping[str, Any]) -> Record | None:
    """Return the record for a JSON object, or ``None`` if it is not recognized."""
    found = journal_record_from_json(value)
    if found is not None:
        return found
    spec = detect_resource(value)
    return None if spec is None else spec.record(dict(value))


def journal_record_from_json(value: Any) -> Record | None:
    """Return a journal entry or a bare problem; ``None`` for anything else."""
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
    """Return the resource of a decoded record: among those whose id it has, the one that declares most of its members.

    The first of the registry wins a tie; ``None`` if no resource has its id.
    """
    own = dict(value)
    remote = [spec for spec in RESOURCES if not spec.is_local and spec.record(own).id]
    return max(remote, key=lambda spec: len(spec.record.MEMBERS.keys() & own.keys()), default=None)


def detect_items(value: object) -> list[Any] | None:
    """Return the items of a list, bare or in a response; ``None`` if it is not a list."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping) or detect_resource(value) is not None:
        return None
    names = [spec.record.WIRE.items for spec in RESOURCES if spec.record.WIRE is not None]
    found = (value[name] for name in names if isinstance(value.get(name), list))
    return next(found, None)
