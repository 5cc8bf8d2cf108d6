"""Usage of several profiles side by side: one row each, with its own age and failure, and their total.

``enter`` opens the page of a profile and switches the console to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from textual.widget import Widget

from runwatch.records.account import Account
from runwatch.records.api_key import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.records.usage import Usage
from runwatch.settings.view_state import ViewState
from runwatch.store.live.report_poller import REPORT_S, ReportPoller, ReportQuery, name_report_job
from runwatch.store.state.collection import Collection
from runwatch.store.state.freshness import PaneState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.flows.profile_switch import open_view_in_profile
from runwatch.tui.screens.base.period_screen import PeriodScreen
from runwatch.tui.screens.profiles.records import MultiProfileListScreen
from runwatch.tui.sources.report_reader import make_report_poller, only_record
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.sources.store_source import collection_state
from runwatch.tui.widgets.bars.filter_bar import Completer, FilterBar
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.sections import build_sections
from runwatch.view.reports.profile_usage import PROFILE_USAGE, READ, ProfileUsage, combined_total_text
from runwatch.view.reports.usage import NameLookup, usage_sections
from runwatch.view.resources.account import ACCOUNT
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console import Console
    from runwatch.tui.widgets.lists.record_table import RecordTable
    from runwatch.view.detail.sections import DetailSection
    from runwatch.view.text.format import RenderContext

_LIMITS: Final = "Limits"
"""The section of an account that shows what may be used."""

_READER: Final = "across"


class ProfileUsageSource:
    """Usage of one profile, always as one row with what is known so far, and its age or failure."""

    def __init__(
        self, console: Console, profile: str, asked: Callable[[], ReportQuery], status: Callable[[], StyledText]
    ) -> None:
        self._console = console
        self._profile = profile
        self._asked = asked
        self._status = status
        self._items: Sequence[ProfileUsage] = ()

    def items(self) -> Sequence[Any]:
        """Return the row; the same list object until the row changes."""
        usage, account = self._only(self._asked().kind), self._only(Account.KIND)
        row = ProfileUsage(
            self._profile,
            usage if isinstance(usage, Usage) else None,
            account if isinstance(account, Account) else None,
            self._status(),
        )
        present = self._items[0] if self._items else None
        is_same = present is not None and (row.usage is present.usage, row.account is present.account, row.read) == (
            True, True, present.read
        )  # fmt: skip
        if not is_same:
            self._items = (row,)
        return self._items

    def state(self) -> PaneState:
        session = self._console.profiles.session(self._profile)
        kind = self._asked().kind
        job = name_report_job(kind, _READER)
        return collection_state(self._console.clock, session, self._collection(kind), REPORT_S, job=job)

    def end_is_proven(self) -> bool:
        """Return true: there is only one row."""
        return True

    async def read(self) -> None:
        """Do nothing: a poller reads the reports."""

    def _collection(self, kind: str) -> Collection:
        return self._console.store.collection(self._profile, kind)

    def _only(self, kind: str) -> Record | None:
        return only_record(self._collection(kind))


class MultiProfileUsageScreen(PeriodScreen, MultiProfileListScreen):
    """The table of profiles, above the details of the one under the cursor."""

    BINDINGS = make_bindings("screen.next_tab", "screen.previous_tab")
    HINTS = (
        ("list.open", "go to its page"), ("screen.next_tab", "next period"), ("screen.filter", "other period"),
        "screen.export", "screen.raw", "screen.refresh", "screen.back",
    )  # fmt: skip
    # Of several base classes, Textual applies only the first one's styles, so the list's are repeated here.
    DEFAULT_CSS = """
    MultiProfileUsageScreen {
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
        self._readers: dict[str, ReportPoller] = {}

    def usual_share(self) -> float:
        """Return 0: the style sheet says how the panes of several profiles are divided."""
        return 0.0

    @property
    def _usage_report(self) -> ReportQuery:
        return ReportQuery("getUsage", Usage, tuple(self.period.query().items()))

    # Layout.

    def body(self) -> Iterable[Widget]:
        yield self.period_tabs()
        yield from super().body()

    def filter_bar(self, complete: Completer) -> FilterBar:
        """Return the input for a period; this list has no filter."""
        return FilterBar(id="filter")

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return no lists: reports are read by their own pollers."""
        return ()

    # Reading.

    def part(self, name: str) -> RowSource:
        return ProfileUsageSource(self.console, name, lambda: self._usage_report, lambda: self.state_of(name))

    def begin_reading(self, session: ServiceSession) -> None:
        name = session.target.profile
        if name not in self._readers:
            self._readers[name] = make_report_poller(session, reader=_READER)
        self._readers[name].show(self._usage_report)

    def end_reading(self, session: ServiceSession) -> None:
        reader = self._readers.pop(session.target.profile, None)
        if reader is not None:
            reader.show()

    def read_again(self, session: ServiceSession) -> None:
        session.live.ask(Account)
        reader = self._readers.get(session.target.profile)
        if reader is not None:
            reader.refresh()

    # Events.

    def on_mount(self) -> None:
        self.choose_tab()

    def period_chosen(self) -> None:
        """Read the reports for the chosen period, and show what is known of it."""
        self.resume()
        for reader in self._readers.values():
            reader.show(self._usage_report)
        self.show_rows()

    def _count_matches(self) -> None:
        """Do nothing: the bar holds a period, and its message stays when rows change."""

    def tick(self) -> None:
        """Update named periods, which change at midnight."""
        for reader in self._readers.values():
            reader.show(self._usage_report)
        super().tick()

    def rows_to_export(self) -> list[RecordRow[Any]]:
        return [row for row in super().rows_to_export() if row.subject.usage is not None]

    def on_record_table_row_opened(self, message: RecordTable.RowOpened) -> None:
        message.prevent_default()
        if self.row is not None:
            self.go_home(self.row.id, self.row.id)

    def go_home(self, profile: str, record_id: str) -> None:
        """Open the page of the profile, with the same period."""
        open_view_in_profile(self, profile, ViewState("account", filter=self.period_text))

    # Content.

    def fields_of(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return what the profile has used and what it may use."""
        subject: ProfileUsage = row.subject
        left = [] if subject.account is None else build_sections(ACCOUNT, subject.account, context)
        known = [part for part in left if part.title == _LIMITS]
        if subject.usage is None:
            return known
        room_of = self.query_one("#fields", DetailView).value_cells
        names = NameLookup(self.console.records(Arm, subject.profile), self.console.records(ApiKey, subject.profile))
        return [*usage_sections(subject.usage, names, room_of, context), *known]

    def detail_title(self, row: RecordRow[Any]) -> StyledSpans:
        return line(row.id, 40)

    def counters(self) -> StyledSpans:
        return line(combined_total_text([row.subject for row in self.listing.shown_rows]))

    def _show_edge(self) -> None:
        """Show the period in the frame; each row shows its own age."""
        super()._show_edge()
        title: StyledSpans = (label_span("Usage", Role.PLAIN), line(f"   {self.period.text()}"))
        self.query_one("#list", Pane).set_border_text(title=title, age=line(""))
