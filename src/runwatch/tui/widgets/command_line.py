"""Where a person says in words what to do: screens, actions and named filters, each found by a few letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from runwatch.base.text import cell_width
from runwatch.tui.command_words import Command, CommandError, Suggestion, read, suggest
from runwatch.tui.draw import content, segment, word
from runwatch.tui.kit import kit
from runwatch.tui.themes import ACCENT
from runwatch.tui.widgets.line_input import LineInput
from runwatch.tui.widgets.line_list import LineList
from runwatch.tui.widgets.overlay import Overlay
from runwatch.tui.widgets.pane import Edge
from runwatch.view.drawn import cut, fit, line
from runwatch.view.glyphs import Role

SHOWN: Final = 8
"""Suggestions in sight at once."""

NAME_CELLS: Final = 32
"""The widest suggestion; longer ones are cut."""


class CommandLine(Overlay):
    """The line. ``enter`` does what is typed or suggested first, ``tab`` completes it, ``esc`` leaves.

    Args:
        commands: What can be typed.
        id: The widget's id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "complete", show=False),
        Binding("down,ctrl+n", "step(1)", "next", show=False),
        Binding("up,shift+tab", "step(-1)", "previous", show=False),
    ]
    DEFAULT_CSS = """
    CommandLine {
        & > LineList {
            max-height: 8;
        }
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
            padding: 0 0 0 2;
        }
    }
    """

    @dataclass
    class Given(Message):
        """A person gave a command; the line is gone from the screen.

        Attributes:
            line: The line.
            command: What to do.
            argument: What was typed behind it.
        """

        line: CommandLine
        command: Command
        argument: str

        @property
        def control(self) -> Widget:
            """The line."""
            return self.line

    def __init__(self, commands: Sequence[Command], *, id: str | None = None) -> None:
        super().__init__(edge=Edge(title=line("Command"), counters=_KEYS), id=id)
        self._commands: Final = tuple(commands)
        self._has_stepped = False

    def compose(self) -> ComposeResult:
        """Suggestions, and the line itself below them."""
        yield _Suggestions(id="command-suggestions")
        with Horizontal():
            yield Static(content((word(":", ACCENT),)), id="command-mark")
            yield LineInput(id="command-text")
            yield Static(id="command-state")

    def on_mount(self) -> None:
        """Suggest everything, and take the keyboard."""
        # Keys typed at once can take the line away again before its parts stand.
        if self.query(LineInput):
            self._suggest("")
            self._input.focus()

    def on_input_changed(self, event: LineInput.Changed) -> None:
        """Suggest what fits."""
        event.stop()
        self._suggest(event.value)

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Do it, or say why not."""
        event.stop()
        self.choose(self._meant(event.value))

    def choose(self, meant: Suggestion | None) -> None:
        """Do what a suggestion says, or go on typing where something is missing."""
        if meant is None:
            return
        if not meant.is_whole:
            self._put(f"{meant.text} ")
            self._say(f"{meant.command.takes} is missing")
            return
        screen = self.screen
        self.leave()
        screen.post_message(self.Given(self, meant.command, meant.argument))

    def action_complete(self) -> None:
        """Take the suggestion into the line."""
        chosen = self._list.chosen
        if chosen is not None:
            self._put(chosen.text + (" " if chosen.command.takes and not chosen.argument else ""))

    def action_step(self, step: int) -> None:
        """Go to another suggestion, round the end."""
        count = self._list.line_count()
        if count:
            self._has_stepped = True
            self._list.move_cursor((self._list.cursor + step) % count)

    # Inside.

    @property
    def _input(self) -> LineInput:
        return self.query_one(LineInput)

    @property
    def _list(self) -> _Suggestions:
        return self.query_one(_Suggestions)

    def _meant(self, text: str) -> Suggestion | None:
        """What enter stands for: the suggestion that was gone to, else the line itself, else the first suggestion."""
        chosen = self._list.chosen
        if chosen is not None and self._has_stepped:
            return chosen
        if not text.strip():
            self.leave()
            return None
        try:
            return read(self._commands, text)
        except CommandError as error:
            if chosen is None:
                self._say(str(error))
            return chosen

    def _suggest(self, text: str) -> None:
        self._has_stepped = False
        found = suggest(self._commands, text)
        self._list.show(found)
        more = len(found) - SHOWN
        self.show_edge(state=(word(f"{more} more" if more > 0 else ""),))
        self._say("")

    def _put(self, text: str) -> None:
        with self.prevent(LineInput.Changed):
            self._input.value = text
        self._input.cursor_position = len(text)
        self._suggest(text)

    def _say(self, reason: str) -> None:
        said = f"{kit(self).glyphs.bad} {reason}" if reason else ""
        self._input.set_class(bool(reason), "-invalid")
        self.query_one("#command-state", Static).update(content(line(said), Role.BAD))


class _Suggestions(LineList, inherit_bindings=False):
    can_focus = False

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._found: Sequence[Suggestion] = ()

    @property
    def chosen(self) -> Suggestion | None:
        return self._found[self.cursor] if self._found else None

    def show(self, found: Sequence[Suggestion]) -> None:
        self._found = found
        self.move_cursor(0)
        self.set_size()
        self.display = bool(found)
        self.refresh(layout=True)

    def line_count(self) -> int:
        return len(self._found)

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        app, found = kit(self), self._found[index]
        mark, command = app.glyphs.ellipsis, found.command
        name = line(found.text if found.argument or not command.takes else f"{found.text} {command.takes}")
        names = min(max(cell_width(line(each.text)) + len(each.command.takes) + 1 for each in self._found), NAME_CELLS)
        keys = cell_width(command.key)
        room = max(0, width - names - keys - 6)
        cursor = line(f"{app.marks.cursor if index == self.cursor else ' '} ")
        return [
            self.piece(cursor, ACCENT, style),
            self.piece(fit(name, names, mark=mark), Role.PLAIN, style),
            segment(line("  "), style),
            self.piece(fit(cut(line(command.help), room, mark), room), Role.QUIET, style),
            segment(line(" "), style),
            self.piece(command.key, ACCENT, style),
        ]

    def cursor_style(self) -> Style:
        """The cursor is drawn as in a list that has the focus, because the keys for it work while one types."""
        return self.get_component_rich_style("line-list--cursor")

    def line_chosen(self) -> None:
        parent = self.parent
        assert isinstance(parent, CommandLine)
        parent.choose(self.chosen)

    async def on_click(self, event: object) -> None:
        """A click is a choice; the list above has put the cursor there by then."""
        self.call_next(self.line_chosen)


_KEYS: Final = (word("enter does it  tab completes  esc leaves"),)
