"""Looking at a Textual app that runs without a terminal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any, TypeVar

from rich.cells import _is_single_cell_widths, cell_len
from textual.app import App
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from runwatch.tui.core.messages import CopyRequested, HintClicked, PanelClosed, WorkerFailed
from runwatch.tui.core.widget_app import WidgetApp
from runwatch.tui.widgets.bars.breadcrumbs import Breadcrumbs
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.bars.status_bar import StatusBar
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.lists.link_lines import LinkLines
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from runwatch.view.text.glyphs import ASCII, UNICODE
from tests.support.clock import FakeClock
from tests.tui import samples
from tests.tui.frames import frames_left_out

A = TypeVar("A", bound=App[Any])

OBSERVED = (
    CopyRequested, HintClicked, PanelClosed, WorkerFailed, ConfirmDialog.Closed,
    Breadcrumbs.LevelClicked, DetailView.LinkOpened, LinkLines.LinkOpened, ProblemPanel.NextStepRequested,
    FilterBar.Changed, FilterBar.Submitted, FilterBar.Cancelled, EventLog.FollowChanged,
    EventLog.LineOpened, RecordTable.RowHighlighted, RecordTable.RowOpened,
    RecordTable.SideReached, RecordTable.SortRequested, StatusBar.RestRequested,
)  # fmt: skip


class Sent:
    """What a dialog has sent: only its number."""

    def __init__(self) -> None:
        self.times = 0

    def send(self) -> None:
        self.times += 1

    def send_now(self) -> None: ...

    def leave(self) -> None: ...


class Stage(WidgetApp):
    """An app around the widgets of one test, which notes what they tell.

    Args:
        widgets: The widgets, from top to bottom.
        ascii: Whether the ASCII glyphs are used.

    Attributes:
        told: Every message of our own that reached the app, in order.
        sent: What its dialog has sent.
    """

    def __init__(self, *widgets: Widget, ascii: bool = False, **more: Any) -> None:
        self.time = FakeClock(samples.NOON)
        super().__init__(glyphs=ASCII if ascii else UNICODE, clock=self.time, **more)
        self._given = widgets
        self.told: list[Message] = []
        self.sent = Sent()

    def compose(self) -> list[Widget]:
        return list(self._given)

    async def _on_message(self, message: Message) -> None:
        if isinstance(message, OBSERVED):
            self.told.append(message)
        await super()._on_message(message)

    def told_of(self, kind: type[Message]) -> list[Any]:
        return [message for message in self.told if isinstance(message, kind)]


@asynccontextmanager
async def running(
    app: A, size: tuple[int, int] = (80, 20), *, draws_frames: bool = False
) -> AsyncIterator[tuple[A, Pilot[Any]]]:
    """The app while it runs, without frames unless told otherwise, and what presses its keys."""
    with nullcontext() if draws_frames else frames_left_out():
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield app, pilot


def lines_of(app: App[Any]) -> list[str]:
    """The rows of the screen as text."""
    compositor = app.screen._compositor
    width, height = compositor.size
    rows = [[" "] * width for _ in range(height)]
    # The widgets come from the front to the back; a wide character fills its second cell with nothing.
    for region, clip, strips in reversed(list(compositor._get_renders(compositor.size.region))):
        left, top, columns, _ = region.intersection(clip)
        for y, strip in enumerate(strips, top):
            row = rows[y]
            cells = _cells(strip.text)[:columns]
            if left and row[left] == "":
                row[left - 1] = " "
            row[left : left + len(cells)] = cells
            if left + len(cells) < width and row[left + len(cells)] == "":
                row[left + len(cells)] = " "
    lines = ["".join(row).rstrip() for row in rows]
    # As the driver writes it.
    translation = getattr(app, "translation", None)
    return lines if translation is None else [line.translate(translation) for line in lines]


def _cells(text: str) -> list[str]:
    """A text by cells: a character without width joins the one before it."""
    if _is_single_cell_widths(text):
        return list(text)
    cells: list[str] = []
    for character in text:
        size = cell_len(character)
        if size or not cells:
            cells += [character, ""][:size]
        else:
            cells[-1 if cells[-1] else -2] += character
    return cells


def text_of(app: App[Any]) -> str:
    return "\n".join(lines_of(app))
