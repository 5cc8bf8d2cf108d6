"""Two columns of values, each pair under its path. Differences have a leading sign and their own color."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style
from textual import events

from runwatch.base.text import cell_width
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpan, to_segment
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, fit, line, truncate

if TYPE_CHECKING:
    from runwatch.view.detail.record_diff import ComparedValue

MARGIN: Final = 2
"""Cells before a row: the cursor and a space."""

WIDE: Final = 100
"""Width from which the path is shown beside the values; in a narrower window it is above them."""

MAX_PATH_CELLS: Final = 36
"""Maximum width of a path beside values; a longer one is shown above them. It leaves room for two ids of 36 cells."""

GAP: Final = 2
"""Cells between two parts of a row; the values have one where two ids fit only so, as in 80 columns."""

_ID_CELLS: Final = 36
"""Cells of an id."""

_SIGN_CELLS: Final = 2
"""Cells of the sign before a path, with a space."""


@dataclass(frozen=True, slots=True)
class _Row:
    pieces: tuple[StyledSpan, ...]
    value: ComparedValue


class DiffView(LineList, inherit_bindings=False):
    HEAD_ROWS = 1
    BINDINGS = make_bindings(
        "detail.up", "detail.down", "detail.page_up", "detail.page_down", "detail.top", "detail.bottom"
    )

    def __init__(self, left: SafeText, right: SafeText, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._heads: Final = (left, right)
        self._values: tuple[ComparedValue, ...] = ()
        self._rows: list[_Row] = []
        self._path_cells = _SIGN_CELLS

    @property
    def value(self) -> ComparedValue | None:
        return self._rows[self._cursor].value if self._rows else None

    def show(self, values: Sequence[ComparedValue]) -> None:
        """Show other values; the cursor stays on its value if that is still there."""
        before = self.value
        self._values = tuple(values)
        self._lay_out(before)

    # Drawing.

    def line_count(self) -> int:
        return len(self._rows)

    def draw_head(self, row: int, width: int, style: Style) -> list[Segment]:
        if not self._rows:
            return []
        room, gap = self._value_cells(width - MARGIN), self._gap(width - MARGIN)
        left, right = (fit(head, room, mark=get_app(self).glyphs.ellipsis) for head in self._heads)
        before = line(" " * (MARGIN + self._path_cells), None)
        return [to_segment(before, style), self.piece(line(f"{left}{' ' * gap}{right}"), ACCENT, style)]

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        app = get_app(self)
        is_cursor = index == self._cursor and self.has_focus
        segments = [self.piece(line(f"{app.chrome_glyphs.cursor if is_cursor else ' '} "), ACCENT, style)]
        return segments + self.pieces(self._rows[index].pieces, style)

    def on_mount(self) -> None:
        self._lay_out(None)

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(self.value)

    def _lay_out(self, stay: ComparedValue | None) -> None:
        if not self.is_mounted or not self.size.width:
            return
        room = max(1, self.cells - MARGIN)
        widest = max((cell_width(value.path) for value in self._values), default=0)
        self._path_cells = min(widest, MAX_PATH_CELLS) + _SIGN_CELLS + GAP if room >= WIDE else _SIGN_CELLS
        self._rows = [row for value in self._values for row in self._rows_of(value, room)]
        position = next((at for at, row in enumerate(self._rows) if row.value is stay), 0)
        self._cursor = position
        self.set_size()
        self.show_cursor()
        self.refresh()

    def _value_cells(self, room: int) -> int:
        return max(1, (room - self._path_cells - self._gap(room)) // 2)

    def _gap(self, room: int) -> int:
        return GAP if room - self._path_cells >= 2 * _ID_CELLS + GAP else 1

    def _rows_of(self, value: ComparedValue, room: int) -> Iterator[_Row]:
        app = get_app(self)
        differs = "!" if app.is_ascii else "≠"
        sign = (line(f"{differs if value.differs else ' '} "), str(Role.WARN))
        path_role = Role.WARN if value.differs else Role.QUIET
        path_room = self._path_cells - _SIGN_CELLS - GAP
        is_beside = path_room > 0 and cell_width(value.path) <= path_room
        first: tuple[StyledSpan, ...]
        if is_beside:
            first = (sign, (fit(value.path, path_room), path_role), (line(" " * GAP), Role.QUIET))
        else:
            yield _Row((sign, (truncate(value.path, max(1, room - 2), app.glyphs.ellipsis), path_role)), value)
            first = ((line(" " * self._path_cells), Role.QUIET),)
        cells = self._value_cells(room)
        sides = [wrap_text(side if side is not None else _NONE, cells) for side in (value.left, value.right)]
        roles = [Role.QUIET if side is None or not value.differs else Role.PLAIN for side in (value.left, value.right)]
        for number, (left, right) in enumerate(zip_longest(*sides, fillvalue=_NOTHING)):
            before = first if not number else ((line(" " * self._path_cells), Role.QUIET),)
            gap = (line(" " * self._gap(room)), Role.QUIET)
            yield _Row((*before, (fit(left, cells), roles[0]), gap, (right, roles[1])), value)


_NONE: Final = line("(none)")
_NOTHING: Final = line("")
