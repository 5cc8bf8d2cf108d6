"""Activity around a time: problems, requests and ended runs from all local sources.

The filter line takes a time query here, ``WHEN [within SPAN] [in ZONE] [WORDS]``, so the query is restored with the
view. Users know the screen as ``around``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.base.errors import RunwatchError, UsageError
from runwatch.settings.view_state import ViewState
from runwatch.store.state.freshness import LoadState, PaneState, local_state
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.view.problems.activity import (
    ACTIVITY,
    ActivityEntry,
    activity_text,
    describe_search,
    find_nearest_activity,
    fold_reads,
    merge_activity,
)
from runwatch.view.problems.time_query import LOCAL, TimeQuery, parse_time_query
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import duration, elapsed_clock
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.service_problems import ServiceProblems
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console import Console
    from runwatch.tui.sources.file_source import FileSource

_ASK = "WHEN [within 5m] [in ZONE] [words]"
_SUCH = "WHEN [within 5m] [in Europe/Berlin] [words], such as 2026-11-22T03:10 or 03:10 within 10m"


class ActivitySource:
    """Stored activity around a time.

    Attributes:
        asked: The time query; ``None`` before the first one.
        searched: What was searched.
        near: The nearest entries in time if nothing was found.
        file: The opened file, whose entries are shown instead, whatever the time; ``None`` for the journal.
        is_due: Whether the next read searches. Set once for each query, because a search is itself a logged request.
    """

    def __init__(self, console: Callable[[], Console]) -> None:
        self._console = console
        self.asked: TimeQuery | None = None
        self.searched = ""
        self.near: Sequence[ActivityEntry] = ()
        self.is_due = False
        self.file: FileSource | None = None
        self._items: Sequence[ActivityEntry] = ()
        self._filed: tuple[Sequence[ActivityEntry], Sequence[ActivityEntry]] = ((), ())
        self._read_at: float | None = None

    def ask(self, asked: TimeQuery) -> None:
        """Search for another query on the next read."""
        self.asked, self.searched, self.near, self._items, self._read_at = asked, "", (), (), None
        self.is_due = True

    def items(self) -> Sequence[Any]:
        """Return the entries found, oldest first; those of a file folded as those of the journal."""
        if self.file is None:
            return self._items
        entries = self.file.items()
        if entries is not self._filed[0]:
            self._filed = entries, fold_reads(entries)
        return self._filed[1]

    def state(self) -> PaneState:
        if self.file is not None:
            return self.file.state()
        if self.asked is None:
            return PaneState(LoadState.ENDED, reading="no time given yet")
        return local_state(self._read_at, self._console().clock.monotonic(), is_empty=not self._items)

    def end_is_proven(self) -> bool:
        from runwatch.store.repositories.activity import MAX_ENTRIES

        return self.file is not None or sum(each.reads or each.tries or 1 for each in self._items) < MAX_ENTRIES

    async def read(self) -> None:
        """Search the journal, and the local service's store if the service is running."""
        console, asked = self._console(), self.asked
        if console.session is None or asked is None:
            return
        from runwatch.store.repositories.activity import find_activity

        nearby = await find_activity(console.session.journal, asked.windows, asked.text)
        answered, without = await self._answered(console.session, asked)
        if self.asked is not asked:
            return
        found = merge_activity(asked, nearby, answered)
        # Words look for something, which may be a read.
        self._items = found if asked.text else fold_reads(found)
        self.near = () if self._items else find_nearest_activity(asked, nearby, answered)
        self.searched = describe_search(asked, nearby, answered, without)
        self._read_at = console.clock.monotonic()

    async def _answered(self, session: ServiceSession, asked: TimeQuery) -> tuple[ServiceProblems | None, str]:
        """Return what the local service's store has, or why it was not searched."""
        from runwatch.store.service_problems import (
            NOT_RUNNING,
            connect_running_service,
            find_service_problems,
            is_local_service,
        )

        try:
            if is_local_service(session.target):
                async with session.live.scheduler.user_turn():
                    return await find_service_problems(session.client, asked.windows), ""
            async with connect_running_service(self._console().launch.paths, session.clock) as client:
                return (
                    (None, NOT_RUNNING) if client is None else (await find_service_problems(client, asked.windows), "")
                )
        except RunwatchError as error:
            return None, str(error)


class ActivityScreen(ResourceScreen):
    HINTS = (
        "list.open", ("screen.filter", "ask"), "screen.copy", "screen.export", "screen.raw", "screen.time",
        ("app.problems", "problems"), "app.quit",
    )  # fmt: skip

    def __init__(self) -> None:
        self._around = ActivitySource(lambda: self.console)
        self._question = ""
        self._begun: Sequence[ActivityEntry] = ()
        super().__init__(ACTIVITY, self._around)

    def on_mount(self) -> None:
        console = self.console
        if console.has_file:
            from runwatch.tui.sources.file_source import FileSource

            self._around.file = FileSource(ACTIVITY, console.store, console.clock, console.keys.shown)

    def use(self, source: RowSource) -> None:
        """Search again now that a journal is open; the screen keeps its own source."""
        self._around.is_due = True
        self.read_source()

    def read_source(self) -> None:
        """Search only for a new query; requests sent in the meantime do not change the result."""
        if self._around.is_due:
            self._around.is_due = False
            super().read_source()

    def action_refresh(self) -> None:
        self._around.is_due = True
        super().action_refresh()

    def detail_title(self, row: RecordRow[Any]) -> StyledSpans:
        """Return the kind of entry and its distance from the time."""
        it: ActivityEntry = row.subject
        seconds = float(it.offset_s or 0)
        return line(f"{line(it.what)} {'-' if seconds < 0 else '+'}{elapsed_clock(abs(seconds))}")

    def show_rows(self, *, keeps_detail: bool = False) -> None:
        """Start at the entry nearest to the requested time, which is in the middle of the result."""
        found = self._around.items()
        if found and found is not self._begun:
            self._begun = found
            self._wanted = min(found, key=lambda each: abs(float(each.offset_s or 0))).id
        super().show_rows(keeps_detail=keeps_detail)

    def restore_view(self, view: ViewState) -> None:
        """Repeat the query of the view, or ask for one."""
        super().restore_view(view)
        if not self._question and not self.console.has_file:
            self.action_filter()

    def action_filter(self) -> None:
        if self.console.has_file:
            self.notify_user("A file has only what was recorded around its problem.")
            return
        super().action_filter()
        self.query_one("#filter", FilterBar).select_all()
        self._hear(self._question)

    # The time query in the filter line.

    @property
    def is_filtered(self) -> bool:
        """False: the query determines all rows, so nothing is hidden."""
        return False

    @property
    def filter_text(self) -> str:
        return self._question

    def filter_typed(self, text: str) -> None:
        """Show how the query is understood while the user types, without searching."""
        self._hear(text)

    def filter_cancelled(self) -> None:
        """Keep the query."""

    def _apply_filter(self, text: str, *, is_undoable: bool = True) -> bool:
        asked = self._hear(text)
        if asked is None:
            return not text.strip()
        self._question = text.strip()
        self._around.ask(asked)
        self.resume()
        self.read_source()
        self.show_crumbs()
        if asked.explanation:
            self.console.warn(asked.explanation)
        return True

    def _hear(self, text: str) -> TimeQuery | None:
        """Return the parsed query, or show the error beside the input and return ``None``."""
        bar = self.query_one("#filter", FilterBar)
        if not text.strip():
            # Before the first query, the empty list says the same with examples.
            bar.show_count(line("" if self._around.asked is None else _ASK))
            return None
        zone = LOCAL if self.console.time_mode == "local" else "UTC"
        try:
            asked = parse_time_query(text, self.console.clock.now(), zone)
        except UsageError as error:
            bar.show_error(line(error.sentences))
            return None
        bar.show_count(line(_understood(asked)))
        return asked

    def crumbs_note(self) -> StyledSpans | None:
        """Return the moments that are looked around."""
        asked = self._around.asked
        return None if asked is None else (label_span("around "), label_span(_understood(asked), Role.PLAIN))

    def _complete(self, text: str) -> str | None:
        # The line holds no filter, so no field names are suggested.
        return None

    def _count_matches(self) -> None:
        """Do nothing: the bar shows how the query is understood, not a count."""

    # Content.

    def empty_text(self, state: PaneState) -> tuple[SafeText, ...]:
        source = self._around
        if self.console.has_file:
            return (line("A file has no journal. Without a file open, runwatch searches this machine's journal."),)
        if source.asked is None:
            return (line(_SUCH),)
        if state.load is not LoadState.EMPTY:
            return super().empty_text(state)
        return (line("Nothing recorded at that time."), *_sentences(source.searched), *self._near_lines())

    def _near_lines(self) -> Iterable[SafeText]:
        near = self._around.near
        if not near:
            return (line("Nothing else is recorded."),)
        return (line("Nearest entries:"), *(line(activity_text(each)) for each in near))

    def counters(self) -> StyledSpans:
        """Return what was found of each kind; each of the reads or tries in one row counts."""
        kinds: Counter[str | None] = Counter()
        for each in self._around.items():
            kinds[each.what] += each.reads or each.tries or 1
        counts = [f"{what}s {kinds[what]}" for what in ("problem", "request", "run") if what in kinds]
        return (label_span(f" {self.console.glyphs.dot} ".join(counts)),)


def _understood(asked: TimeQuery) -> str:
    """Return the times and the duration a query means."""
    moments = " and ".join(f"{moment:%Y-%m-%d %H:%M:%S} UTC" for moment in asked.moments)
    words = f" '{asked.text}'" if asked.text else ""
    return f"{moments}, within {duration(asked.within.total_seconds())}{words}"


def _sentences(text: str) -> Iterable[SafeText]:
    """Return what was searched, one source a line, to fit a narrow pane."""
    searched_part, _, rest = text.partition(" in the journal")
    journal, _, store = f"the journal{rest}".partition(" and the local")
    parts = (searched_part, journal, f"the local{store}" if store else "")
    return tuple(line(part) for part in parts if part)
