"""What screens of reports have in common: a period chosen by key, panes of sections, and their states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType

from runwatch.base.errors import UsageError
from runwatch.records.record import Record
from runwatch.settings.session import View
from runwatch.store.freshness import LoadState, PaneState, pane_state
from runwatch.tui.actions import bindings
from runwatch.tui.draw import Pieces, word
from runwatch.tui.messages import FilterChanged, FilterKept, FilterLeft, LinkFollowed
from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.filter_bar import FilterBar
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.tab_bar import TabBar
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import Drawn, json_block, line
from runwatch.view.glyphs import Role
from runwatch.view.pane_words import DIMMED, TROUBLED, age_words, note_lines
from runwatch.view.period import HOW, PERIODS, USUAL, Period, read_period
from runwatch.view.resource import ResourceSpec

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.store.reports import Report, Reports

OWN: Final = "own"
"""The tab of a period that a person has typed."""

SIDE_BY_SIDE: Final = 100
"""From this width on panes stand side by side."""


class ReportScreen(ConsoleScreen):
    """A screen of reports about a period. Subclasses say what is asked, and draw what came.

    The period is what the screen's view keeps as its filter, so that going back shows the same again.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "screen",
        only=("screen.next_tab", "screen.previous_tab", "screen.filter", "screen.raw", "screen.full", "screen.copy"),
    )
    DEFAULT_CSS = """
    ReportScreen {
        & #panes {
            layout: horizontal;
            height: 1fr;
        }
        &.-narrow #panes {
            layout: vertical;
        }
        & #filter {
            display: none;
        }
        &.-filtering #filter {
            display: block;
        }
        &.-full #panes > Pane {
            display: none;
        }
        &.-full #panes > Pane.-chosen {
            display: block;
            width: 1fr;
            height: 1fr;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._period_text = USUAL
        self._own = ""
        self._is_raw = False
        self._reports: Reports | None = None

    # What subclasses say.

    def asked(self, period: Period) -> tuple[Report, ...]:
        """The reports of a period."""
        raise NotImplementedError

    def draw(self) -> None:
        """Draw everything anew from what is known."""
        raise NotImplementedError

    # What they ask.

    @property
    def period(self) -> Period:
        """The period that is shown, as it is now."""
        return read_period(self._period_text, self.console.clock.now())

    @property
    def desk(self) -> Desk | None:
        """The desk, once it is open."""
        return self.console.desk

    def period_tabs(self) -> TabBar:
        """The line of periods."""
        return TabBar([*((named.id, line(named.title)) for named in PERIODS.values()), (OWN, line("Other"))])

    def period_bar(self) -> FilterBar:
        """Where a period of one's own is typed."""
        return FilterBar(id="filter")

    def record_of(self, kind: str) -> Record | None:
        """The one record of a collection, once it was read."""
        found = self.console.store.collection(self.console.profile_name, kind).records
        return found[0] if found else None

    def known(self, kind: type[Record]) -> dict[str, Any]:
        """The records of a kind by their ids."""
        collection = self.console.store.collection(self.console.profile_name, kind.KIND)
        return {record_id: known.record for record_id, known in collection.known.items()}

    def show_pane(
        self,
        name: str,
        spec: ResourceSpec[Any],
        kind: str,
        title: Pieces,
        interval_s: float,
        sections_of: Callable[[Any], Sequence[Section]],
    ) -> None:
        """Draw a pane and its frame: the sections of the record, or why there is none.

        Args:
            name: The id of the pane; its view is called the same with ``-text`` behind it.
            spec: What it is about.
            kind: The collection in the store that the record stands in alone.
            title: What the frame is headed with.
            interval_s: How often it is meant to be read, in seconds.
            sections_of: Makes the sections of the record.
        """
        console = self.console
        state = self._state(kind, interval_s)
        view, record = self.query_one(f"#{name}-text", DetailView), self.record_of(kind)
        if record is None:
            view.show([_said(*self._note(spec, state))])
        elif self._is_raw:
            view.show([_said(json_block(dict(record.raw)), role=Role.PLAIN)])
        else:
            # What was read before stays in sight; the frame says in short what stands below it.
            trouble = [_said(*self._note(spec, state), role=Role.BAD)] if state.load in TROUBLED else []
            view.show([*sections_of(record), *trouble])
        view.is_stale = state.load in DIMMED
        age = age_words(state, console.context())
        lost = console.failure is not None and state.age_s is None
        shown = word("not connected", Role.BAD) if lost else (age.text, str(age.role))
        self.query_one(f"#{name}", Pane).show_edge(
            title=title, state=(word("raw"),) if self._is_raw else line(""), age=(shown,)
        )

    def room_of(self, name: str) -> Callable[[Sequence[Drawn]], int]:
        """The cells that plots have in a pane."""
        return self.query_one(f"#{name}-text", DetailView).value_cells

    # When something changes.

    def on_mount(self) -> None:
        """Ask, and show what is known."""
        self._fit()
        self._choose_tab()
        self.desk_opened()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        if self._reports is not None:
            self._reports.show()

    def on_resize(self) -> None:
        """Lay plots out for the new width, once the panes have theirs."""
        self._fit()
        self.call_after_refresh(self._draw_if_mounted)

    def desk_opened(self) -> None:
        """Read from now on."""
        desk = self.desk
        if desk is not None and self._reports is None:
            from runwatch.store.reports import Reports

            self._reports = Reports(desk.client, desk.scope, desk.store, desk.live.scheduler, desk.clock)
        self.take_period(self._period_text)

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Draw what came."""
        self._draw_if_mounted()

    def tick(self) -> None:
        """Ages grow, and at midnight a named period moves on."""
        if self._reports is not None:
            self._reports.show(*self.asked(self.period))
        if self.is_mounted:
            self.draw()

    def view(self, name: str) -> View:
        """The period."""
        return View(name, filter=self._period_text)

    def show_view(self, view: View) -> None:
        """Show the period that was shown."""
        try:
            self.take_period(view.filter or USUAL)
        except UsageError:
            self.take_period(USUAL)

    def take_period(self, text: str) -> None:
        """Show another period.

        Raises:
            UsageError: the text is none.
        """
        read_period(text, self.console.clock.now())
        self._period_text = text
        if text not in PERIODS:
            self._own = text
        self._choose_tab()
        if self._reports is not None:
            self._reports.show(*self.asked(self.period))
        self._draw_if_mounted()

    def period_by(self, text: str) -> None:
        """Show a period as if a person had typed it; what is none stands where periods are typed, with the reason."""
        if not self._take_typed(text):
            self.action_filter()
            self.query_one(FilterBar).edit(text)
            self._take_typed(text)

    # What people do.

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        """Show the period, or have one typed."""
        message.stop()
        if message.tab in PERIODS:
            self.take_period(message.tab)
        elif self._own:
            self.take_period(self._own)
        else:
            self.action_filter()

    def action_next_tab(self) -> None:
        """Show the next period."""
        self.query_one(TabBar).step(1)

    def action_previous_tab(self) -> None:
        """Show the period before."""
        self.query_one(TabBar).step(-1)

    def action_filter(self) -> None:
        """Type a period."""
        self.add_class("-filtering")
        bar = self.query_one(FilterBar)
        bar.edit(self._own)
        bar.show_count(line(HOW))

    def on_filter_changed(self, message: FilterChanged) -> None:
        """A period is shown once it is whole."""
        message.stop()
        self.query_one(FilterBar).show_count(line(HOW))

    def on_filter_kept(self, message: FilterKept) -> None:
        """Show the period that was typed, or say what is wrong with it."""
        message.stop()
        if self._take_typed(message.text):
            self._close_bar()

    def on_filter_left(self, message: FilterLeft) -> None:
        """Leave the period as it is."""
        message.stop()
        self._close_bar()
        self._choose_tab()

    def on_link_followed(self, message: LinkFollowed) -> None:
        """Go to the list or the record that a line leads to."""
        message.stop()
        target = message.link
        # Later, because this screen cannot wait for its own end.
        if isinstance(target, View):
            self.console.call_later(self.console.go_to_view, target)
        elif isinstance(target, tuple):
            self.console.call_later(self.console.open_record, *target)

    async def action_copy(self) -> None:
        """Copy the value under the cursor."""
        focused = self.focused
        if isinstance(focused, DetailView) and focused.value:
            await self.console.copy_text(focused.value.strip(), line("value under the cursor"))

    def action_raw(self) -> None:
        """Show the JSON as it came, or the report."""
        self._is_raw = not self._is_raw
        self.draw()

    def action_full(self) -> None:
        """Give the pane that has the focus the whole window, or share it again."""
        for pane in self.query("#panes > Pane"):
            pane.set_class(pane.has_focus_within, "-chosen")
        self.toggle_class("-full")
        self.call_after_refresh(self._draw_if_mounted)

    def action_refresh(self) -> None:
        """Read now."""
        if self._reports is not None:
            self._reports.refresh()

    # Inside.

    def _take_typed(self, text: str) -> bool:
        """Show a typed period; answer whether it is one."""
        try:
            self.take_period(text.strip() or USUAL)
        except UsageError as error:
            self.query_one(FilterBar).show_error(line(f"{error.title}. {error.hint or ''}"))
            return False
        return True

    def _draw_if_mounted(self) -> None:
        if self.is_mounted and self.query(DetailView):
            self.draw()

    def _choose_tab(self) -> None:
        for bar in self.query(TabBar):
            # Choosing tells this screen again, which changes nothing then.
            bar.choose(self._period_text if self._period_text in PERIODS else OWN)

    def _close_bar(self) -> None:
        self.remove_class("-filtering")
        self.query_one("#panes DetailView", DetailView).focus()

    def _fit(self) -> None:
        self.set_class(self.size.width < SIDE_BY_SIDE, "-narrow")

    def _state(self, kind: str, interval_s: float) -> PaneState:
        desk, clock = self.desk, self.console.clock
        return pane_state(
            self.console.store.collection(self.console.profile_name, kind),
            now=clock.now(),
            monotonic=clock.monotonic(),
            interval_s=interval_s,
            held_s=desk.live.held_s if desk is not None else 0.0,
        )

    def _note(self, spec: ResourceSpec[Any], state: PaneState) -> tuple[Drawn, ...]:
        failure = self.console.failure
        if failure is not None:
            return tuple(line(text) for text in (failure.title, failure.detail, failure.hint) if text)
        if self.desk is None:
            return (line(self.console.opening_words),)
        if state.load is LoadState.NOT_OFFERED:
            refresh = self.console.keys.shown("screen.refresh")
            return (line(f"This service offers no {spec.singular}."), line(f"{refresh} asks again."))
        return note_lines(spec, state, self.console.context(), self.console.keys.shown)


def _said(*texts: Drawn, role: Role = Role.QUIET) -> Section:
    return Section(line(""), tuple(Line(line(""), text, role) for text in texts))
