"""The history of visited views."""

from __future__ import annotations

from typing import Final

from runwatch.settings.view_state import ViewState

MAX_VIEWS: Final = 100
"""Views kept; the oldest are dropped first."""


class ViewHistory:
    """Visited views with a current position. Going to a new view drops the later ones, as in a browser."""

    def __init__(self) -> None:
        self._views: list[ViewState] = []
        self._followed: list[bool] = []
        self._here = -1
        self._last: int | None = None

    @property
    def present(self) -> ViewState | None:
        """The current view; ``None`` before the first."""
        return self._views[self._here] if self._views else None

    @property
    def has_earlier(self) -> bool:
        return self._here > 0

    @property
    def is_followed(self) -> bool:
        """Whether the current view was reached through the one before it, and is no root."""
        return self.has_earlier and self._followed[self._here]

    @property
    def origin(self) -> str:
        """The screen whose view led to the current one; empty if none did."""
        return self._views[self._here - 1].screen if self.is_followed else ""

    def go(self, view: ViewState, *, is_root: bool = False) -> None:
        """Go to a view, a root if the user named it; one of the current screen replaces the current view."""
        present = self.present
        if present is not None and present.screen == view.screen:
            self._views[self._here] = view
            self._followed[self._here] &= not is_root
            return
        del self._views[self._here + 1 :], self._followed[self._here + 1 :]
        self._views.append(view)
        self._followed.append(not is_root)
        dropped = max(0, len(self._views) - MAX_VIEWS)
        del self._views[:dropped], self._followed[:dropped]
        self._last = self._here - dropped if self._here >= dropped else None
        self._here = len(self._views) - 1

    def keep(self, view: ViewState) -> None:
        """Save the state of the current view before leaving it."""
        if self._views:
            self._views[self._here] = view

    def move(self, steps: int) -> ViewState | None:
        """Move by some views, back if negative; return ``None`` and stay if there are not as many."""
        return self._move_to(self._here + steps)

    def swap(self) -> ViewState | None:
        """Go to the previously shown view; return ``None`` and stay if there is none."""
        return None if self._last is None else self._move_to(self._last)

    def _move_to(self, index: int) -> ViewState | None:
        if not 0 <= index < len(self._views) or index == self._here:
            return None
        self._last, self._here = self._here, index
        return self._views[index]
