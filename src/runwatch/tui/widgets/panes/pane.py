"""A framed part of a screen. The frame shows what the pane contains and its state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

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


class BorderText(NamedTuple):
    """Texts of a pane's frame; those on the right are cut last. Those below lose whole parts between dots.

    Attributes:
        title: Top left: name and count.
        short_title: What is there in a pane that is too narrow for the title; the state then loses whole parts too.
        short_states: What is there instead of a state that leaves too little room for the title: the first that fits.
        state: Top right: sort order, whether a tail follows.
        age: Bottom left: age of the data and why it is not newer.
        counters: Bottom right: totals and new arrivals.
        short_counters: What is there where the counters do not fit whole.
        short_age: What is there in a pane that is too narrow for both the age and the counters.
    """

    title: StyledSpans = NOTHING
    state: StyledSpans = NOTHING
    age: StyledSpans = NOTHING
    counters: StyledSpans = NOTHING
    short_title: StyledSpans = NOTHING
    short_states: Sequence[StyledSpans] = ()
    short_counters: StyledSpans = NOTHING
    short_age: StyledSpans = NOTHING


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
        title: StyledSpans | None = None,
        state: StyledSpans | None = None,
        age: StyledSpans | None = None,
        counters: StyledSpans | None = None,
        short_title: StyledSpans | None = None,
        short_states: Sequence[StyledSpans] | None = None,
        short_counters: StyledSpans | None = None,
        short_age: StyledSpans | None = None,
    ) -> None:
        """Replace texts of the frame; ``None`` leaves a text as it is, and a new one drops the shorter ones."""
        if title is not None and short_title is None:
            short_title = NOTHING
        if state is not None and short_states is None:
            short_states = ()
        if counters is not None and short_counters is None:
            short_counters = NOTHING
        if age is not None and short_age is None:
            short_age = NOTHING
        given: dict[str, Any] = {
            "title": title, "state": state, "age": age, "counters": counters, "short_title": short_title,
            "short_states": short_states, "short_counters": short_counters, "short_age": short_age,
        }  # fmt: skip
        edge = self._edge._replace(**{name: text for name, text in given.items() if text is not None})
        if edge != self._edge:
            before, self._edge = self._edge, edge
            lower = before._replace(
                age=edge.age, short_age=edge.short_age, counters=edge.counters, short_counters=edge.short_counters
            )
            self._write_edge(above=edge != lower, below=before != lower)

    def show_pause(self, words: StyledSpans) -> None:
        """Say before the state that the pane is paused; an empty text says no longer so."""
        self._pause = words
        self._write_edge(below=False)

    def render_line(self, y: int) -> Strip:
        """Draw the background, which the children cover."""
        return Strip.blank(self.size.width, self.rich_style)

    def on_mount(self) -> None:
        # Its first frame has the title already; Textual cuts it.
        self._border_title = to_content(self._edge.title) if _has_words(self._edge.title) else None
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
        state = self._edge.state
        if _has_words(self._pause):
            state = (*to_spans(self._pause), (line("  " if _has_words(state) else ""), ""), *to_spans(state))
        self._border_title = self._edge_content(*self._fitting_title(state))
        self._border_subtitle = self._edge_content(
            self._fitting_age(), self._edge.counters, self._edge.short_counters, drops_parts=True
        )
        # A single text has frame on its other side anyway; only two texts need frame drawn between them.
        self.styles.border_title_align = "left" if _has_words(self._edge.title) else "right"
        self.styles.border_subtitle_align = "left" if _has_words(self._edge.age) else "right"
        width, height = self.outer_size
        # Relative to the first cell inside frame and padding.
        left, top = self.content_offset
        lines = [-top] * above + [height - 1 - top] * below
        self.refresh(*(Region(-left, y, width, 1) for y in lines))

    def _fitting_title(self, state: StyledSpans) -> tuple[StyledSpans, StyledSpans]:
        """Return title and state, or in a narrow pane a shorter state, or the short title with as much of the state as
        fits whole.
        """
        title, short, room = self._edge.title, self._edge.short_title, self._room_for_two
        if _cells(title) + _cells(state) <= room:
            return title, state
        if not _has_words(short):
            shorter = self._edge.short_states
            fitting = (text for text in shorter if _cells(title) + _cells(text) <= room)
            return title, next(fitting, (state, *shorter)[-1])
        dot = f" {get_app(self).glyphs.dot} "
        spans = to_spans(state)
        first = next((n for n, (text, _) in enumerate(spans) if n and text.startswith(dot)), len(spans))
        fits = ((text, kept) for text in (title, short) for kept in (state, spans[:first]))
        return next((pair for pair in fits if _cells(pair[0]) + _cells(pair[1]) <= room), (short, spans[:first]))

    def _fitting_age(self) -> StyledSpans:
        """Return the age, or in a pane that is too narrow for the counters beside it the short one, if there is one."""
        age, short = self._edge.age, self._edge.short_age
        counters = self._edge.short_counters if _has_words(self._edge.short_counters) else self._edge.counters
        fits = _cells(age) + _cells(counters) <= self._room_for_two
        return age if fits or not _has_words(short) else short

    @property
    def _room_for_two(self) -> int:
        """The cells of an edge for two texts."""
        return self.outer_size.width - _CORNERS - _LEAST_RULE - 2

    def _edge_content(
        self, left: StyledSpans, right: StyledSpans, short_right: StyledSpans = NOTHING, *, drops_parts: bool = False
    ) -> Content | None:
        """Return both texts of an edge as one, because Textual supports only one."""
        width = self.outer_size.width - _CORNERS
        app, focused = get_app(self), self.has_class(_FOCUS_CLASS)
        if width < 1 or not (_has_words(left) or _has_words(right)):
            return None
        mark, dot = app.glyphs.ellipsis, f" {app.glyphs.dot} " if drops_parts else ""
        least = dot.join(to_content(left).plain.split(dot)[:2]) if dot and _has_words(right) else ""
        beside = cell_width(least) + _LEAST_RULE + 2 if least else 0
        if _has_words(short_right) and to_content(right).cell_length > width - beside:
            right = short_right
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
