"""The tail of several runs: their events in one list, ordered by time, each line with its run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.settings.view_state import ViewState
from runwatch.store.state.freshness import LoadState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span, to_lines
from runwatch.tui.core.workers import start_worker
from runwatch.tui.screens.base.event_screen import EventScreen
from runwatch.tui.sources.events.event_tail import EventTail
from runwatch.tui.sources.record_loader import PassedRuns, find_live_runs, is_live
from runwatch.tui.sources.store_source import runs_state
from runwatch.tui.widgets.bars.filter_bar import FilterBar, make_filter_suggester
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.pane_state import FAILED_STATES, has_no_record, pane_status
from runwatch.view.resources.event_filter import MULTI_RUN_EVENTS, seen_values
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.run_wall import no_live_run_text, passed_runs_text
from runwatch.view.text.format import counted, grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.live.run_tails import TailUpdate
    from runwatch.store.repositories.event_sequence import MergedSequence
    from runwatch.store.session import ServiceSession

NAME: Final = "tail"
MAX_FOLLOWED_RUNS: Final = 50
"""Maximum number of runs followed at once; with more, each would be read too seldom to be live."""

_BETWEEN: Final = "\n"


def tail_view(run_ids: Sequence[str] = ()) -> ViewState:
    """Return the view that follows these runs, or every live run if there are none."""
    return ViewState(NAME, selected=_BETWEEN.join(run_ids))


class MergedTailScreen(EventScreen):
    """The merged tail screen. Without chosen runs it follows every live one."""

    BINDINGS = make_bindings(
        "screen.filter", "screen.pause", "screen.copy", "screen.export", "screen.open_run", "screen.new"
    )
    HINTS = (
        "tail.open", "screen.filter", "tail.follow", "screen.pause", "screen.open_run", ("screen.copy", "copy run id"),
        "tail.context", "screen.refresh", "app.quit",
    )  # fmt: skip
    DEFAULT_CSS = """
    MergedTailScreen {
        & #tail-pane {
            height: 1fr;
        }
        & #tail-note {
            height: auto;
            padding: 0 1;
        }
        & #tail-filter {
            display: none;
        }
        &.-filtering #tail-filter {
            display: block;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._chosen: tuple[str, ...] = ()
        self._events: MergedSequence | None = None
        # The runs whose events are read; those of the others in the list are all there.
        self._followed: list[str] = []
        # The runs whose events are all stored, from an earlier session too. The disk is asked, because the list holds
        # no run's last event, as replay and wall do.
        self._whole: set[str] = set()
        self._passed = PassedRuns()
        self._unseen = 0
        self._filter = self._stored_filter = ""
        self._left_out = self._live_count = 0
        self._noted: tuple[SafeText, ...] | None = None

    def body(self) -> Iterable[Widget]:
        with Pane(id="tail-pane"), Vertical():
            yield Static(id="tail-note")
            yield EventLog(id="events")
            yield FilterBar(
                make_filter_suggester(seen_values(MULTI_RUN_EVENTS), tuple(MULTI_RUN_EVENTS.flags)), id="tail-filter"
            )

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return runs, which show what is live."""
        return (Run,)

    def breadcrumbs(self) -> Sequence[str]:
        return ("Tail", "chosen runs" if self._chosen else "all live runs")

    def hints(self) -> Sequence[KeyHint]:
        """Return the hints; those of events only once a run is followed."""
        if self._events is None:
            return ("screen.refresh", "app.quit")
        return [self.tail.follow_hint if hint == "tail.follow" else hint for hint in self.HINTS]

    # Events.

    def on_mount(self) -> None:
        log, bar = self.query_one(EventLog), self.query_one(FilterBar)
        self.tail = EventTail(
            self,
            log,
            changed=self.show_tail,
            refused=bar.show_error,
            counted=lambda found, total: bar.show_count(line(f"{grouped_number(found)}/{grouped_number(total)}")),
        )
        log.focus()
        self._begin()

    def on_unmount(self) -> None:
        self._unfollow()

    def session_opened(self) -> None:
        self._begin()

    def view_state(self, name: str) -> ViewState:
        return ViewState(name, filter=self._filter or self._stored_filter, selected=_BETWEEN.join(self._chosen))

    def restore_view(self, view: ViewState) -> None:
        chosen = tuple(filter(None, view.selected.split(_BETWEEN)))
        if chosen != self._chosen:
            self._unfollow()
            self._chosen, self._events = chosen, None
            self._begin()
        if view.filter and not self._filter_by(view.filter):
            self._stored_filter = view.filter
            self.console.warn_of_filter(view.filter, self.tail.refusal)
            self._filter_by("")
        self.show_crumbs()

    def data_changed(self, kinds: frozenset[str]) -> None:
        self._begin()
        self.show_tail()

    def tail_moved(self, update: TailUpdate) -> None:
        if update.run_id in self._followed:
            self.tail.grow()
            if self.tail.is_paused:
                self.show_tail()

    def tick(self) -> None:
        """Update ages, follow the runs in a new session too, and those that wait for a place."""
        session = self.console.session
        if session is not None:
            for run_id in self._followed:
                if not session.live.tails.follows(run_id, self):
                    session.live.tails.follow(run_id, self, in_focus=False)
        if self._left_out:
            self._begin()
        self.show_tail()

    def show_tail(self) -> None:
        """Show in the frame what is followed and its state."""
        pane = self.query_one("#tail-pane", Pane)
        self.show_hints()
        note = self._empty_text()
        if note != self._noted:
            # Compared first, because showing the note lays out the whole screen.
            self._noted = note
            note_widget = self.query_one("#tail-note", Static)
            note_widget.display = bool(note)
            note_widget.update(to_lines(((text, Role.QUIET),) for text in note))
        if self._events is None:
            title = (label_span("Tail", Role.PLAIN),)
            pane.set_border_text(title=title, state=line(""), age=self._runs_text(), counters=line(""))
            return
        # A failure to read the list of runs affects every tail.
        silent = self._failure_text() or self._silent_text()
        known_text = self.tail.known_text(is_read=self._is_read(), is_failing=bool(silent))
        self.tail.update_empty_text(known_text)
        known = label_span(f"{known_text}{self._unread_text() if silent else self._wait_text()}")
        pane.set_border_text(
            title=(label_span(self._title(), Role.PLAIN),),
            state=self.tail.mode_text(),
            age=(known, (silent, Role.BAD)) if silent else (known,),
            counters=self.tail.new_text(sum(each.count for each in self._updates(self._events.run_ids))),
        )

    # User input.

    def filter_typed(self, text: str) -> None:
        self._filter_by(text, is_typing=True)

    def filter_submitted(self, text: str) -> bool:
        return self._filter_by(text)

    def filter_cancelled(self) -> None:
        self._stored_filter = ""
        self._filter_by("")
        self.show_hints()

    def close_filter(self) -> None:
        super().close_filter()
        self.focus_tail()

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one(FilterBar).edit(self._filter or self._stored_filter)

    def action_pause(self) -> None:
        """Pause or resume the events, which are still read and counted; no run is added meanwhile."""
        if self._events is None:
            self.notify_user("No events to pause.", Role.WARN)
            return
        self.tail.pause(is_paused=not self.tail.is_paused)
        self.query_one("#tail-pane", Pane).show_pause((self.pause_span(),) if self.tail.is_paused else line(""))
        self.show_hints()
        self._begin()
        self.show_tail()

    @property
    def is_paused(self) -> bool:
        return self._events is not None and self.tail.is_paused

    def action_refresh(self) -> None:
        if self.tail.is_paused:
            self.action_pause()
        session = self.console.session
        if session is not None and self._events is not None:
            session.live.scheduler.ask_anyway()
            for run_id in self._followed:
                session.live.tails.hurry(run_id, is_asked=False)

    def action_new(self) -> None:
        from runwatch.tui.flows.runs.run_form import open_run_form

        open_run_form(self)

    async def action_copy(self) -> None:
        """Copy the id of the run whose event is under the cursor."""
        await self.copy_word(self._run_under_cursor(), "run id")

    def action_export(self) -> None:
        from runwatch.tui.flows.exports import open_events_menu

        open_events_menu(self, self._run_under_cursor())

    def action_open_run(self) -> None:
        run_id = self._run_under_cursor()
        if run_id:
            # Deferred, because this screen cannot wait for its own removal.
            self.console.call_later(self.console.open_run, run_id)

    def action_back(self) -> None:
        """Close the drawer, then clear the filter, then leave."""
        if self.close_drawer():
            return
        if self._filter:
            self.filter_cancelled()
            self.close_filter()
        else:
            super().action_back()

    @property
    def is_at_root(self) -> bool:
        return not self.is_drawer_open and not self._filter

    def _begin(self) -> None:
        """Follow the chosen runs, or all live ones; the events of a run that has ended stay in the list."""
        session = self.console.session
        if session is None or not self.is_mounted or self.tail.is_paused:
            return
        self._passed.begin(session)
        from runwatch.store.repositories.event_sequence import MergedSequence

        wanted = list(self._chosen or find_live_runs(session, newest_first=False))
        have = set(() if self._events is None else self._events.run_ids)
        self._unseen = 0 if self._chosen else self._passed.count(session, have)
        new = [run_id for run_id in wanted if run_id not in have]
        self._leave_read(session, len(self._followed) + len(new) - MAX_FOLLOWED_RUNS)
        room = max(0, MAX_FOLLOWED_RUNS - len(self._followed))
        self._left_out = max(0, len(new) - room)
        if self._events is None and wanted:
            self._events = MergedSequence(session.event_store, session.scope)
            self.tail.show(self._events, is_merged=True)
            if self._filter:
                self.tail.filter_by(self._filter)
        if self._events is None or not new[:room]:
            return
        for run_id in new[:room]:
            self._events.add(run_id)
            self._followed.append(run_id)
            session.live.tails.follow(run_id, self, in_focus=False)
        start_worker(self, self._find_whole(session, new[:room]), "looking for events", group="whole")
        self.tail.grow()

    def _leave_read(self, session: ServiceSession, count: int) -> None:
        """Leave up to so many runs that have ended, and whose events are all read or cannot be read."""
        if self._events is None or count <= 0:
            return
        tails = session.live.tails
        ended = [run_id for run_id in self._followed if not is_live(session, run_id)]
        done = [
            run_id
            for run_id in ended
            if tails.last_update(run_id).is_complete or tails.last_update(run_id).failure is not None
        ]
        for run_id in done[:count]:
            self._followed.remove(run_id)
            self._events.finish(run_id)
            tails.unfollow(run_id, self)

    def _unfollow(self) -> None:
        session = self.console.session
        if session is not None:
            for run_id in self._followed:
                session.live.tails.unfollow(run_id, self)
        self._followed = []

    def _title(self) -> str:
        assert self._events is not None
        session, runs = self.console.session, self._events.run_ids
        if not self.tail.is_paused:
            self._live_count = sum(session is None or is_live(session, run_id) for run_id in self._followed)
        many = f"{len(runs)} run{'s' * (len(runs) != 1)}"
        more = f", {self._left_out} more are not followed" if self._left_out else ""
        when = " when last read" * (self.lost_since is not None)
        live = f" {self.console.glyphs.dot} {self._live_count} live{when}"
        unseen = f", {self._unseen} ended unseen" if self._unseen else ""
        return f"Tail of {many}{live}{more}{unseen}"

    def _silent_text(self) -> SafeText:
        """Return how many runs do not respond and the first failure, or why responses cannot be stored."""
        updates = self._updates(self._followed)
        failures = [failure for each in updates if (failure := each.failure) is not None]
        dot = self.console.glyphs.dot
        if unkept := next((each.unkept for each in updates if each.unkept is not None), None):
            return line(f" {dot} not kept: {unkept}")
        silent = [failure for failure in failures if not has_no_record(failure)]
        if silent:
            return line(f" {dot} no response for {len(silent)}: {silent[0].title}")
        return line(f" {dot} the service has no events of {len(failures)}" if failures else "")

    def _unread_text(self) -> str:
        """Return of how many runs the events are not read, or not up to the end that the list of runs knows."""
        session = self.console.session
        if session is None or self._events is None or not self.tail.length:
            return ""
        unread = 0
        for update in self._updates(self._followed):
            is_known = update.is_complete or update.run_id in self._whole
            if not is_known and (update.failure is None or not has_no_record(update.failure)):
                unread += update.answered_at is None or not is_live(session, update.run_id)
        runs = len(self._events.run_ids)
        return f" {self.console.glyphs.dot} {unread} of {counted(runs, 'run')} not read" if unread else ""

    async def _find_whole(self, session: ServiceSession, run_ids: Sequence[str]) -> None:
        for run_id in run_ids:
            if await session.event_store.is_complete(session.scope, run_id):
                self._whole.add(run_id)
        self.show_tail()

    def _wait_text(self) -> str:
        """Return why no events are read now, and when the first read goes."""
        session = self.console.session
        if session is None or self.tail.is_paused:
            return ""
        waits = self.tail_wait_text(session, *self._followed)
        return f" {self.console.glyphs.dot} {waits}" if waits else ""

    def _updates(self, run_ids: Iterable[str]) -> list[TailUpdate]:
        session = self.console.session
        return [] if session is None else [session.live.tails.last_update(run_id) for run_id in run_ids]

    def _is_read(self) -> bool:
        """Return whether the service has said of every run what events there are."""
        updates = self._updates(self._followed)
        is_connected = self.console.session is not None
        return is_connected and all(each.answered_at is not None or each.is_complete for each in updates)

    def _runs_text(self) -> StyledSpans:
        """Return the state of the list of runs as text, shown as the screen's state before there are events."""
        if self.console.session is None:
            return line("")
        return (pane_status(runs_state(self.console), self.console.render_context()),)

    def _failure_text(self) -> SafeText:
        """Return why the list of runs cannot be read; the followed runs may not have failed yet."""
        state = runs_state(self.console)
        if state.load not in FAILED_STATES and state.load is not LoadState.RATE_LIMITED:
            return line("")
        return line(f" {self.console.glyphs.dot} {pane_status(state, self.console.render_context()).text}")

    def _empty_text(self) -> tuple[SafeText, ...]:
        if self._events is not None:
            return ()
        keys, state = self.console.keys, runs_state(self.console)
        if state.age_s is None or state.is_lost:
            return self.unread_lines(RUNS, state)
        new = keys.shown("screen.new") if self.offers("screen.new") else ""
        since = self._passed.since
        passed = "" if since is None else passed_runs_text(self._unseen, since, self.console.render_context())
        shows = f"{keys.shown('screen.tail_all')} follows"
        return (no_live_run_text(new, keys.shown("list.mark"), shows, passed),)

    def _filter_by(self, text: str, *, is_typing: bool = False) -> bool:
        is_read = self.tail.filter_by(text, is_typing=is_typing)
        self._filter = self.tail.filter_text
        if self._filter:
            self._stored_filter = ""
        return is_read

    def _run_under_cursor(self) -> str:
        event = self.tail.event(self.query_one(EventLog).cursor)
        return "" if event is None else event.execution_id or ""
