"""A run's events as lines. Follows the end until the user scrolls away, then counts new events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol
from zlib import crc32

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.reactive import reactive

from runwatch.base.text import cell_width
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.mouse_selection import drop_selection
from runwatch.tui.core.rendering import StyledSpan, to_segment
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.line_list import PART_STRIDE, LineList
from runwatch.tui.widgets.lists.text_wrap import wrap_text
from runwatch.view.runs.event_lines import KIND_CELLS, SLICE_END_CELLS, EventLine
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, cut_around, elide_start, fit, join, line, truncate

MARGIN: Final = 2
"""Cells before the time: the cursor and a space."""

TIME_CELLS: Final = 8
PREFETCH_LINES: Final = 60
"""Distance above and below the visible lines at which the source preloads events, so that short scrolls do not wait.

Only visible lines are drawn; drawing this many above and below takes three times as long (manual: decisions, "Measured
choices").
"""

MAX_CACHED_LINES: Final = 1_000
SUMMARY_CELLS: Final = 20
"""Room that the summary has before slice and kind have their columns."""

WRAPPED_SUMMARY_CELLS: Final = 29
"""The same while lines are wrapped: an id is then whole."""

LEAST_SUMMARY_CELLS: Final = 8
"""Room that the summary has before anything else but the time."""

RUN_CELLS: Final = 9
"""Minimum width of a run's short id."""

SLICE_ID_CELLS: Final = 8
"""Minimum width of a slice's short id, kept free before a slice has an event, so that no row moves then."""

_RUN_ROLES: Final = (Role.PLAIN, Role.LIVE, Role.TEST, Role.QUIET)
"""Colors for runs in a mixed list; none of them means good or bad."""

SIDE_STEP: Final = 8
"""Cells that one sideways step scrolls."""

REASON_CELLS: Final = 24
"""Room for a match that a line does not show, of which two thirds at most are taken from the summary."""

MAX_REASON_CELLS: Final = 60
LEAST_REASON_CELLS: Final = 7
"""Room for it from which the words before it say that it is in the JSON."""


class Highlighter(Protocol):
    """Finds what to highlight; places in a text are its starts and ends."""

    def match_spans(self, shown: str) -> Iterable[tuple[int, int]]:
        """Return the matches in a text, in order."""

    def match_elsewhere(self, drawn: Sequence[str], whole: str) -> tuple[int, int] | None:
        """Return the first match in a text of what is in none of the drawn ones."""


class LineSource(Protocol):
    """Source of the lines: a window onto data that may be far larger than memory."""

    def count(self) -> int: ...

    def window(self, start: int, count: int) -> Sequence[EventLine | None]:
        """Return up to ``count`` lines from ``start`` without waiting.

        ``None`` is a line still to be loaded. The source loads it, and its owner then calls
        :meth:`EventLog.refresh_lines_of`.
        """

    def end(self) -> int:
        """Return where the lines end now, for :meth:`added_since`; independent of the filter."""

    def added_since(self, end: int) -> int:
        """Return how many lines came after an earlier end."""

    def searched_texts(self, index: int) -> Sequence[SafeText]:
        """Return what a filter searches besides a line; nothing before the line is loaded."""


class EmptyLineSource:
    """A source without lines, used until the real one is set."""

    def count(self) -> int:
        return 0

    def end(self) -> int:
        return 0

    def added_since(self, end: int) -> int:
        return 0

    def window(self, start: int, count: int) -> Sequence[EventLine | None]:
        return ()

    def searched_texts(self, index: int) -> Sequence[SafeText]:
        return ()


class EventLog(LineList, inherit_bindings=False):
    """Lines of a source, of which only a window is cached."""

    BINDINGS = make_bindings("tail")

    highlighter: reactive[Highlighter | None] = reactive(None)
    """Finds the matches to highlight in lines."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"event-log--match"}
    DEFAULT_CSS = """
    EventLog > .event-log--match {
        text-style: bold reverse;
    }
    """

    @dataclass(eq=False, repr=False)
    class FollowChanged(Message):
        """The log started or stopped following the end."""

        following: bool

    class ResumeAsked(Message):
        """The user wants to follow the end of paused events."""

    @dataclass(eq=False, repr=False)
    class LineOpened(Message):
        """The user opened the event on a line."""

        index: int

    def __init__(self, source: LineSource | None = None, *, following: bool = True, id: str | None = None) -> None:
        super().__init__(id=id)
        self._source: LineSource = source or EmptyLineSource()
        self._count = self._source.count()
        self._seen = self._source.end()
        self._following = following
        self.is_stopped_by_key = self.is_paused = False
        self._wraps = False
        self._side = 0
        self._cached: dict[int, EventLine | None] = {}
        self._reasons: dict[tuple[int, int, int, bool], tuple[SafeText, ...]] = {}
        self._time_cells, self._slice_cells = TIME_CELLS, SLICE_ID_CELLS
        self._places: tuple[tuple[int, ...], list[tuple[int, int]]] | None = None
        self._scrolls_itself = False

    # Called by the screen.

    def show(self, source: LineSource, *, following: bool) -> None:
        """Show another source, or the same one filtered; when following, the cursor moves to the end."""
        self._source = source
        drop_selection(self)
        self._cursor = 0
        self._count = 0
        self._seen = source.end()
        self._time_cells, self._slice_cells = TIME_CELLS, SLICE_ID_CELLS
        self.show_from_left()
        self.set_following(following)
        self.update_count()

    def update_count(self, *, moved: int = 0) -> None:
        """Read the line count from the source, then follow the end or count the new lines.

        The line at the cursor, which may have moved by some lines, stays where it is on the screen.
        """
        self._forget()
        self._count = self._source.count()
        if moved and not self._following:
            self._move_along(moved)
        if self._following:
            self._seen = self._source.end()
        self._cursor = max(0, min(self._cursor, self._count - 1))
        self._fit()
        self.refresh()

    def show_from_left(self) -> None:
        """Show the beginning of every line again."""
        if self._side:
            self._side = 0
            self.refresh()

    def refresh_lines_of(self, start: int, count: int) -> None:
        """Redraw lines that the source has loaded."""
        if any(start <= index < start + count for index in self._cached):
            self._forget()
            self.refresh()

    @property
    def following(self) -> bool:
        return self._following

    def set_following(self, following: bool) -> None:
        if following == self._following:
            return
        self._following, self.is_stopped_by_key = following, False
        self._seen = self._source.end()
        if following:
            self._fit()
        self.refresh()
        self.post_message(self.FollowChanged(following))

    @property
    def new_lines(self) -> int:
        """The number of lines that arrived since the log stopped following."""
        return self._source.added_since(self._seen)

    # Drawing.

    def line_count(self) -> int:
        return self._count

    def rows_to_scroll(self) -> int:
        """Return the number of lines; with wrapping, enough rows to show all of the last line at the bottom."""
        if not self._wraps or not self._count:
            return self._count
        return self._top_for(self._count - 1) + self.rows_in_sight

    def row_at(self, row: int) -> tuple[int, int] | None:
        """Return the line shown in a row; a wrapped line takes several rows."""
        if not self._wraps:
            return super().row_at(row)
        places = self._laid_out()
        return places[row] if 0 <= row < len(places) else None

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        app = get_app(self)
        cursor = line(app.chrome_glyphs.cursor if index == self._cursor and part == 0 else " ")
        segments = [self.piece(cursor, ACCENT, style), to_segment(_SPACE, style)]
        entry = self._line(index)
        if entry is None:
            return [*segments, self.piece(line(app.glyphs.ellipsis), Role.QUIET, style)]
        head = self._head(entry)
        if part == 0:
            segments += self._head_segments(head, style)
        room = self._summary_cells(head)
        reason = self._reason(index, entry)
        if self._wraps:
            rows = wrap_text(entry.summary, max(1, room))
            if part:
                segments.append(to_segment(line(" " * (width - MARGIN - room)), style))
            if part == len(rows):
                return segments + self._reason_segments(reason, style)
            return segments + self._marked(rows[part], entry.role, style)
        shown = self._cut_summary(entry, room, reason)
        return segments + self._marked(shown, entry.role, style) + self._reason_segments(reason, style)

    def copied_text(self, index: int, start: int, end: int | None) -> str:
        """Return the selected text of an event, whole where it is selected to its end or over several rows, with whole
        ids for short ones.
        """
        entry = self._line(index)
        if entry is None:
            return ""
        text, glyphs = self._selected_text(index, entry, start, end), get_app(self).glyphs
        for id in entry.ids:
            short, whole = short_id(id, glyphs), line(id, None).replace("\\", r"\\")
            for shown in (short, elide_start(short, SLICE_END_CELLS, glyphs.ellipsis)):
                if glyphs.ellipsis in shown:
                    text = re.sub(rf"(?<!\w){re.escape(shown)}(?!\w)", whole, text)
        return text

    def _selected_text(self, index: int, entry: EventLine, start: int, end: int | None) -> str:
        if start // PART_STRIDE != (start if end is None else max(start, end - 1)) // PART_STRIDE:
            start, end = 0, None
        head = " " * MARGIN + "".join(text for text, _ in self._head(entry))
        part, first = divmod(start, PART_STRIDE)
        reason = self._reason(index, entry)
        room = self.cells - cell_width(head)
        if self._wraps:
            rows = (*wrap_text(entry.summary, max(1, room)), *filter(None, [join(reason)]))
        else:
            rows = (self._cut_summary(entry, room, reason),)
        before = head if part == 0 else " " * (self.cells - room)
        last = None if end is None else end - part * PART_STRIDE
        shown = before + rows[min(part, len(rows) - 1)]
        row = shown if self._wraps else shown + join(reason)
        if part == 0 and first < len(shown) and (last is None or last >= len(row.rstrip())):
            return (head + entry.summary + join(reason))[first:].lstrip()
        return row[first:last].lstrip()

    def hovered_text(self, index: int, part: int, x: int) -> SafeText | None:
        entry = None if self._wraps else self._line(index)
        if entry is None:
            return None
        room = self._summary_cells(self._head(entry))
        is_cut = self._side > 0 or cell_width(entry.summary) > room - _width(self._reason(index, entry))
        return entry.summary if is_cut and x >= self.cells - room else None

    # Called on user input.

    def cursor_moved(self) -> None:
        """Stop following when the cursor moves off the last line."""
        if self._following and self._cursor < self._count - 1:
            self.set_following(False)

    def line_opened(self) -> None:
        self.post_message(self.LineOpened(self._cursor))

    def show_cursor(self) -> None:
        """Scroll as little as needed to show all rows of the cursor's line."""
        if not self._wraps:
            super().show_cursor()
            return
        lowest = self._top_for(self._cursor)
        top = round(self.scroll_y)
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False)
        elif top < lowest:
            self.scroll_to(y=lowest, animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when the user scrolls away from the end, and resume when they scroll back."""
        super().watch_scroll_y(old_value, new_value)
        if self._scrolls_itself or round(old_value) == round(new_value) or not self._count:
            return
        at_end = round(new_value) >= self.max_scroll_y
        if not at_end:
            self._take_cursor_along(round(new_value))
        if at_end != self._following and (at_end is False or new_value > old_value):
            self.set_following(at_end)

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self, event: events.Resize) -> None:
        self._places = None
        self.show_from_left()
        self._fit()
        # Textual knows how far the lines scroll in the new height only after the layout.
        self.call_after_refresh(self._fit if self._following else self.show_cursor)

    def action_move(self, step: int) -> None:
        """Move the cursor by lines; moving past the last line follows the end."""
        if step > 0 and self._cursor + step >= self._count:
            self.action_follow_end()
        else:
            super().action_move(step)

    def action_follow(self) -> None:
        """Follow the end, or stop; paused events have no end to follow before they are resumed."""
        if self.is_paused:
            self.post_message(self.ResumeAsked())
        self.set_following(self.is_paused or not self._following)
        self.is_stopped_by_key = not self._following

    def action_follow_end(self) -> None:
        self.set_following(True)
        self._fit()

    def action_toggle_wrap(self) -> None:
        self._wraps = not self._wraps
        self._side = 0
        self._places = None
        self._fit()
        self.show_cursor()
        self.refresh()

    def action_move_sideways(self, step: int) -> None:
        """Scroll sideways, up to the end of the longest line in sight."""
        if not self._wraps:
            side = self._side + step * SIDE_STEP
            self._side = max(0, side) if step < 0 else min(side, max(self._side, self._hidden_cells()))
            self.refresh()

    def _fit(self) -> None:
        """Set the scrollable size, and move to the end if following."""
        if not self.is_mounted:
            return
        self._scrolls_itself = True
        try:
            self.set_size()
            if self._following and self._count:
                self._cursor = self._count - 1
                self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        finally:
            self._scrolls_itself = False

    def _move_along(self, lines: int) -> None:
        """Move cursor and window by as many lines."""
        self._cursor += lines
        self._scrolls_itself = True
        try:
            self.set_size()
            self.scroll_to(y=self.scroll_y + lines, animate=False, force=True)
        finally:
            self._scrolls_itself = False

    def _take_cursor_along(self, top: int) -> None:
        bottom = min(self._count, top + self.rows_in_sight) - 1
        self._cursor = max(top, min(self._cursor, bottom))

    def _forget(self) -> None:
        self._cached.clear()
        self._reasons.clear()
        self._places = None

    def _line(self, index: int) -> EventLine | None:
        if index not in self._cached:
            self._load(index)
        return self._cached.get(index)

    def _load(self, index: int) -> None:
        """Load a line, together with the visible lines below it that are not cached."""
        top = round(self.scroll_y)
        end = min(index, top) + self.rows_in_sight
        stop = index + 1
        while stop < end and stop not in self._cached:
            stop += 1
        if len(self._cached) + stop - index > MAX_CACHED_LINES:
            self._cached.clear()
        lines = self._source.window(index, stop - index)
        self._cached.update(zip(range(index, stop), lines, strict=False))
        before, known = (self._time_cells, self._slice_cells), [found for found in lines if found is not None]
        # What lines say stays in one column, also beside times of another day.
        self._time_cells = max([self._time_cells, *(cell_width(found.time) for found in known)])
        self._slice_cells = max([self._slice_cells, *(cell_width(found.slice) for found in known)])
        if (self._time_cells, self._slice_cells) != before:
            self.refresh()
        for near in (index - PREFETCH_LINES, stop + PREFETCH_LINES):
            if 0 <= near < self._count and near not in self._cached:
                self._source.window(near, 1)

    def _head(self, entry: EventLine) -> list[tuple[SafeText, str]]:
        """Return time, run in a mixed list, kind and slice; empty for a gap, which has only a summary.

        Without room for them, of a slice the end of its id is there, and a kind only where the summary does not say it.
        """
        if not entry.kind:
            return []
        head = [
            (line(fit(entry.time, self._time_cells) + "  "), Role.QUIET),
            *self._run_of(entry),
        ]
        room = self.cells - MARGIN - sum(cell_width(text) for text, _ in head)
        summary_cells = WRAPPED_SUMMARY_CELLS if self._wraps else SUMMARY_CELLS
        if room - summary_cells > KIND_CELLS + 1 + self._slice_cells:
            kind = fit(entry.kind, max(KIND_CELLS, cell_width(entry.kind)))
            pieces = [(kind, Role.PLAIN), (fit(entry.slice, self._slice_cells), Role.QUIET)]
        else:
            end = elide_start(entry.slice, SLICE_END_CELLS, get_app(self).glyphs.ellipsis)
            pieces = [(fit(end, SLICE_END_CELLS), Role.QUIET)]
            pieces += [] if entry.says_kind else [(entry.kind, Role.PLAIN)]
        for text, role in pieces:
            room -= cell_width(text) + 1
            if room >= LEAST_SUMMARY_CELLS:
                head.append((line(text + " "), role))
        return head

    def _run_of(self, entry: EventLine) -> list[tuple[SafeText, str]]:
        """Return the run in a mixed list, always in the same color for the same run."""
        if not entry.run:
            return []
        role = _RUN_ROLES[crc32(entry.run.encode("utf-8", "replace")) % len(_RUN_ROLES)]
        return [(line(fit(entry.run, max(RUN_CELLS, cell_width(entry.run))) + "  "), role)]

    def _reason(self, index: int, entry: EventLine) -> tuple[SafeText, ...]:
        """Return the match of the filter that a line does not show, between what is before and behind it.

        It is in the part of the summary that is cut, or in the event's JSON. Empty if the line shows it.
        """
        if self.highlighter is None:
            return ()
        key = (index, self.cells, self._side, self._wraps)
        if key not in self._reasons:
            self._reasons[key] = self._find_reason(self.highlighter, index, entry)
        return self._reasons[key]

    def _find_reason(self, highlighter: Highlighter, index: int, entry: EventLine) -> tuple[SafeText, ...]:
        glyphs, head = get_app(self).glyphs, self._head(entry)
        room, summary = self._summary_cells(head), self._summary(entry)
        shown = entry.summary if self._wraps else truncate(summary, room, glyphs.ellipsis)
        drawn = [*(text for text, _ in head[1:]), shown]
        dot = "" if self._wraps else f" {glyphs.dot} "
        beside = room if self._wraps else max(room - cell_width(summary), min(REASON_CELLS, room * 2 // 3))
        for text in (entry.summary, *self._source.searched_texts(index)):
            place = highlighter.match_elsewhere(drawn, text)
            if place is None:
                continue
            is_json = text is not entry.summary
            free = beside - LEAST_REASON_CELLS
            words = next((it for it in ("in JSON: ", "JSON ") if cell_width(dot + it) <= free), "")
            label = line(f"{dot}{words}" if is_json else "")
            # The name of the member says what it is, if there is room for it.
            start, end = place
            begin = max(text.rfind(",", 0, start), text.rfind("{", 0, start)) + 1 if is_json else 0
            cells = max(0, min(beside, MAX_REASON_CELLS) - cell_width(label))
            member = line(text[begin:], None)
            before, *others = cut_around(member, start - begin, end - begin, cells, glyphs.ellipsis)
            return (join((label, before)), *others)
        return ()

    def _reason_segments(self, reason: Sequence[SafeText], style: Style) -> list[Segment]:
        if not reason:
            return []
        before, match, after = reason
        marked = style + self.get_component_rich_style("event-log--match", partial=True)
        return [
            self.piece(before, Role.QUIET, style),
            self.piece(match, Role.QUIET, marked),
            self.piece(after, Role.QUIET, style),
        ]

    def _head_segments(self, head: Sequence[StyledSpan], style: Style) -> list[Segment]:
        """Return the segments of a head; a filter does not search the time."""
        pieces = self.pieces(head[:1], style)
        return pieces + [segment for text, role in head[1:] for segment in self._marked(text, role, style)]

    def _marked(self, text: SafeText, role: str, style: Style) -> list[Segment]:
        if self.highlighter is None:
            return [self.piece(text, role, style)]
        match = self.get_component_rich_style("event-log--match", partial=True)
        segments: list[Segment] = []
        position = 0
        for start, end in self.highlighter.match_spans(text):
            segments.append(self.piece(line(text[position:start], None), role, style))
            segments.append(self.piece(line(text[start:end], None), role, style + match))
            position = end
        segments.append(self.piece(line(text[position:], None), role, style))
        return segments

    def _summary(self, entry: EventLine) -> SafeText:
        """Return a summary from the first cell in sight; a mark says that it begins before it."""
        if not self._side or not entry.summary:
            return entry.summary
        return line(get_app(self).glyphs.ellipsis + entry.summary[self._side + 1 :], None)

    def _cut_summary(self, entry: EventLine, room: int, reason: Sequence[SafeText]) -> SafeText:
        """Return what of a summary is shown in a row of its own and of a match behind it, with one mark of a cut."""
        mark = get_app(self).glyphs.ellipsis
        is_marked = bool(reason) and reason[0].startswith(mark)
        return truncate(self._summary(entry), max(0, room - _width(reason)), "" if is_marked else mark)

    def _summary_cells(self, head: Sequence[tuple[SafeText, str]]) -> int:
        return max(0, self.cells - MARGIN - sum(cell_width(text) for text, _ in head))

    def _hidden_cells(self) -> int:
        """Return how many cells of the longest line in sight do not fit."""
        entries = ((index, self._line(index)) for index, _ in self._lines_in_sight())
        cut = [
            cell_width(entry.summary) - self._summary_cells(self._head(entry)) + _width(self._reason(index, entry))
            for index, entry in entries
            if entry
        ]
        return max(cut, default=0)

    def _height(self, index: int) -> int:
        entry = self._line(index)
        if entry is None:
            return 1
        rows = wrap_text(entry.summary, max(1, self._summary_cells(self._head(entry))))
        return len(rows) + bool(self._reason(index, entry))

    def _top_for(self, index: int) -> int:
        """Return the first line of the window in which all of ``index`` is at the bottom."""
        room = self.rows_in_sight - self._height(index)
        while index > 0 and room >= (height := self._height(index - 1)):
            index -= 1
            room -= height
        return index

    def _laid_out(self) -> list[tuple[int, int]]:
        """Return line and part for each row of the window."""
        key = (round(self.scroll_y), self.cells, self.rows_in_sight, self._count, self._time_cells, self._slice_cells)
        if self._places is None or self._places[0] != key:
            places: list[tuple[int, int]] = []
            index = key[0]
            while len(places) < self.rows_in_sight and index < self._count:
                places += [(index, part) for part in range(self._height(index))]
                index += 1
            self._places = (key, places[: self.rows_in_sight])
        return self._places[1]


def _width(texts: Iterable[SafeText]) -> int:
    return sum(map(cell_width, texts))


_SPACE: Final = line(" ")
