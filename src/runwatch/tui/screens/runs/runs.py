"""Live runs: the list, and the tail of the run under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runwatch.base.text import cell_width
from runwatch.records.states import QUEUED_STATES
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.core.workers import start_worker
from runwatch.tui.screens.base.event_screen import EventScreen
from runwatch.tui.screens.base.resource_screen import NOTHING_SELECTED, ResourceScreen
from runwatch.tui.widgets.panes.pane import EdgeText, Pane, TextForms
from runwatch.view.detail.pane_state import freshness_text, read_failure_span
from runwatch.view.resources.runs import RUNS, find_connection
from runwatch.view.runs.decision_packet import run_outcome_title
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import grouped_number, short_id
from runwatch.view.text.glyphs import Role, state_glyph
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.live.run_tails import TailUpdate
    from runwatch.store.session import ServiceSession
    from runwatch.tui.sources.run_loader import RunLoader
    from runwatch.tui.widgets.bars.status_bar import KeyHint
    from runwatch.tui.widgets.bars.tab_bar import TabBar
    from runwatch.tui.widgets.panes.run_detail import RunDetail
    from runwatch.view.problems.copy_options import CopyOption

_COUNTED: Final = ("live", "failed", "expired", "cancelled", "done")
_AGE_CELLS: Final = 24
"""Cells of the frame that are left to the age of the list."""

_EVENTS_CELLS: Final = 120
"""Width of events beside the list: lines have at least the room that they have below the list of a narrower window."""

_DETAIL_AFTER_S: Final = 0.03
"""Seconds from the opening of the session to the filling of the second pane: two frames, so rows can come first."""


class RunsScreen(ResourceScreen, EventScreen):
    BINDINGS = make_bindings(
        "tail.follow", "screen.new", "screen.again", "screen.add", "screen.tail_all", "screen.wall", "screen.replay",
        "screen.label", "screen.destroy", "screen.next_tab", "screen.previous_tab",
    )  # fmt: skip
    HINTS = (
        "list.open", "screen.filter", ("screen.destroy", "cancel"), "screen.again", "screen.copy",
        ("screen.new", "new run"), ("screen.tail_all", "follow all"), "screen.wall", "screen.replay",
        "screen.next_tab", "screen.pause", "screen.facets", "screen.add", "screen.label", "screen.refresh",
        "screen.raw", "app.quit",
    )  # fmt: skip
    DETAIL_HINTS: ClassVar[Sequence[KeyHint]] = (
        "screen.next_tab", ("screen.back", "list"), "screen.filter", ("screen.destroy", "cancel"), "screen.again",
        "screen.copy", "screen.replay", "tail.follow", "screen.full", "screen.pause", "screen.label",
        "screen.refresh", "screen.raw",
    )  # fmt: skip
    """Hints while the run is open."""

    BESIDE_FROM: ClassVar[int] = _EVENTS_CELLS + 180
    """Width from which the list has room for every column beside the events, as it has in a narrower window."""

    run_detail: RunDetail
    """The second pane's content; it and the tail are there once :meth:`ensure_detail` was called."""

    def __init__(self, source: Any) -> None:
        super().__init__(RUNS, source)
        self._asked_for = ""
        self._has_detail = False
        self._expected: str | None = None
        self._counted: tuple[Sequence[RecordRow[Any]], dict[str, int]] = ((), dict.fromkeys(_COUNTED, 0))
        self._queue: tuple[Sequence[RecordRow[Any]], tuple[int, int]] = ((), (0, 0))

    def detail_pane(self) -> Pane:
        """Return the second pane, empty until after the first paint and the first rows, which its content would
        delay.
        """
        return Pane(id="detail")

    def on_mount(self) -> None:
        """Fill the second pane after the first paint, or once a service without known rows is opened or has failed."""
        if self.listing.shown_rows or not self.console.is_opening:
            self.call_after_refresh(self.ensure_detail)
        self.watch_notes()

    def session_opened(self) -> None:
        """Fill the second pane a moment later, because the first rows may be drawn within it."""
        self.set_timer(_DETAIL_AFTER_S, self.ensure_detail)

    def ensure_detail(self) -> None:
        """Fill the second pane, unless that is done; the screen may not have its panes yet, or be removed already."""
        if self._has_detail or not self.is_mounted or not self.is_attached:
            return
        from runwatch.tui.sources.events.event_tail import EventTail
        from runwatch.tui.widgets.panes.run_detail import RunDetail

        self._has_detail = True
        self.run_detail = detail = RunDetail(
            lambda: self.console.render_context(),
            lambda text: self.tail.filter_by(text, is_typing=True),
            lambda text: self.tail.filter_by(text),
        )
        self.query_one("#detail").mount(detail)
        self.tail = EventTail(
            self,
            detail.event_log,
            changed=self.show_tail,
            refused=detail.show_search_error,
            counted=lambda found, total: detail.show_search(found=found, total=total),
        )
        self.show_detail()
        # If a run was opened before its pane was filled, the breadcrumbs do not name it yet.
        self.show_crumbs()

    @cached_property
    def _reading(self) -> RunLoader:
        from runwatch.tui.sources.run_loader import RunLoader

        return RunLoader(self, self.run_detail)

    def all_hints(self) -> Sequence[KeyHint]:
        if not self._has_detail or not self.query_one("#detail").has_focus_within:
            return self.HINTS
        is_live = self.row is not None and not self.row.subject.is_final
        opened: tuple[KeyHint, ...] = (("tail.open", "event"),)
        own: dict[KeyHint, KeyHint | None] = {"tail.follow": self.tail.follow_hint if is_live else None}
        if self.run_detail.tab != "events":
            opened, own = (), {"tail.follow": None, "screen.filter": ("screen.filter", "filter events")}
        shown = (own.get(hint, hint) for hint in self.DETAIL_HINTS)
        return [*opened, *(hint for hint in shown if hint is not None)]

    def empty_text(self, state: PaneState) -> tuple[SafeText, ...]:
        if state.load is not LoadState.EMPTY or self.is_filtered:
            return super().empty_text(state)
        keys = self.console.keys
        start = f"{keys.shown('screen.new')} starts a test run, " if self.offers("screen.new") else ""
        ways = line(f"{start}{keys.shown('screen.add')} adds one by its id.")
        return (line("No runs yet."), ways, *self.model_server_lines())

    def focus_opened(self) -> None:
        self.ensure_detail()
        if self.run_detail.is_mounted:
            super().focus_opened()
        else:
            # A view restored with an open detail exists before the second pane is filled.
            self.run_detail.call_after_refresh(super().focus_opened)

    def focus_detail(self) -> None:
        self.ensure_detail()
        self.run_detail.focus_inside()

    def place_in_detail(self) -> str:
        """Return the view of the run and the line in it; nothing for its events, which begin where they always do."""
        is_in_fields = self._has_detail and self.run_detail.tab != "events"
        return f"{self.run_detail.tab} {super().place_in_detail()}" if is_in_fields else ""

    def go_to_place(self, place: str) -> None:
        tab, _, rest = place.partition(" ")
        self.run_detail.go_to_place(tab, rest)

    def counters(self) -> TextForms:
        """Return the number of runs by state; done are all that ended in another one. Of the live ones, say how many
        are queued if there is room. Without room for the words, every state has its sign.

        Empty before the first response, not zeros.
        """
        shown = self._counts()
        pane = self.query_one("#list", Pane)
        # Behind an opened run the list has no width; it has the screen's when it comes back.
        room = (pane.size.width or self.size.width - pane.gutter.width) - _AGE_CELLS
        parts, signs = self._count_spans(shown), self._count_spans(shown, signs=True)
        if _width(parts) > room:
            parts = [*signs]
        queued = label_span(f" ({grouped_number(self._counted[1].get('queued', 0))} queued)")
        if parts and self._counted[1].get("queued") and _width((*parts, queued)) <= room:
            parts.insert(1, queued)
        return TextForms((tuple(parts), tuple(signs)))

    def _counts(self) -> Mapping[str, int]:
        """Return the counts to show, by their words."""
        if not self.listing.shown_rows and self._source.state().age_s is None:
            return {}
        if self.listing.shown_rows is not self._counted[0]:
            counts = {**dict.fromkeys(_COUNTED, 0), "queued": _count_queue(self.listing.shown_rows)[1]}
            for row in self.listing.shown_rows:
                facts: RunFacts = row.subject
                end = facts.status if facts.status in _COUNTED else "done"
                counts[end if facts.is_final else "live"] += 1
            self._counted = self.listing.shown_rows, counts
        counts = self._counted[1]
        return {name: counts[name] for name in _COUNTED if counts[name] or name not in {"expired", "cancelled"}}

    def _count_spans(self, counts: Mapping[str, int], *, signs: bool = False) -> list[StyledSpan]:
        glyphs = self.console.glyphs
        own = {"live": glyphs.live, "done": glyphs.good}
        parts: list[StyledSpan] = []
        for name, number in counts.items():
            if parts:
                parts.append(label_span(f" {glyphs.dot} "))
            word = (own.get(name) or state_glyph(name, glyphs)[0]) if signs else name
            parts.append(
                label_span(
                    f"{word} {grouped_number(number)}",
                    Role.LIVE if name == "live" and number else Role.QUIET,
                )
            )
        return parts

    def usual_share(self) -> float:
        """Return the share of the width that events have beside the list."""
        width = self.size.width
        return _EVENTS_CELLS / width if width >= self.BESIDE_FROM else super().usual_share()

    # The run under the cursor.

    def select_record(self, key: str, *, opened: bool = False) -> None:
        """Select a run that was just submitted or that the user named; its events are read before any list."""
        self._expected = key
        self._asked_for = key if opened else ""
        super().select_record(key, opened=opened)

    def open_detail(self) -> None:
        """Show the run at the cursor and focus it; the user waits for events that were never read."""
        super().open_detail()
        session = self.console.session
        if session is not None and self._shown is not None:
            update = session.live.tails.last_update(self._shown)
            if update.answered_at is None and not update.is_complete:
                session.live.tails.hurry(self._shown)

    def on_screen_resume(self) -> None:
        """Show events that arrived while a dialog or another screen was in front."""
        if self._shown is not None:
            self.tail.grow()

    def on_unmount(self) -> None:
        if self.console.session is not None and self._shown is not None:
            self.console.session.live.tails.unfollow(self._shown, self)

    def show_detail(self) -> None:
        if not self._has_detail:
            return
        row = self.row
        if row is None:
            self._leave_run()
            self.run_detail.clear()
            self.query_one("#detail", Pane).set_border_text(
                title=NOTHING_SELECTED, state=line(""), age=line(""), counters=line("")
            )
            return
        is_other = row.id != self._shown
        if is_other:
            self._leave_run()
            self._shown = row.id
            self._follow(row.id)
        facts: RunFacts = row.subject
        if facts.status == "queued":
            if self.listing.all_rows is not self._queue[0]:
                self._queue = self.listing.all_rows, _count_queue(self.listing.all_rows)
            facts = facts._replace(queue=self._queue[1])
        self.run_detail.show(facts, is_other=is_other)
        self._read_for(self.run_detail.tab, row)
        self.show_tail()

    def tail_moved(self, update: TailUpdate) -> None:
        """Show a change in the events of the followed run."""
        if update.run_id == self._shown:
            if update.count != self.tail.length:
                self.tail.grow()
            self._pause_tail(update)
            self.show_tail(update)

    def _pause_tail(self, update: TailUpdate) -> None:
        """Pause the events of a paused screen; those of a run opened meanwhile as soon as its past is read."""
        is_read = not update.has_more and (update.answered_at is not None or update.is_complete)
        if is_read and self._paused_at is not None and not self.tail.is_paused:
            self.tail.pause(is_paused=True)

    def action_export(self) -> None:
        """Export the events of the run in the detail if that has the focus, or the rows."""
        from runwatch.tui.flows.exports import events_item, open_export_menu

        row = self.row if self.query_one("#detail").has_focus_within else None
        open_export_menu(self, [] if row is None else [events_item(self, row.id)])

    def action_pause(self) -> None:
        """Pause or resume the list and the events; these are still read, and counted."""
        self.ensure_detail()
        super().action_pause()
        if self.console.session is not None and self._shown is not None:
            self._pause_tail(self.console.session.live.tails.last_update(self._shown))
        if self._paused_at is None and self.tail.is_paused:
            self.tail.pause(is_paused=False)
        self.show_tail()

    def tick(self) -> None:
        """Update ages, and follow the run in a new session too."""
        session = self.console.session
        if session is not None and self._shown is not None and not session.live.tails.follows(self._shown, self):
            session.live.tails.follow(self._shown, self)
        super().tick()
        # Otherwise the detail is drawn again, and the frame with it.
        if self._has_detail and self.is_paused:
            self.show_tail()

    def show_ages(self, *, keeps_detail: bool = False) -> None:
        """Update them in the detail too: those of a live run change every second."""
        super().show_ages()

    def show_clocks(self) -> None:
        """Update how long live runs take, and when the events of one were read; anything else only if it changed."""
        is_timed = self._query is not None and self._query.is_timed
        if self.is_paused or is_timed or not self.listing.is_made_of(self._source.items()):
            self.show_ages()
            return
        if self._counted[0] is not self.listing.shown_rows or self._counted[1]["live"]:
            self.listing.drawing.context = self.console.render_context()
            self.table.show(self.listing.shown_rows)
        if self._debounce is None and self.row is not None and not self.row.subject.is_final:
            self.show_detail()

    def detail_title(self, row: RecordRow[Any]) -> StyledSpans:
        return (label_span(f"{short_id(row.id, self.console.glyphs)}  ", Role.PLAIN), self._outcome(row))

    def _outcome(self, row: RecordRow[Any]) -> StyledSpan:
        facts: RunFacts = row.subject
        return run_outcome_title(facts.status, facts.packet.value, self.console.glyphs)

    def on_tab_bar_tab_activated(self, message: TabBar.TabActivated) -> None:
        row = self.row
        if row is not None:
            self._read_for(message.tab, row)
        self.show_tail()

    def focus_tail(self) -> None:
        self.focus_detail()

    def action_step_tab(self, step: int) -> None:
        """Go to another view of the run; if its pane is hidden, show that first."""
        self.table.leave_top()
        self.ensure_detail()
        if not self.reveal_detail():
            self.run_detail.action_step_tab(step)

    def action_raw(self) -> None:
        self.table.leave_top()
        self.ensure_detail()
        if not self.reveal_detail() or self.run_detail.tab != "raw":
            self.run_detail.turn_raw()

    def action_follow(self) -> None:
        """Toggle following, also with the focus in the list."""
        self.table.leave_top()
        self.ensure_detail()
        self.run_detail.event_log.action_follow()

    async def action_new(self) -> None:
        from runwatch.tui.flows.runs.run_form import open_run_form

        open_run_form(self)

    def action_again(self) -> None:
        row = self.row
        if row is None:
            self.notify_user("No run to start again.", Role.WARN)
        else:
            from runwatch.tui.flows.runs.run_form import open_run_form

            open_run_form(self, row.subject)

    def action_add(self) -> None:
        from runwatch.tui.flows.runs.add_runs import open_add_runs

        open_add_runs(self)

    def action_label(self) -> None:
        """Edit a label and a note for the run, or one label for all marked runs."""
        from runwatch.tui.flows.local_notes import open_run_notes

        open_run_notes(self, *(row.subject for row in self.selected_rows()))

    def action_tail_all(self) -> None:
        """Follow the marked runs, or all live ones, in one list."""
        from runwatch.tui.screens.runs.merged_tail import tail_view

        self.go_to_view_later(tail_view([row.id for row in self.marked_rows()]))

    def action_wall(self) -> None:
        """Show the marked runs, or all live ones, side by side."""
        from runwatch.tui.screens.runs.run_wall import wall_view

        self.go_to_view_later(wall_view([row.id for row in self.marked_rows()]))

    def action_replay(self) -> None:
        from runwatch.tui.screens.runs.replay import replay_view

        row = self.row
        if row is None:
            self.notify_user("No run to replay.", Role.WARN)
        elif not self.offers("screen.replay"):
            # Short enough for a narrow window.
            self.notify_user("No events here; `runwatch runs events ID --format ndjson > FILE` saves them.", Role.WARN)
        else:
            self.go_to_view_later(replay_view(row.id))

    def action_refresh(self) -> None:
        """Read the list and the run's events now, those in focus first, and retry what was not read for the run."""
        if self._has_detail:
            self._reading.forget()
        session = self.console.session
        if session is not None and self._shown is not None:
            session.live.tails.hurry(self._shown, is_asked=self.query_one("#detail").has_focus_within)
        super().action_refresh()

    def action_destroy(self) -> None:
        """Cancel the marked runs, or the one under the cursor."""
        from runwatch.tui.flows.runs.run_dialogs import open_cancel

        open_cancel(self, *(row.subject for row in self.selected_rows()))

    def copies_in_focus(self) -> Iterable[CopyOption]:
        yield from super().copies_in_focus()
        self.ensure_detail()
        yield from self.event_copies()

    def own_actions(self) -> Mapping[str, Callable[[RunFacts], None]]:
        """Return what opens for a run: a dialog, a form, the editor of its label, or a view of it."""
        from runwatch.tui.flows.local_notes import open_run_notes
        from runwatch.tui.flows.runs.run_dialogs import open_cancel
        from runwatch.tui.flows.runs.run_form import open_run_form

        return {
            "cancel": partial(open_cancel, self),
            "again": partial(open_run_form, self),
            "label": partial(open_run_notes, self),
            "connection": self._open_connection,
            "watch": partial(self._open_tab, "events"),
            "result": partial(self._open_tab, "result"),
            "receipt": partial(self._open_tab, "receipt"),
        }

    def _open_connection(self, facts: RunFacts) -> None:
        start_worker(self, self._find_connection(facts), "reading the receipt", group="connection", exclusive=True)

    async def _find_connection(self, facts: RunFacts) -> None:
        """Open the connection that a run called, after reading its receipt if the views shown did not need it."""
        session = self.console.session
        if facts.receipt is None and session is not None:
            async with session.live.scheduler.user_turn():
                receipt = await session.client.get_receipt(facts.id)
            facts = facts._replace(receipt=receipt)
        found = find_connection(facts)
        if found is None:
            self.notify_user("The run's receipt names no provider call.", Role.WARN)
        else:
            self.console.follow_link("connection", found)

    def _open_tab(self, tab: str, _run: RunFacts) -> None:
        self.ensure_detail()
        self.run_detail.choose(tab)
        self.open_detail()

    def action_back(self) -> None:
        """Close the drawer first; from a run that was opened from the run wall, go back to that."""
        if self.close_drawer():
            return
        is_open = self.has_class("-opened") and not self.has_class("-full-detail")
        is_that_run = self.row is not None and self.row.id == self._asked_for
        if is_open and is_that_run and self.console.history.origin == "wall":
            self.console.go_back()
        else:
            super().action_back()

    @property
    def is_at_root(self) -> bool:
        return super().is_at_root and not self.is_drawer_open

    def show_tail(self, update: TailUpdate | None = None) -> None:
        """Show the state of the run's events in the frame."""
        row, session = self.row, self.console.session
        if row is None or not self._has_detail or not self.tail.is_showing:
            return
        if self._shown is not None and row.id != self._shown:
            # The cursor has not come to rest; the frame belongs to the run that is shown.
            return
        pane = self.query_one("#detail", Pane)
        state: EdgeText = line("")
        counters: StyledSpans = line("")
        if session is None or self.run_detail.tab != "events":
            known = self.tail.known_text()
            self.tail.update_empty_text(known)
            age: StyledSpans = (label_span(known) if self.run_detail.tab == "events" else self.offline_span(),)
        else:
            update = update or session.live.tails.last_update(row.id)
            is_polled = not update.is_complete and not self.tail.is_paused and self.lost_since is None
            pace = f" {self.console.glyphs.dot} poll {update.pause_s:.0f}s" if is_polled and update.pause_s else ""
            mode = to_spans(self.tail.mode_text(has_ended=update.is_complete))
            state = TextForms(((*mode, label_span(pace)), mode))
            age = self._tail_age(update, session)
            counters = self.tail.new_text(update.count, has_ended=update.is_complete)
        title = TextForms((self.detail_title(row), (self._outcome(row),)))
        pane.set_border_text(title=title, state=state, age=age, counters=counters)

    def _follow(self, run_id: str) -> None:
        from runwatch.tui.sources.events.event_sequences import find_events

        session, events = self.console.session, find_events(self.console, run_id)
        if events is None:
            self._shown = None
            return
        self.tail.show(events)
        if session is None:
            return
        session.live.tails.follow(run_id, self, is_asked=run_id == self._expected)
        self._expected = None if run_id == self._expected else self._expected

    def _leave_run(self) -> None:
        if self._shown is None:
            return
        if self.console.session is not None:
            self.console.session.live.tails.unfollow(self._shown, self)
        self._shown = None
        self._reading.forget()
        self.tail.clear()
        self.run_detail.clear_search()

    def _read_for(self, tab: str, row: RecordRow[Any]) -> None:
        """Read what a view needs; the events, the usual view, need nothing."""
        if tab != "events":
            self._reading.read_for(tab, row.subject, self.tail.events)

    def _tail_age(self, update: TailUpdate, session: ServiceSession) -> StyledSpans:
        is_read = update.answered_at is not None or update.is_complete
        offline = self.offline_span()
        is_failing = update.failure is not None or bool(offline[0])
        dot, known = self.console.glyphs.dot, self.tail.known_text(is_read=is_read, is_failing=is_failing)
        waits = self.tail_wait_text(session, update.run_id)
        self.tail.update_empty_text(known if is_read or is_failing else line(waits) or known)
        if update.unkept is not None:
            return (label_span(f"{known} {dot} "), label_span(f"not kept: {update.unkept}", Role.BAD))
        if offline[0] and not update.is_complete:
            return (label_span(f"{known} {dot} "), offline) if self.tail.length else (offline,)
        if update.failure is not None:
            why = read_failure_span(
                update.failure, update.failed_at, session.live.hold_s, self.console.render_context()
            )
            return (label_span(f"{known} {dot} "), why)
        if update.is_complete:
            return (label_span(known),)
        if update.answered_at is None:
            # Without events, the wait is all that is known.
            parts = [known if self.tail.length or not waits else "", waits]
        else:
            parts = [known, f"heard {freshness_text(self.console.clock.monotonic() - update.answered_at)}", waits]
        return (label_span(f" {dot} ".join(filter(None, parts))),)


def _width(spans: Iterable[StyledSpan]) -> int:
    return cell_width("".join(text for text, _ in spans))


def _count_queue(rows: Sequence[RecordRow[Any]]) -> tuple[int, int]:
    """Return how many of some runs are at work, and how many wait for their turn."""
    live = [row.subject.status for row in rows if not row.subject.is_final]
    waiting = sum(status in QUEUED_STATES for status in live)
    return len(live) - waiting, waiting
