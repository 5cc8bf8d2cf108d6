"""Two records beside each other: what differs, or everything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.widget import Widget

from runwatch.base.shell import quote_active
from runwatch.tui.actions import bindings
from runwatch.tui.comparing import Side
from runwatch.tui.draw import word
from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.widgets.compare_view import CompareView
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.tui.work import start_work
from runwatch.view.compare import Beside, beside
from runwatch.view.drawn import Drawn, line
from runwatch.view.glyphs import Role


class CompareScreen(ConsoleScreen):
    """The comparison.

    Args:
        left: The side that was chosen first.
        right: The other one.
        place: The way to the screen it was opened from.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.raw", "screen.copy"))
    AUTO_FOCUS = "#compare-view"
    DEFAULT_CSS = """
    CompareScreen {
        & > Pane {
            height: 1fr;
        }
    }
    """

    def __init__(self, left: Side, right: Side, place: Sequence[str]) -> None:
        super().__init__()
        self._left: Final = left
        self._right: Final = right
        self._place: Final = tuple(place)
        self._values: list[Beside] | None = None
        self._shows_all = False

    def body(self) -> Iterable[Widget]:
        """One pane."""
        yield Pane(CompareView(self._left.title, self._right.title, id="compare-view"), id="compare")

    def crumbs(self) -> Sequence[str]:
        """Below the place it was opened from."""
        return (*self._place[:1], "Compare")

    def hints(self) -> Sequence[Hint]:
        """What can be done here."""
        other = "only what differs" if self._shows_all else "everything"
        return (("screen.raw", other), ("screen.copy", "copy value"), "screen.back")

    @property
    def is_at_root(self) -> bool:
        """Never: it stands in front of another screen."""
        return False

    def on_mount(self) -> None:
        """Compare beside the screen: a record may be as large as an answer."""

        async def compare() -> None:
            self._values = await asyncio.to_thread(beside, self._left.raw, self._right.raw)
            self._show()

        start_work(self, compare(), "comparing")
        self._show()

    def action_raw(self) -> None:
        """Show what differs, or everything."""
        self._shows_all = not self._shows_all
        self._show()
        self.show_hints()

    async def action_copy(self) -> None:
        """Copy the path and both values under the cursor."""
        value = self.query_one(CompareView).value
        if value is not None:
            none = "(none)"
            text = "\n".join(map(quote_active, (value.path, value.left or none, value.right or none)))
            await self.console.copy_text(text, line("both values"), several_lines=True)

    def action_back(self) -> None:
        """Back to the screen it was opened from."""
        self.app.pop_screen()

    def _show(self) -> None:
        values, view = self._values, self.query_one(CompareView)
        if values is None:
            view.note = (line("comparing…"),)
            return
        changed = [value for value in values if value.differs]
        view.note = (line("The two are the same in every member."),)
        view.show(values if self._shows_all else changed)
        self.query_one("#compare", Pane).show_edge(
            title=line("Compare"),
            state=(word("everything" if self._shows_all else "what differs"),),
            age=(word(_count_words(len(changed), len(values)), Role.WARN if changed else Role.GOOD),),
        )


def _count_words(changed: int, count: int) -> Drawn:
    return line(f"{changed} of {count} members differ" if changed else f"all {count} members are the same")
