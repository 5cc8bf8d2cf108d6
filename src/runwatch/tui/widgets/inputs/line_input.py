"""A one-line text input, and the mark before one."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.app import RenderResult
from textual.reactive import reactive
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input

from runwatch.base.text import cell_width, clean_line
from runwatch.tui.core.rendering import to_content
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line


class _Completion(Suggester):
    def __init__(self, complete: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete: Final = complete

    async def get_suggestion(self, value: str) -> str | None:
        return self._complete(value)


class LineInput(Input):
    """A one-line input with a steady cursor, whose text is safe for the terminal and marked where it goes on.

    Pasted text may contain control characters, which Textual would send to the terminal.
    """

    DEFAULT_CSS = """
    LineInput {
        background: $surface;
        color: $role-plain;
        &:focus {
            background-tint: $foreground 0%;
        }
        &.-invalid {
            color: $role-bad;
        }
    }
    """

    JOINS_LINES: ClassVar[bool] = False
    """Whether pasted lines are joined with spaces; otherwise the first one is taken."""

    def __init__(
        self, value: str = "", *, complete: Callable[[str], str | None] | None = None, id: str | None = None
    ) -> None:
        suggester = None if complete is None else _Completion(complete)
        super().__init__(clean_line(value), suggester=suggester, select_on_focus=False, compact=True, id=id)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Make control characters visible."""
        return clean_line(value)

    def render_line(self, y: int) -> Strip:
        """Mark each side on which the text goes on, unless the cursor is there."""
        strip, width = super().render_line(y), self.scrollable_content_region.width
        if y or not self.value:
            return strip
        left = self.scroll_offset.x
        cursor = cell_width(self.value[: self.cursor_position]) - left if self.has_focus else None
        goes_on = {0: left > 0, width - 1: cell_width(self.value) > left + width}
        mark = Strip([Segment(get_app(self).glyphs.ellipsis, self.rich_style)], 1)
        for cell in (cell for cell, is_cut in goes_on.items() if is_cut and cell != cursor):
            strip = Strip.join([strip.crop(0, cell), mark, strip.crop(cell + 1)])
        return strip

    def _on_paste(self, event: events.Paste) -> None:
        # Textual calls the input's own ``_on_paste`` after this one (private; checked on Textual 8.2.8).
        pasted = [text.strip() for text in event.text.splitlines()]
        event.text = clean_line(" ".join(filter(None, pasted if self.JOINS_LINES else pasted[:1])))


class FilterInput(LineInput):
    """The input of a filter: each pasted word narrows it."""

    JOINS_LINES = True


class FieldMark(Widget):
    """The mark before an input, which shows without colors where the input is and whether it has the focus."""

    DEFAULT_CSS = """
    FieldMark {
        width: 2;
        height: 1;
    }
    """

    is_at_focus: reactive[bool] = reactive(default=False)

    def render(self) -> RenderResult:
        glyphs = get_app(self).chrome_glyphs
        mark, role = (glyphs.cursor, ACCENT) if self.is_at_focus else (glyphs.bar, Role.QUIET)
        return to_content(line(mark), role)
