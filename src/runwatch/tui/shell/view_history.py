"""The views that the user has been to, in order, and the way back and forth between them."""

from __future__ import annotations

from typing import Final

from runwatch.settings.view_state import ViewState

MAX_VIEWS: Final = 100
"""Views that are kept; the oldest go first."""


class ViewHistory:
    """Where the user has been. Going somewhere new forgets what lay ahead, as in a browser."""

    def __init__(self) -> None:
        self._views: list[ViewState] = []
        self._here = -1
        self._last: int | None = None

    @property
    def present(self) -> ViewState | None:
        """The view in front; ``None`` before there is one."""
        return self._views[self._here] if self._views else None

    @property
    def has_earlier(self) -> bool:
        """Whether there is a view before the present one."""
        return self._here > 0

    def go(self, view: ViewState) -> None:
        """Go to a view; to the screen that is in front already means in its place."""
        present = self.present
        if present is not None and present.screen == view.screen:
            self._views[self._here] = view
            return
        del self._views[self._here + 1 :]
        self._views.append(view)
        dropped = max(0, len(self._views) - MAX_VIEWS)
        del self._views[:dropped]
        self._last = self._here - dropped if self._here >= dropped else None
        self._here = len(self._views) - 1

    def begin_with(self, view: ViewState) -> None:
        """Go to a view that from now on stands before all others; what was in front lies ahead."""
        self._views.insert(0, view)
        del self._views[MAX_VIEWS:]
        self._last, self._here = self._here + 1, 0

    def keep(self, view: ViewState) -> None:
        """Note how the present view looks before it is left."""
        if self._views:
            self._views[self._here] = view

    def move(self, steps: int) -> ViewState | None:
        """Go some views forward, or back when negative; ``None``, and nowhere, when there is none so far."""
        return self._move_to(self._here + steps)

    def swap(self) -> ViewState | None:
        """Go to the view that was in front before the present one; ``None``, and nowhere, when there is none."""
        return None if self._last is None else self._move_to(self._last)

    def _move_to(self, place: int) -> ViewState | None:
        if not 0 <= place < len(self._views) or place == self._here:
            return None
        self._last, self._here = self._here, place
        return self._views[place]
