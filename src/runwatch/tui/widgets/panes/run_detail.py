"""One run: its events as they arrive, and everything else under tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import ContentSwitcher

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.widgets.bars.filter_bar import FilterBar, make_filter_suggester
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.lists.event_log import EmptyLineSource, EventLog
from runwatch.view.resources.runs import RUNS, next_step_text
from runwatch.view.runs.run_facts import RunFacts, find_states
from runwatch.view.text.format import RenderContext, grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import block, json_block, line

if TYPE_CHECKING:
    from runwatch.records.arm import Arm
    from runwatch.records.event import RunEvent
    from runwatch.records.run import CallError
    from runwatch.view.detail.sections import DetailSection
    from runwatch.view.runs.run_trace import RunTrace

TABS: Final = (
    ("events", line("Events")),
    ("summary", line("Summary")),
    ("timeline", line("Timeline")),
    ("policy", line("Policy")),
    ("result", line("Result")),
    ("receipt", line("Receipt")),
    ("raw", line("Raw")),
)

_POLICY: Final = frozenset({"Policy"})
NO_RESULT: Final = "A test run calls no model, so it has no result."
ONLY_COMPLETED: Final = "Only a completed run has a result."
RUN_NOT_FINAL: Final = "The run is still live."
_LIVE_IN_FILE: Final = "The run was live when the file was written."


class RunDetail(Vertical):
    """The tabs of a run. The screen passes the facts; events come from the log's own source.

    Args:
        context: Returns the current render context; called for each drawing.
        typed: Searches the events while the user types.
        search: Searches the events; returns False for a text that is no search.
    """

    BINDINGS = make_bindings("screen.next_tab", "screen.previous_tab", "screen.filter")
    DEFAULT_CSS = """
    RunDetail {
        height: 1fr;
        & > ContentSwitcher {
            height: 1fr;
        }
        & > FilterBar {
            display: none;
        }
        &.-searching > FilterBar {
            display: block;
        }
    }
    """

    def __init__(
        self, context: Callable[[], RenderContext], typed: Callable[[str], object], search: Callable[[str], bool]
    ) -> None:
        super().__init__(id="run")
        self._now = context
        self._typed = typed
        self._search_for = search
        self._facts: RunFacts | None = None
        self._read: dict[str, tuple[DetailSection, ...]] = {}
        self._events: tuple[Sequence[RunEvent], bool] = ((), False)
        self._trace: RunTrace | None = None
        self._call_errors: tuple[CallError, ...] | None = None
        self._arms: tuple[Arm, ...] | None = None
        self._search = ""
        # Created here, so that content can be set before they are mounted.
        self._tabs: Final = TabBar(TABS)
        self._before_raw = self._before_search = TABS[0][0]
        self.event_log: Final = EventLog(id="events")

    def compose(self) -> ComposeResult:
        yield self._tabs
        with ContentSwitcher(initial="events"):
            yield self.event_log
        yield FilterBar(_complete, id="tail-filter")

    @property
    def tab(self) -> str:
        return self._tabs.active

    @property
    def run_id(self) -> str:
        """The run shown; empty for none."""
        return "" if self._facts is None else self._facts.id

    def show(self, facts: RunFacts, *, is_other: bool) -> None:
        """Show another run, or newer facts of the same."""
        self._facts = facts
        if is_other:
            self._start_over()
        self._draw()

    def clear(self) -> None:
        self._facts = None
        self._start_over()
        self.event_log.show(EmptyLineSource(), following=True)
        for view in self.query(DetailView):
            view.show(())

    def show_read(self, tab: str, lines: tuple[DetailSection, ...]) -> None:
        """Show what was read for a view, or why it could not be read."""
        self._read[tab] = lines
        self._draw()

    def show_story(self, events: Sequence[RunEvent], *, is_cut: bool) -> None:
        """Show a narrative of the run from its first events, and whether there are more."""
        self._events, self._trace = (events, is_cut), None
        self._draw()

    def show_call_errors(self, errors: tuple[CallError, ...]) -> None:
        self._call_errors = errors
        self._draw()

    def show_arms(self, arms: tuple[Arm, ...]) -> None:
        """Show what the saved models say of a run that found none ready."""
        self._arms = arms
        self._draw()

    def on_tab_bar_tab_activated(self, message: TabBar.TabActivated) -> None:
        """Show the chosen view. It takes the focus if this widget had it and no search is about to be typed."""
        had_focus = self.has_focus_within and not (message.tab == "events" and self.has_class("-searching"))
        self._make_view(message.tab)
        self.query_one(ContentSwitcher).current = message.tab
        self.event_log.show_from_left()
        self._draw()
        if had_focus:
            self.query_one(f"#{message.tab}").focus()

    def show_search(self, *, found: int, total: int) -> None:
        self.query_one(FilterBar).show_count(line(f"{grouped_number(found)}/{grouped_number(total)}"))

    def show_search_error(self, reason: str) -> None:
        self.query_one(FilterBar).show_error(line(reason))

    def clear_search(self) -> None:
        self._search = ""
        self.remove_class("-searching")

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        message.stop()
        self._search = message.text
        self._typed(message.text)

    def on_filter_bar_submitted(self, message: FilterBar.Submitted) -> None:
        """Return to the events with the search applied; keep one that cannot be read open for correction."""
        message.stop()
        self._submit(message.text)

    def on_filter_bar_cancelled(self, message: FilterBar.Cancelled) -> None:
        """Return to the view in which the search was begun."""
        message.stop()
        self._search = ""
        self._submit("")
        self._tabs.choose(self._before_search)

    def _submit(self, text: str) -> None:
        if self._search_for(text):
            self.remove_class("-searching")
            self.event_log.focus()

    def choose(self, tab: str) -> None:
        self._tabs.choose(tab)

    def go_to_place(self, tab: str, place: str) -> None:
        """Choose a view of fields, and move its cursor to a line once that is shown."""
        self._tabs.choose(tab)
        if self.query(ContentSwitcher):
            self._make_view(tab)
            self.query_one(f"#{tab}", DetailView).go_to_place(place)

    def action_filter(self) -> None:
        """Ask for a search of the events, and show them."""
        self._before_search = self.tab
        self._tabs.choose("events")
        self.add_class("-searching")
        self.query_one(FilterBar).edit(self._search)

    def action_step_tab(self, step: int) -> None:
        self._tabs.step(step)

    def turn_raw(self) -> None:
        """Toggle between the run's JSON and the previous view."""
        if self.tab != "raw":
            self._before_raw = self.tab
        self._tabs.choose("raw" if self.tab != "raw" else self._before_raw)

    def focus_inside(self) -> None:
        """Focus the active view, which may have been chosen just now."""
        if not self.query(ContentSwitcher):
            # Called after a refresh; the screen may have been left before it.
            return
        self._make_view(self.tab)
        self.query_one(ContentSwitcher).current = self.tab
        self.query_one(f"#{self.tab}").focus()

    def _draw(self) -> None:
        """Draw the active view; others are drawn when chosen."""
        facts, tab = self._facts, self.tab
        if facts is None or tab == "events":
            return
        from runwatch.view.detail.sections import build_sections

        self._make_view(tab)
        view = self.query_one(f"#{tab}", DetailView)
        context = self._now()
        match tab:
            case "summary":
                from runwatch.view.runs.run_narrative import narrative_sections

                events, is_cut = self._events
                facts = facts._replace(call_errors=self._call_errors, states=find_states(events), arms=self._arms)
                parts = [part for part in build_sections(RUNS, facts, context) if part.title not in _POLICY]
                view.show([*parts[:1], *narrative_sections(facts, events, context, is_cut=is_cut), *parts[1:]])
            case "timeline":
                view.show(self._timeline(facts, view, context))
            case "policy":
                view.show([part for part in build_sections(RUNS, facts, context) if part.title in _POLICY])
            case "result":
                found, said = self._read.get("result"), facts.run.incomplete_output
                warning = f"{context.glyphs.warn} {said[:1].upper()}{said[1:]}." if found and said else ""
                view.show(
                    found or [text_section(block(self._no_result(facts)), role=Role.QUIET)],
                    head=((line(warning), Role.WARN),) if warning else (),
                )
            case "receipt":
                if facts.receipt is None:
                    view.show(
                        self._read.get("receipt") or [text_section(line(self._no_receipt(facts)), role=Role.QUIET)]
                    )
                else:
                    from runwatch.view.resources.receipts import RECEIPTS

                    head = ((line(RECEIPTS.note), Role.QUIET),)
                    view.show(build_sections(RECEIPTS, facts.receipt, context), head=head)
            case "raw":
                view.show([text_section(json_block(dict(facts.raw)))])

    def _timeline(self, facts: RunFacts, view: DetailView, context: RenderContext) -> Sequence[DetailSection]:
        from runwatch.view.runs.run_timeline import timeline_sections
        from runwatch.view.runs.run_trace import RunTrace

        events, is_cut = self._events
        if self._trace is None:
            # A live run is drawn every second, with the same events most times.
            self._trace = RunTrace(events)
        facts = facts._replace(call_errors=self._call_errors)
        return timeline_sections(facts, self._trace, view.value_cells, context, is_cut=is_cut)

    def on_detail_view_width_changed(self, message: DetailView.WidthChanged) -> None:
        message.stop()
        if self.tab == "timeline":
            self._draw()

    def _make_view(self, tab: str) -> None:
        if not self.query(f"#{tab}"):
            view = DetailView(about=f"runs {tab}", id=tab)
            # The switcher shows it when it becomes current.
            view.display = False
            self.query_one(ContentSwitcher).mount(view)

    def _start_over(self) -> None:
        self._read.clear()
        self._events, self._trace = ((), False), None
        self._call_errors = self._arms = None
        for view in self.query(DetailView):
            view.reset()

    def _no_result(self, facts: RunFacts) -> str:
        if facts.is_test:
            return NO_RESULT
        is_of_file = self._now().is_of_file
        if not facts.is_final:
            return _LIVE_IN_FILE if is_of_file else RUN_NOT_FINAL
        if not facts.has_result:
            from runwatch.view.runs.run_narrative import ending_text

            return "\n".join((f"{ONLY_COMPLETED} It {ending_text(facts.status)}.", *self._why_ended(facts)))
        return "A file has no results of runs." if is_of_file else f"reading{self._now().glyphs.ellipsis}"

    def _why_ended(self, facts: RunFacts) -> Iterator[str]:
        """Say why a run ended without a result, and what to do, as its summary does."""
        from runwatch.view.runs.provider_calls import end_reason_text

        reason = facts.reason.value
        if reason is not None:
            yield end_reason_text(reason, facts.receipt, states=facts.states)
            facts = facts._replace(call_errors=self._call_errors, arms=self._arms)
            yield next_step_text(facts, self._now()) or ""

    def _no_receipt(self, facts: RunFacts) -> str:
        if self._now().is_of_file:
            return "The file has no receipt of this run." if facts.is_final else _LIVE_IN_FILE
        if facts.is_final:
            return f"reading{self._now().glyphs.ellipsis}"
        return f"{RUN_NOT_FINAL} It gets a receipt when it ends."


def _complete(text: str) -> str | None:
    """Complete an event filter; the imports are deferred until a filter is typed."""
    from runwatch.view.resources.event_filter import seen_values
    from runwatch.view.resources.events import EVENTS

    return make_filter_suggester(seen_values(EVENTS), tuple(EVENTS.flags))(text)
