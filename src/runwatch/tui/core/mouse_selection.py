"""Selecting text with the mouse in widgets that draw their own rows.

Textual finds what is under the mouse by offsets in the styles of a row. They cost more than the drawing of the row, so
only the row under the mouse gets them.
"""

from __future__ import annotations

from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from runwatch.base.text import cell_width

_SELECTED: Final = Style(reverse=True)
"""Selected text is reversed, which can be read in every theme and without colors."""


def selectable(widget: Widget, strip: Strip, row: int, number: int, start: int = 0) -> Strip:
    """Return a drawn row with the selected part highlighted, and with offsets if the mouse is in it.

    Args:
        row: The row of the widget.
        number: The line that the row shows, as in the widget's selections.
        start: The character of the line that the row begins with.
    """
    selection = widget.text_selection
    span = None if selection is None else selection.get_span(number)
    if span is not None:
        text = strip.text
        first, last = max(0, span[0] - start), len(text) if span[1] == -1 else span[1] - start
        if first < min(last, len(text)):
            begin, end = cell_width(text[:first]), cell_width(text[:last])
            inside = Segment.apply_style(strip.crop(begin, end), post_style=_SELECTED)
            strip = Strip.join([strip.crop(0, begin), Strip(inside), strip.crop(end)])
    region = widget.content_region
    if min(widget.app.mouse_position.y, region.bottom - 1) == region.y + row:
        return strip.apply_offsets(start, number)
    return strip


def drop_selection(widget: Widget) -> None:
    """Select nothing any more if something in the widget is selected: other text is there now."""
    if widget.is_attached and widget.text_selection is not None:
        widget.screen.clear_selection()
