"""What makes a file that people open safe: no cell of CSV is a formula, nothing in Markdown is more than text."""

from __future__ import annotations

import csv
import io
import re
from typing import Final

from runwatch.base.text import is_clean

FORMULA: Final = tuple("=+-@\t\r＝＋－＠")
NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")

MARKUP: Final = re.compile(r"(?<!\\)(?:\\\\)*(?:[`*_\[\]~$@]|<(?!br>))|\b(?:https?|ftp|mailto|www)[:.]", re.IGNORECASE)
"""What a renderer of Markdown would act on: code, emphasis, a link, an image, a formula, a tag, an address."""


def assert_safe_csv(text: str) -> None:
    """No cell is a formula, and no text has made cells or rows of its own."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row):
        assert not cell.startswith(FORMULA) or NUMBER.fullmatch(cell), cell


def assert_safe_markdown(text: str) -> None:
    """All of it is plain text for everybody who renders it."""
    assert is_clean(text)
    for row in text.splitlines():
        assert not MARKUP.search(row), row
