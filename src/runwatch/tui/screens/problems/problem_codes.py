"""Problems counted by code; ``enter`` lists the problems of a code. Users know the screen as ``codes``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.settings.view_state import ViewState
from runwatch.store.state.freshness import PaneState, local_state
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.row_sources import FILE_PROFILE, RowSource
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.resources.problem_codes import PROBLEM_CODES, ProblemCode, count_codes, record_from_count

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.tui.widgets.lists.record_table import RecordTable


class ProblemCodeSource:
    """The codes of all stored problems, counted in the journal or in an open file."""

    def __init__(self, console: Callable[[], Console]) -> None:
        self._console = console
        self._items: Sequence[ProblemCode] = ()
        self._read_at: float | None = None

    def items(self) -> Sequence[Any]:
        """Return the codes, the most frequent first."""
        return self._items

    def state(self) -> PaneState:
        return local_state(self._read_at, self._console().clock.monotonic(), is_empty=not self._items)

    def end_is_proven(self) -> bool:
        """Return true: everything is counted."""
        return True

    async def read(self) -> None:
        console = self._console()
        if console.session is not None:
            from runwatch.store.repositories.activity import count_problem_codes

            self._items = [record_from_count(each) for each in await count_problem_codes(console.session.journal)]
        elif console.has_file:
            self._items = count_codes(console.records(ProblemEntry, FILE_PROFILE).values())
        else:
            return
        self._read_at = console.clock.monotonic()


class ProblemCodesScreen(ResourceScreen):
    BINDINGS = make_bindings("screen.groups")
    HINTS = (
        ("list.open", "list these"), ("screen.groups", "all problems"), "screen.filter", "screen.export",
        "screen.time", "app.quit",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__(PROBLEM_CODES, ProblemCodeSource(lambda: self.console))

    def use(self, source: RowSource) -> None:
        """Count again; the screen keeps its own source."""
        self.read_source()

    def on_record_table_row_opened(self, message: RecordTable.RowOpened) -> None:
        message.prevent_default()
        if self.row is not None:
            code: ProblemCode = self.row.subject
            self.go_to_view_later(ViewState("problems", filter=code.filter))

    def action_groups(self) -> None:
        self.console.action_go("problems")
