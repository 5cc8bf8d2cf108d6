"""Generic screen of a resource: its list beside the detail of the record at the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events
from textual.timer import Timer
from textual.widget import Widget

from runwatch.base.errors import DataError
from runwatch.settings.view_state import PaneSplit, ViewState
from runwatch.store.state.freshness import LoadState
from runwatch.tui.core.key_bindings import RECORD_KEYS, make_bindings
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.shell.console_screen import AGE_REFRESH_S, NOTES_REFRESH_S, action_of
from runwatch.tui.shell.refusals import action_refusal
from runwatch.tui.sources.row_sources import NotedSource, RowSource
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.list_pane import ListPane
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.tui.widgets.panes.split_panes import MIN_ROWS, PaneSide, SplitPanes
from runwatch.view.spec.action import ResourceAction
from runwatch.view.spec.resource import Column, ResourceSpec, SortKey
from runwatch.view.table.profile_column import PROFILE
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import json_block, line

if TYPE_CHECKING:
    from runwatch.store.repositories.pins import PinTarget
    from runwatch.tui.widgets.lists.detail_layout import DetailLink
    from runwatch.tui.widgets.lists.detail_view import DetailView
    from runwatch.view.detail.sections import DetailSection
    from runwatch.view.problems.copy_options import CopyOption
    from runwatch.view.text.format import RenderContext

_DOING: Final = frozenset({"new", "destroy", "edit", "test"})
"""Key actions whose meaning the resource's specification defines."""

_ON_RECORDS: Final = frozenset({"destroy", "edit", "test"})
"""Those that some records do not allow."""

_NEED_A_ROW: Final = frozenset({*RECORD_KEYS, "screen.next_tab", "tail.follow"} - {"app.pin", "app.around"})
"""Key actions without a use in a list without a row."""

_IN_LIST: Final = frozenset({"list.open", "list.mark"})
"""Key actions of the list alone."""

BESIDE_FROM_CELLS: Final = 200
"""Width from which the detail is beside the list; the list then still has as much room as in a window of 120 cells."""

STACKED_FROM_ROWS: Final = 28
"""Rows from which a window has room for a list with the detail below it."""

CAN_BE_BESIDE_FROM_CELLS: Final = 100
"""Width from which the user may put the detail beside the list."""

_NO_ROOM_FOR_BOTH: Final = f"The detail needs {CAN_BE_BESIDE_FROM_CELLS} columns or {STACKED_FROM_ROWS} rows."

NOTHING_SELECTED: Final = (label_span("nothing selected"),)
"""Title of a detail without a record."""

DETAIL_SHARE: Final = 0.32
"""The detail's part of a wide window that is too low for a detail below a list that needs the rest."""

MIN_DETAIL_CELLS: Final = 44
"""Width that a list leaves to a detail beside it, enough for its tabs and events; with less, the detail is below the
list unless the user wants it beside.
"""

WANTED_DETAIL_CELLS: Final = 72
"""Width that a detail beside a list gets before the list is whole: lines with ids and times of most records are whole.
"""

MIN_LIST_CELLS: Final = 120
"""Width that such a list keeps, that of a window in which lists show their usual columns."""

DETAIL_CELLS: Final = 90
"""Width of a detail beside a list that needs little; longer lines are hard to read."""

SPLIT_STEP: Final = 0.05
"""The part of the room that a key moves the border between list and detail by."""

_LIST_FRAME_CELLS: Final = 2
_LIST_FRAME_ROWS: Final = 3
"""Rows of a list's frame and head."""

_TROUBLE_ROWS: Final = 6
"""Rows for the reason of a failed read below the rows of a list."""

_UP_TO_DATE: Final = frozenset({LoadState.EMPTY, LoadState.FRESH, LoadState.REFRESHING})
"""States in which nothing but ages changes from one second to the next."""

DEBOUNCE_S: Final = 0.15
"""How long the cursor must rest before the detail follows."""


class ResourceScreen(ListScreen):
    NARROW_BELOW = 100
    BINDINGS = make_bindings(
        "screen.copy", "screen.copy_menu", "screen.actions", "screen.raw", "screen.full", "screen.preview",
        "screen.smaller", "screen.larger", "screen.turn_split",
        "screen.new", "screen.destroy", "screen.edit", "screen.test", "screen.facets"
    )  # fmt: skip
    DEFAULT_CSS = """
    ResourceScreen {
        & #panes {
            layout: horizontal;
            height: 1fr;
        }
        & #list {
            width: 1fr;
        }
        & #detail {
            width: 32%;
            max-width: 90;
        }
        &.-stacked #panes {
            layout: vertical;
        }
        &.-stacked #list {
            height: 3fr;
        }
        &.-stacked #detail, &.-narrow #detail, &.-full-detail #detail {
            width: 1fr;
            max-width: 100%;
        }
        &.-stacked #detail {
            height: 2fr;
        }
        &.-narrow #detail, &.-no-preview #detail, &.-full-list #detail {
            display: none;
        }
        &.-narrow.-opened #detail {
            display: block;
        }
        &.-narrow.-opened #list, &.-full-detail #list {
            display: none;
        }
        &.-full-detail #detail {
            display: block;
        }
    }
    """

    BESIDE_FROM: ClassVar[int] = BESIDE_FROM_CELLS
    """Width from which the detail is beside the list unless the user has put it elsewhere."""

    WANTED_DETAIL: ClassVar[int] = WANTED_DETAIL_CELLS
    """Width in which the usual lines of the detail are whole."""

    DETAIL_EVERY: ClassVar[int] = AGE_REFRESH_S
    """Seconds between redraws of the detail when only ages have changed."""

    def __init__(self, spec: ResourceSpec[Any], source: RowSource) -> None:
        super().__init__(spec, source)
        self._seconds = 0
        self._shown: str | None = None
        self._debounce: Timer | None = None
        self._is_raw = False
        self._wanted: str | None = None
        self._left_at: str | None = None
        self._left_place = "", ""
        self._opens_wanted = self._is_focus_due = False
        self._lacks_notes = False
        self._most_wanted = self._fitted_rows = 0
        self._fitted: object = None

    # Widgets and content.

    def body(self) -> Iterable[Widget]:
        # Before there are widgets, whose styles would have to be found again.
        self._mark_side(update=False)
        table = RecordTable(self._columns(), id="table")
        if not self.HAS_SEVERAL_PROFILES:
            table.assumed = {PROFILE: line(self.console.profile_name)}
        yield SplitPanes(ListPane(table, id="list"), self.detail_pane(), self._divide)
        yield self.filter_bar(self._complete)

    def _columns(self) -> Sequence[Column[Any]]:
        """Return the columns named in the settings for this list, otherwise its own."""
        named = self.console.settings.columns
        if self.spec.name not in named:
            return self.spec.columns
        from runwatch.view.table.column_choice import choose_columns, unknown_columns_text

        chosen = choose_columns(self.spec, named)
        if chosen.unknown:
            self.call_after_refresh(self.notify_user, unknown_columns_text(self.spec, chosen), Role.WARN)
        return chosen.columns

    def detail_pane(self) -> Pane:
        return Pane(self.detail(), id="detail")

    def detail(self) -> Widget:
        """Return the content of the second pane."""
        # Imported here, because the list of runs is painted first and has a detail of its own.
        from runwatch.tui.widgets.lists.detail_view import DetailView

        return DetailView(about=self.spec.name, id="fields")

    def breadcrumbs(self) -> Sequence[str]:
        """Return the resource, and the record while its detail fills the window."""
        title = self.spec.title
        if self._shown and self._is_opened:
            row, glyphs = self.row, self.console.glyphs
            if row is not None and row.id == self._shown:
                return (title, self.spec.short_name(row.subject, glyphs))
            return (title, short_id(self._shown, glyphs))
        return (title,)

    def hints(self) -> Sequence[KeyHint]:
        """Return the hints that are on, those of the detail while it has the focus, and how to clear a filter."""
        hints = [hint for hint in self.all_hints() if self._is_offered(action_of(hint))]
        actions = [action_of(hint) for hint in hints]
        if "list.open" in actions and self._is_in_detail:
            rest = (hint for hint in hints if action_of(hint) not in _IN_LIST)
            return [("detail.open", self.link_label()), ("screen.back", "list"), *rest]
        if self.is_filtered and "screen.filter" in actions and not self._is_opened:
            hints.insert(actions.index("screen.filter") + 1, ("screen.back", "clear filter"))
        return hints

    def link_label(self) -> str:
        """Return what enter does on the link at the cursor of the detail."""
        return "open"

    def all_hints(self) -> Sequence[KeyHint]:
        """Return the hints common to all lists and those of this resource's actions, also those that are off."""
        return self.HINTS or self._usual_hints()

    @property
    def _is_in_detail(self) -> bool:
        return self.query_one("#detail").has_focus_within

    @property
    def _is_opened(self) -> bool:
        return self.has_class("-opened") or self.has_class("-full-detail")

    def offers(self, id: str) -> bool:
        """Return whether the console offers what a key does in this resource."""
        name = id.removeprefix("screen.")
        if name in _ON_RECORDS and (found := self._actions_named(name)):
            return any(action_refusal(self.console, action) is None for action in found)
        return super().offers(id)

    def _is_offered(self, key_action: str) -> bool:
        """Return whether a key would do anything with the marked rows, or the one at the cursor."""
        name = key_action.removeprefix("screen.")
        if self.row is None and key_action in _NEED_A_ROW:
            return False
        if key_action == "screen.facets" and not self._total:
            return False
        if key_action == "screen.actions" and self.row is None:
            return bool(self.spec.create_actions) and not self.console.has_file
        if name == "next_tab":
            is_over = self.has_class("-narrow") and not self.has_class("-opened")
            return self.has_class("-full-detail") or not (self._is_list_alone or is_over)
        if name not in _ON_RECORDS:
            return True
        found = self._actions_named(name)
        rows = self.selected_rows()
        return any(action.enabled_when(row.subject) for row in rows for action in found)

    def _usual_hints(self) -> Sequence[KeyHint]:
        doing: list[KeyHint] = ["screen.new"] if self._can("new") else []
        doing += [f"screen.{name}" for name in ("edit", "test") if self._can(name)]
        destroying = next((action for action in self.spec.actions if action.is_destructive), None)
        if destroying is not None:
            doing.append(("screen.destroy", destroying.label.partition(" ")[0].lower()))
        if self.spec.actions or self.spec.create_actions:
            doing.append("screen.actions")
        usual: tuple[KeyHint, ...] = ("screen.refresh", "screen.raw", "screen.time", "app.quit")
        return ("list.open", "screen.filter", "screen.copy", *doing, *usual)

    def apply_width(self) -> None:
        """Put the detail beside the list, below it, or over it in a small window."""
        self._mark_side()
        self._fit_panes()

    def _mark_side(self, *, update: bool = True) -> None:
        side = self._side()
        self.set_class(side == "below", "-stacked", update=update)
        self.set_class(side is None, "-narrow", update=update)

    def _side(self) -> PaneSide | None:
        """Return where the window has room for the detail: where the user wants it, or the usual place."""
        width, height = self.size
        wanted, possible = self._split.side, self._possible_sides()
        if wanted in possible:
            return wanted
        if width >= self.BESIDE_FROM and (width - self._most_wanted >= MIN_DETAIL_CELLS or "below" not in possible):
            return "beside"
        return "below" if width >= self.NARROW_BELOW and height >= STACKED_FROM_ROWS else None

    def _possible_sides(self) -> list[PaneSide]:
        width, height = self.size
        beside: list[PaneSide] = ["beside"] if width >= CAN_BE_BESIDE_FROM_CELLS else []
        return [*beside, "below"] if height >= STACKED_FROM_ROWS else beside

    def _fit_panes(self) -> None:
        """Divide the room as the user did; otherwise leave what the list does not need to the detail."""
        shown = None if self._is_list_alone or self.has_class("-full-detail") else self._side()
        share = 0.0 if shown is None else getattr(self._split, shown)
        if shown == "beside" and not share:
            share = self.usual_share()
        self.query_one(SplitPanes).divide(shown, share)
        pane = self.query_one("#list", Pane)
        most: int | None = None
        if not (self.has_class("-filtering") or self.listing.is_under_way):
            # A filter moves no pane while it is typed, nor where it finds nothing.
            self._fitted_rows = len(self.listing.shown_rows) or self._fitted_rows
        if shown == "below" and not share and self._total:
            rows = self._fitted_rows + _LIST_FRAME_ROWS + _TROUBLE_ROWS * pane.has_class("-troubled")
            # More rows than the window has make no difference, and would be a new layout with every new row.
            most = min(max(rows, MIN_ROWS[0]), self.size.height)
        # Textual lays the screen out again even if no height is replaced by none.
        if most is not None or pane.styles.has_rule("max_height"):
            pane.styles.max_height = most
        fitted = (self.size, shown, share, self.has_class("-full-detail"), self._is_list_alone)
        if fitted != self._fitted:
            self._fitted = fitted
            # Totals have a short form for a narrow pane, whose width is known after the layout.
            self.call_after_refresh(self._show_edge)

    def close_filter(self) -> None:
        super().close_filter()
        self._fit_panes()

    @property
    def _wanted_cells(self) -> int:
        """The width in which the list is whole."""
        return self.table.wanted_cells + _LIST_FRAME_CELLS

    def usual_share(self) -> float:
        """Return the share of the width of a detail beside rows; 0 for that of the style sheet.

        It depends on the list alone, not on the record at the cursor, so that the border stays from row to row.
        """
        if not self._total:
            return 0.0
        width = self.size.width
        left = width - self._wanted_cells
        least = left if left >= MIN_DETAIL_CELLS else max(DETAIL_SHARE * width, MIN_DETAIL_CELLS)
        wanted = min(self.WANTED_DETAIL, width - MIN_LIST_CELLS)
        return min(DETAIL_CELLS, max(least, wanted)) / width

    @property
    def _split(self) -> PaneSplit:
        """How the user has divided this screen."""
        return self.console.splits.get(self.spec.name, PaneSplit())

    def _divide(self, share: float) -> None:
        """Give the detail a share of the room, and remember that."""
        side = self._side()
        if side is not None:
            share = round(self.query_one(SplitPanes).nearest_share(share), 3)
            self.console.splits[self.spec.name] = self._split.with_share(side, share)
            self._fit_panes()

    def action_resize_pane(self, step: int) -> None:
        side, present = self._side(), self.query_one(SplitPanes).share
        if side is None or not present:
            self.refuse_key("There is no second pane in sight.")
            return
        # Several keys may come before the next layout.
        share: float = getattr(self._split, side) or present
        is_detail = self.query_one("#detail").has_focus_within
        self._divide(share + SPLIT_STEP * (step if is_detail else -step))

    def action_turn_split(self) -> None:
        """Put the detail beside the list or below it; in a window with room for one of both, there or nowhere."""
        side, possible = self._side(), self._possible_sides()
        others = [other for other in possible if other != side]
        if not others and not self._split.side:
            self.refuse_key(_NO_ROOM_FOR_BOTH)
            return
        self.console.splits[self.spec.name] = replace(self._split, side=others[0] if others else "")
        self.remove_class("-no-preview", "-full-list", "-full-detail")
        self.apply_width()

    # Updates.

    def watch_notes(self) -> None:
        """Poll for notes about the records written by other consoles on this machine."""
        if not self.console.has_file:
            self.set_interval(NOTES_REFRESH_S, self._look_for_notes)

    def _look_for_notes(self) -> None:
        """Read the notes; the next tick shows them. Report a failure once, and again only after a success."""
        source = self._source
        if not self.is_current or not isinstance(source, NotedSource):
            return

        async def read() -> None:
            try:
                await source.read_notes()
            except DataError:
                if not self._lacks_notes:
                    self._lacks_notes = True
                    raise
            else:
                self._lacks_notes = False

        start_worker(self, read(), "reading notes", group="notes read", exclusive=True)

    def view_state(self, name: str) -> ViewState:
        """Return filter, sort, the selected row unless the list follows its top, whether it is open, and where."""
        is_open = self.has_class("-opened") or self._is_in_detail
        return ViewState(
            name,
            filter=self.filter_text or self._stored_filter,
            is_filter_off=self._filter_is_off,
            sort=() if self._sort is self.spec.sort else tuple(key[:2] for key in self._sort),
            is_wide=self.table.is_wide,
            selected="" if self.table.follows_top else self.table.cursor_key or "",
            is_open=is_open,
            place=self.place_in_detail() if is_open else "",
        )

    def restore_view(self, view: ViewState) -> None:
        """Restore a view state, except for columns the resource no longer has."""
        known = {*self.table.column_ids, *(field.id for field in self.spec.all_fields())}
        order = tuple(SortKey(*key) for key in view.sort if key[0] in known)
        if order:
            self._sort = order
            self._show_order()
        if view.is_wide:
            self.table.action_wide()
        if view.filter:
            self.restore_stored_filter(view.filter)
            self._filter_is_off = view.is_filter_off and self._query is not None
        self._wanted, self._opens_wanted = view.selected or None, view.is_open
        self._left_place = view.selected, view.place
        self.show_crumbs()
        self.show_rows()
        if self._wanted is not None:
            self._pause_keys_for_rows()

    def _pause_keys_for_rows(self) -> None:
        """Pause keys until the rows are read: they are for the row that the user left."""
        table, keys = self.table, self.console.key_queue

        async def read() -> None:
            try:
                await self._read_rows()
            finally:
                keys.resume_for(table)

        keys.pause_for(table)
        start_worker(self, read(), f"reading {self.spec.name}", group="restored")

    def pin_targets(self) -> Sequence[PinTarget]:
        """Return the record at the cursor, then the filter."""
        from runwatch.view.resources.registry import RESOURCES

        # A list of several profiles, or of no resource, has a specification of its own.
        if all(spec is not self.spec for spec in RESOURCES):
            return ()
        return [target for target in (self._record_target(), self._filter_target()) if target is not None]

    def hold_record(self) -> None:
        self.table.leave_top()

    def looked_at(self) -> PinTarget | None:
        """Return the record if it is open, otherwise the filter."""
        if self._is_opened or self.query_one("#detail").has_focus_within:
            return self._record_target()
        return self._filter_target()

    def record_in_sight(self) -> PinTarget | None:
        is_drawn = self.row is not None and self.row.id == self._shown
        return self._record_target() if is_drawn and self.query_one("#detail").region else None

    def _record_target(self) -> PinTarget | None:
        from runwatch.store.repositories.pins import PinTarget

        return None if self.row is None else PinTarget("record", self.spec.name, (self.row.id,))

    def _filter_target(self) -> PinTarget | None:
        from runwatch.store.repositories.pins import PinTarget

        is_on = self.is_filtered and not self._filter_is_off
        return PinTarget("filter", self.spec.name, filter=self.filter_text) if is_on else None

    def select_record(self, key: str, *, opened: bool = False) -> None:
        self._wanted, self._opens_wanted = key, opened
        if self.is_paused and all(row.key != key for row in self.all_rows()):
            self.resume()
        self.show_rows()
        if self._wanted is not None and any(row.key == key for row in self.all_rows()):
            self._apply_filter("")

    def tick(self) -> None:
        """Update ages every few seconds; every second those of a list that is not up to date, without its detail."""
        self._seconds += 1
        keeps_detail = self._seconds % self.DETAIL_EVERY != 0
        if not keeps_detail or self._source.state().load not in _UP_TO_DATE:
            self.show_ages(keeps_detail=keeps_detail)
        else:
            self.show_clocks()

    def show_clocks(self) -> None:
        """Update what changes every second although the list is up to date; most lists have nothing of this kind."""

    def rows_shown(self, *, keeps_detail: bool) -> None:
        """Select the record waited for, and draw the detail."""
        if self._total:
            # It only grows, so that a filter moves no pane.
            self._most_wanted = max(self._most_wanted, self._wanted_cells)
        self.apply_width()
        if self._wanted is not None and self.table.select(self._wanted):
            self._wanted = None
            if self._opens_wanted:
                self.open_detail()
        self._arrive()
        is_kept = keeps_detail and self.row is not None and self.row.id == self._shown
        if self._debounce is None and not is_kept:
            self.show_detail()
        self.show_crumbs()

    def show_detail(self) -> None:
        from runwatch.tui.widgets.lists.detail_view import DetailView, text_section

        row = self.row
        view = self.query_one("#fields", DetailView)
        if row is None:
            view.show(())
            self.query_one("#detail", Pane).set_border_text(title=NOTHING_SELECTED, state=line(""), age=line(""))
            return
        if row.id != self._shown:
            self._shown = row.id
            view.reset()
        context = self.console.render_context()
        if self._is_raw:
            view.show([text_section(json_block(dict(row.subject.raw)))])
        else:
            view.show(self.detail_sections(row, context), self._links(row), head=self.detail_head())
        self.query_one("#detail", Pane).set_border_text(
            title=self.detail_title(row),
            state=(label_span("raw"),) if self._is_raw else line(""),
            age=line("") if self.spec.is_local else (self.offline_span(),),
        )

    def detail_head(self) -> Sequence[StyledSpan]:
        """Return the lines above the sections of the detail."""
        return ((line(self.spec.note), Role.QUIET),) if self.spec.note else ()

    def detail_sections(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        from runwatch.view.detail.sections import build_sections

        return build_sections(self.spec, row.subject, context)

    def detail_title(self, row: RecordRow[Any]) -> StyledSpans:
        return self.spec.title_of(row.subject, self.console.glyphs)

    # Messages and key actions.

    def on_record_table_row_highlighted(self, message: RecordTable.RowHighlighted) -> None:
        """Update the detail once the cursor rests; read on at the end of a list that goes on."""
        self._read_on()
        if self._debounce is not None:
            self._debounce.stop()
        self._debounce = self.set_timer(DEBOUNCE_S, self._show_row_at_rest)

    def _read_on(self) -> None:
        """Read on where the cursor is at the end of the list, or beside a gap in it."""
        row = self.row
        if row is not None and not self.is_going_to_end:
            is_last = self.table.cursor == self.table.line_count() - 1
            for continuation in self.continuations():
                continuation.reach(row.id, is_last=is_last)

    def on_record_table_end_requested(self, message: RecordTable.EndRequested) -> None:
        """Go to the real end of the list: the cursor follows once the list is read."""
        if any(continuation.has_more for continuation in self.continuations()):
            self._left_at = self.table.cursor_key
            self.go_to_end()

    def _arrive(self) -> None:
        """Move the cursor to the end of the list once that is read, unless the user has moved it meanwhile."""
        if self._left_at is None or self.is_going_to_end or self.listing.is_under_way:
            return
        left_at, self._left_at = self._left_at, None
        if self._goes_to_end and self.table.cursor_key == left_at:
            self.table.move_cursor(self.table.line_count() - 1)

    def _show_row_at_rest(self) -> None:
        self._debounce = None
        self.show_detail()
        self.show_crumbs()
        self._show_edge()

    def on_record_table_row_opened(self, message: RecordTable.RowOpened) -> None:
        """Open the detail without that delay."""
        self.clear_notice()
        self.open_detail()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keep the cursor on its record once the user does something with it: in the detail, a menu or the filter."""
        if not self.table.has_focus:
            self.table.leave_top()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Do the same for a click into the detail, of which not everything takes the focus."""
        if self.query_one("#detail").region.contains_point(event.screen_offset):
            self.table.leave_top()

    def on_screen_resume(self) -> None:
        """Focus the record that was opened behind a dialog, such as a new one."""
        if self._is_focus_due:
            self._is_focus_due = False
            self.console.key_queue.pause_for(self.query_one("#detail"))
            self.call_after_refresh(self.focus_opened)

    def on_screen_suspend(self) -> None:
        """Keep the cursor on its record while a dialog is open."""
        self.table.leave_top()

    def on_detail_view_width_changed(self) -> None:
        self.show_detail()

    def open_detail(self) -> None:
        """Show the record at the cursor and focus it."""
        self.table.leave_top()
        self.show_detail()
        self.add_class("-opened")
        self.show_crumbs()
        # Keys typed from now on are for the detail.
        self.console.key_queue.pause_for(self.query_one("#detail"))
        self.call_after_refresh(self.focus_opened)

    def focus_opened(self) -> None:
        # Behind a dialog nothing takes the focus; a click may have opened a menu, which would close without it.
        self._is_focus_due = not self.is_current
        if self.is_current and not self.has_overlay and self.has_class("-opened"):
            self.focus_detail()
        (record, place), self._left_place = self._left_place, ("", "")
        if place and record == self.table.cursor_key and self.has_class("-opened"):
            self.go_to_place(place)
        self.console.key_queue.resume_for(self.query_one("#detail"))

    def focus_detail(self) -> None:
        self.query_one("#fields").focus()

    def place_in_detail(self) -> str:
        """Return where the cursor is in the detail, for :meth:`go_to_place`."""
        view = self.detail_view
        return "" if view is None else view.place

    def go_to_place(self, place: str) -> None:
        """Move the cursor of the detail to where it was when the user left the screen."""
        view = self.detail_view
        if view is not None:
            view.go_to_place(place)

    @property
    def detail_view(self) -> DetailView | None:
        """The fields in the detail; ``None`` while it shows something else."""
        from runwatch.tui.widgets.lists.detail_view import DetailView

        return next((view for view in self.query_one("#detail").query(DetailView) if view.display), None)

    async def action_copy(self) -> None:
        self.table.leave_top()
        await self.copy_word(None if self.row is None else self.row.id, f"{self.spec.singular} id")

    def action_copy_menu(self) -> None:
        from runwatch.tui.flows.record_menus import open_copy_menu

        open_copy_menu(self)

    def copies_in_focus(self) -> Iterable[CopyOption]:
        from runwatch.tui.widgets.lists.detail_view import DetailView
        from runwatch.view.problems.copy_options import CopyOption

        focused = self.focused
        if isinstance(focused, DetailView) and focused.value:
            yield CopyOption(line("value under the cursor"), copied_word(focused.value))

    def action_show_actions(self) -> None:
        from runwatch.tui.flows.record_menus import open_action_menu

        open_action_menu(self, self.own_actions())

    def own_actions(self) -> Mapping[str, Callable[[Any], None]]:
        """Return what opens instead of the form or dialog of actions, by their ids; it takes the record."""
        return {}

    async def action_new(self) -> None:
        """Create a record, or open the menu of ways to do so; say why if this console refuses all of them.

        A kind without ``create_actions`` may be made from one of the list, as a saved model is from one of the catalog:
        then make it from the record at the cursor.
        """
        makes = self.spec.create_actions
        if not makes:
            self._run_named("new")
            return
        if all(action_refusal(self.console, action) for action in makes) and self.writing_session() is None:
            return
        from runwatch.tui.flows.record_menus import create_record

        create_record(self)

    def action_destroy(self) -> None:
        from runwatch.tui.flows.record_menus import open_destroy

        open_destroy(self, self.own_actions())

    def action_edit(self) -> None:
        self._run_named("edit")

    def action_test(self) -> None:
        self._run_named("test")

    def _run_named(self, id: str) -> None:
        from runwatch.tui.flows.record_menus import run_named_action

        run_named_action(self, id, self.own_actions())

    def action_facets(self) -> None:
        from runwatch.tui.screens.base.facet_menu import open_facet_menu

        open_facet_menu(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable and hide the keys of actions that this resource does not have."""
        if action == "facets":
            return bool(self.spec.facets)
        own = getattr(ResourceScreen, f"action_{action}", None)
        if action in _DOING and getattr(type(self), f"action_{action}") is own:
            return self._can(action)
        return super().check_action(action, parameters)

    def _can(self, name: str) -> bool:
        return bool((name == "new" and self.spec.create_actions) or self._actions_named(name))

    def _actions_named(self, name: str) -> list[ResourceAction[Any]]:
        return [
            action
            for action in self.spec.actions
            if (action.is_destructive if name == "destroy" else action.id == name)
        ]

    def action_raw(self) -> None:
        """Switch between fields and JSON; a detail that is hidden is shown first, as it is or as JSON."""
        self.table.leave_top()
        self._is_raw = self.reveal_detail() or not self._is_raw
        self.show_detail()

    def reveal_detail(self) -> bool:
        """Show the detail if it is hidden; return whether it was."""
        if self.query_one("#detail").display or self.row is None:
            return False
        self.remove_class("-no-preview", "-full-list")
        self._fit_panes()
        self.open_detail()
        return True

    def action_full(self) -> None:
        """Switch the focused pane to the full window or back."""
        in_detail = self.query_one("#detail").has_focus_within
        name = "-full-detail" if in_detail else "-full-list"
        self.toggle_class(name)
        self._fit_panes()
        self.show_crumbs()

    def action_preview(self) -> None:
        """Show or hide the detail beside the list, where a window has room for both."""
        if self._side() is None:
            self.refuse_key(_NO_ROOM_FOR_BOTH)
            return
        self.toggle_class("-no-preview")
        self._fit_panes()
        self.table.focus()

    def action_back(self) -> None:
        """Go back one level: leave the detail, cancel a comparison, clear the filter, then the marks, or go back."""
        if self._is_opened:
            self.clear_notice()
            self.remove_class("-opened", "-full-detail")
            self._fit_panes()
            self.table.focus()
        elif self.query_one("#detail").has_focus_within:
            self.table.focus()
        elif self.is_going_to_end:
            self.stop_going()
        elif self.compared is not None:
            from runwatch.tui.flows.comparison import cancel_comparison

            cancel_comparison(self)
        elif self.is_filtered:
            self._apply_filter("")
        elif self.table.marks:
            before = self.table.marks
            self.table.mark(())
            self._make_marks_undoable(before)
        else:
            super().action_back()
        self.show_crumbs()

    @property
    def is_at_root(self) -> bool:
        is_begun = self.compared is not None or self.is_filtered or self.is_going_to_end or bool(self.table.marks)
        return not self._is_opened and not self.query_one("#detail").has_focus_within and not is_begun

    @property
    def _is_list_alone(self) -> bool:
        return self.has_class("-full-list") or self.has_class("-no-preview")

    def _links(self, row: RecordRow[Any]) -> list[DetailLink]:
        from runwatch.tui.widgets.lists.detail_layout import DetailLink

        links = []
        for link in self.spec.links:
            target = link.target(row.subject)
            if target:
                links.append(DetailLink(line(link.label), line(target), (link.kind, target)))
        return links
