"""Pages of the manual are laid out for any width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width, wrap_words
from runwatch.view.manual.markdown import (
    CodeBlock,
    Heading,
    Paragraph,
    Table,
    layout_block,
    parse_markdown,
    select_matches,
)

PAGE = """\
# Title

First line of a [link](other.md#place) and
**second** line with *weight*.
<!-- left out -->
![left out](picture.svg)

- one `a * b`
  goes on
- two

1. first
2. second, in mode
0600. More

| Key | Does |
|---|---|
| `a \\| b` | either |
| alone |

```sh
runwatch   help  # as it is
```
"""


def test_a_page_becomes_blocks() -> None:
    assert parse_markdown(PAGE) == [
        Heading(1, "Title"),
        Paragraph("First line of a link (other) and second line with weight."),
        Paragraph("one `a * b` goes on", "- "),
        Paragraph("two", "- "),
        Paragraph("first", "1. "),
        Paragraph("second, in mode 0600. More", "2. "),
        Table(("Key", "Does"), (("a | b", "either"), ("alone", ""))),
        CodeBlock(("runwatch   help  # as it is",)),
    ]


def test_items_are_indented_below_their_mark() -> None:
    assert layout_block(Paragraph("one two three", "10. "), 9) == ["10. one", "    two", "    three"]


def test_columns_share_the_width_and_their_cells_are_broken() -> None:
    table = Table(("Key", "Does"), (("a", "opens the record at the cursor"), ("ctrl+p", "x")))
    assert layout_block(table, 26) == [
        "Key     Does", "------  ------------------", "a       opens the record", "        at the cursor", "ctrl+p  x",
    ]  # fmt: skip


def test_a_table_without_room_is_laid_out_row_by_row() -> None:
    table = Table(("What", "Figure now", "Target then"), (("the first paint", "1.5 seconds", "2 seconds or less"),))
    assert layout_block(table, 22) == [
        "the first paint", "  Figure now: 1.5", "  seconds", "  Target then: 2", "  seconds or less",
    ]  # fmt: skip


@given(st.text(alphabet="ab漢字é ", max_size=60), st.integers(min_value=2, max_value=30))
def test_no_row_is_too_wide_and_no_word_is_lost(text: str, width: int) -> None:
    rows = wrap_words(text, width)
    assert all(cell_width(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")


def test_a_word_that_is_too_long_breaks_behind_a_slash() -> None:
    assert wrap_words("GET executions/{executionId}/events", 26) == ["GET", "executions/{executionId}/", "events"]
    assert wrap_words("/" + "x" * 12, 8) == ["/xxxxxxx", "xxxxx"]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_cell_of_a_table_is_too_wide(width: int) -> None:
    table = Table(("A", "B", "C"), (("x" * 50, "word " * 30, "`runwatch help`"), ("漢字" * 20, "", "y")))
    assert all(cell_width(row) <= width for row in layout_block(table, width))


def test_a_search_keeps_the_rows_of_a_table_and_whole_paragraphs() -> None:
    table = Table(("Key", "Does"), (("a", "Opens"), ("b", "Closes")))
    assert select_matches(table, ["closes"]) == Table(("Key", "Does"), (("b", "Closes"),))
    assert select_matches(table, ["key"]) is None
    paragraph = Paragraph("One Two")
    assert select_matches(paragraph, ["two", "one"]) is paragraph
    assert select_matches(paragraph, ["two", "three"]) is None
    assert select_matches(CodeBlock(("runwatch help",)), ["help"]) == CodeBlock(("runwatch help",))
