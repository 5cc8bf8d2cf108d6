"""What widgets tell the screens they stand in: things that happened, in the past tense.

Every message of a widget carries it as ``widget``; ``control`` is the same, under the name by which Textual binds a
handler to one widget of a screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from runwatch.view.drawn import Drawn

if TYPE_CHECKING:
    from runwatch.tui.widgets.crumb_bar import CrumbBar
    from runwatch.tui.widgets.detail_view import DetailView
    from runwatch.tui.widgets.event_log import EventLog
    from runwatch.tui.widgets.filter_bar import FilterBar
    from runwatch.tui.widgets.problem_panel import ProblemPanel
    from runwatch.tui.widgets.record_table import RecordTable
    from runwatch.tui.widgets.sheet import Sheet


@dataclass(eq=False, repr=False)
class FromWidget(Message):
    """Something that a widget tells.

    Attributes:
        widget: The widget.
    """

    widget: Widget

    @property
    def control(self) -> Widget:
        """The widget."""
        return self.widget


@dataclass(eq=False, repr=False)
class RowHighlighted(FromWidget):
    """The cursor of a table came to stand on another row, by a person or because its row went away.

    Attributes:
        row_id: The row's id; ``None`` when the table is empty.
    """

    widget: RecordTable
    row_id: str | None


@dataclass(eq=False, repr=False)
class RowOpened(FromWidget):
    """A person opened a row, with enter or a second click.

    Attributes:
        row_id: The row's id.
    """

    widget: RecordTable
    row_id: str


@dataclass(eq=False, repr=False)
class RowsMarked(FromWidget):
    """The marks of a table changed.

    Attributes:
        row_ids: Every marked row, those that a filter hides included.
    """

    widget: RecordTable
    row_ids: frozenset[str]


@dataclass(eq=False, repr=False)
class HeaderClicked(FromWidget):
    """A person asked for another order: clicked the head of a column, or pressed the key for it.

    Attributes:
        column_id: The column to sort by.
        reverse: Whether the order shall be turned round, because the column is the one sorted by already.
    """

    widget: RecordTable
    column_id: str
    reverse: bool


@dataclass(eq=False, repr=False)
class FollowChanged(FromWidget):
    """A list of events started or stopped following its end.

    Attributes:
        following: Whether it follows now.
    """

    widget: EventLog
    following: bool


@dataclass(eq=False, repr=False)
class LineHighlighted(FromWidget):
    """The cursor of a list of events came to stand on another line.

    Attributes:
        index: The line, counted from 0.
    """

    widget: EventLog
    index: int


@dataclass(eq=False, repr=False)
class LineOpened(FromWidget):
    """A person opened an event.

    Attributes:
        index: The line, counted from 0.
    """

    widget: EventLog
    index: int


@dataclass(eq=False, repr=False)
class MatchWanted(FromWidget):
    """A person asked for the next match of what is searched for; the screen finds it and shows that line.

    Attributes:
        index: The line to search from, exclusive.
        step: 1 forwards, -1 backwards.
    """

    widget: EventLog
    index: int
    step: int


@dataclass(eq=False, repr=False)
class ContextToggled(FromWidget):
    """A person asked to hide what does not match a filter, or to show it around the matches."""

    widget: EventLog


@dataclass(eq=False, repr=False)
class FilterChanged(FromWidget):
    """The text of a filter changed while a person types.

    Attributes:
        text: The text as it stands.
    """

    widget: FilterBar
    text: str


@dataclass(eq=False, repr=False)
class FilterKept(FromWidget):
    """A person keeps the filter and goes back to the rows.

    Attributes:
        text: The filter.
    """

    widget: FilterBar
    text: str


@dataclass(eq=False, repr=False)
class FilterLeft(FromWidget):
    """A person leaves the filter bar, and with it the filter."""

    widget: FilterBar


@dataclass(eq=False, repr=False)
class LinkFollowed(FromWidget):
    """A person opened what a field leads to.

    Attributes:
        link: What the field leads to, as the screen gave it.
    """

    widget: DetailView
    link: object


@dataclass(eq=False, repr=False)
class CopyWanted(FromWidget):
    """A person asked to copy something that is on the screen.

    Attributes:
        what: What it is, for the notice: ``instance``, ``support block``, ``event``.
        text: The exact text to copy.
        several_lines: Whether it may have more than one line; an id may not.
        is_secret: Whether the notice keeps the text to itself.
    """

    what: Drawn
    text: str
    several_lines: bool = False
    is_secret: bool = False


@dataclass(eq=False, repr=False)
class NextStepTaken(FromWidget):
    """A person pressed enter on a problem, to do what it says comes next."""

    widget: ProblemPanel


@dataclass(eq=False, repr=False)
class PanelLeft(FromWidget):
    """A person leaves a panel or a drawer."""


@dataclass(eq=False, repr=False)
class CrumbChosen(FromWidget):
    """A person clicked a level of the path above the panes.

    Attributes:
        level: The level, counted from 0.
    """

    widget: CrumbBar
    level: int


@dataclass(eq=False, repr=False)
class HintChosen(Message):
    """A person clicked a hint of the status line.

    Attributes:
        action: The id of the action.
    """

    action: str


@dataclass(eq=False, repr=False)
class Confirmed(Message):
    """A person wants what a sheet says; the sheet shows from now on that it is being sent.

    Attributes:
        sheet: The sheet.
    """

    sheet: Sheet


@dataclass(eq=False, repr=False)
class AskedAgain(Message):
    """A person wants a request whose outcome is unknown sent again, with the same key and the same body.

    Attributes:
        sheet: The sheet.
    """

    sheet: Sheet


@dataclass(eq=False, repr=False)
class Left(Message):
    """A person left a sheet, which is gone from the screen.

    Attributes:
        sheet: The sheet.
        was_sent: Whether something was sent before, so that records may have changed.
    """

    sheet: Sheet
    was_sent: bool


@dataclass(eq=False, repr=False)
class WorkFailed(Message):
    """Something that ran beside the screen ended with an exception.

    Attributes:
        name: What it was, as the screen named it.
        error: The exception; what was not raised on purpose is in the log already.
    """

    name: str
    error: Exception
