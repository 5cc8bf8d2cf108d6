"""The wall of runs: the newest events of many runs side by side, the one in trouble largest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from textual import events
from textual.containers import Container
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from runwatch.base.text import cell_width, wrap_words
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.records.states import QUEUED_STATES
from runwatch.settings.view_state import ViewState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_lines
from runwatch.tui.core.workers import start_worker
from runwatch.tui.shell.console_screen import ConsoleScreen, action_of
from runwatch.tui.sources.record_loader import PassedRuns, as_known_now, find_live_runs, is_end_known, is_live
from runwatch.tui.sources.store_source import runs_state
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.panes.pane import BorderText
from runwatch.tui.widgets.panes.run_tile import RunTile
from runwatch.view.detail.pane_state import read_failure_span, short_limit_wait_text
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.decision_packet import run_outcome_title
from runwatch.view.runs.event_lines import SLICE_END_CELLS, fit_summary, render_event
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.runs.run_wall import (
    STAYS_S,
    Trouble,
    WallGrid,
    find_trouble,
    fit_wall,
    keeps_grid,
    no_live_run_text,
    passed_runs_text,
    place_runs,
    wall_order,
)
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.format import elapsed_clock, short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, elide_start, fit, line
from runwatch.view.text.styled_text import with_role

if TYPE_CHECKING:
    from runwatch.records.event import RunEvent
    from runwatch.store.live.run_tails import TailUpdate

NAME: Final = "wall"
"""The screen's name."""

RECENT_EVENTS: Final = 200
"""Events of a run in memory: those drawn, and those in which a retry counts as trouble."""

GATHER_S: Final = 0.25
"""Seconds to gather changes of all tiles between two draws."""

NOTES_EVERY_S: Final = 4
"""Seconds between reads of the labels of runs."""

_BETWEEN: Final = "\n"
_OF_A_TILE: Final = frozenset({"wall.open", "wall.next_page", "wall.previous_page", "screen.replay", "screen.copy"})
_KIND_FROM_CELLS: Final = 60
"""Width of a tile from which its events have their kind."""

_UNKNOWN_RANK: Final = (2, 0)
"""The rank of every run until it is known what troubles them."""

_KIND_CELLS: Final = 9


def wall_view(run_ids: Sequence[str] = ()) -> ViewState:
    """Return the view of these runs, or of every live run if there are none."""
    return ViewState(NAME, selected=_BETWEEN.join(run_ids))


class RunWallScreen(ConsoleScreen):
    """The screen of the wall. Without chosen runs it shows every live one; one that ends stays for a while."""

    BINDINGS = make_bindings("wall", "screen.copy", "screen.export", "screen.new", "screen.replay", "screen.pause")
    HINTS = (
        "wall.open", "wall.next_page", "wall.previous_page", "screen.replay", ("screen.copy", "copy run id"),
        "screen.pause", "screen.refresh", "app.quit",
    )  # fmt: skip
    DEFAULT_CSS = """
    RunWallScreen {
        & #wall {
            layout: grid;
            height: 1fr;
        }
        & #wall-note {
            height: auto;
            padding: 1 2;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._chosen: tuple[str, ...] = ()
        self._passed = PassedRuns()
        self._seen: set[str] = set()
        self._unseen = 0
        self._run_ids: list[str] = []
        self._order: list[str] = []
        self._page = 0
        self._live = 0
        self._grid = WallGrid(1, 1, 1)
        self._wall_size = Size()
        self._events: dict[str, list[RunEvent]] = {}
        self._counts: dict[str, int] = {}
        self._troubles: dict[str, Trouble] = {}
        self._labels: dict[str, str] = {}
        self._ended: dict[str, float] = {}
        self._drawn: dict[str, tuple[object, list[StyledSpans]]] = {}
        self._dirty: set[str] = set()
        self._is_reading = self._is_paused = False
        self._has_chosen_tile = self._is_settled = self._is_restored = False
        self._returns_to = ""
        self._seconds = 0
        self._noted: tuple[SafeText, ...] | None = None

    def body(self) -> Iterable[Widget]:
        yield Static(id="wall-note")
        yield Container(id="wall")

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return runs, which show what is live."""
        return (Run,)

    def breadcrumbs(self) -> Sequence[str]:
        return ("Run wall", "chosen runs" if self._chosen else "live runs")

    def hints(self) -> Sequence[KeyHint]:
        """Return the hints, without those of pages that there are none of, and those of a tile if there is none."""
        if not self._shown:
            return [hint for hint in self.HINTS if action_of(hint) not in _OF_A_TILE]
        is_left_out = {"wall.next_page": self._page >= self._pages - 1, "wall.previous_page": self._page == 0}
        return [hint for hint in self.HINTS if not is_left_out.get(action_of(hint), False)]

    # Runs.

    def on_mount(self) -> None:
        self._begin()

    def on_unmount(self) -> None:
        session = self.console.session
        if session is not None:
            for run_id in self._run_ids:
                session.live.tails.unfollow(run_id, self)

    def session_opened(self) -> None:
        self._begin()

    def view_state(self, name: str) -> ViewState:
        runs = list(self._chosen)
        if not self._chosen and self.console.session is not None:
            # Without chosen runs, those that have just ended come after an empty line.
            runs = ["", *(run_id for run_id in self._run_ids if self._facts(run_id).is_final)]
        # The order of the tiles comes last, after an empty line.
        order = ["", *self._order] if self._order else []
        return ViewState(name, selected=_BETWEEN.join((*runs, *order)), focused=self._focused_run)

    def restore_view(self, view: ViewState) -> None:
        first, *others = view.selected.split(_BETWEEN)
        end = others.index("") if "" in others else len(others)
        others, order = others[:end], others[end + 1 :]
        chosen = (first, *others) if first else ()
        if chosen != self._chosen:
            self.on_unmount()
            self._chosen, self._run_ids, self._order, self._page = chosen, [], [], 0
        if not chosen:
            # The run that was opened may have ended meanwhile. An earlier session's are not in its store.
            ended = dict.fromkeys((*others, *filter(None, (view.focused,))))
            self._run_ids += [run_id for run_id in ended if run_id not in self._run_ids and self._is_known(run_id)]
        if not self._order:
            self._order, self._is_restored = order, bool(order)
        self._returns_to = view.focused
        self._begin()
        self.show_crumbs()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Add runs that have become live, and show what changed."""
        if not self._is_paused:
            self._begin()

    def tail_moved(self, update: TailUpdate) -> None:
        """Read the new events of a run on this page."""
        if not self._is_paused and update.run_id in self._shown and update.count != self._counts.get(update.run_id, 0):
            self._dirty.add(update.run_id)
            self._read()

    def tick(self) -> None:
        """Update ages, and follow runs again whose tail was stopped."""
        if self._is_paused:
            return
        self._seconds += 1
        if self._seconds % NOTES_EVERY_S == 1:
            start_worker(self, self._read_labels(), "reading notes", group="wall labels", exclusive=True)
        self._drop_ended()
        self._follow()
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    # Key actions.

    def action_open(self) -> None:
        if self._focused_run:
            self._open(self._focused_run)

    def _open(self, run_id: str) -> None:
        # Deferred, because this screen cannot wait for its own removal.
        self.console.call_later(self.console.open_run, run_id)

    def action_replay(self) -> None:
        from runwatch.tui.screens.runs.replay import replay_view

        run_id = self._focused_run
        if run_id:
            self.go_to_view_later(replay_view(run_id))

    def action_move_tile(self, columns: int, rows: int) -> None:
        self._has_chosen_tile, self._returns_to = True, ""
        tiles, here = self._tiles, next((tile for tile in self._tiles if tile.has_focus_within), None)
        if here is None:
            if tiles:
                tiles[0].focus_lines()
            return
        at = here.region
        wanted = (
            at.x - 1 if columns < 0 else at.right if columns > 0 else at.x + 1,
            at.y - 1 if rows < 0 else at.bottom if rows > 0 else at.y + 1,
        )
        there = next((tile for tile in tiles if tile.run_id and tile.region.contains(*wanted)), None)
        if there is not None:
            there.focus_lines()

    def action_turn_page(self, pages: int) -> None:
        """Show the runs that the window has no room for."""
        page = max(0, min(self._page + pages, self._pages - 1))
        if page != self._page:
            self._page, self._returns_to = page, ""
            self._follow()
            self._draw()

    def action_new(self) -> None:
        from runwatch.tui.flows.runs.run_form import open_run_form

        open_run_form(self)

    def action_back(self) -> None:
        """Go back to where the wall was opened from, also if the user named it; to Runs from the first view."""
        if self.console.history.has_earlier:
            self.console.go_back()
        else:
            self.console.action_go(RUNS.name)

    async def action_copy(self) -> None:
        run_id = self._focused_run
        if run_id:
            await self.console.copy_text(copied_word(run_id), line("run id"))

    def action_export(self) -> None:
        from runwatch.tui.flows.exports import open_events_menu

        open_events_menu(self, self._focused_run)

    def action_pause(self) -> None:
        """Pause or resume the wall; what came meanwhile is shown when it goes on."""
        self._is_paused = not self._is_paused
        self.show_hints()
        if self._is_paused:
            self.show_crumbs()
        else:
            self._dirty.update(self._shown)
            self._read()
            self._begin()

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def action_refresh(self) -> None:
        if self._is_paused:
            self.action_pause()
        session = self.console.session
        if session is not None:
            session.live.scheduler.ask_anyway()
            for run_id in self._shown:
                session.live.tails.hurry(run_id, is_asked=False)

    @property
    def _tiles(self) -> list[RunTile]:
        return list(self.query(RunTile))

    @property
    def _focused_run(self) -> str:
        return next((tile.run_id for tile in self._tiles if tile.has_focus_within), "")

    @property
    def _pages(self) -> int:
        return max(1, -(-len(self._order) // self._grid.tiles))

    @property
    def _shown(self) -> list[str]:
        """The runs on this page, in the order of its tiles."""
        first = self._page * self._grid.tiles
        return self._order[first : first + self._grid.tiles]

    def _begin(self) -> None:
        session = self.console.session
        if session is None or not self.is_mounted:
            self._show_note()
            return
        self._passed.begin(session)
        known = set(self._run_ids)
        wanted = self._chosen or find_live_runs(session, newest_first=True)
        self._run_ids += [run_id for run_id in wanted if run_id not in known]
        self._seen.update(self._run_ids)
        self._unseen = 0 if self._chosen else self._passed.count(session, self._seen)
        self._drop_ended()
        self._draw()
        self._follow()

    def _is_known(self, run_id: str) -> bool:
        session = self.console.session
        return session is not None and run_id in session.store.collection(session.scope.profile, Run.KIND).by_id

    def _drop_ended(self) -> None:
        """Take away the runs that ended some time ago, unless the user has chosen the runs."""
        session = self.console.session
        if session is None or self._chosen:
            return
        now = self.console.clock.monotonic()
        for run_id in [run_id for run_id in self._run_ids if not is_live(session, run_id)]:
            if now - self._ended.setdefault(run_id, now) < STAYS_S:
                continue
            self._run_ids.remove(run_id)
            del self._ended[run_id]
            self._events.pop(run_id, None)
            self._counts.pop(run_id, None)
            self._drawn.pop(run_id, None)
            session.live.tails.unfollow(run_id, self)

    def _follow(self) -> None:
        """Follow the runs of this page alone, so that the requests of the others do not slow them down."""
        session = self.console.session
        if session is None:
            return
        shown, tails = self._shown, session.live.tails
        for run_id in self._run_ids:
            if run_id in shown and not tails.follows(run_id, self):
                tails.follow(run_id, self, in_focus=False)
            elif run_id not in shown and tails.follows(run_id, self):
                tails.unfollow(run_id, self)
        # What troubles the runs of other pages has given all of them their tiles.
        wanted = self._run_ids if self._is_restored else shown
        new = [run_id for run_id in wanted if run_id not in self._events]
        if new:
            self._dirty.update(new)
            self._read()

    def _read(self) -> None:
        if not self._is_reading and self._dirty:
            self._is_reading = True
            start_worker(self, self._read_events(), "reading events", group="wall")

    async def _read_events(self) -> None:
        """Read the newest events of the runs that have new ones; those that come meanwhile are read together."""
        session, runs = self.console.session, self._dirty
        # A paused wall shows what a page turned to has.
        draws = not self._is_paused or not runs <= self._events.keys()
        self._dirty = set()
        try:
            for run_id in runs if session is not None else ():
                assert session is not None
                count = session.live.tails.last_update(run_id).count
                self._events[run_id] = await session.event_store.window(
                    session.scope, run_id, -RECENT_EVENTS, RECENT_EVENTS
                )
                self._counts[run_id] = count
            if draws:
                self._draw()
        finally:
            self.set_timer(GATHER_S, self._read_on)

    def _read_on(self) -> None:
        self._is_reading = False
        self._read()

    async def _read_labels(self) -> None:
        session = self.console.session
        if session is not None:
            notes = await session.notes.list_for(session.scope, Run.KIND)
            self._labels = {note.record_id: note.text for note in notes if note.purpose == "label"}

    def _facts(self, run_id: str) -> RunFacts:
        session = self.console.session
        assert session is not None
        recent = self._events.get(run_id)
        last, label = recent[-1] if recent else None, self._labels.get(run_id, "")
        return as_known_now(session, RunFacts(Run({"execution_id": run_id}), last_event=last, label=label))

    def _draw(self) -> None:
        """Give each run its place, arrange the tiles, and fill them."""
        if not self.is_mounted or self.console.session is None:
            return
        context = self.console.render_context()
        # What a run has done since the service was lost is not known, so no run is silent for that.
        context = replace(context, now=self.lost_since or context.now)
        facts = {run_id: self._facts(run_id) for run_id in self._run_ids}
        self._troubles = {
            run_id: find_trouble(known, self._events.get(run_id, ()), context) for run_id, known in facts.items()
        }
        self._live = sum(not known.is_final for known in facts.values())
        self._fit(len(facts))
        ranks = {run_id: wall_order(facts[run_id], self._troubles[run_id]) for run_id in self._run_ids}
        if self._is_restored:
            if all(run_id in self._events for run_id in self._run_ids):
                self._is_restored = False
            else:
                ranks = dict.fromkeys(self._run_ids, _UNKNOWN_RANK)
        self._order = place_runs(self._order, self._run_ids, ranks, self._grid.tiles if self._wall_size else len(facts))
        if self._returns_to in self._order:
            self._page = self._order.index(self._returns_to) // self._grid.tiles
        self._arrange()
        self._fill()
        self._show_note()
        self.show_crumbs()

    def _fit(self, runs: int) -> None:
        """Choose the grid for so many runs; the one there is stays while it suits them."""
        size = self.query_one("#wall", Container).size
        if size.width and (size != self._wall_size or not keeps_grid(self._grid, runs)):
            self._wall_size, self._grid = size, fit_wall(size.width, size.height, max(1, runs))

    def _arrange(self) -> None:
        """Make a grid with as many tiles as there are runs on this page; those of the last page fill the window too."""
        if not self._wall_size:
            return
        wall, grid = self.query_one("#wall", Container), self._grid
        self._page = min(self._page, self._pages - 1)
        tiles, wanted = self._tiles, len(self._shown)
        if not keeps_grid(grid, wanted):
            grid = fit_wall(*self._wall_size, max(1, wanted))
        if (wall.styles.grid_size_columns, wall.styles.grid_size_rows) != (grid.columns, grid.rows):
            wall.styles.grid_size_columns, wall.styles.grid_size_rows = grid.columns, grid.rows
        for number, tile in enumerate(tiles):
            tile.display = number < wanted
        if len(tiles) < wanted:
            new = [RunTile(self._open, self._fill) for _ in range(wanted - len(tiles))]
            wall.mount(*new)
            tiles += new
        for number, tile in enumerate(tiles):
            spans = (grid.columns_of_first, grid.rows_of_first) if number == 0 else (1, 1)
            if number and number == wanted - 1:
                spans = grid.columns_of_last(wanted), 1
            if (tile.styles.column_span, tile.styles.row_span) != spans:
                tile.styles.column_span, tile.styles.row_span = spans
        if tiles and wanted and self.focused is None:
            self.call_after_refresh(self._focus_first)

    def _focus_first(self) -> None:
        # Meanwhile the command line may have been opened, which ends when it loses the focus.
        if self.focused is None and self._tiles:
            self._tiles[0].focus_lines()

    def _fill(self) -> None:
        """Show a run in each tile; the focus stays on its run, wherever that goes.

        Until the events of all are read, it stays on the first tile, unless the user has moved it.
        """
        if self.console.session is None:
            return
        focused, tiles = self._returns_to or self._focused_run, self._tiles
        for run_id, tile in zip(self._shown, tiles, strict=False):
            facts = self._facts(run_id)
            tile.show(run_id, self._edge(facts, self._troubles.get(run_id)), self._lines(run_id, tile))
        is_settled = self._has_chosen_tile or self._is_settled or bool(self._returns_to)
        is_read = all(map(self._has_all, self._shown))
        self._is_settled = self._is_settled or is_read
        there = next((tile for tile in tiles if tile.display and focused and tile.run_id == focused), None)
        if is_settled and there is not None and focused != self._focused_run:
            there.focus_lines()
        if self._returns_to and self._returns_to == self._focused_run:
            self._has_chosen_tile, self._returns_to = True, ""
        elif is_read and there is None:
            # The run is no longer on this page.
            self._returns_to = ""

    def _has_all(self, run_id: str) -> bool:
        """Return whether the service has answered for a run, and the events of its answer are shown."""
        assert self.console.session is not None
        update = self.console.session.live.tails.last_update(run_id)
        is_read = update.answered_at is not None or update.is_complete
        return is_read and len(self._events.get(run_id, ())) >= min(update.count, RECENT_EVENTS)

    def _is_end_known(self, run_id: str) -> bool:
        session = self.console.session
        return session is not None and is_end_known(session, run_id, self._events.get(run_id, ()))

    def _edge(self, facts: RunFacts, trouble: Trouble | None) -> BorderText:
        context = self.console.render_context()
        glyphs = context.glyphs
        state = run_outcome_title(facts.status, facts.packet.value, glyphs)
        label = f"{line(facts.label, 20)} " if facts.label else ""
        cells: dict[str, StyledSpan] = {}
        for column in RUNS.columns:
            if column.id in {"took", "cost"} and (drawn := column.draw(facts, context)) is not None:
                text, role = with_role(drawn)
                # A duration and a test run say by themselves what they are.
                name = "cost " if column.id == "cost" and not facts.is_test else ""
                cells[column.id] = (line(f"{name}{text}", None), role)
        dot = label_span(f" {glyphs.dot} ")
        offline = label_span("") if self._is_end_known(facts.id) else self.offline_span()
        waits = offline if offline[0] else label_span(self._wait_text(facts.id), Role.WARN)
        known: list[Any] = [waits] * bool(waits[0]) + [cells[name] for name in ("took", "cost") if name in cells]
        age: StyledSpans = tuple(known[:1] + [part for span in known[1:] for part in (dot, span)])
        counters: StyledSpans = line("") if trouble is None else ((trouble.text, trouble.role),)
        return BorderText(
            title=(label_span(f"{label}{short_id(facts.id, glyphs)}", Role.PLAIN),),
            state=(state,), age=age, counters=counters,
        )  # fmt: skip

    def _wait_text(self, run_id: str) -> str:
        """Return why the events of a run are not read now, and when they are; empty without a wait."""
        session = self.console.session
        if session is None or self._is_end_known(run_id):
            return ""
        hold_s = session.live.hold_s
        return f"held {elapsed_clock(hold_s)}" if hold_s else short_limit_wait_text(session.live.tail_wait_s(run_id))

    def _lines(self, run_id: str, tile: RunTile) -> list[StyledSpans]:
        found = self._events.get(run_id)
        if not found:
            session = self.console.session
            update = None if session is None else session.live.tails.last_update(run_id)
            # A run at work has events, even if its tail has not read one.
            is_read = update is not None and self._has_all(run_id) and self._facts(run_id).status in QUEUED_STATES
            reading = f"reading its events{self.console.glyphs.ellipsis}"
            failure = None if update is None else update.failure
            if update is not None and failure is not None:
                hold_s = 0.0 if session is None else session.live.hold_s
                why, how = read_failure_span(failure, update.failed_at, hold_s, self.console.render_context())
                return [(label_span(row, how),) for row in wrap_words(why, tile.cells)]
            offline, role = self.offline_span()
            if offline:
                return [(label_span(offline, role),)]
            waits = self._wait_text(run_id)
            return [(label_span("no event yet" if is_read else "not read yet" if waits else reading),)]
        context, has_kind = self.console.render_context(), tile.cells >= _KIND_FROM_CELLS
        # Lines have no ages, so they stay until there are others, however often the frames change.
        key = (found, tile.rows, tile.cells, context.time, context.now.date(), context.glyphs)
        known = self._drawn.get(run_id)
        if known is not None and known[0] == key:
            return known[1]
        newest = found[-tile.rows :]
        drawn = [render_event(event, context) for event in newest]
        # The end of its id tells the event of a slice from that of the run.
        ends = [elide_start(shown.slice, SLICE_END_CELLS, context.glyphs.ellipsis) for shown in drawn]
        cells = max(map(cell_width, ends), default=0)
        made: list[StyledSpans] = []
        for event, shown, end in zip(newest, drawn, ends, strict=True):
            parts = [
                shown.time,
                *([fit(shown.kind, _KIND_CELLS)] if has_kind else []),
                *([fit(end, cells)] if cells else []),
            ]
            gap = "  " if has_kind or not cells else " "
            before = label_span(gap.join((*parts, "")))
            room = tile.cells - cell_width(before[0])
            made.append((before, (fit_summary(event, shown.summary, room, context.glyphs), shown.role)))
        self._drawn[run_id] = key, made
        return made

    def crumbs_note(self) -> StyledSpans | None:
        """Say how many runs are live and have ended, and where those are that do not fit."""
        if self.console.session is None:
            return None
        total, shown = len(self._order), len(self._shown)
        if not total and runs_state(self.console).age_s is None:
            return (label_span(f"{self.console.glyphs.nothing} live"),)
        ended = total - self._live
        counts = (
            f"{self._live} live{f', {ended} ended' * (ended > 0)}{' when last read' * (self.lost_since is not None)}"
        )
        paused = (self.pause_span("  "),) if self._is_paused else ()
        unseen = f", {self._unseen} ended unseen" if self._unseen else ""
        if shown == total:
            return (*paused, label_span(f"{counts}{unseen}"))
        first = self._page * self._grid.tiles
        return (
            *paused,
            label_span(f"{first + 1}-{first + shown} of {total}", Role.WARN),
            label_span(f": {counts}{unseen}"),
        )

    def _show_note(self) -> None:
        note = self._empty_text()
        if note != self._noted and self.is_mounted:
            # Compared first, because showing the note lays out the whole screen.
            self._noted = note
            note_widget = self.query_one("#wall-note", Static)
            note_widget.display = bool(note)
            note_widget.update(to_lines(((text, Role.QUIET),) for text in note))

    def _empty_text(self) -> tuple[SafeText, ...]:
        if self._order:
            return ()
        state = runs_state(self.console)
        if state.age_s is None or state.is_lost:
            return self.unread_lines(RUNS, state)
        keys = self.console.keys
        new = keys.shown("screen.new") if self.offers("screen.new") else ""
        since = self._passed.since
        passed = "" if since is None else passed_runs_text(self._unseen, since, self.console.render_context())
        return (no_live_run_text(new, keys.shown("list.mark"), f"{keys.shown('screen.wall')} shows", passed),)
