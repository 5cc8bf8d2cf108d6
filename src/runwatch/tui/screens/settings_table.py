"""The table of the settings: what holds, where it comes from and what it means, found by words and by parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from runwatch.tui.actions import bindings
from runwatch.tui.draw import word
from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.screens.places import PAGES
from runwatch.tui.settings_choices import keyed_actions
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.filter_bar import FilterBar, FilterChanged, FilterKept, FilterLeft
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.record_table import HeaderClicked, RecordTable, RowHighlighted
from runwatch.view.detail import Section
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role
from runwatch.view.registry import RESOURCES
from runwatch.view.resource import Styled
from runwatch.view.settings_row import COLUMNS, Around, SettingsRow
from runwatch.view.settings_rows import matching, settings_rows


class SettingsTable(ConsoleScreen):
    """The table, and below it what is said of the row under the cursor.

    Attributes:
        themes: Names of the themes there are, each with its title.
        key_sources: Where the key of each profile comes from.
        tests: What came of the last test of a profile's connection.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "screen", only=("screen.filter", "screen.next_tab", "screen.previous_tab")
    )
    AUTO_FOCUS = "#settings-table"
    DEFAULT_CSS = """
    SettingsTable {
        & #settings-list {
            height: 1fr;
        }
        & #settings-about {
            height: 8;
        }
        & FilterBar {
            display: none;
        }
        &.-filtering FilterBar {
            display: block;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.themes: dict[str, str] = {}
        self.key_sources: dict[str, str] = {}
        self.tests: dict[str, Styled] = {}
        self._rows: list[SettingsRow] = []
        self._words = ""

    def body(self) -> Iterable[Widget]:
        """The table, what is said of the row under the cursor, and the line in which words are typed."""
        yield Pane(RecordTable(COLUMNS, id="settings-table"), id="settings-list")
        yield Pane(DetailView(id="settings-text"), id="settings-about")
        yield FilterBar(id="settings-filter")

    def crumbs(self) -> Sequence[str]:
        """The name."""
        return ("Settings",)

    @property
    def table(self) -> RecordTable:
        """The table."""
        return self.query_one(RecordTable)

    @property
    def row(self) -> SettingsRow | None:
        """The row under the cursor."""
        return next((row for row in self._rows if row.key == self.table.cursor_key), None)

    @property
    def is_at_root(self) -> bool:
        """Whether going back would leave this screen."""
        return not (self._is_in_about or self._words)

    def show_rows(self) -> None:
        """Draw the table anew."""
        console = self.console
        target = console.desk.target if console.desk is not None else None
        around = Around(
            in_use=target.profile if target else console.profile_name,
            address=target.origin if target else "",
            key_sources={**self.key_sources, **({target.profile: target.key_source} if target else {})},
            tests=self.tests,
            themes=self.themes,
            screens=tuple(dict.fromkeys((*(spec.name for spec in RESOURCES if spec.has_screen), *PAGES))),
            actions=keyed_actions(console.keys),
            glyphs=console.glyphs,
        )
        rows = settings_rows(console.resolver, console.loaded, around)
        before, self._rows = self._rows, matching(rows, self._words)
        # The rows keep their keys when the service has told where they come from.
        if self._rows != before:
            self.table.measure_again()
        self.table.show(self._rows)
        problems = len(console.loaded.problems)
        state = word(f"{problems} problem{'s' * (problems != 1)} in the file" if problems else "", Role.BAD)
        self.query_one("#settings-list", Pane).show_edge(
            title=line("Settings"), state=(state,), age=line(str(console.opening.paths.settings_file))
        )
        self._show_about()

    def desk_opened(self) -> None:
        """Say which service it is and where its key comes from."""
        self.show_rows()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Nothing here depends on records."""

    # What people do.

    def on_row_highlighted(self, message: RowHighlighted) -> None:
        """Say what the row means."""
        message.stop()
        self._show_about()

    def on_header_clicked(self, message: HeaderClicked) -> None:
        """Keep the order, which is that of the documentation."""
        message.stop()

    def action_filter(self) -> None:
        """Show only the rows that hold what is typed: in the key, the value or what is said of it."""
        self.add_class("-filtering")
        self.query_one(FilterBar).edit(self._words)

    def on_filter_changed(self, message: FilterChanged) -> None:
        """Find while a person types."""
        message.stop()
        self._find(message.text)

    def on_filter_kept(self, message: FilterKept) -> None:
        """Go to the rows that were found."""
        message.stop()
        self._find(message.text)
        self._close_filter()

    def on_filter_left(self, message: FilterLeft) -> None:
        """Go back to all rows."""
        message.stop()
        self._find("")
        self._close_filter()

    def action_next_tab(self) -> None:
        """Go to the next part of the table."""
        self._to_part(1)

    def action_previous_tab(self) -> None:
        """Go to the part before."""
        self._to_part(-1)

    def action_back(self) -> None:
        """One level: out of what is said, then back to all rows."""
        if self._is_in_about:
            self.table.focus()
        elif self._words:
            self._find("")
        else:
            super().action_back()

    # Inside.

    @property
    def _is_in_about(self) -> bool:
        return self.query_one("#settings-about").has_focus_within

    def _show_about(self) -> None:
        row = self.row
        view = self.query_one("#settings-text", DetailView)
        view.show([] if row is None else [Section(line(""), row.about)])
        shown = line(row.key if row is not None and row.edits else "")
        self.query_one("#settings-about", Pane).show_edge(title=shown)

    def _find(self, words: str) -> None:
        self._words = words.strip()
        self.show_rows()
        self.show_crumbs((word("find "), word(self._words, Role.PLAIN)) if self._words else None)
        if self.has_class("-filtering"):
            found = sum(not row.is_heading for row in self._rows)
            self.query_one(FilterBar).show_count(line(f"{found} found"))

    def _close_filter(self) -> None:
        self.remove_class("-filtering")
        self.table.focus()

    def _to_part(self, step: int) -> None:
        cursor = next((place for place, row in enumerate(self._rows) if row.key == self.table.cursor_key), 0)
        starts = [place for place, row in enumerate(self._rows) if row.is_heading]
        ahead = [place for place in starts if (place > cursor if step > 0 else place < cursor)]
        if ahead:
            self.table.select(self._rows[ahead[0] if step > 0 else ahead[-1]].key)
