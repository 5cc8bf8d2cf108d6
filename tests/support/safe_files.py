"""Checks that a file for users is safe to open: no CSV cell is a formula, nothing in Markdown is more than text."""

from __future__ import annotations

import csv
import io
import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from runwatch.base.text import is_clean

FORMULA: Final = re.compile('[\\s"\ufeff\u200b]*[=+@\\-＝＋－＠﹦﹢﹣﹫]|[\t\r]')
NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")

MARKUP: Final = re.compile(
    r"(?<!\\)(?:\\\\)*(?:[*_\[\]~$]|<(?!br>))|\b(?:https?|ftp|mailto|xmpp|www)[:.]|(?<![`@])@|@(?![@`])", re.IGNORECASE
)
"""What a renderer of Markdown would act on: emphasis, a link, an image, a formula, a tag, an address, a mention."""

TEXT: Final = frozenset(
    ["table", "thead", "tbody", "tr", "th", "td", "heading", "paragraph", "inline", "text", "softbreak", "text_special"]
)
"""What plain text in headings, paragraphs and tables is read as; code is only an at sign, and HTML a line break."""


def assert_safe_csv(text: str) -> None:
    """Check that no cell is a formula, wherever a spreadsheet ends one, and that no text makes further cells."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row):
        for part in (cell, *re.split("[;\t\r\n]", cell)):
            assert not FORMULA.match(part) or NUMBER.fullmatch(cell), cell


def assert_safe_markdown(text: str) -> None:
    """All of it is plain text for everybody who renders it, even where what looks like an address is made a link."""
    assert is_clean(text)
    for row in text.splitlines():
        assert not MARKUP.search(row), row
    for token in _tokens(MarkdownIt("gfm-like", {"html": True}).parse(text)):
        kind = token.type.removesuffix("_open").removesuffix("_close")
        is_ours = (kind == "code_inline" and set(token.content) == {"@"}) or (
            kind == "html_inline" and token.content == "<br>"
        )
        assert is_ours or kind in TEXT, (token.type, token.content, token.attrs)


def _tokens(tokens: list[Token]) -> list[Token]:
    return [each for token in tokens for each in (token, *_tokens(token.children or []))]
