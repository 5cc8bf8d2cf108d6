"""Files that people keep: NDJSON, JSON, CSV and Markdown of records and of tables.

What is exported is exact, unlike what is printed for a terminal (:mod:`runwatch.view.export.text_output`): JSON gives
every value as the service sent it, CSV gives it unformatted. A cell that a spreadsheet would take for a formula gets a
``'`` in front, which can be taken off again. Markdown is read by people and by programs that render it, so that its
cells are cleaned, and whatever could be markup is escaped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, Final, Literal, get_args

from runwatch.base.json import dumps
from runwatch.base.text import clean_line
from runwatch.records.receipt import Receipt
from runwatch.records.spend import is_partial
from runwatch.view.spec.resource import Column, ResourceSpec, S
from runwatch.view.text import json_paths
from runwatch.view.text.format import UNKNOWN, RenderContext
from runwatch.view.text.safe_text import json_text

FileFormat = Literal["ndjson", "csv", "json", "md"]
"""What a file is written as; the names are those of its ending."""

FILE_FORMATS: Final[tuple[FileFormat, ...]] = get_args(FileFormat)

FORMAT_TITLES: Final[Mapping[FileFormat, str]] = {
    "ndjson": "one record a line, exactly as the service sent it",
    "csv": "a row a record, nested members by dotted paths, values unformatted",
    "json": "one array of records, exactly as the service sent them",
    "md": "a table for a report, with the columns of the list",
}
"""What each form is, for menus and help."""

_ENDINGS: Final[Mapping[str, FileFormat]] = {
    ".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv", ".json": "json", ".md": "md", ".markdown": "md",
}  # fmt: skip

# What makes a spreadsheet take a cell for a formula, in its wide and small forms too.
_SIGNS: Final = "=+\\-@＝＋－＠﹦﹢﹣﹫"
# What some of them drop before they look: quotes, blanks, and what cannot be seen. Quotes of our own are among them, so
# that a guarded cell never looks like one that came with its quote.
_DROPPED: Final = (
    "'\"\x00-\x08\x0b\x0c\x0e- \x7f-\xa0\xad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
)
# Where a formula could begin: at the beginning of a cell, where a tab and a carriage return, and their pictures, do as
# well as a sign; and behind what parts cells and rows wherever a spreadsheet is set to semicolons or tabs, because such
# a one splits a cell that is quoted for commas.
_FORMULA_START: Final = re.compile(
    f"(?:\\A(?=[{_DROPPED}]*[{_SIGNS}\t\r␉␍])|(?<=[;\t\r\n])(?=[{_DROPPED}]*[{_SIGNS}]))"
)
_PLAIN_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>|~&$]")
_DOMAIN: Final = re.compile(r"(?<=\w)\.(?=[^\W\d_])")
_ADDRESS: Final = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp|www)([:.])")


def format_from_name(name: str) -> FileFormat | None:
    """The form that the ending of a file's name stands for; ``None`` for any other."""
    return _ENDINGS.get(PurePath(name).suffix.lower())


def build_export_name(noun: str, at: datetime, form: FileFormat) -> str:
    """The name of a new file: what is in it, and the moment in UTC at which it was written."""
    return f"{noun}-{at.astimezone(UTC):%Y%m%d-%H%M%S}.{form}"


def encode_for_file(text: str) -> bytes:
    r"""Text as the bytes of a file: UTF-8, with what UTF-8 cannot hold (a lone surrogate) spelled ``\udc80``."""
    return text.encode("utf-8", "backslashreplace")


def export_records(
    form: FileFormat, spec: ResourceSpec[S], subjects: Collection[S], context: RenderContext
) -> Iterator[str]:
    """Records as the text of a file, piece by piece; each piece ends with a line.

    Args:
        form: What is written.
        spec: Their resource. Its declared members are the first columns of CSV, the same ones in every export; its
            columns are those of Markdown.
        subjects: What its rows are about; CSV goes through them twice.
        context: What Markdown is drawn with.
    """
    match form:
        case "ndjson":
            for subject in subjects:
                yield f"{dumps(dict(subject.raw))}\n"
        case "json":
            yield from _array(subject.raw for subject in subjects)
        case "csv":
            declared = frozenset(json_paths.declared_paths(spec.record))

            # Rows are made twice, once for their heads: to keep them would take several times the room of the records.
            def rows() -> Iterator[dict[str, Any]]:
                return (_row(with_unknown_spend(subject.raw), declared) for subject in subjects)

            heads = json_paths.csv_columns(spec.record, rows())
            yield from csv_table(heads, ([row.get(head) for head in heads] for row in rows()))
        case "md":
            heads = [column.title for column in spec.columns]
            yield from markdown_table(
                heads, ([_told(column, it, context) for column in spec.columns] for it in subjects)
            )


def with_unknown_spend(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record for CSV: an amount that lacks calls of unknown cost is the word ``unknown``.

    The known part goes into a member of its own, ``known_usd`` for ``usd``. Arrays stay as they are.
    """
    lacking = Receipt(dict(raw)).unknown_calls if isinstance(raw.get("totals"), Mapping) and "slices" in raw else 0
    return _marked(raw, lacking)


def _marked(raw: Mapping[str, Any], lacking: int) -> Mapping[str, Any]:
    marked: dict[str, Any] = {}
    for name, value in raw.items():
        if isinstance(value, Mapping):
            # A receipt of a version without the count in its totals gets it from its attempts.
            count = {"unknown_calls": lacking} if name == "totals" and lacking else {}
            marked[name] = _marked({**value, **count}, 0)
        elif is_partial(raw, name):
            marked[name] = UNKNOWN
            if value is not None:
                marked[f"known_{name}"] = value
        else:
            marked[name] = value
    return marked


def _row(raw: Mapping[str, Any], declared: frozenset[str]) -> dict[str, Any]:
    """An object by dotted paths; a declared member stays one cell even where it is an object nobody knows inside."""
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


def _told(column: Column[S], subject: S, context: RenderContext) -> object:
    """A cell of a report: an id whole, anything else as a list shows it."""
    value = column.value(subject)
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
    """A table as CSV (RFC 4180, lines end with a newline), its heads first.

    Args:
        heads: The columns.
        rows: A value a column: text, a number, a switch, ``None`` for an empty cell, or any decoded JSON.
    """
    yield _csv_line(heads)
    for row in rows:
        yield _csv_line(row)


def _csv_line(values: Sequence[object]) -> str:
    text = io.StringIO()
    # The writer quotes the characters of its own line end alone, and a carriage return in a cell ends a line too.
    csv.writer(text, lineterminator="\r\n").writerow([csv_value(value) for value in values])
    return text.getvalue().removesuffix("\r\n") + "\n"


def csv_value(value: object) -> str:
    """One value for CSV, not quoted yet: empty for ``None``, numbers in their own digits, text that is no formula."""
    return "" if value is None else guard_formula(json_text(value))


def guard_formula(text: str) -> str:
    """Text that no spreadsheet takes for a formula; a plain number with a sign stays a number."""
    return text if _PLAIN_NUMBER.fullmatch(text) else _FORMULA_START.sub("'", text)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table as Markdown, its heads first; values as for :func:`csv_table`."""
    yield f"| {' | '.join(map(markdown_cell, heads))} |\n"
    yield f"|{' --- |' * len(heads)}\n"
    for row in rows:
        yield f"| {' | '.join(map(markdown_cell, row))} |\n"


def markdown_cell(value: object) -> str:
    """One value for Markdown: on one line, cleaned, and never markup, a link or the end of its cell."""
    if value is None:
        return ""
    return "<br>".join(markdown_text(part) for part in json_text(value).splitlines())


def markdown_text(text: str) -> str:
    """Text of any origin within Markdown, on one line: cleaned, with every character of markup escaped."""
    shown = _MARKUP.sub(r"\\\g<0>", clean_line(text))
    # Renderers make links of what looks like an address, whatever is escaped in it. They need its colon, its slashes or
    # its dots in one piece; an at sign is found even behind a backslash, and only as code it is nobody's address.
    shown = _DOMAIN.sub(r"\\.", _ADDRESS.sub(r"\1\\\2", shown)).replace("//", "/\\/")
    return re.sub("@+", r"`\g<0>`", shown)
