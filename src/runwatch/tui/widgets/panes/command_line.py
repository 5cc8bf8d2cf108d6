"""The line for palette commands: screens, actions and named filters, found by a few letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from runwatch.base.text import cell_width
from runwatch.tui.core.command_parser import (
    CommandError,
    CommandSuggestion,
    PaletteCommand,
    parse_command,
    suggest_commands,
)
from runwatch.tui.core.rendering import label_span, to_content, to_segment
from runwatch.tui.core.themes import ACCENT
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.lists.line_list import LineList
from runwatch.tui.widgets.lists.rows_below import rows_below_text
from runwatch.tui.widgets.panes.overlay import Overlay
from runwatch.tui.widgets.panes.pane import BorderText, TextForms
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, elide_middle, fit, line, truncate

SHOWN: Final = 8
"""Suggestions visible at once; more in a window where they are less than a third of it."""

NAME_CELLS: Final = 24
"""Maximum width of a command in a narrow line, half of a wide one; longer ones are cut."""

ID_CELLS: Final = 36
"""The same for a command with an id."""


class CommandLine(Overlay):
    """The command line. ``enter`` runs the suggestion at the cursor, ``tab`` and ``→`` complete it.

    Args:
        commands: The commands that can be typed.
        recent: Lines run before, the last one first.
        refused: Why words that stand for no command now are refused, by the word.
        filters_rows: Whether the screen below has rows to filter, for words that are no command.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "complete", show=False),
        Binding("down,ctrl+n", "step(1)", "next", show=False),
        Binding("up,shift+tab", "step(-1)", "previous", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
    ]
    DEFAULT_CSS = """
    CommandLine {
        & > Horizontal {
            height: 1;
        }
        & #command-mark {
            width: 2;
        }
        & LineInput {
            width: 1fr;
        }
        & #command-state {
            width: auto;
            max-width: 60%;
            height: 1;
            padding: 0 1 0 2;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
    }
    """

    @dataclass
    class Submitted(Message):
        """The user entered a command and its argument; the command line is closed."""

        command: PaletteCommand
        argument: str

    def __init__(
        self,
        commands: Sequence[PaletteCommand],
        *,
        recent: Sequence[str] = (),
        refused: Mapping[str, SafeText] | None = None,
        filters_rows: bool = True,
        id: str | None = None,
    ) -> None:
        super().__init__(edge=BorderText(title=line("Command"), counters=_KEYS), id=id)
        self._commands: Final = tuple(commands)
        self._recent: Final = tuple(recent)
        self._refused: Final = refused or {}
        self._filters_rows: Final = filters_rows
        self._has_stepped = False

    def compose(self) -> ComposeResult:
        yield _Suggestions(id="command-suggestions")
        with Horizontal():
            yield Static(to_content((label_span(":", ACCENT),)), id="command-mark")
            yield _CommandInput(id="command-text")
            yield Static(id="command-state")

    def on_mount(self) -> None:
        # Queued keys may close the command line before its children are mounted.
        if self.query(LineInput):
            self._suggest("")
            self._input.focus()
            self.watch(self._list, "scroll_y", self._count_rows_later, init=False)

    def on_resize(self, event: events.Resize) -> None:
        for lines in self.query(_Suggestions):
            lines.styles.max_height = max(SHOWN, self.app.size.height // 3)
        self._count_rows_later()

    def on_input_changed(self, event: LineInput.Changed) -> None:
        event.stop()
        self._suggest(event.value)

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.choose(self._meant(event.value))

    def choose(self, meant: CommandSuggestion | None) -> None:
        """Run a suggestion, or let the user type its missing argument."""
        if meant is None:
            return
        if not meant.is_whole:
            self._put(f"{meant.text} ")
            self._say(f"{meant.command.argument_name.partition(' ')[0]} is missing")
            return
        screen = self.screen
        self.close()
        screen.post_message(self.Submitted(meant.command, meant.argument))

    def action_complete(self) -> None:
        chosen = self._list.chosen
        if chosen is not None:
            self._put(chosen.text + (" " if chosen.command.argument_name and not chosen.argument else ""))

    def action_step(self, step: int) -> None:
        """Move to another suggestion, wrapping around."""
        count = self._list.line_count()
        if count:
            self._has_stepped = True
            self._list.move_cursor((self._list.cursor + step) % count)

    def action_page(self, pages: int) -> None:
        """Move by pages, and not beyond an end."""
        self._has_stepped = True
        self._list.action_move_page(pages)

    def go_to_end(self, index: int) -> None:
        """Move to the first suggestion, or to the last one for -1."""
        self._has_stepped = True
        self._list.action_move_to(index)

    def show_help(self) -> None:
        """Show what the command at the cursor does in the frame, if the list has no room for all of it."""
        text = self._list.cut_help
        name, about = label_span("Command   ", Role.PLAIN), (text, Role.QUIET)
        self.set_border_text(title=TextForms(((name, about), (about,))) if text else line("Command"))

    def _count_rows_later(self) -> None:
        self.call_after_refresh(self._count_rows)

    def _count_rows(self) -> None:
        """Say on the frame how many suggestions are below the window."""
        for lines in self.query(_Suggestions):
            self.set_border_text(age=rows_below_text(lines.rows_below if lines.display else 0))

    @property
    def _input(self) -> LineInput:
        return self.query_one(LineInput)

    @property
    def _list(self) -> _Suggestions:
        return self.query_one(_Suggestions)

    def _meant(self, text: str) -> CommandSuggestion | None:
        """Return what enter runs: the suggestion at the cursor. The line closes if nothing was typed or moved to."""
        chosen = self._list.chosen
        if not text.strip() and not self._has_stepped:
            self.close()
            return None
        if chosen is None:
            try:
                return parse_command(self._commands, text)
            except CommandError as error:
                self._say(self._refusal(text) or str(error))
        return chosen

    def _suggest(self, text: str) -> None:
        self._has_stepped = False
        found = suggest_commands(self._commands, text, self._recent)
        self._list.show(found)
        self._count_rows_later()
        self._say("")
        if text.strip(" :") and not found:
            self._show_state(line(self._why_nothing(text)), Role.QUIET)

    def _why_nothing(self, text: str) -> str:
        """Say why there is no suggestion, or what could be typed instead."""
        if refusal := self._refusal(text):
            return refusal
        try:
            parse_command(self._commands, text)
        except CommandError as error:
            reason = str(error).replace("unknown command", "nothing matches", 1)
        else:
            return ""
        if not self._filters_rows or "did you mean" in reason or " takes " in reason:
            return reason
        return f"{reason}; esc, then {get_app(self).keys.shown('screen.filter')} filters rows"

    def _refusal(self, text: str) -> SafeText:
        return self._refused.get(text.strip(" :").casefold(), line(""))

    def _put(self, text: str) -> None:
        with self.prevent(LineInput.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
        self._suggest(text)

    def _say(self, reason: str) -> None:
        said = f"{get_app(self).glyphs.bad} {reason}" if reason else ""
        self._input.set_class(bool(reason), "-invalid")
        self._show_state(line(said), Role.BAD)

    def _show_state(self, text: SafeText, role: Role) -> None:
        """Show a text beside what is typed, in the room that this leaves, or in most of the line."""
        state = self.query_one("#command-state", Static)
        cells = self.app.size.width - self.gutter.width
        state.styles.max_width = max(cells * 3 // 5, cells - cell_width(self._input.value) - _INPUT_CELLS)
        state.update(to_content(text, role))


class _CommandInput(LineInput):
    """The input. A key that would move its cursor beyond the text is one of the suggestions."""

    def action_cursor_right(self, select: bool = False) -> None:
        """Complete at the end of the text, as ``tab`` does."""
        if select or self.cursor_position < len(self.value):
            super().action_cursor_right(select)
        else:
            self._owner.action_complete()

    def action_home(self, select: bool = False) -> None:
        if select or self.cursor_position > 0:
            super().action_home(select)
        else:
            self._owner.go_to_end(0)

    def action_end(self, select: bool = False) -> None:
        if select or self.cursor_position < len(self.value):
            super().action_end(select)
        else:
            self._owner.go_to_end(-1)

    @property
    def _owner(self) -> CommandLine:
        return next(node for node in self.ancestors if isinstance(node, CommandLine))


class _Suggestions(LineList, inherit_bindings=False):
    can_focus = False

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._found: Sequence[CommandSuggestion] = ()

    @property
    def chosen(self) -> CommandSuggestion | None:
        return self._found[self.cursor] if self._found else None

    @property
    def cut_help(self) -> SafeText:
        """What the command at the cursor does, if it is cut."""
        text = line("") if self.chosen is None else self.chosen.about
        return text if self.chosen is not None and cell_width(text) > self._room(self.chosen)[1] else line("")

    def cursor_moved(self) -> None:
        parent = self.parent
        if isinstance(parent, CommandLine):
            parent.show_help()

    def show(self, found: Sequence[CommandSuggestion]) -> None:
        self._found = found
        self.move_cursor(0)
        self.set_size()
        self.display = bool(found)
        self.refresh(layout=True)
        self.cursor_moved()

    def on_resize(self, event: events.Resize) -> None:
        self.cursor_moved()

    def line_count(self) -> int:
        return len(self._found)

    def _room(self, found: CommandSuggestion) -> tuple[int, int]:
        """Return the cells of the names, and of what a command does."""
        names = min(
            max(cell_width(line(each.text)) + len(each.command.argument_name) + 1 for each in self._found),
            max(ID_CELLS if any(each.argument for each in self._found) else NAME_CELLS, self.cells // 2 - 8),
        )
        return names, max(0, self.cells - names - cell_width(found.command.key) - 6)

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        app, found = get_app(self), self._found[index]
        mark, command = app.glyphs.ellipsis, found.command
        name = line(
            found.text if found.argument or not command.argument_name else f"{found.text} {command.argument_name}"
        )
        names, room = self._room(found)
        if found.argument:
            # Ids differ at their end.
            name = elide_middle(name, names, mark)
        cursor = line(f"{app.chrome_glyphs.cursor if index == self.cursor else ' '} ")
        return [
            self.piece(cursor, ACCENT, style),
            self.piece(fit(name, names, mark=mark), Role.PLAIN, style),
            to_segment(line("  "), style),
            self.piece(fit(truncate(found.about, room, mark), room), Role.QUIET, style),
            to_segment(line(" "), style),
            self.piece(command.key, ACCENT, style),
        ]

    def cursor_style(self) -> Style:
        """Draw the cursor as in a focused list, because its keys work while the input has the focus."""
        return self.get_component_rich_style("line-list--cursor")

    def line_opened(self) -> None:
        parent = self.parent
        assert isinstance(parent, CommandLine)
        parent.choose(self.chosen)

    async def on_click(self, event: object) -> None:
        """Choose the clicked line; the base class has moved the cursor there by then."""
        self.call_next(self.line_opened)


_INPUT_CELLS: Final = 4
"""Cells of the mark before the input, its cursor, and a gap."""

_KEYS: Final = (label_span("enter runs it  tab completes  esc closes"),)
