"""A framed part of a screen. The frame shows what the pane contains and its state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from textual import events, on
from textual.containers import Container
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from runwatch.base.text import cell_width
from runwatch.tui.core.jump_target import JumpTarget
from runwatch.tui.core.rendering import StyledSpans, to_content, to_spans
from runwatch.tui.core.themes import ACCENT, FRAME
from runwatch.tui.core.widget_app import get_app
from runwatch.view.text.safe_text import line

_FOCUS_CLASS: Final = "-focused"
_LEAST_RULE: Final = 2
"""Minimum cells of frame between the two texts of an edge."""

_CORNERS: Final = 6
"""Cells of an edge that text cannot use: two corners, each with a cell of frame and a space."""

NOTHING: Final = line("")


class TextForms(NamedTuple):
    """Forms of a text, the longest first; one takes the place of a longer one that does not fit."""

    forms: tuple[StyledSpans, ...]


EdgeText = StyledSpans | TextForms


class BorderText(NamedTuple):
    """Texts of a pane's frame. Of their forms an edge has the first of the left text that fits beside one of the right.

    Where none fits, those on the left are cut first. Those below lose whole parts between dots, and an age loses all
    but its first two parts before another form of the counters is taken.

    Attributes:
        title: Top left: name and count.
        state: Top right: sort order, whether a tail follows.
        age: Bottom left: age of the data and why it is not newer.
        counters: Bottom right: totals and new arrivals.
    """

    title: EdgeText = NOTHING
    state: EdgeText = NOTHING
    age: EdgeText = NOTHING
    counters: EdgeText = NOTHING


class Pane(Container):
    """A container with a frame: round, or heavy while a child has the focus."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Pane {
        border: round $frame;
        border-title-color: $role-quiet;
        border-subtitle-color: $role-quiet;
        padding: 0;
        &.-focused {
            border: heavy $role-accent;
            border-title-color: $role-plain;
        }
    }
    """

    def __init__(self, *children: Widget, edge: BorderText | None = None, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self._edge = edge or BorderText()
        self._pause: StyledSpans = NOTHING

    def set_border_text(
        self,
        *,
        title: EdgeText | None = None,
        state: EdgeText | None = None,
        age: EdgeText | None = None,
        counters: EdgeText | None = None,
    ) -> None:
        """Replace texts of the frame; ``None`` leaves a text as it is."""
        given = {"title": title, "state": state, "age": age, "counters": counters}
        edge = self._edge._replace(**{name: text for name, text in given.items() if text is not None})
        if edge != self._edge:
            before, self._edge = self._edge, edge
            self._write_edge(above=edge[:2] != before[:2], below=edge[2:] != before[2:])

    def show_pause(self, words: StyledSpans) -> None:
        """Say before the state that the pane is paused; an empty text says no longer so."""
        self._pause = words
        self._write_edge(below=False)

    def render_line(self, y: int) -> Strip:
        """Draw the background, which the children cover."""
        return Strip.blank(self.size.width, self.rich_style)

    def on_mount(self) -> None:
        # Its first frame has the title already; Textual cuts it.
        title = _forms(self._edge.title)[0]
        self._border_title = to_content(title) if _has_words(title) else None
        # It counts as mounted only after this handler, and no resize follows if the first layout was before.
        self.call_after_refresh(self._write_edge)

    def on_resize(self, event: events.Resize) -> None:
        self._write_edge()

    async def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self._focus_inside()

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the pane itself, at its frame, if something in it takes the focus."""
        if self._first_inside() is not None:
            yield JumpTarget(self.region.x + 1, self.region.y, self._focus_inside)

    def _first_inside(self) -> Widget | None:
        return next((child for child in self.query("*") if child.focusable and child.display), None)

    def _focus_inside(self) -> None:
        inside = self._first_inside()
        if inside is not None:
            inside.focus()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_focus(self) -> None:
        # When the focus moves between two widgets of this pane, the blur event may arrive after the focus event.
        focused = self.has_focus_within
        if self.has_class(_FOCUS_CLASS) != focused:
            self.set_class(focused, _FOCUS_CLASS)
            self._write_edge()

    def _write_edge(self, *, above: bool = True, below: bool = True) -> None:
        """Set the edges and redraw those that changed; an age on one of them changes every second."""
        if not self.is_mounted or not self.outer_size:
            return
        # Textual's public setters would redraw all children too, every second for a growing age.
        edge, dot = self._edge, f" {get_app(self).glyphs.dot} "
        above_texts = self._fitting(edge.title, TextForms(tuple(map(self._after_pause, _forms(edge.state)))))
        below_texts = self._fitting(edge.age, edge.counters, dot)
        self._border_title = self._edge_content(*above_texts)
        self._border_subtitle = self._edge_content(*below_texts, dot)
        # A single text has frame on its other side anyway; only two texts need frame drawn between them.
        self.styles.border_title_align = "left" if _has_words(above_texts[0]) else "right"
        self.styles.border_subtitle_align = "left" if _has_words(below_texts[0]) else "right"
        width, height = self.outer_size
        # Relative to the first cell inside frame and padding.
        left, top = self.content_offset
        lines = [-top] * above + [height - 1 - top] * below
        self.refresh(*(Region(-left, y, width, 1) for y in lines))

    def _after_pause(self, state: StyledSpans) -> StyledSpans:
        if not _has_words(self._pause):
            return state
        return (*to_spans(self._pause), (line("  " if _has_words(state) else ""), ""), *to_spans(state))

    def _fitting(self, left: EdgeText, right: EdgeText, dot: str = "") -> tuple[StyledSpans, StyledSpans]:
        """Return the forms of the two texts of an edge that fit, else the shortest."""
        pairs = [(one, other) for one in _forms(left) for other in _forms(right)]

        def fits(pair: tuple[StyledSpans, StyledSpans]) -> bool:
            one, other = pair
            return (_beside(one, dot) if _has_words(other) else _cells(one)) + _cells(other) <= self._edge_cells

        return next(filter(fits, pairs), pairs[-1])

    @property
    def _edge_cells(self) -> int:
        return self.outer_size.width - _CORNERS

    def _edge_content(self, left: StyledSpans, right: StyledSpans, dot: str = "") -> Content | None:
        """Return both texts of an edge as one, because Textual supports only one.

        Args:
            dot: Between parts that go whole; empty for texts that lose none.
        """
        width = self._edge_cells
        app, focused = get_app(self), self.has_class(_FOCUS_CLASS)
        if width < 1 or not (_has_words(left) or _has_words(right)):
            return None
        mark = app.glyphs.ellipsis
        beside = _beside(left, dot) if dot and _has_words(right) else 0
        right_content = _cut(right, width, mark, dot, beside, marks_parts=True)
        if not _has_words(right):
            return _cut(left, width, mark, dot)
        if not _has_words(left):
            return right_content
        left_content = _cut(left, width - _LEAST_RULE - 2 - right_content.cell_length, mark, dot)
        cells = width - left_content.cell_length - right_content.cell_length - 2
        rule = app.chrome_glyphs.rule_focus if focused else app.chrome_glyphs.rule
        fill = Content.styled(rule * max(0, cells), f"$role-{ACCENT}" if focused else f"${FRAME}")
        return Content(" ").join([left_content, fill, right_content])


def _forms(text: EdgeText) -> tuple[StyledSpans, ...]:
    return text.forms if isinstance(text, TextForms) else (text,)


def _beside(left: StyledSpans, dot: str) -> int:
    """Return the cells that a left text and the frame after it need beside a right one: of its parts the first two."""
    plain = to_content(left).plain
    least = dot.join(plain.split(dot)[:2]) if dot else plain
    return cell_width(least) + _LEAST_RULE + 2 if least else 0


def _cells(text: StyledSpans) -> int:
    return to_content(text).cell_length


def _has_words(text: StyledSpans) -> bool:
    return any(piece for piece, _ in to_spans(text))


def _cut(
    text: StyledSpans, width: int, mark: str, dot: str = "", beside: int = 0, *, marks_parts: bool = False
) -> Content:
    """Cut a text to its room: the last of its parts between dots go first, also to leave cells to the text beside
    it.

    Args:
        marks_parts: Whether a mark follows where parts went, as counts without them would seem to be all.
    """
    whole, rest = to_content(text), ""
    while dot and whole.cell_length + cell_width(rest) > width - beside and (end := whole.plain.rfind(dot)) > 0:
        whole, rest = whole[:end], f" {mark}" if marks_parts else ""
    if rest and whole.cell_length + cell_width(rest) <= width:
        return whole + Content(rest)
    if whole.cell_length <= width:
        return whole
    return whole.truncate(max(0, width - cell_width(mark)), ellipsis=False) + Content(mark)
