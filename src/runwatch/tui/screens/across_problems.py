"""Problems of several profiles, from the one journal that this machine keeps for all of them.

Nothing is read from a service. What a problem belongs to is opened in its own profile, with which the console works
from then on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from runwatch.records.run import Run
from runwatch.tui.draw import Piece, word
from runwatch.tui.profile_switch import go_to_record
from runwatch.tui.screens.across import InFront
from runwatch.tui.screens.problems import ProblemsScreen
from runwatch.tui.sources import JournalSource
from runwatch.tui.widgets.detail_rows import DetailLink
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.view.drawn import line
from runwatch.view.entries import ProblemEntry
from runwatch.view.format import age
from runwatch.view.glyphs import Role
from runwatch.view.owners import with_profile_first
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.table import Row

if TYPE_CHECKING:
    from runwatch.tui.console import Console
    from runwatch.tui.widgets.detail_view import LinkFollowed


class AcrossProblemsScreen(InFront, ProblemsScreen):
    """The journal, each problem with its profile.

    All profiles are all that the journal knows, also those that stand in the settings file no longer.

    Args:
        console: The app.
    """

    # The column of the profile never leaves, and in a window of 120 cells the instance is whole in both panes.
    DEFAULT_CSS = """
    AcrossProblemsScreen {
        & #list {
            width: 14fr;
        }
        & #detail {
            width: 11fr;
        }
    }
    """

    def __init__(self, console: Console) -> None:
        source = JournalSource(PROBLEMS, console.clock, console.desk, profiles=self._chosen)
        super().__init__(source, with_profile_first(PROBLEMS))

    def _chosen(self) -> Sequence[str] | None:
        profiles = self.console.profiles
        return None if profiles.are_all_shown else profiles.shown

    def hints(self) -> Sequence[Hint]:
        """What is done with problems, and the way back."""
        return (*(hint for hint in super().hints() if hint != "app.quit"), "screen.back")

    def profiles_chosen(self) -> None:
        """List the problems of the profiles that are chosen now."""
        if self.is_attached:
            self.show_crumbs(self._filter_words())
            self.read_source()

    def _links(self, row: Row[Any]) -> list[DetailLink]:
        """The run with the profile in which it is opened, where that is another one."""
        profile = row.subject.profile
        return [
            replace(link, text=line(f"{link.text}   enter goes to {line(profile, 40)}"))
            if self._is_elsewhere(row.subject, link.target)
            else link
            for link in super()._links(row)
        ]

    def form_field(self, entry: ProblemEntry) -> str | None:
        """The form for runs is that of the present profile, and no way out for a problem of another one."""
        return super().form_field(entry) if entry.profile == self.console.profile_name else None

    def on_link_followed(self, message: LinkFollowed) -> None:
        """Open what belongs to another profile there."""
        row = self.row
        if row is None or not self._is_elsewhere(row.subject, message.link):
            return
        message.stop()
        message.prevent_default()
        profile = row.subject.profile or ""
        if profile not in self.console.profiles.known:
            self.say(f"{line(profile, 40)} is no profile of the settings file any more.", Role.WARN)
        else:
            assert isinstance(message.link, tuple)
            go_to_record(self, profile, *message.link)

    def _is_elsewhere(self, entry: ProblemEntry, target: object) -> bool:
        """Whether something is found in another profile alone; requests stand in the journal of all of them."""
        is_run = isinstance(target, tuple) and target[0] == Run.KIND
        return is_run and entry.profile != self.console.profile_name

    def _show_edge(self) -> None:
        """How many problems of each profile are listed, and how old the newest of them is."""
        super()._show_edge()
        entries: list[ProblemEntry] = [row.subject for row in self.listing.shown]
        counts = Counter(entry.profile for entry in entries)
        newest: dict[str | None, datetime] = {}
        for entry in entries:
            if entry.time is not None:
                newest[entry.profile] = max(entry.time, newest.get(entry.profile, entry.time))
        now = self.console.clock.now()
        pieces: list[Piece] = []
        for name in dict.fromkeys((*self.console.profiles.shown, *counts)):
            last = f", last {age(newest[name], now)}" if name in newest else ""
            pieces += [word("   ")] if pieces else []
            pieces.append(word(f"{line(name, 40)} {counts[name]}{last}"))
        self.query_one("#list", Pane).show_edge(age=tuple(pieces))
