"""A framed table, with the reason for outdated rows below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.widgets import Static

from runwatch.tui.core.rendering import to_lines
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText


class ListPane(Pane):
    """The pane of a list. A failed read keeps the rows and is reported below them."""

    DEFAULT_CSS = """
    ListPane {
        & > #trouble {
            display: none;
            height: auto;
            max-height: 6;
            padding: 0 1 0 2;
            color: $role-bad;
            background: $background;
        }
        &.-troubled > #trouble {
            display: block;
        }
    }
    """

    def __init__(self, table: RecordTable, *, id: str | None = None) -> None:
        self._trouble: Final = Static(id="trouble")
        super().__init__(table, self._trouble, id=id)
        self._table: Final = table
        self._trouble_lines: tuple[SafeText, ...] = ()

    def show_state_text(self, lines: Sequence[SafeText], *, is_trouble: bool) -> None:
        """Explain an empty table; if it is trouble, also below existing rows, why they are outdated."""
        self._table.empty_text = lines
        trouble = tuple(lines) if is_trouble and self._table.line_count() else ()
        if trouble != self._trouble_lines:
            self._trouble_lines = trouble
            self._trouble.update(to_lines(((text, Role.BAD),) for text in trouble))
            self.set_class(bool(trouble), "-troubled")
