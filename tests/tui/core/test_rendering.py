"""Only text that came through the gate reaches Textual, and nothing in it is markup."""

from __future__ import annotations

from typing import Any, cast

import pytest
from rich.style import Style

from runwatch.tui.core.rendering import label_span, to_content, to_lines, to_segment, to_spans
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line


@pytest.mark.parametrize("text", ["[/]", "[red]x[/red]", "[@click=app.bell]x[/]", "[link=file:///etc]x[/link]", "]][["])
def test_brackets_stay_brackets(text: str) -> None:
    shown = to_content(line(text))
    assert shown.plain == text
    assert list(shown.spans) == []


def test_a_plain_text_of_python_is_refused() -> None:
    plain = cast("Any", "text")
    with pytest.raises(TypeError, match="only drawn text"):
        to_content(plain)
    with pytest.raises(TypeError, match="only drawn text"):
        to_content((plain,))
    with pytest.raises(TypeError, match="only drawn text"):
        to_content(((plain, "bad"),))
    with pytest.raises(TypeError, match="only drawn text"):
        to_segment(plain, Style())


def test_each_piece_has_the_colour_of_its_role() -> None:
    shown = to_content((label_span("enter", "accent"), line(" "), (line("failed"), Role.BAD)), Role.QUIET)
    assert shown.plain == "enter failed"
    assert [(start, end, style) for start, end, style in shown.spans] == [
        (0, 5, "$role-accent"),
        (5, 6, "$role-quiet"),
        (6, 12, "$role-bad"),
    ]


def test_one_text_is_one_piece_and_several_lines_are_one_text() -> None:
    assert to_spans(line("x"), Role.BAD) == ((line("x"), Role.BAD),)
    assert to_lines([line("one"), (line("two"), line("three"))]).plain == "one\ntwothree"
