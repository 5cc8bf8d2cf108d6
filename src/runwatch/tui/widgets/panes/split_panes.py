"""Two panes with a border that can be moved between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from textual import events
from textual.containers import Container
from textual.widget import Widget

PaneSide = Literal["beside", "below"]
"""Where the second pane is."""

MIN_CELLS: Final = (48, 30)
"""Minimum widths of the first and the second pane."""

MIN_ROWS: Final = (6, 5)
"""Minimum heights: frame, head and three rows of a list; frame and three rows of a detail."""


class SplitPanes(Container):
    """Two panes. The border between them can be dragged with the mouse.

    The share is that of the second pane, so that it holds in a window of any size. Neither pane gets smaller than its
    minimum; the share itself is kept, and has its full effect again when there is room. A drag asks for another share.
    """

    def __init__(self, first: Widget, second: Widget, dragged: Callable[[float], object]) -> None:
        super().__init__(first, second, id="panes")
        self._dragged: Final = dragged
        self._first: Final = first
        self._second: Final = second
        self._side: PaneSide | None = None
        self._share = 0.0
        self._grip: int | None = None

    def divide(self, side: PaneSide | None, share: float) -> None:
        """Divide the room: where the second pane is, if both are shown, and its share; 0 for the sizes of the style
        sheet.
        """
        if (side, share) != (self._side, self._share):
            self._side, self._share = side, share
            self._fit()

    @property
    def share(self) -> float:
        """The second pane's present share, from 0 to 1; 0 if only one pane is shown or before the first layout."""
        if self._side is None or not self._room:
            return 0.0
        size = self._second.outer_size
        return (size.width if self._side == "beside" else size.height) / self._room

    def nearest_share(self, share: float) -> float:
        """Return the nearest share that leaves both panes their minimum."""
        return self._within(round(share * self._room)) / self._room if self._room else share

    @property
    def _room(self) -> int:
        return self.size.width if self._side == "beside" else self.size.height

    def _fit(self) -> None:
        styles = self._second.styles
        cells = (
            self._within(round(self._share * self._room))
            if self._side is not None and self._share and self._room
            else None
        )
        is_beside = self._side == "beside"
        styles.width = cells if is_beside else None
        styles.max_width = cells if is_beside else None
        styles.height = None if is_beside else cells

    def _within(self, cells: int) -> int:
        """Return the nearest size of the second pane that leaves both panes their minimum."""
        first, second = MIN_CELLS if self._side == "beside" else MIN_ROWS
        return max(second, min(cells, self._room - first))

    # Called by Textual.

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the border: the last frame line of the first pane or the first one of the second."""
        if self._side is None or event.button != 1:
            return
        position, border = self._position(event), self._border()
        if border - 1 <= position <= border and self.region.contains(int(event.screen_x), int(event.screen_y)):
            event.stop()
            self._grip = border - position
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._grip is None:
            return
        event.stop()
        # The release is no click on the pane that the mouse is over by then.
        self.suppress_click()
        start = self.region.x if self._side == "beside" else self.region.y
        cells = start + self._room - (self._position(event) + self._grip)
        if self._room:
            self._dragged(cells / self._room)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._grip is not None:
            event.stop()
            self._grip = None
            self.release_mouse()

    def _position(self, event: events.MouseEvent) -> int:
        return int(event.screen_x if self._side == "beside" else event.screen_y)

    def _border(self) -> int:
        """Return the first cell of the second pane."""
        return self._second.region.x if self._side == "beside" else self._second.region.y
