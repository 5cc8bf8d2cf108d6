"""Tables, details, CSV and JSON for standard output, without colours or control bytes.

Only JSON is exact: it has every value as sent, in ASCII.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from runwatch.base.json import dumps
from runwatch.base.text import cell_width
from runwatch.records.record import Record
from runwatch.view.export.file_formats import csv_line, guard_formula, with_unknown_spend
from runwatch.view.export.receipt_rows import SLICE_COLUMNS, csv_heads, csv_rows
from runwatch.view.spec.resource import Column, ResourceSpec, S
from runwatch.view.table.column_choice import member_column
from runwatch.view.table.rows import RecordRow
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import SafeText, fit, join, json_value, line

if TYPE_CHECKING:
    from runwatch.view.detail.sections import DetailLine

GAP: Final = "  "

LABEL_CELLS: Final = 48
"""Maximum width of the label column in a detail; longer labels shift their value to the right."""


def table_lines(
    spec: ResourceSpec[S],
    rows: Sequence[RecordRow[S]],
    *,
    width: int | None = None,
    fields: Sequence[str] | None = None,
) -> Iterator[SafeText]:
    """Yield a table line by line, header first.

    Args:
        width: Line width in cells: columns are dropped in the resource's order until the rest fits, then cut. ``None``
            prints all columns in full.
        fields: Columns by name, or members by dotted path, in place of the resource's own; none of them is dropped.
    """
    columns = list(spec.columns) if fields is None else [spec.column(name) or member_column(name) for name in fields]
    if fields is None:
        columns = [column for column in columns if not column.hide_if_empty or any(row.uses(column) for row in rows)]
    cells = [[row.cell(column).text for column in columns] for row in rows]
    widths = []
    for position, column in enumerate(columns):
        head = cell_width(line(column.title))
        widest = max((cell_width(drawn[position]) for drawn in cells), default=0)
        widths.append(max(head, widest if width is None or fields is not None else min(widest, column.max_cells)))
    kept = list(range(len(columns)))
    if width is not None:
        kept, widths = _squeeze(columns, widths, width, may_leave=fields is None)
    heads = [line(column.title) for column in columns]
    for drawn in (heads, *cells):
        parts = [fit(drawn[at], widths[at], columns[at].align) for at in kept]
        yield line(join(parts, GAP).rstrip(), None)


def _squeeze(
    columns: Sequence[Column[Any]], widths: list[int], width: int, *, may_leave: bool
) -> tuple[list[int], list[int]]:
    """Return the positions of the columns that fit in this width, and all column widths."""
    kept = list(range(len(columns)))

    def used() -> int:
        return sum(widths[at] for at in kept) + len(GAP) * (len(kept) - 1)

    leaving = [at for at in kept if may_leave and columns[at].hide_order]
    for at in sorted(leaving, key=lambda at: columns[at].hide_order):
        if used() <= width:
            break
        kept.remove(at)
    # Then the last ones, if they do not fit at their minimum either; the first two tell the records apart.
    least = [
        # A cut time or number would be another one.
        widths[at] if column.never_cut or column.align == "right" else min(widths[at], column.min_cells)
        for at, column in enumerate(columns)
    ]
    while may_leave and len(kept) > 2 and sum(least[at] for at in kept) + len(GAP) * (len(kept) - 1) > width:
        kept.pop()
    widths = list(widths)
    for at in reversed(kept):
        excess = used() - width
        if excess <= 0:
            break
        widths[at] = max(widths[at] - excess, least[at])
    return kept, widths


def detail_lines(spec: ResourceSpec[S], item: Record | S, context: RenderContext) -> Iterator[SafeText]:
    """Yield the sections of a record line by line, with an empty line between sections."""
    # Imported here, because lists have no details.
    from runwatch.view.detail.sections import build_sections

    if spec.note:
        yield line(spec.note)
    for number, section in enumerate(build_sections(spec, item, context)):
        if number or spec.note:
            yield line("")
        yield section.title
        labels = [line(f"{GAP * entry.level}{entry.label}", None) for entry in section.lines]
        label_width = min(max(map(cell_width, labels)), LABEL_CELLS)
        for label, entry in zip(labels, section.lines, strict=True):
            yield from _detail_lines(label, entry, label_width)


def _detail_lines(label: SafeText, entry: DetailLine, label_width: int) -> Iterator[SafeText]:
    label = fit(label, label_width) if cell_width(label) <= label_width else label
    first, *others = entry.text.split("\n")
    note = f"  ({entry.note})" if entry.note else ""
    yield line(f"{GAP}{label}{GAP}{first}{note}".rstrip(), None)
    for text in others:
        yield line(f"{GAP}{' ' * label_width}{GAP}{text}".rstrip(), None)


def select_members(raw: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the members at some dotted paths, which ``fields`` has by their key; missing ones are omitted."""
    found = {name: json_paths.get_at(raw, json_paths.parse_path(path)) for name, path in fields.items()}
    return {name: value for name, value in found.items() if value is not json_paths.MISSING}


def ndjson_lines(values: Iterable[Any], fields: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield one JSON value per line, exactly as sent."""
    for value in values:
        yield dumps(project(value, fields))


def json_array_lines(values: Iterable[Any], fields: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield one JSON array with one item per line, exactly as sent."""
    before = "["
    for value in values:
        yield f"{before}{dumps(project(value, fields))}"
        before = ","
    yield "[]" if before == "[" else "]"


def json_record(value: Any, fields: Mapping[str, str] | None = None) -> str:
    return dumps(project(value, fields), indent=2)


def project(value: Any, fields: Mapping[str, str] | None) -> Any:
    """Return the members of an object at some paths, as :func:`select_members` does; all of it without paths."""
    return select_members(value, fields) if fields is not None and isinstance(value, Mapping) else value


def csv_lines(
    record: type[Record],
    raws: Collection[Any],
    fields: Mapping[str, str] | None = None,
    *,
    profiles: Sequence[str] | None = None,
) -> Iterator[SafeText]:
    """Yield CSV line by line, header first: nested objects by dotted paths, arrays as JSON, receipts by slices.

    Declared members always come first in the same order; others follow in order of appearance. Cells are cleaned and
    guarded against formulas, and an amount with calls of unknown cost is the word ``unknown``; JSON has the exact
    values. With several profiles, the first column is the profile.

    Args:
        raws: Decoded items; those that are not objects are left out. They are read twice without ``fields``, because
            the rows of all would take several times their memory.
    """

    def rows() -> Iterator[tuple[int, dict[str, Any]]]:
        for position, raw in enumerate(raws):
            if isinstance(raw, Mapping):
                yield from ((position, row) for row in _csv_rows(record, with_unknown_spend(raw), fields))

    if fields is None:
        heads = csv_heads(record, json_paths.csv_columns(record, (row for _, row in rows())))
    else:
        heads = list(fields)
    yield _csv_line(heads if profiles is None else ["profile", *heads])
    for position, row in rows():
        owner = () if profiles is None else (profiles[position],)
        yield _csv_line([*owner, *(row.get(head) for head in heads)])


def _csv_rows(
    record: type[Record], raw: Mapping[str, Any], fields: Mapping[str, str] | None
) -> Iterator[dict[str, Any]]:
    if fields is None:
        yield from map(json_paths.flatten, csv_rows(record, raw))
    elif set(SLICE_COLUMNS).isdisjoint(fields.values()):
        yield select_members(raw, fields)
    else:
        yield from (select_members({**raw, **row}, fields) for row in csv_rows(record, raw))


def _csv_line(values: Sequence[object]) -> SafeText:
    return line(csv_line(map(csv_cell, values)).removesuffix("\n"), None)


def csv_cell(value: object) -> SafeText:
    """Format a value for CSV: empty if missing or ``null``, cleaned, and guarded against formulas."""
    if value is None:
        return line("")
    return line(guard_formula(json_value(value)), None)
