"""Runs, live: the list of all, and the tail of the one under the cursor."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType
from textual.widget import Widget

from runwatch.base.errors import UsageError
from runwatch.records.receipt import Receipt
from runwatch.store.freshness import LoadState, PaneState
from runwatch.tui.actions import bindings
from runwatch.tui.draw import Piece, Pieces, word
from runwatch.tui.messages import ContextToggled, FollowChanged, LineOpened, MatchWanted, PanelLeft
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.widgets.drawer import Drawer
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.run_detail import TABS, RunDetail
from runwatch.tui.widgets.status_line import Hint
from runwatch.tui.widgets.tab_bar import TabBar
from runwatch.tui.work import start_work
from runwatch.view.drawn import Drawn, block, json_block, line
from runwatch.view.facts import RunFacts
from runwatch.view.format import count, short_id, state
from runwatch.view.glyphs import Role, state_glyph
from runwatch.view.pane_words import fresh_words
from runwatch.view.resource import Action
from runwatch.view.resources.runs import RUNS
from runwatch.view.table import Row

if TYPE_CHECKING:
    from runwatch.api.errors import ApiError
    from runwatch.records.run import RunResult
    from runwatch.store.live import TailNews
    from runwatch.tui.lines import StoredLines
    from runwatch.view.copies import Copy
    from runwatch.view.detail import Section

MOST_FOUND: Final = 100_000
"""The most events that a search shows."""

SEARCH_CELLS: Final = 16
"""How much of what is searched for stands in the frame."""

_TAIL_WORDS: Final = "no event yet"


class RunsScreen(ResourceScreen):
    """The screen of runs."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "screen",
        only=(
            "screen.new",
            "screen.again",
            "screen.add",
            "screen.destroy",
            "screen.next_tab",
            "screen.previous_tab",
        ),
    )
    DEFAULT_CSS = """
    RunsScreen {
        & Drawer {
            display: none;
            dock: none;
        }
        &.-drawer Drawer {
            display: block;
        }
    }
    """

    def __init__(self, source: Any) -> None:
        super().__init__(RUNS, source)
        self._lines: StoredLines | None = None
        self._search = ""
        self._found: list[int] = []
        self._hides_others = True
        self._asked: set[str] = set()
        self._counted: tuple[Sequence[Row[Any]], dict[str, int]] = ((), {"live": 0, "failed": 0, "done": 0})

    def body(self) -> Any:
        """The panes, and the drawer for one event."""
        yield from super().body()
        yield Drawer(id="drawer")

    def detail(self) -> Widget:
        """Events and everything else of one run."""
        return RunDetail(lambda: self.console.context(), id="run")

    @property
    def run_detail(self) -> RunDetail:
        """The second pane's content."""
        return self.query_one(RunDetail)

    def _note(self, state: PaneState) -> tuple[Drawn, ...]:
        if state.load is not LoadState.EMPTY or self.is_filtered:
            return super()._note(state)
        keys = self.console.keys
        return (
            line("No runs yet."),
            line(f"{keys.shown('screen.new')} starts a test run, {keys.shown('screen.add')} adds one by its id."),
        )

    def hints(self) -> Sequence[Hint]:
        """What operators do all day."""
        return (
            "list.open", "screen.filter", "screen.copy", "screen.new", ("screen.destroy", "cancel"), "tail.follow",
            "screen.pause", "screen.next_tab", "screen.add", "screen.again", "screen.refresh", "screen.raw", "app.quit",
        )  # fmt: skip

    def focus_detail(self) -> None:
        """Put the focus on the view that is shown."""
        self.run_detail.focus_inside()

    def counters(self) -> Pieces:
        """How many runs are in which kind of state; nothing before the first answer, not even nought."""
        if not self._rows and self._source.state().age_s is None:
            return line("")
        if self._rows is not self._counted[0]:
            counts = {"live": 0, "failed": 0, "done": 0}
            for row in self._rows:
                facts: RunFacts = row.subject
                counts["live" if not facts.is_final else "failed" if facts.status == "failed" else "done"] += 1
            self._counted = self._rows, counts
        counts = self._counted[1]
        dot = self.console.glyphs.dot
        parts: list[Piece] = []
        for name, number in counts.items():
            if parts:
                parts.append(word(f" {dot} "))
            parts.append(word(f"{name} {number}", Role.LIVE if name == "live" and number else Role.QUIET))
        return tuple(parts)

    # The run under the cursor.

    def on_screen_resume(self) -> None:
        """Take in the events that came while a sheet or another screen stood in front."""
        if self._shown is not None:
            self._load_tail(self._shown)

    def on_unmount(self) -> None:
        """Follow nothing that nobody sees."""
        if self.console.desk is not None and self._shown is not None:
            self.console.desk.live.unfollow(self._shown)

    def show_detail(self) -> None:
        """Show the run under the cursor, and follow it."""
        row = self.row
        if row is None:
            self._leave_run()
            self.run_detail.clear()
            self.query_one("#detail", Pane).show_edge(title=line(""), state=line(""), age=line(""), counters=line(""))
            return
        is_other = row.id != self._shown
        if is_other:
            self._leave_run()
            self._shown = row.id
            self._follow(row.id)
        self.run_detail.show(row.subject, is_other=is_other)
        self._read_for_tab(row.subject)
        self._show_tail()

    def tail_moved(self, news: TailNews) -> None:
        """Something about a followed run's events changed."""
        if news.run_id == self._shown and self._lines is not None:
            if news.count != self._lines.events_count:
                self._load_tail(news.run_id)
            self._show_tail()

    def tick(self) -> None:
        """Ages grow."""
        super().tick()
        self._show_tail()

    def detail_title(self, row: Row[Any]) -> Pieces:
        """Id and status."""
        glyphs = self.console.glyphs
        facts: RunFacts = row.subject
        return (
            word(f"{short_id(row.id, glyphs)}  ", Role.PLAIN),
            (state(facts.status, glyphs), str(state_glyph(facts.status, glyphs)[1])),
        )

    def on_follow_changed(self, message: FollowChanged) -> None:
        """Say it in the frame."""
        message.stop()
        self._show_tail()

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        """Read what the view needs."""
        row = self.row
        if row is not None:
            self._read_for_tab(row.subject)
        self._show_tail()

    def on_run_detail_searched(self, message: RunDetail.Searched) -> None:
        """Look for the text in the database, and show what has it."""
        message.stop()
        self._search = message.text.strip()
        self._search_tail()

    def on_context_toggled(self, message: ContextToggled) -> None:
        """Hide what does not match, or mark what does and show everything."""
        message.stop()
        self._hides_others = not self._hides_others
        self._show_found()
        self.say("other events are hidden" if self._hides_others else "matches are marked, other events are shown")

    def on_match_wanted(self, message: MatchWanted) -> None:
        """Go to the next event that has what is searched for, round the end."""
        message.stop()
        lines = self._lines
        if lines is None or not self._found:
            self.say("nothing is searched for, or nothing has it", Role.WARN)
            return
        here = lines.number(message.index)
        place = bisect_left(self._found, -1 if here is None else here)
        is_on_match = place < len(self._found) and self._found[place] == here
        step = message.step if is_on_match or message.step < 0 else 0
        index = lines.index(self._found[(place + step) % len(self._found)])
        if index is not None:
            self.run_detail.event_log.move_cursor(index)

    def on_line_opened(self, message: LineOpened) -> None:
        """Show the whole event."""
        message.stop()
        event = self._lines.event(message.index) if self._lines is not None else None
        if event is None:
            return
        drawer = self.query_one(Drawer)
        drawer.show(line(f"event {line(event.id)}"), json_block(dict(event.raw)), event.wire_text)
        self.add_class("-drawer")
        drawer.query("DetailView").first().focus()

    def on_panel_left(self, message: PanelLeft) -> None:
        """Close the drawer."""
        message.stop()
        self.remove_class("-drawer")
        self.focus_detail()

    def action_next_tab(self) -> None:
        """Show the next view of the run."""
        self.run_detail.action_next_tab()

    def action_previous_tab(self) -> None:
        """Show the view before."""
        self.run_detail.action_previous_tab()

    def action_new(self) -> None:
        """Start a run."""
        self.console.open_run_form()

    def action_again(self) -> None:
        """Start a run like the one under the cursor."""
        row = self.row
        if row is None:
            self.say("There is no run to start again.", Role.WARN)
        else:
            self.console.open_run_form(row.subject)

    def action_add(self) -> None:
        """Add ids to the watch list."""
        self.console.open_add_ids()

    def action_refresh(self) -> None:
        """Read the list now, the events of the run too, and what could not be read for it."""
        self._asked.clear()
        desk = self.console.desk
        if desk is not None and self._shown is not None:
            desk.live.hurry(self._shown)
        super().action_refresh()

    def action_destroy(self) -> None:
        """Cancel the marked runs, or the one under the cursor."""
        self.console.open_cancel([row.subject for row in self.chosen()])

    def copies_in_focus(self) -> Iterable[Copy]:
        """The event under the cursor too, exactly as it came."""
        yield from super().copies_in_focus()
        log = self.run_detail.event_log
        event = self._lines.event(log.cursor) if self._lines is not None and log.has_focus else None
        if event is not None:
            from runwatch.view.copies import Copy

            yield Copy(line("event as JSON"), event.wire_text)

    async def do_with(self, row: Row[Any], action: Action[Any]) -> None:
        """Cancel, start one like it, or show the view that the action reads."""
        self.table.select(row.key)
        if action.id == "cancel":
            self.console.open_cancel([row.subject])
            return
        if action.id == "again":
            self.console.open_run_form(row.subject)
            return
        tab = {"watch": "events"}.get(action.id, action.id)
        if tab in dict(TABS):
            self.run_detail.query_one(TabBar).choose(tab)
            self.open_detail()
        else:
            await super().do_with(row, action)

    def action_back(self) -> None:
        """Close the drawer first."""
        if self.has_class("-drawer"):
            self.remove_class("-drawer")
            self.focus_detail()
            return
        super().action_back()

    @property
    def is_at_root(self) -> bool:
        """Whether going back would leave this screen."""
        return super().is_at_root and not self.has_class("-drawer")

    # Inside.

    def _follow(self, run_id: str) -> None:
        desk = self.console.desk
        if desk is None:
            self._shown = None
            return

        from runwatch.tui.lines import StoredLines

        def fetch(page: int) -> None:
            lines = self._lines

            async def load() -> None:
                if lines is not None:
                    start, length = await lines.load(page)
                    self.run_detail.event_log.refresh_lines_of(start, length)

            start_work(self, load(), "reading events", group="pages")

        self._lines = StoredLines(desk.events, desk.scope, run_id, self.console.context, fetch)
        self.run_detail.event_log.show(self._lines, following=True)
        self._load_tail(run_id)
        desk.live.follow(run_id)

    def _leave_run(self) -> None:
        desk = self.console.desk
        if desk is not None and self._shown is not None:
            desk.live.unfollow(self._shown)
        self._shown = None
        self._lines = None
        self._asked.clear()
        self._search, self._found = "", []
        self.run_detail.event_log.highlighter = None
        self.run_detail.clear_search()

    def _load_tail(self, run_id: str) -> None:
        desk, lines = self.console.desk, self._lines
        if desk is None or lines is None:
            return

        async def load() -> None:
            total = await desk.events.count(desk.scope, run_id)
            lines.update(total, await desk.events.gaps(desk.scope, run_id))
            if lines is self._lines:
                self.run_detail.event_log.update_count()
                self._show_tail()
                if self._search:
                    self._search_tail()

        start_work(self, load(), "reading events", group="tail", exclusive=True)

    def _search_tail(self) -> None:
        """Find the events with the text in the database; each search ends the one before."""
        desk, lines, text = self.console.desk, self._lines, self._search
        if desk is None or lines is None:
            return

        async def search() -> None:
            try:
                found = await desk.events.search(desk.scope, lines.run_id, text, limit=MOST_FOUND) if text else []
            except UsageError as error:
                self.run_detail.show_search_error(error.title)
                return
            if lines is self._lines:
                self._found = found
                self._show_found()

        start_work(self, search(), "searching events", group="search", exclusive=True)

    def _show_found(self) -> None:
        lines, log = self._lines, self.run_detail.event_log
        if lines is None:
            return
        text = self._search.casefold()
        lines.only(self._found if text and self._hides_others else None)
        log.highlighter = (lambda shown: _places(shown, text)) if text else None
        log.update_count()
        if text:
            self.run_detail.show_search(found=len(self._found), total=lines.events_count)
        self._show_tail()

    def _show_tail(self) -> None:
        row, desk, lines = self.row, self.console.desk, self._lines
        if row is None or desk is None or lines is None:
            return
        pane = self.query_one("#detail", Pane)
        if self.run_detail.tab != "events":
            pane.show_edge(title=self.detail_title(row), state=line(""), age=line(""), counters=line(""))
            return
        news = desk.live.news(row.id)
        log = self.run_detail.event_log
        dot = self.console.glyphs.dot
        how = word("follow", Role.LIVE) if log.following else word("PAUSED", Role.WARN)
        pace = "" if news.is_complete or not news.pause_s else f" {dot} poll {news.pause_s:.0f}s"
        if news.is_complete:
            pace = f" {dot} ended"
        pane.show_edge(
            title=self.detail_title(row),
            state=(how, word(pace)),
            age=self._tail_age(news, lines.events_count),
            counters=(word(f"+{count(log.new_lines)} new", Role.WARN if log.new_lines else Role.QUIET),),
        )

    def _tail_age(self, news: TailNews, events: int) -> Pieces:
        dot = self.console.glyphs.dot
        known = _TAIL_WORDS if not events else f"{count(events)} event{'s' * (events != 1)}"
        if self._search and events:
            # Whoever looks at a filtered tail has to see that it is one.
            found = f"{count(len(self._found))} of {known} ha{'s' if len(self._found) == 1 else 've'}"
            known = f"{found} {line(self._search, SEARCH_CELLS)}"
        if news.failure is not None:
            return (word(f"{known} {dot} "), word(f"no answer: {news.failure.title}", Role.BAD))
        if news.answered_at is None or news.is_complete:
            return (word(known),)
        heard = fresh_words(self.console.clock.monotonic() - news.answered_at)
        return (word(f"{known} {dot} heard {heard}"),)

    def _read_for_tab(self, facts: RunFacts) -> None:
        """Read the receipt or the result when their view is shown and they are not there yet."""
        desk = self.console.desk
        if desk is None or not facts.is_final:
            return
        if self.run_detail.tab in {"receipt", "summary"} and facts.receipt is None and self._asks("receipt"):
            start_work(self, self._read_receipt(facts.id), "reading the receipt", group="receipt", exclusive=True)
        if self.run_detail.tab == "result" and not facts.is_test and self._asks("result"):
            start_work(self, self._read_result(facts.id), "reading the result", group="result", exclusive=True)

    def _asks(self, what: str) -> bool:
        """Whether something is still to be read; each is read once a run, and again when a person asks."""
        is_new = what not in self._asked
        self._asked.add(what)
        return is_new

    async def _read_receipt(self, run_id: str) -> None:
        desk = self.console.desk
        assert desk is not None
        from runwatch.api.errors import ApiError
        from runwatch.store.change import RecordRead

        await desk.live.scheduler.turn_of_a_person()
        try:
            receipt = await desk.client.get_receipt(run_id)
        except ApiError as error:
            self._tell(run_id, "receipt", error)
            return
        now = desk.clock.now()
        desk.store.apply(RecordRead(desk.scope.profile, Receipt.KIND, now, desk.clock.monotonic(), receipt))

    async def _read_result(self, run_id: str) -> None:
        desk = self.console.desk
        assert desk is not None
        from runwatch.api.errors import ApiError

        await desk.live.scheduler.turn_of_a_person()
        try:
            result = await desk.client.get_result(run_id)
        except ApiError as error:
            self._tell(run_id, "result", error)
            return
        if run_id == self._shown:
            self.run_detail.show_read("result", _result_sections(result))

    def _tell(self, run_id: str, what: str, error: ApiError) -> None:
        """Say why something could not be read, in the place where it would stand."""
        if run_id == self._shown:
            self.run_detail.show_read(what, _failed_sections(what, error, self.console.keys.shown("screen.refresh")))


def _places(shown: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a text stands in what is shown, without regard to capitals."""
    folded = shown.casefold()
    if len(folded) != len(shown):
        # Folding has moved the places; the line is found all the same, only nothing in it is marked.
        return
    start = folded.find(text)
    while start >= 0:
        yield start, start + len(text)
        start = folded.find(text, start + len(text))


def _failed_sections(what: str, error: ApiError, key: Drawn) -> tuple[Section, ...]:
    from runwatch.api.errors import ApiProblem
    from runwatch.view.detail import Line, Section

    told = [Line(line(what), line(str(error), None), Role.BAD)]
    if isinstance(error, ApiProblem) and error.problem.instance:
        told.append(Line(line("instance"), line(error.problem.instance, None)))
    if error.hint:
        told.append(Line(line("next"), line(error.hint, None)))
    told.append(Line(line(""), line(f"{key} reads it again."), Role.QUIET))
    return (Section(line(""), tuple(told)),)


def _result_sections(result: RunResult) -> tuple[Section, ...]:
    """Output of a model: shown when asked for and kept nowhere."""
    from runwatch.view.detail import Line, Section

    kept = Line(line("kept until"), line(result.retention_expires_at))
    text = Line(line(""), block(result.final_text))
    return (Section(line(""), (kept,)), Section(line("final_text"), (text,)))
