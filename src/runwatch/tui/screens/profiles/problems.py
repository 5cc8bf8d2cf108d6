"""Problems of several profiles, from the local journal they share.

Nothing is read from a service. Opening a problem's run switches the console to the problem's profile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from runwatch.records.run import Run
from runwatch.tui.core.rendering import StyledSpan, label_span
from runwatch.tui.flows.profile_switch import open_record_in_profile
from runwatch.tui.screens.problems.problems import ProblemsScreen
from runwatch.tui.screens.profiles.records import MultiProfileBase
from runwatch.tui.sources.journal_source import JournalSource
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.detail_layout import DetailLink
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.table.profile_column import move_profile_column_first
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import age
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console
    from runwatch.tui.widgets.lists.detail_view import DetailView


class MultiProfileProblemsScreen(MultiProfileBase, ProblemsScreen):
    """The journal, each problem with its profile.

    All profiles includes profiles in the journal that are no longer in the settings file.
    """

    # The profile column is never hidden, and at 120 cells the instance fits in both panes.
    DEFAULT_CSS = """
    MultiProfileProblemsScreen {
        & #list {
            width: 14fr;
        }
        & #detail {
            width: 11fr;
        }
    }
    """

    def __init__(self, console: Console) -> None:
        source = JournalSource(PROBLEMS, console.clock, console.session, profiles=self._chosen)
        super().__init__(source, move_profile_column_first(PROBLEMS))

    def usual_share(self) -> float:
        """Return 0: the style sheet says how the panes of several profiles are divided."""
        return 0.0

    def _chosen(self) -> Sequence[str] | None:
        profiles = self.console.profiles
        return None if profiles.are_all_shown else profiles.shown

    def hints(self) -> Sequence[KeyHint]:
        """Return the actions for problems, and going back."""
        return (*(hint for hint in super().hints() if hint != "app.quit"), "screen.back")

    def profiles_chosen(self) -> None:
        if self.is_attached:
            self.resume()
            self.show_crumbs()
            self.read_source()

    def _links(self, row: RecordRow[Any]) -> list[DetailLink]:
        """Return the links; a run in another profile says in which profile it opens."""
        profile = row.subject.profile
        return [
            replace(link, text=line(f"{link.text}   enter goes to {line(profile, 40)}"))
            if self._is_elsewhere(row.subject, link.target)
            else link
            for link in super()._links(row)
        ]

    def form_field(self, entry: ProblemEntry) -> str | None:
        """Return ``None`` for a problem of another profile: the form for runs belongs to the current profile."""
        return super().form_field(entry) if entry.profile == self.console.profile_name else None

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        row = self.row
        if row is None or not self._is_elsewhere(row.subject, message.link):
            return
        message.prevent_default()
        profile = row.subject.profile or ""
        if profile not in self.console.profiles.known:
            self.notify_user(f"{line(profile, 40)} is no longer a profile of the settings file.", Role.WARN)
        else:
            assert isinstance(message.link, tuple)
            open_record_in_profile(self, profile, *message.link)

    def _is_elsewhere(self, entry: ProblemEntry, target: object) -> bool:
        """Return whether a target exists only in another profile. Requests are in the journal of all profiles."""
        is_run = isinstance(target, tuple) and target[0] == Run.KIND
        return is_run and entry.profile != self.console.profile_name

    def _show_edge(self) -> None:
        """Show the number of problems of each profile, and the age of its newest."""
        super()._show_edge()
        entries: list[ProblemEntry] = [row.subject for row in self.listing.shown_rows]
        counts = Counter(entry.profile for entry in entries)
        newest: dict[str | None, datetime] = {}
        for entry in entries:
            if entry.time is not None:
                newest[entry.profile] = max(entry.time, newest.get(entry.profile, entry.time))
        now = self.console.clock.now()
        pieces: list[StyledSpan] = []
        for name in dict.fromkeys((*self.console.profiles.shown, *counts)):
            last = f", last {age(newest[name], now)}" if name in newest else ""
            pieces += [label_span("   ")] if pieces else []
            pieces.append(label_span(f"{line(name, 40)} {counts[name]}{last}"))
        self.query_one("#list", Pane).set_border_text(age=tuple(pieces))
