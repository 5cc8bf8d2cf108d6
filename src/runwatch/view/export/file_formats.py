"""Export files: NDJSON, JSON, CSV and Markdown of records and tables.

Exports are exact, unlike terminal output (:mod:`runwatch.view.export.text_output`): JSON has every value as sent, CSV
has it unformatted. A cell that a spreadsheet would read as a formula gets a removable ``'`` in front. Markdown may be
rendered, so its cells are cleaned and markup is escaped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import PurePath
from typing import Any, Final, Literal, get_args

from runwatch.base.json import dumps
from runwatch.base.text import clean_line
from runwatch.records.receipt import Receipt
from runwatch.records.spend import is_partial
from runwatch.view.export.receipt_rows import csv_heads, csv_rows
from runwatch.view.spec.resource import Column, ResourceSpec, S
from runwatch.view.text import json_paths
from runwatch.view.text.format import UNKNOWN, RenderContext
from runwatch.view.text.safe_text import iso_text, json_text

FileFormat = Literal["ndjson", "csv", "json", "md"]
"""A file format, named by its file extension."""

FILE_FORMATS: Final[tuple[FileFormat, ...]] = get_args(FileFormat)

_TITLES: Final[Mapping[FileFormat, str]] = {
    "ndjson": "one record a line, exactly as the service sent it",
    "csv": "a row a record; unformatted values",
    "json": "one array of records, exactly as the service sent them",
    "md": "a table for a report, with the columns of the list",
}

_RECEIPTS_CSV: Final = "a row a slice; unformatted values"

_LOCAL_TITLES: Final[Mapping[FileFormat, str]] = {
    "ndjson": "one record a line, as recorded",
    "json": "one array of records, as recorded",
}
"""Those of records that the service does not send, where they differ."""

_ENDINGS: Final[Mapping[str, FileFormat]] = {
    ".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv", ".json": "json", ".md": "md", ".markdown": "md",
}  # fmt: skip

# Characters that start a formula in a spreadsheet, including wide and small forms.
_SIGNS: Final = "=+\\-@＝＋－＠﹦﹢﹣﹫"
# Characters that spreadsheets may skip before a formula: quotes, blanks and invisible characters. The guard's own quote
# is included, so a guarded cell never looks like one that was sent with a quote.
_DROPPED: Final = (
    "'\"\x00-\x08\x0b\x0c\x0e- \x7f-\xa0\xad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
)
# Positions where a formula can begin: at the start of a cell, where a tab and a carriage return, and their pictures,
# count as well; and after characters that separate cells or rows in a spreadsheet set to semicolons or tabs, because it
# splits a cell that is quoted for commas.
_FORMULA_START: Final = re.compile(
    f"(?:\\A(?=[{_DROPPED}]*[{_SIGNS}\t\r␉␍])|(?<=[;\t\r\n])(?=[{_DROPPED}]*[{_SIGNS}]))"
)
_PLAIN_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>|~&$]")
_DOMAIN: Final = re.compile(r"(?<=\w)\.(?=[^\W\d_])")
_ADDRESS: Final = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp|www)([:.])")


def format_title(form: FileFormat, spec: ResourceSpec[Any]) -> str:
    """Describe a format for the records of a resource."""
    if spec.is_local and form in _LOCAL_TITLES:
        return _LOCAL_TITLES[form]
    return _RECEIPTS_CSV if form == "csv" and spec.record is Receipt else _TITLES[form]


def format_from_name(name: str) -> FileFormat | None:
    """Return the format for a file's extension; ``None`` if unknown."""
    return _ENDINGS.get(PurePath(name).suffix.lower())


def build_export_name(noun: str, at: datetime, form: FileFormat) -> str:
    """Return the name of a new file: its content and the time of writing in UTC."""
    return f"{noun}-{at.astimezone(UTC):%Y%m%d-%H%M%S}.{form}"


def encode_for_file(text: str) -> bytes:
    r"""Encode text as UTF-8, with lone surrogates spelled ``\udc80``."""
    return text.encode("utf-8", "backslashreplace")


def export_records(
    form: FileFormat, spec: ResourceSpec[S], subjects: Collection[S], context: RenderContext
) -> Iterator[str]:
    """Yield records as the text of a file; each piece ends with a newline.

    Args:
        spec: Their resource. Its declared members are the first columns of every CSV export; its columns are those of
            Markdown.
        subjects: Subjects of the rows. CSV iterates over them twice.
    """
    match form:
        case "ndjson":
            for subject in subjects:
                yield f"{dumps(dict(subject.raw))}\n"
        case "json":
            yield from _array(subject.raw for subject in subjects)
        case "csv":
            declared = frozenset(json_paths.declared_paths(spec.record))

            # Build rows twice, the first time for the headers: keeping them would take several times the memory of the
            # records.
            def rows() -> Iterator[dict[str, Any]]:
                records = (with_unknown_spend(subject.raw) for subject in subjects)
                return (_row(row, declared) for raw in records for row in csv_rows(spec.record, raw))

            heads = csv_heads(spec.record, json_paths.csv_columns(spec.record, rows()))
            yield from csv_table(heads, ([row.get(head) for head in heads] for row in rows()))
        case "md":
            heads = [column.title for column in spec.columns]
            yield from markdown_table(
                heads, ([_shown_value(column, it, context) for column in spec.columns] for it in subjects)
            )


def with_unknown_spend(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record for CSV in which an amount with calls of unknown cost is the word ``unknown``.

    The known part becomes a separate member, ``known_usd`` for ``usd``; in arrays too.
    """
    lacking = Receipt(dict(raw)).unknown_calls if isinstance(raw.get("totals"), Mapping) and "slices" in raw else 0
    return _marked(raw, lacking)


def _marked(raw: Mapping[str, Any], lacking: int) -> Mapping[str, Any]:
    marked: dict[str, Any] = {}
    for name, value in raw.items():
        if isinstance(value, dict):
            # A receipt of an older version, without the count in its totals, gets it from its attempts.
            count = {"unknown_calls": lacking} if name == "totals" and lacking else {}
            marked[name] = _marked({**value, **count}, 0)
        elif isinstance(value, list):
            marked[name] = [_marked(item, 0) if isinstance(item, dict) else item for item in value]
        elif is_partial(raw, name):
            marked[name] = UNKNOWN
            if value is not None:
                marked[f"known_{name}"] = value
        else:
            marked[name] = value
    return marked


def _row(raw: Mapping[str, Any], declared: frozenset[str]) -> dict[str, Any]:
    """Flatten an object to dotted paths. A declared member stays one cell even if its structure is unknown."""
    row: dict[str, Any] = {}
    for path, value in json_paths.iter_leaves(raw, lists=False):
        for depth in range(1, len(path)):
            name = json_paths.format_path(path[:depth])
            if name in declared:
                row[name] = json_paths.get_at(raw, path[:depth])
                break
        else:
            if path:
                row[json_paths.format_path(path)] = value
    return row


def _shown_value(column: Column[S], subject: S, context: RenderContext) -> object:
    """Return a cell of a report: an id, or what else lists cut in its middle, in full; a time in UTC."""
    value = column.value(subject)
    if isinstance(value, datetime):
        return iso_text(value)
    if column.elides_middle and isinstance(value, str):
        return value
    drawn = column.draw(subject, context)
    return value if drawn is None else drawn.text


def _array(raws: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    before = "[\n"
    for raw in raws:
        yield f"{before}{dumps(dict(raw))}"
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def csv_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a table as CSV (RFC 4180, but lines end with a newline), header first.

    Args:
        rows: One value per column: text, number, boolean, ``None`` for an empty cell, or any decoded JSON.
    """
    for row in chain((heads,), rows):
        yield csv_line(map(csv_value, row))


def csv_line(cells: Iterable[str]) -> str:
    """Return one line of CSV with its newline, quoted where it has to be."""
    text = io.StringIO()
    # The writer only quotes characters of its own line end, and a carriage return in a cell also ends a line.
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"


def csv_value(value: object) -> str:
    """Format a value for CSV, unquoted: empty for ``None``, numbers with their own digits, text guarded against
    formulas.
    """
    return "" if value is None else guard_formula(json_text(value))


def guard_formula(text: str) -> str:
    """Guard text against being read as a formula; a plain number with a sign stays unchanged."""
    return text if _PLAIN_NUMBER.fullmatch(text) else _FORMULA_START.sub("'", text)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a table as Markdown, header first; values as for :func:`csv_table`."""
    yield f"| {' | '.join(map(markdown_cell, heads))} |\n"
    yield f"|{' --- |' * len(heads)}\n"
    for row in rows:
        yield f"| {' | '.join(map(markdown_cell, row))} |\n"


def markdown_cell(value: object) -> str:
    """Format a value for Markdown: on one line, cleaned, without markup, links or cell ends."""
    if value is None:
        return ""
    return "<br>".join(markdown_text(part) for part in json_text(value).splitlines())


def markdown_text(text: str) -> str:
    """Escape any text for Markdown on one line: cleaned, with every markup character escaped."""
    shown = _MARKUP.sub(r"\\\g<0>", clean_line(text))
    # Renderers turn anything like an address into a link, even if parts of it are escaped, so break up its colon,
    # slashes and dots. An at sign is recognized even after a backslash; only code formatting prevents a mail link.
    shown = _DOMAIN.sub(r"\\.", _ADDRESS.sub(r"\1\\\2", shown)).replace("//", "/\\/")
    return re.sub("@+", r"`\g<0>`", shown)
