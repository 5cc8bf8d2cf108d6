"""Comparing two records of a list, or any two JSON objects: the user chooses the left side, then the right.

A screen shows them side by side: differences only, or everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from textual.widget import Widget

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.console_screen import ConsoleScreen, CoveringScreen
from runwatch.tui.shell.record_screen import RecordScreen
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.diff_view import DiffView
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.record_diff import ComparedValue, compare_records
from runwatch.view.text.copied_text import copied_fields
from runwatch.view.text.format import grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.repositories.pins import PinTarget
    from runwatch.view.table.rows import RecordRow


@dataclass(frozen=True, slots=True)
class ComparisonSide:
    title: SafeText
    raw: Mapping[str, Any]


class CompareScreen(CoveringScreen):
    """The comparison; ``target`` pins it if it can be found again."""

    BINDINGS = make_bindings("screen.raw", "screen.copy")
    AUTO_FOCUS = "#compare-view"

    def __init__(
        self, left: ComparisonSide, right: ComparisonSide, crumbs: Sequence[str], target: PinTarget | None = None
    ) -> None:
        super().__init__()
        self._target: Final = target
        self._left: Final = left
        self._right: Final = right
        self._crumbs: Final = tuple(crumbs)
        self._values: list[ComparedValue] | None = None
        self._shows_all = False

    def body(self) -> Iterable[Widget]:
        yield Pane(DiffView(self._left.title, self._right.title, id="compare-view"), id="compare")

    def breadcrumbs(self) -> Sequence[str]:
        return (*self._crumbs[:1], "Compare")

    def hints(self) -> Sequence[KeyHint]:
        other = "differences only" if self._shows_all else "everything"
        return (("screen.raw", other), ("screen.copy", "copy value"), "screen.back")

    def pin_targets(self) -> Sequence[PinTarget]:
        return () if self._target is None else (self._target,)

    def looked_at(self) -> PinTarget | None:
        return self._target

    def on_mount(self) -> None:
        """Compare in a worker, because a record may be as large as a response."""

        async def compare() -> None:
            self._values = await asyncio.to_thread(compare_records, self._left.raw, self._right.raw)
            self._show()

        start_worker(self, compare(), "comparing")
        self._show()

    def action_raw(self) -> None:
        self._shows_all = not self._shows_all
        self._show()
        self.show_hints()

    async def action_copy(self) -> None:
        value = self.query_one(DiffView).value
        if value is not None:
            text = copied_fields({"path": value.path, "left": value.left, "right": value.right})
            await self.console.copy_text(text, line("both values"), several_lines=True)
        else:
            self.nothing_to_copy()

    def _show(self) -> None:
        values, view = self._values, self.query_one(DiffView)
        if values is None:
            view.empty_text = (line("comparing…"),)
            return
        changed = [value for value in values if value.differs]
        view.empty_text = (line("The two records are identical."),)
        view.show(values if self._shows_all else changed)
        self.query_one("#compare", Pane).set_border_text(
            title=line("Compare"),
            state=(label_span("everything" if self._shows_all else "what differs"),),
            age=(label_span(_count_text(len(changed), len(values)), Role.WARN if changed else Role.GOOD),),
        )


def compare_rows(screen: RecordScreen) -> None:
    """Choose the row at the cursor as the left side; on another row, compare the two.

    Two marked rows are compared at once; of more, none is chosen. Choosing the same row again cancels the comparison.
    """
    row, left, marked = screen.row, screen.compared, screen.marked_rows()
    if len(marked) > 2:
        screen.refuse_key(f"Two rows can be compared; {grouped_number(len(marked))} are marked.")
        return
    if row is None:
        screen.refuse_key("Nothing to compare.")
    elif len(marked) == 2:
        _compare(screen, *marked)
    elif left is None:
        screen.compared = row
        screen.show_hints()
        key = screen.console.keys.shown("screen.compare")
        screen.notify_user(f"Comparing {_name(screen, row)}; press {key} on another row")
    elif left.key == row.key:
        cancel_comparison(screen)
    else:
        screen.compared = None
        _compare(screen, left, row)


def cancel_comparison(screen: RecordScreen) -> None:
    """Clear the left side."""
    screen.compared = None
    screen.show_hints()
    screen.notify_user("Comparison cancelled.")


def open_comparison(
    screen: ConsoleScreen, left: ComparisonSide, right: ComparisonSide, target: PinTarget | None = None
) -> None:
    """Open the comparison of two JSON objects in front of a screen; ``target`` pins it if it can be found again."""
    screen.app.push_screen(CompareScreen(left, right, screen.breadcrumbs(), target))


def _compare(screen: RecordScreen, left: RecordRow[Any], right: RecordRow[Any]) -> None:
    from runwatch.store.repositories.pins import PinTarget

    left_side, right_side = (ComparisonSide(_name(screen, row), row.subject.raw) for row in (left, right))
    is_pinnable = screen.pin_targets() and not screen.spec.is_local
    target = PinTarget("comparison", screen.spec.name, (left.id, right.id)) if is_pinnable else None
    open_comparison(screen, left_side, right_side, target)


def _name(screen: RecordScreen, row: RecordRow[Any]) -> SafeText:
    return screen.spec.title_of(row.subject, screen.console.glyphs)


def _count_text(changed: int, count: int) -> SafeText:
    return line(
        f"{grouped_number(changed)} of {grouped_number(count)} members differ"
        if changed
        else f"all {grouped_number(count)} members are the same"
    )
