"""The table of settings: value, source and meaning, with a search and jumps between parts."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import label_span
from runwatch.tui.screens.registry import PAGE_CLASSES
from runwatch.tui.screens.settings.settings_menus import list_keyed_actions
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.sections import DetailSection
from runwatch.view.resources.registry import RESOURCES
from runwatch.view.settings.page import search_rows, settings_rows
from runwatch.view.settings.rows import COLUMNS, SettingsContext, SettingsRow
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText


class SettingsTableScreen(ConsoleScreen):
    """The table, with a description of the row under the cursor below it.

    Attributes:
        themes: Titles of the themes by name.
        key_sources: Source of the key by profile.
        tests: Result of the last connection test by profile.
    """

    BINDINGS = make_bindings("screen.filter", "screen.next_tab", "screen.previous_tab")
    CRUMBS = ("Settings",)
    AUTO_FOCUS = "#settings-table"
    DEFAULT_CSS = """
    SettingsTableScreen {
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
        self.tests: dict[str, StyledText] = {}
        self._rows: list[SettingsRow] = []
        self._words = ""

    def body(self) -> Iterable[Widget]:
        """Create the table, the description and the search line."""
        yield Pane(RecordTable(COLUMNS, id="settings-table"), id="settings-list")
        yield Pane(DetailView(id="settings-text"), id="settings-about")
        yield FilterBar(id="settings-filter")

    @property
    def table(self) -> RecordTable:
        return self.query_one(RecordTable)

    @property
    def row(self) -> SettingsRow | None:
        return next((row for row in self._rows if row.key == self.table.cursor_key), None)

    @property
    def is_at_root(self) -> bool:
        return not (self._is_in_about or self._words)

    def show_rows(self) -> None:
        console = self.console
        target = console.session.target if console.session is not None else None
        around = SettingsContext(
            in_use=target.profile if target else console.profile_name,
            address=target.origin if target else "",
            key_sources={**self.key_sources, **({target.profile: target.key_source} if target else {})},
            tests=self.tests,
            themes=self.themes,
            screens=tuple(dict.fromkeys((*(spec.name for spec in RESOURCES if spec.has_screen), *PAGE_CLASSES))),
            actions=list_keyed_actions(console.keys),
            glyphs=console.glyphs,
        )
        rows = settings_rows(console.resolver, console.loaded, around)
        before, self._rows = self._rows, search_rows(rows, self._words)
        # Rows keep their keys when their content changes, such as a source that becomes known later.
        if self._rows != before:
            self.table.measure_again()
        self.table.show(self._rows)
        problems = len(console.loaded.problems)
        state = label_span(f"{problems} problem{'s' * (problems != 1)} in the file" if problems else "", Role.BAD)
        self.query_one("#settings-list", Pane).set_border_text(
            title=line("Settings"), state=(state,), age=line(str(console.launch.paths.settings_file))
        )
        self._show_about()

    def session_opened(self) -> None:
        """Show the service and the source of its key."""
        self.show_rows()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Do nothing: settings do not depend on records."""

    # User input.

    def on_record_table_row_highlighted(self, message: RecordTable.RowHighlighted) -> None:
        message.stop()
        self._show_about()

    def on_record_table_sort_requested(self, message: RecordTable.SortRequested) -> None:
        """Ignore the request: the order is that of the documentation."""
        message.stop()

    def action_filter(self) -> None:
        """Show only rows that contain the typed text in key, value or description."""
        self.add_class("-filtering")
        self.query_one(FilterBar).edit(self._words)

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        """Search while the user types."""
        message.stop()
        self._find(message.text)

    def on_filter_bar_submitted(self, message: FilterBar.Submitted) -> None:
        message.stop()
        self._find(message.text)
        self._close_filter()

    def on_filter_bar_cancelled(self, message: FilterBar.Cancelled) -> None:
        message.stop()
        self._find("")
        self._close_filter()

    def action_back(self) -> None:
        """Go back one level: from the description, then from the search."""
        if self._is_in_about:
            self.table.focus()
        elif self._words:
            self._find("")
        else:
            super().action_back()

    # Internal.

    @property
    def _is_in_about(self) -> bool:
        return self.query_one("#settings-about").has_focus_within

    def _show_about(self) -> None:
        row = self.row
        view = self.query_one("#settings-text", DetailView)
        view.show([] if row is None else [DetailSection(line(""), row.about)])
        shown = line(row.key if row is not None and row.edits else "")
        self.query_one("#settings-about", Pane).set_border_text(title=shown)

    def _find(self, words: str) -> None:
        self._words = words.strip()
        self.show_rows()
        self.show_crumbs((label_span("find "), label_span(self._words, Role.PLAIN)) if self._words else None)
        if self.has_class("-filtering"):
            found = sum(not row.is_heading for row in self._rows)
            self.query_one(FilterBar).show_count(line(f"{found} found"))

    def _close_filter(self) -> None:
        self.remove_class("-filtering")
        self.table.focus()

    def action_step_tab(self, step: int) -> None:
        cursor = next((place for place, row in enumerate(self._rows) if row.key == self.table.cursor_key), 0)
        starts = [place for place, row in enumerate(self._rows) if row.is_heading]
        ahead = [place for place in starts if (place > cursor if step > 0 else place < cursor)]
        if ahead:
            self.table.select(self._rows[ahead[0] if step > 0 else ahead[-1]].key)
