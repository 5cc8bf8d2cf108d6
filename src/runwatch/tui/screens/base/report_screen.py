"""Base of report screens: panes of sections about a period, and their states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual import events

from runwatch.base.errors import UsageError
from runwatch.records.run import Run
from runwatch.settings.view_state import ViewState
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.screens.base.period_screen import PeriodScreen
from runwatch.tui.shell.console_screen import AGE_REFRESH_S
from runwatch.tui.sources.report_reader import ReportReader
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.pane_state import FAILED_STATES, is_stale
from runwatch.view.detail.sections import DetailSection
from runwatch.view.reports.period import DEFAULT_PERIOD, ReportPeriod
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, json_block, line

if TYPE_CHECKING:
    from runwatch.store.live.report_poller import ReportQuery


class ReportScreen(PeriodScreen):
    """A screen of reports about a period. Subclasses name the reports and draw them.

    The view state stores the period as its filter, and the line at the cursor, so that going back restores both.
    """

    NARROW_BELOW = 100
    BINDINGS = make_bindings("screen.raw", "screen.full", "screen.copy")
    DEFAULT_CSS = """
    ReportScreen {
        & #panes {
            layout: horizontal;
            height: 1fr;
        }
        &.-narrow #panes {
            layout: vertical;
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
        self._is_raw = False
        self._seconds = 0
        self._focused_last: DetailView | None = None
        self.reports = ReportReader(self)

    # For subclasses to override.

    def reports_for(self, period: ReportPeriod) -> tuple[ReportQuery, ...]:
        raise NotImplementedError

    def draw(self) -> None:
        """Draw all panes from the known records."""
        raise NotImplementedError

    # Called by subclasses.

    def show_pane(
        self,
        name: str,
        spec: ResourceSpec[Any],
        kind: str,
        title: StyledSpans,
        interval_s: float,
        sections_of: Callable[[Any], Sequence[DetailSection]],
    ) -> None:
        """Draw a pane and its frame: the sections of its record, or why there is none.

        Args:
            name: The id of the pane; its view has the same id with ``-text`` appended.
            kind: The collection with its only record.
            interval_s: The poll interval in seconds.
        """
        state = self.reports.state(kind, interval_s)
        view, record = self.query_one(f"#{name}-text", DetailView), self.reports.record(kind)
        if record is None:
            view.show([text_section(*self.empty_text(spec, state), role=Role.QUIET)])
        elif self._is_raw:
            view.show([text_section(json_block(dict(record.raw)))])
        else:
            # Earlier data stays visible; the frame names the failure described below it.
            is_failed = state.load in FAILED_STATES
            trouble = [text_section(*self.empty_text(spec, state), role=Role.BAD)] if is_failed else []
            view.show([*sections_of(record), *trouble])
        view.is_stale = is_stale(state)
        self.query_one(f"#{name}", Pane).set_border_text(
            title=title, state=(label_span("raw"),) if self._is_raw else line(""), age=(self.age_span(state),)
        )

    # Updates.

    def on_mount(self) -> None:
        self.choose_tab()
        self.session_opened()

    def on_unmount(self) -> None:
        self.reports.show()

    def on_detail_view_width_changed(self) -> None:
        self._draw_if_mounted()

    def session_opened(self) -> None:
        self.take_period(self.period_text)

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Draw the changes; those of runs alone, which are polled all the time, wait for the next update of ages."""
        if kinds != {Run.KIND}:
            self._draw_if_mounted()

    def tick(self) -> None:
        """Update ages every few seconds; at midnight, a named period moves on."""
        self._seconds += 1
        self.reports.show(*self.reports_for(self.period))
        if self._seconds % AGE_REFRESH_S == 0:
            self._draw_if_mounted()

    def view_state(self, name: str) -> ViewState:
        view = self._focused_last
        selected = "" if view is None else f"{view.id} {view.place}"
        return ViewState(name, filter=self.period_text, selected=selected)

    def restore_view(self, view: ViewState) -> None:
        try:
            self.take_period(view.filter or DEFAULT_PERIOD)
        except UsageError:
            self.take_period(DEFAULT_PERIOD)
        # After that, as the lines of another period are others.
        name, _, place = view.selected.partition(" ")
        for left in self.query(DetailView):
            if left.id == name:
                left.go_to_place(place)
                left.focus()

    def period_chosen(self) -> None:
        self.reports.show(*self.reports_for(self.period))
        self._draw_if_mounted()

    def close_filter(self) -> None:
        super().close_filter()
        view = self._focused_last or self.query_one("#panes DetailView", DetailView)
        view.focus()

    # Messages and key actions.

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keep in mind the pane that has the focus, which comes back to it; one that fills the window has it."""
        if isinstance(event.widget, DetailView):
            self._focused_last = event.widget
            if self.has_class("-full"):
                self._choose_pane()

    async def action_copy(self) -> None:
        value = self.focused.value if isinstance(self.focused, DetailView) else None
        await self.copy_word((value or "").strip(), "value under the cursor")

    def action_raw(self) -> None:
        self._is_raw = not self._is_raw
        self.draw()

    def action_full(self) -> None:
        """Switch the focused pane to the full window or back."""
        self._choose_pane()
        self.toggle_class("-full")

    def _choose_pane(self) -> None:
        for pane in self.query("#panes > Pane"):
            pane.set_class(pane.has_focus_within, "-chosen")

    def action_refresh(self) -> None:
        self.reports.refresh()

    def _draw_if_mounted(self) -> None:
        if self.is_mounted and self.query(DetailView):
            self.draw()

    def empty_text(self, spec: ResourceSpec[Any], state: PaneState) -> tuple[SafeText, ...]:
        if state.load is LoadState.NOT_OFFERED:
            refresh = self.console.keys.shown("screen.refresh")
            return (line(f"This service offers no {spec.singular}."), line(f"{refresh} retries."))
        return self.unread_lines(spec, state)
