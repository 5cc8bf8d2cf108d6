"""Settings: what holds and where it comes from, changed in place; a theme is shown while the cursor stands on it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from runwatch.base.errors import RunwatchError, SettingsError
from runwatch.settings import file
from runwatch.settings.model import Settings
from runwatch.tui.actions import bindings
from runwatch.tui.messages import PanelLeft
from runwatch.tui.profile_tests import key_sources, try_profile
from runwatch.tui.screens.settings_table import SettingsTable
from runwatch.tui.settings_choices import Choice, choice_menu, fault, previewed, removal_menu
from runwatch.tui.themes import Palette, theme_names, theme_titles
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.menu import Menu
from runwatch.tui.widgets.problem_panel import ProblemPanel
from runwatch.tui.widgets.status_line import Hint, StatusLine
from runwatch.tui.widgets.value_editor import ValueEditor
from runwatch.tui.work import start_work
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role
from runwatch.view.resource import Styled
from runwatch.view.settings_row import holds_at_once

if TYPE_CHECKING:
    from runwatch.tui.widgets.record_table import RowOpened


class SettingsScreen(SettingsTable):
    """The screen of the settings."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.test", "screen.copy", "screen.destroy"))
    DEFAULT_CSS = """
    SettingsScreen {
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
        self._before: Palette | None = None

    def body(self) -> Iterable[Widget]:
        """The table, what is said of the row under the cursor, and the line for another value."""
        yield from super().body()
        yield ProblemPanel(id="settings-problem")
        yield ValueEditor(self._fault, id="settings-value")

    def hints(self) -> Sequence[Hint]:
        """What can be done here."""
        return (
            ("list.open", "change"), ("screen.filter", "find"), ("screen.destroy", "default"),
            ("screen.next_tab", "next part"), "screen.test", ("screen.copy", "copy key"), "screen.back", "app.quit",
        )  # fmt: skip

    @property
    def is_at_root(self) -> bool:
        """Whether going back would leave this screen."""
        return not (self.has_class("-editing") or self.has_class("-problem") or not super().is_at_root)

    def on_mount(self) -> None:
        """Show what holds, and find out where keys come from."""
        self.themes = dict.fromkeys(theme_names(self.console.theme_directories), "")
        self.show_rows()
        start_work(self, self._read_again(), "reading the settings")

    # What people do.

    def on_row_opened(self, message: RowOpened) -> None:
        """Change the value, or test the connection of a profile."""
        message.stop()
        row = self.row
        if row is None:
            return
        if row.choices:
            self._before = self.console.palette
            self.put_over(choice_menu(row))
        elif row.edits:
            self.add_class("-editing")
            self.query_one(ValueEditor).edit(row)
        elif row.profile:
            self.action_test()
        else:
            self.query_one("#settings-text").focus()

    def on_menu_highlighted(self, message: Menu.Highlighted) -> None:
        """Show the theme under the cursor at once."""
        message.stop()
        theme = previewed(message.item.target)
        if theme is not None and message.item.off is None:
            self._preview(theme)

    def on_menu_left(self, message: Menu.Left) -> None:
        """Draw everything again as it was drawn before."""
        message.stop()
        self._put_back()

    async def take_choice(self, target: object) -> None:
        """Write what was chosen."""
        if isinstance(target, Choice):
            start_work(self, self._write(target.key, target.value), "writing the settings", group="write")
        else:
            await super().take_choice(target)

    def on_value_editor_kept(self, message: ValueEditor.Kept) -> None:
        """Write what was typed."""
        message.stop()
        start_work(self, self._write(message.key, message.value), "writing the settings", group="write")

    def on_value_editor_left(self, message: ValueEditor.Left) -> None:
        """Go back to the table."""
        message.stop()
        self._close_editor()

    def action_test(self) -> None:
        """Read the account of the profile under the cursor."""
        row = self.row
        if row is None or not row.profile:
            self.say("Put the cursor on a profile to test its connection.", Role.WARN)
            return
        self.tests[row.profile] = Styled(line(f"testing{self.console.glyphs.ellipsis}"), Role.LIVE)
        self.show_rows()
        start_work(self, self._test(row.profile), "testing the connection", group="test", exclusive=True)

    def action_destroy(self) -> None:
        """Take what the row shows out of the file, once a person has confirmed it: its default holds then."""
        row = self.row
        if row is None or not row.removes:
            self.say("The file holds nothing here that could be taken out.", Role.WARN)
            return
        self.put_over(removal_menu(row))

    async def action_copy(self) -> None:
        """Copy the key of the setting."""
        row = self.row
        if row is not None and row.edits:
            await self.console.copy_text(row.edits, line("key of the setting"))

    def on_panel_left(self, message: PanelLeft) -> None:
        """Close the problem."""
        message.stop()
        self.action_back()

    def action_refresh(self) -> None:
        """Read the file again."""
        start_work(self, self._read_again(), "reading the settings")

    def action_back(self) -> None:
        """One level."""
        if self.has_class("-problem"):
            self.remove_class("-problem")
            self.table.focus()
            self.show_hints()
        elif self.has_class("-editing"):
            self._close_editor()
        else:
            super().action_back()

    # Inside.

    def _close_editor(self) -> None:
        self.remove_class("-editing")
        self.table.focus()
        self.show_hints()

    async def _read_again(self) -> None:
        console = self.console
        loaded = await asyncio.to_thread(file.load, console.opening.paths.settings_file, clock=console.clock)
        console.take_settings(loaded)
        self.themes = await asyncio.to_thread(theme_titles, console.theme_directories)
        self.query_one(StatusLine).refresh()
        self.show_rows()
        self.key_sources = await key_sources(console)
        self.show_rows()

    async def _write(self, key: str, value: str | None) -> None:
        path = self.console.opening.paths.settings_file
        try:
            if value is None:
                await asyncio.to_thread(file.unset, path, key)
            else:
                await asyncio.to_thread(file.set_value, path, key, value)
        except SettingsError as error:
            self._put_back()
            if self.has_class("-editing"):
                self.query_one(ValueEditor).refuse(line(str(error)))
            else:
                self.say(str(error), Role.BAD)
            return
        self._before = None
        self._close_editor()
        await self._read_again()
        if key == Settings.theme.key:
            self._preview(self.console.settings.theme)
        self.table.select(key)
        done = "taken out of the file" if value is None else "written"
        holds = "holds now" if holds_at_once(key) else "holds from the next start"
        self.say(f"{key} {done}, {holds}")

    async def _test(self, name: str) -> None:
        tried = await try_profile(self.console, name)
        self.tests[name] = tried.word
        if tried.problem is not None:
            panel = self.query_one(ProblemPanel)
            panel.show(tried.problem, next_step=tried.next_step)
            self.add_class("-problem")
            panel.query_one(DetailView).focus()
        elif tried.refused:
            self.say(tried.refused, Role.BAD)
        self.show_rows()

    # Choosing.

    def _preview(self, theme: str) -> None:
        try:
            self.console.take_theme(theme)
        except RunwatchError as error:
            self.say(str(error), Role.BAD)

    def _put_back(self) -> None:
        if self._before is not None:
            self.console.use_palette(self._before)
            self._before = None

    def _fault(self, key: str, value: str) -> str:
        return fault(self.console.loaded.settings, key, value)
