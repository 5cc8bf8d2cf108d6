"""Lay out the manual's Markdown: headings, paragraphs, lists, tables and code.

Not a general parser: the pages contain no quotes, HTML or nested lists, which a test checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from runwatch.base.text import cell_width, pad, wrap_words

MIN_COLUMN_CELLS: Final = 9
"""A table with narrower columns than this is laid out row by row."""

COLUMN_GAP: Final = 2

_HEADING: Final = re.compile(r"(#{1,6}) (.+)")
_ITEM: Final = re.compile(r"(- |\d+\. )(.*)")
_PICTURE: Final = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK: Final = re.compile(r"\[([^\]]*)\]\((?:([\w-]+)\.md)?[^)]*\)")
_EMPHASIS: Final = re.compile(r"(?<![\w*`])\*{1,2}([^*`\s][^*`]*)\*{1,2}(?![\w*])")
_CELL: Final = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; its level is 1 for the title of a page."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, or a list item with its mark and a space, on one line."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines that are shown unchanged."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | CodeBlock | Table


def parse_markdown(text: str) -> list[Block]:
    """Split a page into blocks. HTML comments and pictures are omitted."""
    blocks: list[Block] = []
    lines = iter(text.split("\n"))
    words: list[str] = []
    mark = ""
    cells: list[tuple[str, ...]] = []

    def close() -> None:
        nonlocal mark
        if words:
            blocks.append(Paragraph(_plain(" ".join(words)), mark))
        if cells:
            width = len(cells[0])
            rows = tuple((*row, *("",) * width)[:width] for row in cells[2:])
            blocks.append(Table(cells[0], rows))
        words.clear()
        cells.clear()
        mark = ""

    for row in lines:
        if row.startswith("```"):
            close()
            blocks.append(CodeBlock(tuple(_code(lines))))
        elif row.startswith("|"):
            if words:
                close()
            cells.append(_cells(row))
        elif found := _HEADING.fullmatch(row):
            close()
            blocks.append(Heading(len(found[1]), _plain(found[2])))
        elif (found := _ITEM.fullmatch(row)) and (not words or _continues(mark, found[1])):
            close()
            mark = found[1]
            words.append(found[2])
        elif not row.strip() or row.startswith("<!--") or _PICTURE.fullmatch(row.strip()):
            close()
        else:
            words.append(row.strip())
    close()
    return blocks


def layout_block(block: Block, width: int) -> list[str]:
    """Lay out a block in lines of at most ``width`` cells. Only code may be wider."""
    if isinstance(block, CodeBlock):
        return [f"  {line}" for line in block.lines]
    if isinstance(block, Table):
        return _table(block, width)
    mark = block.mark if isinstance(block, Paragraph) else ""
    rows = wrap_words(block.text, max(1, width - len(mark)))
    return [(mark if not number else " " * len(mark)) + row for number, row in enumerate(rows)]


def select_matches(block: Block, words: Sequence[str]) -> Block | None:
    """Return the part of a block that contains all (case-folded) words: the matching rows of a table, any other block
    whole, or ``None``.
    """

    def matches(text: str) -> bool:
        folded = text.casefold()
        return all(word in folded for word in words)

    if isinstance(block, Table):
        rows = tuple(row for row in block.rows if matches(" ".join(row)))
        return Table(block.head, rows) if rows else None
    text = "\n".join(block.lines) if isinstance(block, CodeBlock) else block.text
    return block if matches(text) else None


def _continues(mark: str, following: str) -> bool:
    """Whether a mark continues the list of the previous mark, unlike a number at the start of a line of prose."""
    return mark == following == "- " or (
        mark[:-2].isdigit() and following[:-2].isdigit() and int(following[:-2]) == int(mark[:-2]) + 1
    )


def _plain(text: str) -> str:
    return _EMPHASIS.sub(r"\1", _LINK.sub(_link_text, _PICTURE.sub("", text))).strip()


def _link_text(link: re.Match[str]) -> str:
    """Return the text of a link, with the page that it leads to unless the text is that page's name."""
    text, page = link.groups()
    return text if page is None or page == text.casefold().replace(" ", "-") else f"{text} ({page})"


def _code(lines: Iterator[str]) -> Iterator[str]:
    for row in lines:
        if row.startswith("```"):
            return
        yield row


def _cells(row: str) -> tuple[str, ...]:
    cells = _CELL.split(row.strip().removeprefix("|").removesuffix("|"))
    # Drop code marks, because columns already separate code from prose.
    return tuple(_plain(cell.strip().replace("\\|", "|").replace("`", "")) for cell in cells)


def _table(table: Table, width: int) -> list[str]:
    widths = _column_widths(table, width - COLUMN_GAP * (len(table.head) - 1))
    if widths is None:
        return _stacked(table, width)
    gap = " " * COLUMN_GAP
    made: list[str] = []
    for number, row in enumerate((table.head, *table.rows)):
        columns = [wrap_words(cell, cells) for cell, cells in zip(row, widths, strict=True)]
        for index in range(max(map(len, columns))):
            cells = (
                pad(column[index] if index < len(column) else "", size)
                for column, size in zip(columns, widths, strict=True)
            )
            made.append(gap.join(cells).rstrip())
        if not number:
            made.append(gap.join("-" * size for size in widths))
    return made


def _column_widths(table: Table, room: int) -> list[int] | None:
    """Return the column widths, the widest columns narrowed until all fit; ``None`` if they do not fit."""
    columns = list(zip(table.head, *table.rows, strict=True))
    widths = [max(1, *(cell_width(cell) for cell in column)) for column in columns]
    least = [min(size, MIN_COLUMN_CELLS) for size in widths]
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda index: widths[index] - least[index])
        others = sorted(widths)[-2] if len(widths) > 1 else 0
        excess = sum(widths) - room
        step = max(1, min(excess, widths[widest] - max(others, least[widest])))
        widths[widest] -= step
    return widths


def _stacked(table: Table, width: int) -> list[str]:
    """Lay out each row as separate lines: the first cell, and below it the others with their headers."""
    made: list[str] = []
    for row in table.rows:
        made += wrap_words(row[0], width)
        for head, cell in zip(table.head[1:], row[1:], strict=True):
            if cell:
                made += [f"  {part}" for part in wrap_words(f"{head}: {cell}" if head else cell, max(1, width - 2))]
    return made
