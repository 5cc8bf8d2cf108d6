"""Settings: what holds and where it comes from, changed in place, and profiles whose connection can be tested."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from runwatch.api.errors import ApiError
from runwatch.base.errors import RunwatchError, SettingsError
from runwatch.base.target import Target
from runwatch.settings import file, keys
from runwatch.settings.model import Profile
from runwatch.settings.resolve import Options, Resolver
from runwatch.tui.actions import bindings
from runwatch.tui.draw import word
from runwatch.tui.messages import HeaderClicked, PanelLeft, RowHighlighted, RowOpened
from runwatch.tui.mutations import problem_of
from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.screens.places import PAGES
from runwatch.tui.themes import theme_names
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.problem_panel import ProblemPanel
from runwatch.tui.widgets.record_table import RecordTable
from runwatch.tui.widgets.status_line import Hint, StatusLine
from runwatch.tui.widgets.value_editor import ValueEditor
from runwatch.tui.work import start_work
from runwatch.view.detail import Section
from runwatch.view.drawn import line
from runwatch.view.format import duration
from runwatch.view.glyphs import Role
from runwatch.view.registry import RESOURCES
from runwatch.view.resource import Styled
from runwatch.view.settings_rows import COLUMNS, Around, SettingsRow, holds_at_once, settings_rows


class SettingsScreen(ConsoleScreen):
    """The screen of the settings."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.test", "screen.copy"))
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
        self._rows: list[SettingsRow] = []
        self._key_sources: dict[str, str] = {}
        self._tests: dict[str, Styled] = {}

    def body(self) -> Iterable[Widget]:
        """The table, what is said of the row under the cursor, and the line for another value."""
        yield Pane(RecordTable(COLUMNS, id="settings-table"), id="settings-list")
        yield Pane(DetailView(id="settings-text"), id="settings-about")
        yield ProblemPanel(id="settings-problem")
        yield ValueEditor(id="settings-value")

    def crumbs(self) -> Sequence[str]:
        """The name."""
        return ("Settings",)

    def hints(self) -> Sequence[Hint]:
        """What can be done here."""
        return (("list.open", "change"), "screen.test", ("screen.copy", "copy key"), "screen.back", "app.quit")

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
        return not (self.has_class("-editing") or self.has_class("-problem") or self._is_in_about)

    def on_mount(self) -> None:
        """Show what holds, and find out where keys come from."""
        self.show_rows()
        start_work(self, self._read_again(), "reading the settings")

    def show_rows(self) -> None:
        """Draw the table anew."""
        console = self.console
        target = console.desk.target if console.desk is not None else None
        around = Around(
            in_use=target.profile if target else console.profile_name,
            address=target.origin if target else "",
            key_sources={**self._key_sources, **({target.profile: target.key_source} if target else {})},
            tests=self._tests,
            themes=theme_names(console.theme_directories),
            screens=(*(spec.name for spec in RESOURCES if spec.has_screen), *PAGES),
            glyphs=console.glyphs,
        )
        self._rows = settings_rows(console.resolver, console.loaded, around)
        self.table.show(self._rows)
        problems = len(console.loaded.problems)
        state = word(f"{problems} problem{'s' * (problems != 1)} in the file" if problems else "", Role.BAD)
        self.query_one("#settings-list", Pane).show_edge(
            title=line("Settings"), state=(state,), age=line(str(console.opening.paths.settings_file))
        )
        self._show_about()

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

    def on_row_opened(self, message: RowOpened) -> None:
        """Change the value, or test the connection of a profile."""
        message.stop()
        row = self.row
        if row is None:
            return
        if row.edits:
            self.add_class("-editing")
            self.query_one(ValueEditor).edit(row)
        elif row.profile:
            self.action_test()
        else:
            self.query_one("#settings-text").focus()

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
        self._tests[row.profile] = Styled(line(f"testing{self.console.glyphs.ellipsis}"), Role.LIVE)
        self.show_rows()
        start_work(self, self._test(row.profile), "testing the connection", group="test", exclusive=True)

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
        elif self.has_class("-editing"):
            self._close_editor()
        elif self._is_in_about:
            self.table.focus()
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

    def _close_editor(self) -> None:
        self.remove_class("-editing")
        self.table.focus()

    async def _read_again(self) -> None:
        console = self.console
        loaded = await asyncio.to_thread(file.load, console.opening.paths.settings_file, clock=console.clock)
        console.take_settings(loaded)
        self.query_one(StatusLine).refresh()
        self.show_rows()
        for name, profile in loaded.settings.profiles.items():
            self._key_sources[name] = await asyncio.to_thread(self._key_source, profile)
        self.show_rows()

    def _key_source(self, profile: Profile) -> str:
        """Where a profile's key comes from; a key command is named and not run."""
        if profile.key_command:
            return keys.FROM_COMMAND
        try:
            found = keys.profile_key(profile, self.console.opening.paths.key_file)
        except SettingsError as error:
            return error.title
        return "" if found is None else found.source

    async def _write(self, key: str, value: str | None) -> None:
        path = self.console.opening.paths.settings_file
        try:
            if value is None:
                await asyncio.to_thread(file.unset, path, key)
            else:
                await asyncio.to_thread(file.set_value, path, key, value)
        except SettingsError as error:
            self.query_one(ValueEditor).refuse(line(str(error)))
            return
        self._close_editor()
        await self._read_again()
        self.table.select(key)
        done = "back at its default" if value is None else "written"
        holds = "holds now" if holds_at_once(key) else "holds from the next start"
        self.say(f"{key} {done}, {holds}")

    async def _test(self, name: str) -> None:
        glyphs, clock = self.console.glyphs, self.console.clock
        began = clock.monotonic()
        target: Target | None = None
        try:
            target = await self._target(name)
            words = await _account_words(target)
        except RunwatchError as error:
            self._tests[name] = Styled(line(f"{glyphs.bad} {error.title}"), Role.BAD)
            if isinstance(error, ApiError) and target is not None:
                panel = self.query_one(ProblemPanel)
                next_step = line(error.hint) if error.hint else None
                panel.show(problem_of(error, "getAccount", target, clock.now()), next_step=next_step)
                self.add_class("-problem")
                panel.query_one(DetailView).focus()
            else:
                self.say(" ".join(part for part in (str(error), error.hint) if part), Role.BAD)
        else:
            took = duration(clock.monotonic() - began)
            self._tests[name] = Styled(line(f"{glyphs.good} {words} {glyphs.dot} {took}"), Role.GOOD)
        self.show_rows()

    async def _target(self, name: str) -> Target:
        """The service of a profile with the key of its own; of what is in use without a profile, as it is in use."""
        console = self.console
        if name not in console.loaded.settings.profiles and console.desk is not None:
            return console.desk.target
        resolver = Resolver(Options(profile=name), {}, console.loaded, console.opening.paths)
        return await asyncio.to_thread(resolver.target)


async def _account_words(target: Target) -> str:
    """Read the account with a client of its own and say whose it is.

    Raises:
        ApiError: the service cannot be reached, or refuses.
    """
    # Importing the HTTP library takes longer than a frame, so that it happens beside the loop.
    await asyncio.to_thread(__import__, "httpx")
    from runwatch.api.client import Client

    async with Client(target, read_only=True, retries=0) as client:
        account = await client.get_account()
    whose = account.tenant_id or "an account without an id"
    who = f" as {account.authenticated_principal_id}" if account.authenticated_principal_id else ""
    return f"answers for {line(whose, 60)}{line(who, 60)}"
