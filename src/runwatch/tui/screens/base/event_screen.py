"""Base of screens with a list of events: context, matches, and one event in the drawer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from runwatch.tui.core.messages import PanelClosed
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.bars.status_bar import KeyHint, StatusBar
from runwatch.view.text.copied_text import copied_json
from runwatch.view.text.format import short_id, time_of_day
from runwatch.view.text.safe_text import json_block, line

if TYPE_CHECKING:
    from runwatch.tui.sources.events.event_tail import EventTail
    from runwatch.tui.widgets.lists.event_log import EventLog
    from runwatch.view.problems.copy_options import CopyOption


_DRAWER_HINTS: Final[Sequence[KeyHint]] = (("screen.copy", "copy event"), ("screen.back", "close"))


class EventScreen(ConsoleScreen):
    """A screen with a list of events; has no style of its own, so that it can be combined with another base class."""

    tail: EventTail

    def show_tail(self) -> None:
        """Update the frame of the events."""

    def focus_tail(self) -> None:
        self.query_one("EventLog").focus()

    def event_copies(self) -> Iterator[CopyOption]:
        """Yield the event at the cursor as JSON, if the events have the focus."""
        from runwatch.tui.widgets.lists.event_log import EventLog

        # The second pane of Runs is filled after the first paint.
        log = next(iter(self.query(EventLog)), None)
        event = self.tail.event(log.cursor) if log is not None and log.has_focus else None
        if event is not None:
            from runwatch.view.problems.copy_options import CopyOption

            yield CopyOption(line("event as JSON"), copied_json(dict(event.raw)))

    def show_hints(self) -> None:
        """Update the hints; a drawer with the focus has its own keys."""
        if self.is_drawer_open and self.query_one("Drawer").has_focus_within:
            self.query_one(StatusBar).show_hints(_DRAWER_HINTS)
        else:
            super().show_hints()

    def on_event_log_follow_changed(self, message: EventLog.FollowChanged) -> None:
        self.show_tail()
        self.show_hints()

    async def on_event_log_resume_asked(self) -> None:
        if self.is_paused:
            await self.run_action("pause")

    def action_toggle_context(self) -> None:
        """Switch between hiding other events and only highlighting matches."""
        self.notify_user(self.tail.toggle_context())

    def action_move_match(self, step: int) -> None:
        """Move to the next match, wrapping around."""
        if not self.tail.move_match(step):
            self.refuse_key("No filter, or no match")

    def on_event_log_line_opened(self, message: EventLog.LineOpened) -> None:
        event = self.tail.event(message.index)
        if event is None:
            return
        from runwatch.tui.widgets.panes.drawer import Drawer

        if not self.query(Drawer):
            # Created when the first event is opened, because most screens never need it.
            self.mount(Drawer(), before="#status")
        drawer = self.query_one(Drawer)
        drawer.display = True
        context = self.console.render_context()
        # The line that was opened scrolls away where the events go on.
        whose = (line(event.id), short_id(event.execution_id, context.glyphs), time_of_day(event.at, context))
        title = line(f"event {f' {context.glyphs.dot} '.join(whose)}")
        drawer.show(title, json_block(dict(event.raw)), copied_json(dict(event.raw)))
        drawer.query("DetailView").first().focus()

    def on_panel_closed(self, message: PanelClosed) -> None:
        self.close_drawer()

    def close_drawer(self) -> bool:
        """Close the drawer and return whether it was open."""
        was_open = self.is_drawer_open
        if was_open:
            self.query_one("Drawer").display = False
            self.focus_tail()
            self.show_hints()
        return was_open

    @property
    def is_drawer_open(self) -> bool:
        return any(drawer.display for drawer in self.query_children("Drawer"))
