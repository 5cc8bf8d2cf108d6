"""The overview: what is wrong, where, and since when. Issues and numbers are links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from textual import events
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from runwatch.records.account import Account
from runwatch.records.arm import Arm
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.records.source import SourceConnection
from runwatch.records.verifier import Verifier
from runwatch.settings.view_state import ViewState
from runwatch.store.state.freshness import PaneState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.sources.journal_source import JournalSource
from runwatch.tui.sources.row_sources import FILE_STATE
from runwatch.tui.sources.store_source import LEAST_INTERVAL_S, StoreSource, collection_state
from runwatch.tui.widgets.lists.link_lines import LinkLines, LinkTable
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.pane_state import short_limit_wait_text
from runwatch.view.overview.anomalies import find_anomalies
from runwatch.view.overview.failure_matrix import build_failure_matrix
from runwatch.view.overview.issues import Inventory, find_issues, issue_line
from runwatch.view.overview.limits import (
    AccountLimits,
    account_age_text,
    limit_lines,
    missing_list_text,
    missing_lists_text,
)
from runwatch.view.overview.links import ViewLink
from runwatch.view.overview.newest_runs import newest_run_lines
from runwatch.view.overview.run_counts import HOUR, RunCounts, count_runs
from runwatch.view.overview.run_lines import (
    bars_legend,
    compact_lines,
    ended_lines,
    ended_note,
    live_lines,
    no_runs_text,
)
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.resources.requests import REQUESTS
from runwatch.view.resources.runs import RUNS
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

JOURNAL_S: Final = 5.0
"""Seconds between reads of the problem journal."""

_FRAME_ROWS: Final = 2

_READ_AT_ONCE: Final = 140
"""Cells of a line of which both ends are seen at once."""

_LEAST_ROWS: Final = 4
"""Rows of a pane with at least two lines."""

_PLACE: Final = re.compile(r"(live|ended|left|standing|reasons|newest)-lines (\d{1,4}) (\d{1,4})")
"""A pane's lines, the index of a line and of a link in it."""

POLLED_KINDS: Final[dict[str, type[Record]]] = {
    "receipts": Receipt, "saved models": Arm, "connections": SourceConnection, "checks": Verifier,
}  # fmt: skip
"""Lists read for the overview besides runs and account, by the name shown."""


class OverviewScreen(ConsoleScreen):
    AUTO_FOCUS = "#standing-lines"
    NARROW_BELOW = 112
    BINDINGS = make_bindings("screen.new", "screen.copy")
    HINTS = (
        "list.open", "app.runs", "app.receipts", "app.templates", "app.problems", ("screen.new", "new run"),
        "screen.refresh", "app.quit",
    )  # fmt: skip
    CRUMBS = ("Overview",)
    DEFAULT_CSS = """
    OverviewScreen {
        & #overview {
            height: 1fr;
        }
        & #numbers {
            height: 8;
        }
        & #numbers LinkLines {
            scrollbar-size-vertical: 0;
        }
        & #standing, & #newest {
            height: 1fr;
        }
        & #reasons {
            height: 4;
        }
        &.-narrow #ended, &.-narrow #left {
            display: none;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._counted: tuple[Sequence[object], RunCounts] = ((), RunCounts())
        self._read_at: float | None = None
        self._requests: tuple[int, int | None] | None = None
        self._is_recounted = False

    # Layout.

    def body(self) -> Iterable[Widget]:
        self._take_sources()
        numbers = (Pane(LinkLines(id=f"{name}-lines"), id=name) for name in ("live", "ended", "left"))
        yield Vertical(
            Horizontal(*numbers, id="numbers"),
            Pane(LinkLines(id="standing-lines"), id="standing"),
            Pane(LinkTable(id="reasons-lines"), id="reasons"),
            Pane(LinkLines(id="newest-lines"), id="newest"),
            id="overview",
        )

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return the lists that runs refer to; runs and account are always read."""
        return tuple(POLLED_KINDS.values())

    def awaited_lists(self) -> tuple[type[Record], ...]:
        """Return nothing: the overview is about runs, and other lists add to it."""
        return ()

    def view_state(self, name: str) -> ViewState:
        focused = self.focused
        if not isinstance(focused, LinkLines):
            return ViewState(name)
        return ViewState(name, selected=" ".join(map(str, (focused.id, *focused.position))))

    def restore_view(self, view: ViewState) -> None:
        match = _PLACE.fullmatch(view.selected)
        if match is not None:
            lines = self._lines(match[1])
            lines.go_to((int(match[2]), int(match[3])))
            lines.focus()

    @property
    def is_narrow(self) -> bool:
        """Whether the panes are stacked, issues first."""
        return self.size.width < self.NARROW_BELOW

    # Events.

    def on_mount(self) -> None:
        self._read()
        self._fit()
        self._show()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        # The panes get their new widths after this event.
        self.call_after_refresh(self._show)

    def session_opened(self) -> None:
        self._take_sources()
        self._read()
        self._show()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Count again. Runs read without a change only become older, which the next tick shows."""
        if kinds != {Run.KIND} or self._runs.items() is not self._counted[0]:
            self._show()

    def tick(self) -> None:
        """Update ages with the header's count, and a countdown every second; counts follow what comes."""
        now = self.console.clock.monotonic()
        if self._read_at is None or now - self._read_at >= JOURNAL_S:
            self._read()
        if self._waits or self._is_recounted:
            self._show()

    def update_header(self, *, recount: bool = True) -> None:
        """Count requests for the header and the pane at one moment: they show the same number."""
        if recount:
            session = self.console.session
            budget = None if session is None else session.live.budget
            self._requests = None if budget is None else (budget.per_minute, budget.left)
            self._is_recounted = True
        super().update_header(recount=recount)

    # User input.

    async def on_link_lines_link_opened(self, message: LinkLines.LinkOpened) -> None:
        """Open the list a number counts, or the record a line names."""
        # Deferred, because this screen cannot wait for its own removal.
        self.console.call_later(self._go, message.way)

    def action_refresh(self) -> None:
        session = self.console.session
        if session is None:
            self.console.refresh_resource(RUNS)
            return
        kinds: tuple[type[Record], ...] = (Run, Account, *self.polled_lists())
        for record in kinds:
            session.live.ask(record)
        self._read()

    def action_new(self) -> None:
        from runwatch.tui.flows.runs.run_form import open_run_form

        open_run_form(self)

    async def action_copy(self) -> None:
        """Copy the id of the record that the line under the cursor names."""
        focused = self.focused
        way = focused.way if isinstance(focused, LinkLines) else None
        if way is None or not way.record:
            self.notify_user("This line names no single record.", Role.WARN)
        else:
            await self.console.copy_text(copied_word(way.record), line("id"))

    async def _go(self, way: ViewLink) -> None:
        from runwatch.tui.screens.registry import resource_named

        if way.record:
            await self.console.open_record(resource_named(way.screen).kind, way.record)
        else:
            await self.console.go_to_view(ViewState(way.screen, filter=way.filter))

    def _take_sources(self) -> None:
        console = self.console
        self._runs = StoreSource(RUNS, console.store, console.profile_name, console.clock, console.session)
        self._problems = JournalSource(PROBLEMS, console.clock, console.session)

    def _read(self) -> None:
        """Read what no poller reads, and show what is new: requests and local notes of runs, and the journal."""
        runs, problems = self._runs, self._problems
        is_first, self._read_at = self._read_at is None, self.console.clock.monotonic()
        before = runs.items(), problems.items()

        async def read() -> None:
            await runs.read()
            await problems.read()
            is_other = runs.items() is not before[0] or problems.items() is not before[1]
            if self.is_mounted and (is_first or is_other):
                self._show()

        start_worker(self, read(), "reading the overview", group="source", exclusive=True)

    def _fit(self) -> None:
        """Put issues on top in a narrow window and numbers on top in a wide one."""
        whole = self.query_one("#overview")
        is_first = whole.children[0].id == "standing"
        if self.is_narrow != is_first:
            first, then = ("standing", "numbers") if self.is_narrow else ("numbers", "standing")
            whole.move_child(self.query_one(f"#{first}"), before=self.query_one(f"#{then}"))

    @property
    def _waits(self) -> bool:
        """Whether a read waits for the request limit, which is counted down."""
        kinds: tuple[type[Record], ...] = (Account, *POLLED_KINDS.values())
        states = [self._state(kind) for kind in kinds]
        return any(state.budget_s > 0 for state in (*states, self._runs.state()))

    def _census(self) -> RunCounts:
        """Return the run counts, recounted only if runs changed."""
        items = self._runs.items()
        if items is not self._counted[0]:
            self._counted = items, count_runs(items)
        return self._counted[1]

    @property
    def _is_of_file(self) -> bool:
        """Whether a file has been read, which has all that there will be."""
        return self.console.file_written_at is not None

    def _runs_state(self) -> PaneState:
        return self._state(Run) if self._is_of_file else self._runs.state()

    def _state(self, record: type[Record]) -> PaneState:
        session = self.console.session
        interval_s = LEAST_INTERVAL_S if session is None else session.live.intervals.lists_s
        job = "account" if record is Account else f"list {record.KIND}"
        collection = self.console.store.collection(self.console.profile_name, record.KIND)
        if self._is_of_file:
            # Records of a kind that the file has were all read with it.
            return FILE_STATE._replace(age_s=0.0 if collection.by_id else None)
        return collection_state(self.console.clock, session, collection, interval_s, job=job)

    def _show(self) -> None:
        if not self.is_mounted:
            return
        self._is_recounted = False
        known = self._census()
        self._show_numbers(known)
        self._show_standing(known)
        self._show_reasons(known)
        self._divide(known)
        # Whether enter opens anything changes with the lines.
        self.show_hints()

    def _divide(self, known: RunCounts) -> None:
        """Give issues and failures the rows they need, and the rest to the newest runs, or to the issues."""
        room = self.query_one("#overview").size.height - self.query_one("#numbers").outer_size.height
        issues, failures = (self._rows_of(name) for name in ("standing", "reasons"))
        failures = min(failures, max(_LEAST_ROWS, room - issues))
        left = room - issues - failures
        lines, newest = self._lines("newest"), known.newest[: left - _FRAME_ROWS]
        has_newest = left >= _LEAST_ROWS and bool(newest)
        if has_newest:
            # A pane that was hidden has no width yet.
            room = self._lines("standing").room
            lines.show(newest_run_lines(newest, self.console.render_context(), room))
        self._pane("newest").set_border_text(title=line("Newest runs"), age=self._offline_age() or line(""))
        self._pane("newest").display = has_newest
        self._pane("standing").styles.height = issues if has_newest else "1fr"
        self._pane("reasons").styles.height = failures

    def _rows_of(self, name: str) -> int:
        lines = self._lines(name)
        count = lines.line_count()
        return max(_LEAST_ROWS, _FRAME_ROWS + (lines.HEAD_ROWS + count if count else 1 + lines.empty_row_count))

    def _show_numbers(self, known: RunCounts) -> None:
        context, spending = self.console.render_context(), self._spending()
        live = self._lines("live")
        state, offline = self._runs_state(), self._offline_age()
        counted = None if state.age_s is None else known
        note = ended_note(known, context, is_whole=self._runs.end_is_proven(), is_read=state.age_s is not None)
        if self.is_narrow:
            lines, buckets = compact_lines(counted, spending, context, live.room)
            live.show(lines)
            counters = bars_legend(context, note, buckets) if buckets else line(note)
        else:
            live.show(live_lines(counted, context, live.room))
            self._lines("ended").show(ended_lines(counted, context))
            self._lines("left").show(limit_lines(spending, context))
            legend = line(note) if counted is None else bars_legend(context, note)
            self._pane("ended").set_border_text(
                title=line("Ended, last hour"),
                age=(*(offline or ()), line(f" {context.glyphs.dot} " if offline else ""), legend),
            )
            counters = line("")
        # How old the runs are is said once: what ended is counted of the same.
        self._pane("live").set_border_text(
            title=line("Now" if self.is_narrow else "Live now"),
            age=offline or (self.age_span(state),),
            counters=counters,
        )
        # The frame of the runs has no room for it beside their age.
        waits = short_limit_wait_text(state.budget_s)
        age = label_span(waits, Role.WARN) if waits else label_span(account_age_text(spending))
        self._pane("left").set_border_text(title=line("Requests and quota"), age=offline or (age,))

    def _show_standing(self, known: RunCounts) -> None:
        context, lines = self.console.render_context(), self._lines("standing")
        records = self.console.records
        inventory = Inventory(
            [*records(Arm).values()], [*records(SourceConnection).values()], [*records(Verifier).values()]
        )
        ended = known.ended_within(HOUR, context.now)
        found = find_issues(find_anomalies(ended), inventory, context)
        enter = self.console.keys.shown("list.open")
        lines.show([issue_line(trouble, context, enter, min(lines.room, _READ_AT_ONCE)) for trouble in found])
        states = {name: self._state(record) for name, record in POLLED_KINDS.items()}
        lines.empty_text = self._quiet_lines(bool(ended), states)
        worst = Role.BAD if any(it.role is Role.BAD for it in found) else Role.WARN if found else Role.QUIET
        self._pane("standing").set_border_text(
            title=line("Stands out"),
            state=(label_span(str(len(found)), worst),) if found else line(""),
            age=self._offline_age() or (label_span(missing_lists_text(states), Role.WARN),),
        )

    def _quiet_lines(self, has_ended: bool, states: dict[str, PaneState]) -> list[StyledSpans]:
        """Return the text shown without issues: what was checked and what could not be."""
        console, runs = self.console, self._runs_state()
        if runs.age_s is None:
            is_read = self._is_of_file
            return [no_runs_text(console.render_context())] if is_read else [*self.unread_lines(RUNS, runs)]
        good = (label_span(console.glyphs.good, Role.GOOD), label_span(" Nothing stands out.", Role.PLAIN))
        if not self._runs.items():
            start = f" {console.keys.shown('screen.new')} starts a test run." if self.offers("screen.new") else ""
            return [(label_span(f"No runs yet.{start}", Role.PLAIN),)]
        looked = "Of the runs that ended in the last hour, nothing fails more than the rest."
        lines: list[StyledSpans] = [good, line(looked if has_ended else "No run has ended in the last hour.")]
        if missing_list_text(states["receipts"]):
            lines.append(
                line(f"Providers and models are known from receipts: {missing_list_text(states['receipts'])}.")
            )
        return lines

    def _show_reasons(self, known: RunCounts) -> None:
        context, lines = self.console.render_context(), self.query_one(LinkTable)
        has_receipts = not missing_list_text(self._state(Receipt))
        table = build_failure_matrix(known, context, lines.room, has_receipts=has_receipts)
        lines.show_table(table.head, table.lines)
        ended = known.ended_within(HOUR, context.now)
        quiet = "Nothing failed or expired in the last hour." if ended else "Nothing ended in the last hour."
        lines.empty_text = [no_runs_text(context) if self._runs_state().age_s is None else line(quiet)]
        title = (
            "Failed and expired, last hour"
            if self.is_narrow
            else "Failed and expired, by reason and provider, last hour"
        )
        more = f"{left} more provider{'s' * (left != 1)} in a wider window" if (left := table.left_out) else ""
        hint = line("enter on a number opens its list" if table.lines else "")
        self._pane("reasons").set_border_text(
            title=line(title), age=self._offline_age() or hint, counters=(label_span(more, Role.WARN),)
        )

    def _offline_age(self) -> StyledSpans | None:
        """Return since when what was read is not read; ``None`` while it is, and where nothing was."""
        assert self._runs is not None
        has_read = self._runs_state().age_s is not None
        return (self.offline_span(),) if self.lost_since is not None and has_read else None

    def _spending(self) -> AccountLimits:
        session = self.console.session
        budget = session.live.budget if session is not None else None
        per_minute, left = self._requests or ((budget.per_minute, budget.left) if budget else (0, None))
        read = self._problems
        moments = None
        if read.state().age_s is not None:
            moments = [entry.time for entry in read.items() if entry.time is not None]
        return AccountLimits(
            per_minute=per_minute,
            limit=budget.limit_rpm if budget else None,
            is_learned=budget is not None and budget.is_learned,
            left=left,
            account=next(iter(self.console.records(Account).values()), None),
            state=self._state(Account),
            problems=moments,
            in_file=self._count_in_file() if self._is_of_file else None,
        )

    def _count_in_file(self) -> dict[str, int]:
        console = self.console
        specs = (REQUESTS, PROBLEMS)
        return {it.name: len(console.store.collection(console.profile_name, it.kind).by_id) for it in specs}

    def _lines(self, name: str) -> LinkLines:
        return self.query_one(f"#{name}-lines", LinkLines)

    def _pane(self, name: str) -> Pane:
        return self.query_one(f"#{name}", Pane)
