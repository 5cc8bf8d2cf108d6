"""What several profiles have used, side by side: a row for each, its own age and failure, and what they add up to.

``enter`` goes to the page of a profile; the console works with that profile from then on, and the bar says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType
from textual.widget import Widget

from runwatch.records.account import Account
from runwatch.records.apikey import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.records.usage import Usage
from runwatch.settings.session import View
from runwatch.store.collection import Collection
from runwatch.store.freshness import PaneState, pane_state
from runwatch.store.reports import REPORT_S, Report, Reports
from runwatch.tui.actions import bindings
from runwatch.tui.draw import Pieces, word
from runwatch.tui.profile_switch import go_to_view
from runwatch.tui.screens.across import AcrossScreen
from runwatch.tui.screens.periods import PeriodScreen
from runwatch.tui.sources import Source
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.filter_bar import Complete, FilterBar
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.view.account import account_sections
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role
from runwatch.view.profile_usage import PROFILE_USAGE, READ, ProfileUsage, total_words
from runwatch.view.resource import Styled
from runwatch.view.table import Row
from runwatch.view.usage import Names, usage_sections

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.tui.console import Console
    from runwatch.tui.widgets.record_table import RowOpened
    from runwatch.view.detail import Section
    from runwatch.view.format import Context

_LEFT: Final = "Left"
"""The section of an account that says what of it is left."""


class UsageSource:
    """What one profile has used: always one row, with what is known by now.

    Args:
        console: The app.
        profile: The profile.
        asked: The report that is read.
        told: How old it is, or what is wrong.
    """

    def __init__(self, console: Console, profile: str, asked: Callable[[], Report], told: Callable[[], Styled]) -> None:
        self._console = console
        self._profile = profile
        self._asked = asked
        self._told = told
        self._items: Sequence[ProfileUsage] = ()

    def items(self) -> Sequence[Any]:
        """The row; the same object as before as long as nothing of it has changed."""
        usage, account = self._only(self._asked().kind), self._only(Account.KIND)
        row = ProfileUsage(
            self._profile,
            usage if isinstance(usage, Usage) else None,
            account if isinstance(account, Account) else None,
            self._told(),
        )
        present = self._items[0] if self._items else None
        is_same = present is not None and (row.usage is present.usage, row.account is present.account, row.read) == (
            True, True, present.read
        )  # fmt: skip
        if not is_same:
            self._items = (row,)
        return self._items

    def state(self) -> PaneState:
        """That of the report."""
        desk, clock = self._console.profiles.desk(self._profile), self._console.clock
        return pane_state(
            self._collection(self._asked().kind),
            now=clock.now(),
            monotonic=clock.monotonic(),
            interval_s=REPORT_S,
            held_s=0.0 if desk is None else desk.live.held_s,
        )

    def end_is_proven(self) -> bool:
        """There is no second row."""
        return True

    async def read(self) -> None:
        """Reports come by themselves."""

    def _collection(self, kind: str) -> Collection:
        return self._console.store.collection(self._profile, kind)

    def _only(self, kind: str) -> Record | None:
        found = self._collection(kind).records
        return found[0] if found else None


class AcrossUsageScreen(PeriodScreen, AcrossScreen):
    """The table of profiles, above what is known of the one under the cursor.

    Args:
        period_text: The period to begin with, as a person chose it.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.next_tab", "screen.previous_tab"))
    # Of several classes Textual takes the styles of the first one alone: these stand in place of those of the list.
    DEFAULT_CSS = """
    AcrossUsageScreen {
        & #panes {
            layout: vertical;
            height: 1fr;
        }
        & #list {
            height: 40%;
            max-height: 14;
        }
        & #detail {
            height: 1fr;
        }
        &.-no-preview #detail, &.-full-list #detail, &.-full-detail #list {
            display: none;
        }
    }
    """

    def __init__(self, period_text: str) -> None:
        super().__init__(replace(PROFILE_USAGE, columns=(*PROFILE_USAGE.columns, READ)))
        self.period_text = period_text
        self._readers: dict[str, Reports] = {}

    @property
    def _usage_report(self) -> Report:
        return Report("getUsage", Usage, tuple(self.period.query().items()))

    # What it is made of.

    def body(self) -> Iterable[Widget]:
        """The periods above the panes."""
        yield self.period_tabs()
        yield from super().body()

    def filter_bar(self, complete: Complete) -> FilterBar:
        """Where a period is typed: the rows are chosen by their profiles."""
        return self.period_bar()

    def hints(self) -> Sequence[Hint]:
        """What can be done here."""
        return (
            ("list.open", "go to its page"), ("screen.next_tab", "next period"), ("screen.filter", "other period"),
            "screen.export", "screen.raw", "screen.refresh", "screen.back",
        )  # fmt: skip

    def lists(self) -> tuple[type[Record], ...]:
        """None: reports are no lists."""
        return ()

    # What is read.

    def part(self, name: str) -> Source:
        """The usage of one profile."""
        return UsageSource(self.console, name, lambda: self._usage_report, lambda: self.state_of(name))

    def begin_reading(self, desk: Desk) -> None:
        """Read the report of a profile from now on."""
        name = desk.target.profile
        if name not in self._readers:
            self._readers[name] = Reports(
                desk.client, desk.scope, desk.store, desk.live.scheduler, desk.clock, reader="across"
            )
        self._readers[name].show(self._usage_report)

    def end_reading(self, desk: Desk) -> None:
        """Read it no longer."""
        reader = self._readers.pop(desk.target.profile, None)
        if reader is not None:
            reader.show()

    def read_again(self, desk: Desk) -> None:
        """Read report and account now."""
        desk.live.refresh(Account)
        reader = self._readers.get(desk.target.profile)
        if reader is not None:
            reader.refresh()

    # When something changes.

    def on_mount(self) -> None:
        """Mark the period."""
        self.choose_tab()

    def period_chosen(self) -> None:
        """Read the reports of that period, and show what is known of it."""
        for reader in self._readers.values():
            reader.show(self._usage_report)
        self.show_rows()

    def _count_matches(self) -> None:
        """What is typed here is a period: what is said of that stays, whatever rows come meanwhile."""

    def leave_period(self) -> None:
        """Stand in the table."""
        self.table.focus()

    def tick(self) -> None:
        """At midnight a named period moves on."""
        for reader in self._readers.values():
            reader.show(self._usage_report)
        super().tick()

    def exported(self) -> list[Row[Any]]:
        """Those of which there is a report."""
        return [row for row in super().exported() if row.subject.usage is not None]

    def on_row_opened(self, message: RowOpened) -> None:
        """Go to the page of the profile."""
        message.stop()
        message.prevent_default()
        if self.row is not None:
            self.go_home(self.row.id, self.row.id)

    def go_home(self, profile: str, record_id: str) -> None:
        """Go to the page of the profile, with the same period."""
        go_to_view(self, profile, View("account", filter=self.period_text))

    # What it shows.

    def fields_of(self, row: Row[Any], context: Context) -> Sequence[Section]:
        """What is left to the profile, and what it has used."""
        subject: ProfileUsage = row.subject
        left = [] if subject.account is None else account_sections(subject.account, context)
        known = [part for part in left if part.title == _LEFT]
        if subject.usage is None:
            return known
        room_of = self.query_one("#fields", DetailView).value_cells
        return [*usage_sections(subject.usage, self._names(subject.profile), room_of, context), *known]

    def detail_title(self, row: Row[Any]) -> Pieces:
        """The profile."""
        return line(row.id, 40)

    def counters(self) -> Pieces:
        """What the profiles have used together."""
        return line(total_words([row.subject for row in self.listing.shown]))

    def _names(self, profile: str) -> Names:
        """What is known of the things that its report names by id."""

        def known(kind: type[Record]) -> dict[str, Any]:
            found = self.console.store.collection(profile, kind.KIND).known
            return {record_id: one.record for record_id, one in found.items()}

        return Names(known(Arm), known(ApiKey))

    def _show_edge(self) -> None:
        """Each row tells its own age, so that the frame tells the period."""
        super()._show_edge()
        title: Pieces = (word("Usage", Role.PLAIN), line(f"   {self.period.words()}"))
        self.query_one("#list", Pane).show_edge(title=title, age=line(""))
