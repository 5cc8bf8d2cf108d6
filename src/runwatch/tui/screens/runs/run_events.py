"""Events that an opened file has without their run, as a list of their own."""

from __future__ import annotations

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.view.resources.events import EVENTS
from runwatch.view.text.glyphs import Role


class FileEventsScreen(ResourceScreen):
    BINDINGS = make_bindings("screen.replay")
    HINTS = (
        "list.open", "screen.filter", "screen.copy", "screen.replay", "screen.raw", "screen.time", "app.quit",
    )  # fmt: skip

    def __init__(self, source: RowSource) -> None:
        super().__init__(EVENTS, source)

    def action_replay(self) -> None:
        from runwatch.tui.screens.runs.replay import replay_view

        run_id = None if self.row is None else self.row.subject.execution_id
        if run_id:
            self.go_to_view_later(replay_view(run_id))
        else:
            self.notify_user("This event names no run to replay.", Role.WARN)
