"""Settings: effective values and their sources, edited in place. A theme is previewed while the cursor is on it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from textual.widget import Widget

from runwatch.base.errors import RunwatchError, SettingsError
from runwatch.base.text import cell_width
from runwatch.settings import settings_file
from runwatch.settings.declarations import Settings
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import PanelClosed
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.core.themes import Palette, describe_themes, theme_names
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.connection_test import key_sources_text, run_connection_test
from runwatch.tui.screens.registry import PAGE_CLASSES
from runwatch.tui.screens.settings.settings_menus import (
    choice_menu,
    list_keyed_actions,
    removal_menu,
    validate_setting,
)
from runwatch.tui.shell.console_screen import ConsoleScreen, action_of
from runwatch.tui.widgets.bars.bar import MARGIN
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.bars.status_bar import KeyHint, StatusBar
from runwatch.tui.widgets.inputs.value_editor import ValueEditor
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from runwatch.view.detail.sections import DetailSection
from runwatch.view.resources.registry import RESOURCES
from runwatch.view.settings.page import search_rows, settings_rows
from runwatch.view.settings.rows import COLUMNS, SettingsContext, SettingsRow, effect_text
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText

ALL_ROWS: Final = 1_000
"""More settings than there are: each of them decides how wide the columns are, as the last part has the longest."""

_CHANGING: Final = frozenset({"list.open", "screen.destroy"})
"""Keys that change settings."""


class SettingsScreen(ConsoleScreen):
    """The table of settings, with a description of the row under the cursor below it.

    Attributes:
        themes: Titles of the themes by name.
        key_sources: Source of the key by profile.
        tests: Result of the last connection test by profile.
    """

    BINDINGS = make_bindings(
        "screen.test", "screen.copy", "screen.destroy", "screen.filter", "screen.next_tab", "screen.previous_tab"
    )
    HINTS = (
        ("list.open", "change"), ("screen.filter", "find"), ("screen.destroy", "remove"),
        ("screen.next_tab", "next part"), "screen.test", ("screen.copy", "copy key"), "screen.back", "app.quit",
    )  # fmt: skip
    CRUMBS = ("Settings",)
    AUTO_FOCUS = "#settings-table"
    DEFAULT_CSS = """
    SettingsScreen {
        & #settings-list {
            height: 1fr;
        }
        & #settings-about {
            height: 8;
        }
        & ProblemPanel {
            height: 12;
            display: none;
        }
        & ValueEditor {
            display: none;
        }
        &.-editing ValueEditor {
            display: block;
        }
        &.-problem ProblemPanel {
            display: block;
        }
        &.-problem #settings-about {
            display: none;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.themes: dict[str, str] = {}
        self.key_sources: dict[str, str] = {}
        self.tests: dict[str, StyledText] = {}
        self._all_rows: list[SettingsRow] = []
        self._rows: list[SettingsRow] = []
        self._words = ""
        self._before: Palette | None = None

    def body(self) -> Iterable[Widget]:
        yield Pane(RecordTable(COLUMNS, measured_rows=ALL_ROWS, id="settings-table"), id="settings-list")
        yield Pane(DetailView(id="settings-text"), id="settings-about")
        yield FilterBar(id="settings-filter")
        yield ProblemPanel(id="settings-problem")
        yield ValueEditor(self._fault, self._start_write, self._close_editor)

    @property
    def is_at_root(self) -> bool:
        return not (self.has_class("-editing") or self.has_class("-problem") or self._is_in_about or self._words)

    def offers(self, id: str) -> bool:
        """Return whether a key action works here: in a browser settings cannot be changed, with a read-only profile
        they can.
        """
        return not self.console.is_web if id in _CHANGING else super().offers(id)

    def hints(self) -> Sequence[KeyHint]:
        """Return the hints without the keys that do nothing with the row at the cursor."""
        row = self.row
        works = {
            "list.open": row is not None and bool(row.choices or row.edits),
            "screen.destroy": row is not None and bool(row.removes),
            "screen.test": row is not None and bool(row.profile),
            "screen.copy": row is not None and bool(row.edits),
        }
        return [hint for hint in self.HINTS if works.get(action_of(hint), True)]

    def show_hints(self) -> None:
        """Update the hints; while a value is typed, those of its line, because other keys are text."""
        editor = self.query_one(ValueEditor)
        if editor.has_focus_within:
            self.query_one(StatusBar).show_hints(editor.hints, is_prompt=True)
        else:
            super().show_hints()

    def on_value_editor_hints_changed(self) -> None:
        self.show_hints()

    def on_mount(self) -> None:
        """Show the values, and look up the sources of keys."""
        self.themes = dict.fromkeys(theme_names(self.console.theme_directories), "")
        self.show_rows()
        start_worker(self, self._read_again(), "reading the settings")

    @property
    def table(self) -> RecordTable:
        return self.query_one(RecordTable)

    @property
    def row(self) -> SettingsRow | None:
        return next((row for row in self._rows if row.key == self.table.cursor_key), None)

    def show_rows(self) -> None:
        console = self.console
        target = console.session.target if console.session is not None else None
        in_use = target.profile if target else "" if console.has_file else console.profile_name
        key_sources = dict(self.key_sources)
        if target is not None:
            key_sources[in_use] = target.key_source
        elif console.failure is not None:
            # The key of a service without a profile is known once it is connected.
            key_sources.setdefault(in_use, "not connected")
        around = SettingsContext(
            in_use=in_use,
            address=target.origin if target else "",
            key_sources=key_sources,
            tests=self.tests,
            themes=self.themes,
            screens=tuple(dict.fromkeys((*(spec.name for spec in RESOURCES if spec.has_screen), *PAGE_CLASSES))),
            actions=list_keyed_actions(console.keys),
            refused_commands=console.command_keys.refused,
            glyphs=console.glyphs,
        )
        rows = settings_rows(console.resolver, console.loaded, around)
        before, self._all_rows = self._all_rows, rows
        self._rows = search_rows(rows, self._words)
        # Rows keep their keys when their content changes, such as a source that becomes known later.
        if rows != before or not self._words:
            self.table.measure_again()
        clears = f"{console.keys.shown('screen.back')} shows all settings"
        self.table.empty_text = (line(f"No setting has {self._words} in its key, value or description."), line(clears))
        self.table.show(self._rows)
        problems = len(console.loaded.problems)
        state = label_span(f"{problems} problem{'s' * (problems != 1)} in the file" if problems else "", Role.BAD)
        self.query_one("#settings-list", Pane).set_border_text(
            title=line(f"Settings{' of this machine, not of the file' * console.has_file}"),
            state=(state,),
            age=line(str(console.launch.paths.settings_file)),
        )
        self._show_about()
        self.show_hints()

    def session_opened(self) -> None:
        self.show_rows()

    def select_setting(self, key: str) -> None:
        self.filter_typed("")
        self.table.select(key)

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Do nothing: settings do not depend on records."""

    # User input.

    def on_record_table_row_opened(self, message: RecordTable.RowOpened) -> None:
        """Edit the value, or test the connection of a profile."""
        row = self.row
        if row is None or ((row.choices or row.edits) and not self._may_change()):
            return
        if row.choices:
            self._before = self.console.palette
            self.open_overlay(choice_menu(row, self._start_write, self._preview, self._put_back))
        elif row.edits:
            self.add_class("-editing")
            self.query_one(ValueEditor).edit(row)
        elif row.profile:
            self.action_test()
        else:
            self.query_one("#settings-text").focus()

    def _start_write(self, key: str, value: str | None) -> None:
        start_worker(self, self._write(key, value), "writing the settings", group="write")

    def action_test(self) -> None:
        """Test the connection of the profile under the cursor by reading its account."""
        row = self.row
        if row is None or not row.profile:
            self.notify_user("Put the cursor on a profile to test its connection.", Role.WARN)
            return
        self.tests[row.profile] = StyledText(line(f"testing{self.console.glyphs.ellipsis}"), Role.LIVE)
        self.show_rows()
        start_worker(self, self._test(row.profile), "testing the connection", group="test", exclusive=True)

    def action_destroy(self) -> None:
        """Remove the row's key from the file after confirmation; its default then applies."""
        row = self.row
        if not self._may_change():
            return
        if row is None or not row.removes:
            self.notify_user("The file sets nothing here that could be removed.", Role.WARN)
            return
        self.open_overlay(removal_menu(row, self._start_write))

    async def action_copy(self) -> None:
        await self.copy_word(None if self.row is None else self.row.edits, "key of the setting")

    def on_panel_closed(self, message: PanelClosed) -> None:
        self.action_back()

    def action_refresh(self) -> None:
        start_worker(self, self._read_again(), "reading the settings")

    def action_back(self) -> None:
        if self.has_class("-problem"):
            self.remove_class("-problem")
            self.table.focus()
            self.show_hints()
        elif self.has_class("-editing"):
            self._close_editor()
        elif self._is_in_about:
            self.table.focus()
        elif self._words:
            self.filter_typed("")
        else:
            super().action_back()

    def on_record_table_row_highlighted(self, message: RecordTable.RowHighlighted) -> None:
        self._show_about()
        self.show_hints()

    def action_filter(self) -> None:
        """Show only rows that contain the typed text in key, value or description."""
        self.add_class("-filtering")
        self.query_one(FilterBar).edit(self._words)

    def action_step_tab(self, step: int) -> None:
        cursor = next((index for index, row in enumerate(self._rows) if row.key == self.table.cursor_key), 0)
        starts = [index for index, row in enumerate(self._rows) if row.is_heading]
        ahead = [index for index in starts if (index > cursor if step > 0 else index < cursor)]
        if ahead:
            self.table.move_cursor_to_top(ahead[0] if step > 0 else ahead[-1])
        else:
            self.refuse_key(f"This is the {'last' if step > 0 else 'first'} part.")

    def _close_editor(self) -> None:
        self.remove_class("-editing")
        self.table.focus()
        self.show_hints()

    async def _read_again(self) -> None:
        console = self.console
        loaded = await asyncio.to_thread(
            settings_file.load_settings_file, console.launch.paths.settings_file, clock=console.clock
        )
        console.apply_settings(loaded)
        self.themes = await asyncio.to_thread(describe_themes, console.theme_directories)
        self.query_one(StatusBar).refresh()
        self.show_rows()
        self.key_sources = await key_sources_text(console)
        self.show_rows()

    def _may_change(self) -> bool:
        """Return whether settings can be changed here; otherwise say why not."""
        if self.console.is_web:
            # The file names programs that this machine runs, and other users' addresses.
            self.notify_user("A browser changes no settings; do it where 'runwatch web' runs.", Role.WARN)
        return not self.console.is_web

    async def _write(self, key: str, value: str | None) -> None:
        path = self.console.launch.paths.settings_file
        if not self._may_change():
            return
        try:
            if value is None:
                await asyncio.to_thread(settings_file.remove_setting, path, key)
            else:
                await asyncio.to_thread(settings_file.write_setting, path, key, value)
        except SettingsError as error:
            self._put_back()
            if self.has_class("-editing"):
                self.query_one(ValueEditor).refuse(line(str(error)))
            else:
                self.notify_user(str(error), Role.BAD)
            return
        self._before = None
        self._close_editor()
        await self._read_again()
        if key == Settings.theme.key:
            self._preview(self.console.settings.theme)
        self.table.select(key)
        done = line(f"{key} {'removed from the file' if value is None else 'written'}")
        said = line(f"{done}, holds {effect_text(key)}")
        # The description of the row says too when it holds.
        self.notify_user(said if cell_width(said) <= self.size.width - 2 * MARGIN else done)

    async def _test(self, name: str) -> None:
        tried = await run_connection_test(self.console, name)
        self.tests[name] = tried.word
        if tried.problem is not None:
            panel = self.query_one(ProblemPanel)
            panel.show(tried.problem, next_step=tried.next_step)
            self.add_class("-problem")
            panel.query_one(DetailView).focus()
        elif tried.refused:
            self.notify_user(tried.refused, Role.BAD)
        self.show_rows()

    @property
    def _is_in_about(self) -> bool:
        return self.query_one("#settings-about").has_focus_within

    def _show_about(self) -> None:
        row = self.row
        view = self.query_one("#settings-text", DetailView)
        view.show([] if row is None else [DetailSection(line(""), row.about)])
        shown = line(row.key if row is not None and row.edits else "")
        self.query_one("#settings-about", Pane).set_border_text(title=shown)

    def crumbs_note(self) -> StyledSpans | None:
        return (label_span("find "), label_span(self._words, Role.PLAIN)) if self._words else None

    def filter_typed(self, text: str) -> None:
        self._words = text.strip()
        self.show_rows()
        self.show_crumbs()
        first = next((row.key for row in self._rows if not row.is_heading), None)
        if self._words and first is not None and (self.row is None or self.row.is_heading):
            self.table.select(first)
        if self.has_class("-filtering"):
            found = sum(not row.is_heading for row in self._rows)
            self.query_one(FilterBar).show_count(line(f"{found} found"))

    def close_filter(self) -> None:
        super().close_filter()
        self.table.focus()

    # Themes and validation.

    def _preview(self, theme: str) -> None:
        try:
            self.console.apply_theme(theme)
        except RunwatchError as error:
            self.notify_user(str(error), Role.BAD)

    def _put_back(self) -> None:
        if self._before is not None:
            self.console.apply_palette(self._before)
            self._before = None

    def _fault(self, key: str, value: str) -> str:
        return validate_setting(self.console.loaded.settings, key, value)
