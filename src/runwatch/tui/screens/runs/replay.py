"""The replay of a run: its state, timeline and events as they were, played, paused and moved to any time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style
from textual.containers import Vertical
from textual.widget import Widget

from runwatch.base.errors import UsageError
from runwatch.base.text import cell_width
from runwatch.settings.view_state import ViewState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span, to_segment
from runwatch.tui.core.workers import start_worker
from runwatch.tui.screens.base.event_screen import EventScreen
from runwatch.tui.sources.events.event_tail import EventTail
from runwatch.tui.sources.record_loader import is_end_known
from runwatch.tui.sources.replay_source import ReplayedEvents, ReplaySource
from runwatch.tui.sources.run_loader import RunLoader
from runwatch.tui.sources.store_source import runs_state
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.sections import DetailLine, DetailSection, build_sections
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.runs.run_replay import (
    MAX_REPLAYED_EVENTS,
    READABLE,
    SEEK_HINT,
    SPEEDS,
    run_as_of,
    spent_by_then,
)
from runwatch.view.runs.run_timeline import timeline_bars, timeline_sections
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.format import (
    RenderContext,
    elapsed_clock,
    gauge,
    money_exact,
    percent,
    short_id,
    time_of_day,
    usage_ratio,
    usage_role,
)
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, fit, line

if TYPE_CHECKING:
    from decimal import Decimal

    from runwatch.store.live.run_tails import TailUpdate

NAME: Final = "replay"
FRAME_S: Final = 0.25
"""Longest time between two draws while time goes by, in seconds."""

READ_S: Final = 0.7
"""How long each event is shown at the readable speed, in seconds."""

_LIVE_LINES: Final = frozenset({"status", "reason"})
"""Lines of the summary of a run that a replay shows; those of time and money are its own."""


_BACK: Final = ("screen.back", "to now")


def replay_view(run_id: str) -> ViewState:
    return ViewState(NAME, selected=run_id)


class ReplayView(DetailView, inherit_bindings=False):
    """The run as it was. Its keys are those of the replay, which the screen has.

    It shows no cursor: what is in sight is moved by pages, and goes to the newest row with each event.
    """

    BINDINGS = make_bindings("detail.page_up", "detail.page_down")
    DEFAULT_CSS = """
    ReplayView {
        height: auto;
        max-height: 75%;
    }
    """

    def draw_line(self, index: int, part: int, width: int, style: Style) -> list[Segment]:
        return [to_segment(line(" "), style), *super().draw_line(index, part, width, style)[1:]]

    def cursor_moved(self) -> None:
        self.post_message(self.HintsChanged())

    def action_move_page(self, pages: int) -> None:
        """Scroll by pages, with one line of overlap."""
        top, step = round(self.scroll_y), max(1, self.rows_in_sight - 1)
        self.move_cursor(top + 2 * step if pages > 0 else top - step)

    @property
    def is_cut(self) -> bool:
        """Whether rows are out of sight in the height that the view may take, also before it takes it."""
        most = self.styles.max_height
        if most is None or not isinstance(self.parent, Widget):
            return False
        return self.line_count() > self.parent.size.height * most.value / 100

    def show_newest(self) -> None:
        """Show the last row, which is that of the newest attempt."""
        self.move_cursor(self.line_count() - 1)


class TimeBar(FilterBar):
    """The input for the time to go to."""

    MARK = "go to"
    HINTS = (("enter", "go"), ("escape", "cancel"))


class ReplayScreen(EventScreen):
    """The screen of a replay. It starts playing at the speed of the run."""

    BINDINGS = make_bindings("replay", "screen.copy", "screen.export")
    HINTS = (
        "replay.play", "replay.next", "replay.faster", "replay.seek", "replay.begin", "replay.end",
        _BACK, ("screen.copy", "copy run id"), "app.quit",
    )  # fmt: skip
    DEFAULT_CSS = """
    ReplayScreen {
        & #replay-pane {
            height: 1fr;
        }
        & #replay-time {
            display: none;
        }
        &.-filtering #replay-time {
            display: block;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._source: ReplaySource | None = None
        self._run_id = ""
        self._is_playing = False
        self._is_growing = self._has_news = False
        self._drawn_count = 0
        self._speed = 0
        self._reading: Final = RunLoader(self)

    def body(self) -> Iterable[Widget]:
        with Pane(id="replay-pane"), Vertical():
            yield ReplayView(about="replay", id="then")
            yield EventLog(id="events")
            yield TimeBar(id="replay-time")

    def breadcrumbs(self) -> Sequence[str]:
        return ("Runs", short_id(self._run_id, self.console.glyphs), "Replay") if self._run_id else ("Replay",)

    # Content.

    def on_mount(self) -> None:
        """Focus the state, whose keys are those of the replay."""
        self.tail = EventTail(
            self,
            self.query_one(EventLog),
            changed=self.show_tail,
            refused=lambda _: None,
            counted=lambda _, __: None,
        )
        self.query_one(ReplayView).focus()
        self._draw()

    def on_unmount(self) -> None:
        if self.console.session is not None and self._run_id:
            self.console.session.live.tails.unfollow(self._run_id, self)

    def view_state(self, name: str) -> ViewState:
        return ViewState(name, selected=self._run_id)

    def restore_view(self, view: ViewState) -> None:
        if view.selected != self._run_id:
            self._run_id, self._source = view.selected, None
            self.session_opened()
        self.show_crumbs()

    def session_opened(self) -> None:
        """Read the events once the service is connected, or the file is read."""
        if not self._run_id or self._source is not None or not self.is_mounted:
            return
        if self.console.session is None and not self.console.has_file:
            self._draw()
            return
        self._source = ReplaySource(self.console, self._run_id)
        self.tail.show(ReplayedEvents(self._source.replay))
        self._is_playing = True
        self._grow()
        self._follow()
        self._draw()

    def _follow(self) -> None:
        # Events that were never read, or are still to come, are read as those of any run.
        session = self.console.session
        if session is not None and self._run_id and not session.live.tails.follows(self._run_id, self):
            # Until they are read once, the user waits for them.
            session.live.tails.follow(self._run_id, self, is_asked=self._is_behind)

    def _grow(self) -> None:
        """Read newly stored events; those stored during a read are read after it."""
        self._has_news = True
        if not self._is_growing:
            self._is_growing = True
            start_worker(self, self._read_news(), "reading events", group="replay read")

    async def _read_news(self) -> None:
        try:
            while self._has_news and (source := self._source) is not None:
                self._has_news = False
                replay, was_live = source.replay, self._is_live
                was_empty, was_at_end = not replay.events, replay.is_at_end
                if await source.grow() and was_at_end and source is self._source:
                    if was_empty:
                        replay.move_to_event(1)
                    elif was_live and self._is_playing and SPEEDS[self._speed] != READABLE:
                        # Caught up with the run, so its pace is that of its events as they come.
                        replay.move_to_event(len(replay.events))
                    self._play()
                self._draw()
        finally:
            self._is_growing = False
        self._draw()

    def tail_moved(self, update: TailUpdate) -> None:
        """Add new events; the position stays, unless the replay has caught up with the run and plays on."""
        if self._source is None or update.run_id != self._run_id:
            return
        if update.count > len(self._source.replay.events):
            self._grow()
        elif self._source.replay.is_at_end:
            self._draw()
        else:
            self.show_tail()

    def data_changed(self, kinds: frozenset[str]) -> None:
        self._draw()

    def tick(self) -> None:
        """Let the clock of a live run go on, and follow it in a new session too."""
        self._follow()
        if self._source is not None and self._source.replay.now is not None:
            self._draw()

    def hints(self) -> Sequence[KeyHint]:
        """Return the hints: of the keys for playing and events what they do now, and the key for the rows out of sight
        if there are any.
        """
        if self._source is None or not self._source.replay.events:
            return self.HINTS[self.HINTS.index(_BACK) :] if self._run_id else ("app.quit",)
        hints: list[KeyHint] = list(self.HINTS)
        if self._is_playing and not self._has_ended:
            hints[hints.index("replay.play")] = ("replay.play", "pause")
        if self._has_ended or self._is_live:
            hints[hints.index("replay.next")] = "replay.previous"
        if self._has_ended or self._follows_run:
            hints.remove("replay.end")
        view = self.query_one(ReplayView)
        if view.is_cut:
            scroll = ("detail.page_down", "scroll down") if view.rows_below else ("detail.page_up", "scroll up")
            hints.insert(2, scroll)
        return hints

    def on_detail_view_width_changed(self, message: DetailView.WidthChanged) -> None:
        self._draw()

    def show_tail(self) -> None:
        pane = self.query_one("#replay-pane", Pane)
        source = self._source
        self.show_hints()
        if source is None or not source.replay.events:
            pane.set_border_text(title=(label_span("Replay", Role.PLAIN),), state=line(""), age=line(""))
            return
        glyphs, replay, context = self.console.glyphs, source.replay, self.console.render_context()
        whole = f"first {MAX_REPLAYED_EVENTS:,}" if source.is_cut else f"{len(replay.events):,}"
        text = f"loading{glyphs.ellipsis}" if self._is_behind else "as it was, not as it is"
        if self._lacks_end:
            whole += " read"
        follows = label_span("caught up with the run" if self._follows_run else text)
        # A replay that follows the run says it above, in place of LIVE.
        is_lost = (self._goes_on or self._lacks_end) and self.lost_since is not None
        pane.set_border_text(
            title=(
                label_span(f"{short_id(self._run_id, glyphs)}  ", Role.PLAIN), label_span("REPLAY", Role.WARN),
                label_span(f"  {time_of_day(replay.at, context)} of {time_of_day(replay.last_at, context)}"),
            ),
            state=self._speed_text(),
            age=(label_span(f"event {replay.count:,} of {whole}"),),
            counters=(follows if not is_lost else label_span("") if self._follows_run else self.offline_span(),),
        )  # fmt: skip

    def _speed_text(self) -> StyledSpans:
        speed = SPEEDS[self._speed]
        words = "each event" if speed == READABLE else f"{speed}×"
        if self.console.is_ascii:
            words = words.replace("×", "x")
        if self._follows_run:
            offline = self.offline_span()
            return (offline if offline[0] else label_span(f"LIVE  {words}", Role.LIVE),)
        if self._has_ended and not self._lacks_end:
            return (label_span(f"END  {words}", Role.WARN),)
        return (
            label_span(f"plays {words}", Role.LIVE) if self._is_playing else label_span(f"PAUSED  {words}", Role.WARN),
        )

    @property
    def _goes_on(self) -> bool:
        """Whether the run goes on, so that the replay ends now."""
        source = self._source
        if source is None or self.console.session is None or source.is_cut or not source.replay.events:
            return False
        facts = source.facts
        return facts is not None and not facts._replace(last_event=source.replay.events[-1]).is_final

    @property
    def _lacks_end(self) -> bool:
        """Whether the run has ended with events that cannot be read now."""
        session, source = self.console.session, self._source
        if session is None or source is None or source.is_cut or self._goes_on:
            return False
        failure = session.live.tails.last_update(self._run_id).failure
        is_failing = self.lost_since is not None or failure is not None
        return is_failing and not is_end_known(session, self._run_id, source.replay.events)

    @property
    def _is_live(self) -> bool:
        """Whether every event so far is shown of a run that goes on."""
        source = self._source
        return source is not None and source.replay.is_at_end and not self._is_behind and self._goes_on

    @property
    def _follows_run(self) -> bool:
        """Whether the replay has caught up with a run that goes on, and shows it as it is now."""
        return self._is_live and self._is_playing

    def _keep_up(self) -> None:
        """Let the known time of a run that goes on end now, and show that time if the replay follows the run.

        While the service does not respond, the known time ends where it was lost.
        """
        if self._source is None:
            return
        replay = self._source.replay
        replay.now = (self.lost_since or self.console.render_context().now) if self._goes_on else None
        if replay.last_at is not None and self._follows_run:
            replay.move_to(replay.last_at)

    @property
    def _is_behind(self) -> bool:
        """Whether the service has events that are still to be loaded."""
        session = self.console.session
        if session is None or self._source is None or self._source.is_cut:
            return False
        update = session.live.tails.last_update(self._run_id)
        is_read = update.answered_at is not None or update.is_complete
        return update.failure is None and (update.has_more or not is_read)

    @property
    def _has_ended(self) -> bool:
        """Whether the last event is shown and no other is to come."""
        is_at_end = self._source is not None and self._source.replay.is_at_end
        return is_at_end and not self._is_live and not self._is_behind and not self._is_growing

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        view, source = self.query_one(ReplayView), self._source
        facts = None if source is None else source.facts
        if source is None or facts is None or not source.replay.events:
            view.show([text_section(*self._empty_text(), role=Role.QUIET)])
            self.show_tail()
            return
        self._keep_up()
        # What only its end says is read once, as for the run's other views.
        self._reading.read_for("receipt", facts, None)
        view.show(self._sections(source, facts, view))
        if source.replay.count != self._drawn_count:
            self._drawn_count = source.replay.count
            view.show_newest()
            self.call_after_refresh(self.show_hints)
        self.tail.grow()
        self.show_tail()

    def _empty_text(self) -> tuple[SafeText, ...]:
        if not self._run_id:
            key = self.console.keys.shown("screen.replay")
            return (line("No run is chosen."), line(f"On Runs, {key} replays the run under the cursor."))
        if not self.console.has_file and (self.console.session is None or self.lost_since is not None):
            return self.unread_lines(RUNS, runs_state(self.console))
        session = self.console.session
        is_read = session is None or session.live.tails.last_update(self._run_id).answered_at is not None
        is_read = is_read and not self._is_growing
        ellipsis = self.console.glyphs.ellipsis
        if not is_read:
            return (line(f"reading its events{ellipsis}"),)
        if not self.console.has_file:
            return (line("No event of this run is known."),)
        key = self.console.keys.shown("screen.export")
        return (
            line("The file has no events of this run."),
            line(f"A file to replay is made with {key} in a run's events, or by"),
            line("`runwatch runs events ID --format ndjson > FILE`."),
        )

    def _sections(self, source: ReplaySource, facts: RunFacts, view: DetailView) -> list[DetailSection]:
        replay = source.replay
        then = run_as_of(facts, replay.trace)
        now = self.console.render_context()
        context = RenderContext(replay.at or now.now, now.glyphs, now.time, now.zone)
        lines: list[DetailLine] = []
        for section in build_sections(RUNS, then, context):
            if section.title == "Run":
                lines += [it for it in section.lines if it.label in _LIVE_LINES and it.text != now.glyphs.nothing]
        lines += self._gauges(facts, context)
        # One section, so that its labels are equally wide and no row is empty.
        # Events change neither the axis nor the columns, which are those of the whole run.
        whole = list(timeline_bars(facts._replace(last_event=replay.events[-1]), replay.whole_trace, now))
        labels = [line("position"), *(entry.label for entry in lines), *(bar.label for bar in whole)]
        bars = timeline_sections(
            then,
            replay.trace,
            lambda more: view.value_cells([*labels, *more]),
            context,
            until=replay.last_at,
            whole=whole,
        )[0].lines
        label = fit(line("position"), max(map(cell_width, labels)))
        return [DetailSection(line(""), (self._position(label, view.value_cells(labels), context), *lines, *bars))]

    def _position(self, label: SafeText, cells: int, context: RenderContext) -> DetailLine:
        assert self._source is not None
        replay = self._source.replay
        words = f"{int(replay.part * 100)} %"
        if replay.at is not None and replay.first_at is not None and replay.last_at is not None:
            gone, whole = replay.at - replay.first_at, replay.last_at - replay.first_at
            end = elapsed_clock(whole.total_seconds())
            words = f"{elapsed_clock(gone.total_seconds()):>{len(end)}} of {end}{' read' * self._lacks_end}"
        bar = gauge(replay.part, max(4, cells - len(words) - 4), context.glyphs)
        return DetailLine(label, line(f"{bar}  {words}", None), Role.WARN)

    def _gauges(self, facts: RunFacts, context: RenderContext) -> Iterator[DetailLine]:
        """Yield how much of its time and money the run had used by then, in the same rows up to its end."""
        assert self._source is not None
        trace, glyphs = self._source.replay.trace, context.glyphs
        began, limit = facts.run.created_at or trace.first_at, facts.max_runtime_s.value
        gone = None if began is None else max(0.0, (context.now - began).total_seconds())
        if gone is not None:
            yield DetailLine(line("took"), elapsed_clock(gone), Role.PLAIN)
        if gone is not None and limit:
            part = usage_ratio(_decimal(gone), limit)
            text = f"{elapsed_clock(gone)} of {elapsed_clock(limit)}"
            yield _gauge_line("of the time", part, text, context)
        if facts.is_test:
            return
        spent, cap = spent_by_then(facts, trace), facts.max_cost_usd.value
        said = ", calls ended by then (receipt)"
        if spent is None and trace.is_over and facts.cost_usd.value is not None:
            spent, said = facts.cost_usd.value, f" ({facts.cost_usd.source})"
        if spent is None:
            yield DetailLine(line("cost"), line(f"{glyphs.unknown}  no event says what was spent by then"), Role.QUIET)
        else:
            limit_words = f" of {money_exact(cap)}" if cap is not None else ""
            text = f"{money_exact(spent)}{limit_words}{said}"
            yield _gauge_line("cost", usage_ratio(spent, cap), text, context)

    # Playing.

    def _play(self) -> None:
        source = self._source
        if source is not None and self._is_playing:
            start_worker(self, self._let_time_go_by(source), "playing", group="play", exclusive=True)

    async def _let_time_go_by(self, source: ReplaySource) -> None:
        """Let time go by until the last event; new ones of a live run start this again. Nothing runs while paused."""
        replay, clock = source.replay, self.console.clock
        while self._is_playing and not replay.is_at_end:
            speed = SPEEDS[self._speed]
            due = replay.next_in_s
            if speed == READABLE or due is None:
                await clock.sleep(READ_S)
                replay.move_to_event(replay.count + 1)
            else:
                began = clock.monotonic()
                await clock.sleep(min(FRAME_S, max(0.0, due / speed)))
                replay.advance((clock.monotonic() - began) * speed)
            self._draw()
        self._is_playing = self._is_playing and not self._has_ended
        self.show_tail()

    def _move(self, count: int) -> None:
        """Show this many events, and pause."""
        if self._source is not None:
            self._pause()
            self._source.replay.move_to_event(max(1, count))
            self._draw()

    def _pause(self) -> None:
        self._keep_up()
        self._is_playing = False
        self.workers.cancel_group(self, "play")

    # Key actions.

    def action_play(self) -> None:
        """Play or pause; at the end, play again from the beginning; a live run that is caught up with goes on."""
        if self._source is None:
            return
        has_ended = self._has_ended
        if self._is_playing and not has_ended:
            self._pause()
        else:
            if has_ended and self._source.replay.events:
                self._source.replay.move_to_event(1)
            self._is_playing = True
            self._play()
        self._draw()

    def action_step_event(self, step: int) -> None:
        if self._source is None:
            return
        replay = self._source.replay
        if step > 0 and replay.is_at_end:
            # Of a run that goes on, the time shown may be later than that of its last event.
            self.refuse_key("This is the last event." if self._has_ended else "There is no next event yet.")
        else:
            self._move(replay.count + step)

    def action_go_to_end(self, event: int) -> None:
        """Go to the first event, or to the last one, where a live run goes on, if need be once events are loaded."""
        if self._source is not None:
            self._move(1 if event == 0 else len(self._source.replay.events))
            if event != 0 and (self._is_live or self._is_behind):
                self.action_play()

    def action_change_speed(self, step: int) -> None:
        self._speed = max(0, min(self._speed + step, len(SPEEDS) - 1))
        # A wait at the old speed may be long.
        self._play()
        self.show_tail()

    def action_seek(self) -> None:
        self._pause()
        self.add_class("-filtering")
        bar = self.query_one(TimeBar)
        bar.edit("")
        bar.show_count(line(SEEK_HINT))
        self.show_tail()

    def filter_submitted(self, text: str) -> bool:
        """Go to the time; one that cannot be read stays for correction."""
        if self._source is not None:
            try:
                self._source.replay.seek(text, self.console.render_context())
            except UsageError as error:
                self.query_one(TimeBar).show_error(line(f"{error.title}: {error.hint}" if error.hint else error.title))
                return False
        return True

    def close_filter(self) -> None:
        super().close_filter()
        self.query_one(ReplayView).focus()
        self._draw()

    async def action_copy(self) -> None:
        if self._run_id:
            await self.console.copy_text(copied_word(self._run_id), line("run id"))

    def action_export(self) -> None:
        from runwatch.tui.flows.exports import open_events_menu

        open_events_menu(self, self._run_id)

    def action_refresh(self) -> None:
        session = self.console.session
        if session is not None and self._run_id:
            session.live.tails.hurry(self._run_id)

    def action_back(self) -> None:
        """Close the drawer, then leave to the run as it is now."""
        if self.close_drawer():
            return
        if self.console.history.has_earlier or not self._run_id:
            super().action_back()
        else:
            self.console.call_later(self.console.open_run, self._run_id)

    @property
    def is_at_root(self) -> bool:
        return not self.is_drawer_open and not self._run_id


def _decimal(seconds: float) -> Decimal:
    from decimal import Decimal

    return Decimal(str(seconds))


def _gauge_line(label: str, part: Decimal | None, text: str, context: RenderContext) -> DetailLine:
    if part is None:
        return DetailLine(line(label), line(text))
    return DetailLine(
        line(label), line(f"{gauge(part, 10, context.glyphs)} {percent(part)}  {text}", None), usage_role(part)
    )
