"""A menu: what to copy, or what to do with a record and why some actions are unavailable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size

from runwatch.base.text import cell_width
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span, to_segment
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.tui.widgets.lists.rows_below import rows_below_text
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.tui.widgets.panes.overlay import ModalOverlay
from runwatch.tui.widgets.panes.pane import BorderText
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, fit, line, truncate

LABEL_CELLS: Final = 36
"""Maximum width of a label that takes room from the texts beside the labels; longer ones are cut."""

NOTE_ROWS: Final = 3
"""Maximum rows of the text beside a label."""

NOTHING: Final = line("")


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One entry of a menu.

    Attributes:
        label: A few words.
        target: Called when the user has chosen the item and the menu is closed; may be a coroutine function.
        note: Text beside the label.
        key: The key that does the same, in a column of its own.
        disabled_reason: Why the item cannot be chosen now; ``None`` if it can.
    """

    label: SafeText
    target: Callable[[], object]
    note: SafeText = NOTHING
    disabled_reason: SafeText | None = None
    key: SafeText = NOTHING


class Menu(ModalOverlay):
    """The menu. ``enter`` chooses, ``esc`` leaves; the keys of the screen below do not work while it is open.

    Textual's ``OptionList`` skips disabled options and has no columns, no cursor glyph and no keys of the key table.
    :class:`LineList` is needed for the other lists anyway.

    Args:
        start: Index of the item under the cursor at first.
        again: Returns the items again after a choice, for items that are marked and unmarked. The menu then stays open
            and calls the item's target.
        now: Returns the items as they are now, for items that say what may change; asked every second. ``None`` if
            nothing in them does.
        mark: Called with the index of the item at the cursor by the key that marks; returns the items again, and the
            index to go to. ``None`` if nothing can be marked.
        highlighted: Called with the index of the item that the cursor has moved to.
        cancelled: Called when the menu has closed without a choice.
        is_about_record: Whether the keys that copy from the record of the screen work here too; they close the menu.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "step(1)", "next", show=False),
        Binding("shift+tab", "step(-1)", "previous", show=False),
        *make_bindings("screen.copy", "screen.copy_menu", "list.mark"),
    ]

    def __init__(
        self,
        title: StyledSpans,
        items: Sequence[MenuItem],
        *,
        start: int = 0,
        id: str | None = None,
        again: Callable[[], Sequence[MenuItem]] | None = None,
        now: Callable[[], Sequence[MenuItem]] | None = None,
        mark: Callable[[int], tuple[Sequence[MenuItem], int]] | None = None,
        highlighted: Callable[[int], object] = lambda index: None,
        cancelled: Callable[[], object] = lambda: None,
        is_about_record: bool = False,
    ) -> None:
        keys = _KEYS if again is None else _MARKING_KEYS
        super().__init__(edge=BorderText(title=title, counters=keys), id=id)
        self._items = tuple(items)
        self._start = start
        self._again = again
        self._now = now
        self._mark = mark
        self.highlighted = highlighted
        self._cancelled = cancelled
        self._is_about_record = is_about_record
        self._is_chosen = False

    def compose(self) -> ComposeResult:
        yield _Items(self._items)

    def on_mount(self) -> None:
        if self._mark is not None:
            key = get_app(self).keys.shown("list.mark")
            self.set_border_text(counters=(label_span(f"{key} marks  "), *_KEYS))
        # Queued keys may close the menu before its list is mounted.
        for lines in self.query(_Items):
            lines.focus()
            lines.move_cursor(self._start)
            self.watch(lines, "scroll_y", self._count_rows_later, init=False)

    def follow(self) -> None:
        """Show the items as they are now; the cursor stays on its item if it can."""
        if self._now is None or self.is_leaving:
            return
        # A list that has become empty leaves the menu as it was.
        if items := tuple(self._now()):
            for lines in self.query(_Items):
                lines.follow(items)
            self._count_rows_later()

    def on_resize(self, event: events.Resize) -> None:
        self._count_rows_later()

    def _count_rows_later(self) -> None:
        self.call_after_refresh(self._count_rows)

    def _count_rows(self) -> None:
        """Say on the frame how many rows are below the window."""
        for lines in self.query(_Items):
            self.set_border_text(age=rows_below_text(lines.rows_below))

    def on_unmount(self) -> None:
        if not self._is_chosen:
            self._cancelled()

    def choose(self, item: MenuItem) -> None:
        """Choose an item unless it is disabled; the reason is visible beside it."""
        if item.disabled_reason is not None:
            return
        if self._again is not None:
            item.target()
            self.query_one(_Items).show(self._again())
        else:
            screen = self.screen
            self._is_chosen = True
            self.close()
            screen.call_later(item.target)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "mark":
            return self._mark is not None
        return self._is_about_record if action in {"copy", "copy_menu"} else True

    def action_mark(self) -> None:
        lines = self.query_one(_Items)
        if self._mark is not None:
            items, cursor = self._mark(lines.cursor)
            lines.show(items)
            lines.move_cursor(cursor)

    def action_copy(self) -> None:
        self._copy("copy")

    def action_copy_menu(self) -> None:
        self._copy("copy_menu")

    def _copy(self, action: str) -> None:
        screen = self.screen
        self.close()
        # Later, because the menu is still closing.
        screen.call_later(screen.run_action, action)

    def action_step(self, step: int) -> None:
        """Move to the next item, wrapping around."""
        lines = self.query_one(_Items)
        lines.move_cursor((lines.cursor + step) % lines.line_count())


class _Items(LineList, inherit_bindings=False):
    BINDINGS = make_bindings(
        "list.open", "list.up", "list.down", "list.page_up", "list.page_down", "list.top", "list.bottom"
    )

    def __init__(self, items: Sequence[MenuItem]) -> None:
        super().__init__()
        self._items = tuple(items)

    def on_mount(self) -> None:
        self.set_size()

    def show(self, items: Sequence[MenuItem]) -> None:
        self._items = tuple(items)
        self.set_size()
        self.refresh()

    def follow(self, items: Sequence[MenuItem]) -> None:
        """Show the items if they look different, and keep the cursor at its label."""
        if [_look_of(item) for item in items] == [_look_of(item) for item in self._items]:
            return
        label = self._items[self.cursor].label
        same = [index for index, item in enumerate(items) if item.label == label]
        # Two items may have one label; nearer is the one that the cursor is on.
        cursor = min(same, key=lambda index: abs(index - self.cursor), default=min(self.cursor, len(items) - 1))
        self.show(items)
        self.move_cursor(cursor)

    def line_count(self) -> int:
        return len(self._items)

    def rows_to_scroll(self) -> int:
        return len(self._parts(self.cells))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        # A longer menu scrolls.
        room = max(1, viewport.height - _FRAME_ROWS)
        return min(room, len(self._parts(width - self.styles.scrollbar_size_vertical)))

    def row_at(self, row: int) -> tuple[int, int] | None:
        parts = self._parts(self.cells)[round(self.scroll_y) + row :]
        return parts[0] if row >= 0 and parts else None

    def show_cursor(self) -> None:
        """Scroll as little as needed to show all rows of the item under the cursor."""
        rows = [row for row, (index, _) in enumerate(self._parts(self.cells)) if index == self.cursor]
        top, last = round(self.scroll_y), rows[-1] - self.rows_in_sight + 1
        if not last <= top <= rows[0]:
            self._scroll_at_once(max(last, min(top, rows[0])))

    def _widths(self, width: int) -> tuple[int, int, int]:
        """Return the cells of labels, keys and notes."""
        keys = max(cell_width(item.key) for item in self._items)
        keys += _GAP * bool(keys)
        room = max(0, width - _CURSOR_CELLS - _GAP - keys)
        free = room - max(cell_width(_text_beside(item)) for item in self._items)
        labels = min(max(cell_width(item.label) for item in self._items), max(free, LABEL_CELLS))
        return labels, keys, max(0, room - labels)

    def _rows_beside(self, item: MenuItem, cells: int) -> tuple[SafeText, ...]:
        """Return the rows of the text beside a label; the last one has the rest of a text that is too long."""
        text = _text_beside(item)
        rows = wrap_text(text, cells) if cells > 0 else (text,)
        return (*rows[: NOTE_ROWS - 1], line(" ".join(rows[NOTE_ROWS - 1 :]))) if len(rows) > NOTE_ROWS else rows

    def _parts(self, width: int) -> list[tuple[int, int]]:
        """Return the item of each row, and the row within it."""
        cells = self._widths(width)[2]
        return [
            (index, part)
            for index, item in enumerate(self._items)
            for part in range(len(self._rows_beside(item, cells)))
        ]

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        app, item = get_app(self), self._items[index]
        mark, is_first, is_on = app.glyphs.ellipsis, part == 0, item.disabled_reason is None
        labels, keys, cells = self._widths(width)
        cursor = line(f"{app.chrome_glyphs.cursor if index == self.cursor and is_first else ' '} ")
        label = fit(item.label if is_first else NOTHING, labels, mark=mark)
        key = fit(item.key if is_first and is_on else NOTHING, keys)
        note = truncate(self._rows_beside(item, cells)[part], cells, mark)
        return [
            self.piece(cursor, ACCENT, style),
            self.piece(label, Role.PLAIN if is_on else Role.QUIET, style),
            to_segment(line(" " * _GAP), style),
            self.piece(key, ACCENT, style),
            self.piece(note, Role.QUIET if is_on else Role.WARN, style),
        ]

    def cursor_moved(self) -> None:
        menu = self.parent
        if isinstance(menu, Menu) and self._items:
            menu.highlighted(self.cursor)

    def line_opened(self) -> None:
        menu = self.parent
        assert isinstance(menu, Menu)
        menu.choose(self._items[self.cursor])


def _look_of(item: MenuItem) -> tuple[SafeText, ...]:
    return item.label, _text_beside(item), item.key


def _text_beside(item: MenuItem) -> SafeText:
    return item.note if item.disabled_reason is None else line(f"off: {item.disabled_reason}")


_CURSOR_CELLS: Final = 2
_FRAME_ROWS: Final = 2
_GAP: Final = 3
_KEYS: Final = (label_span("enter selects  esc closes"),)
_MARKING_KEYS: Final = (label_span("enter marks and unmarks  esc closes"),)
