"""Help: the keys of the pane that had the focus, then all others, and the manual, with a search over everything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from textual.widget import Widget

from runwatch.base.shell_words import quote_exactly
from runwatch.base.text import cell_width
from runwatch.tui.core.key_bindings import (
    BY_ID,
    KEY_ACTIONS,
    SCOPE_TITLES,
    KeyScope,
    key_label,
    list_actions,
    make_bindings,
)
from runwatch.tui.core.rendering import label_span
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.shell.console_screen import ConsoleScreen, CoveringScreen
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.tui.widgets.lists.detail_layout import LABEL_CELLS, LINK_CELLS
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.manual.help_text import reference_sections, search_sections, service_sections
from runwatch.view.manual.pages import TOPICS, ManualLink, page_sections, search_manual, topics_section
from runwatch.view.table.column_meanings import column_sections
from runwatch.view.table.flag_meanings import flag_sections
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import fit, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console

TABS: Final = (
    ("keys", line("Keys")),
    ("signs", line("Symbols, filters, files")),
    ("service", line("How the service works")),
    ("manual", line("Manual")),
)

COLUMNS_TAB: Final = ("columns", line("Columns"))
"""The second tab, where the opening screen has a list."""

_OF_PANES: Final = ("list.", "tail.", "detail.")
"""Id prefixes of actions that belong to the focused pane."""


def open_help(console: Console, topic: str = "") -> None:
    """Show a page of the manual, or the help, starting with the keys that work at the focus; on the help screen, close
    it.
    """
    screen = console.screen
    if isinstance(screen, HelpScreen):
        screen.action_back()
    elif isinstance(screen, ConsoleScreen):
        ids = {
            binding.id or ""
            for node, binding, is_enabled, _ in screen.active_bindings.values()
            # A screen may offer a pane's keys for all its panes; they do not say which pane has the focus.
            if is_enabled and not (node is screen and (binding.id or "").startswith(_OF_PANES))
        }
        columns = (
            [*column_sections(screen.spec, screen.table.column_ids, console.glyphs), *flag_sections(screen.spec)]
            if isinstance(screen, ListScreen)
            else []
        )
        console.push_screen(HelpScreen(ids & BY_ID.keys(), screen.breadcrumbs(), columns, topic))


class HelpScreen(CoveringScreen):
    """The help screen.

    Args:
        active: Ids of the actions enabled where it was opened.
        crumbs: Breadcrumbs of that screen.
        columns: What the columns of its list and the states of its filter mean; empty without a list.
        topic: The page of the manual to open; empty for none.
    """

    BINDINGS = make_bindings("screen.filter", "screen.next_tab", "screen.previous_tab")
    AUTO_FOCUS = "#help-text"
    HINTS = (("detail.open", "open"), ("screen.filter", "search"), "screen.next_tab", "screen.back")

    def __init__(
        self, active: Collection[str], crumbs: Sequence[str], columns: Sequence[DetailSection], topic: str = ""
    ) -> None:
        super().__init__()
        self._columns: Final = tuple(columns)
        self._active: Final = frozenset(active)
        self._crumbs: Final = tuple(crumbs)
        self._search = ""
        self._page: ManualLink | None = None
        self._wanted_page: ManualLink | None = ManualLink(topic, line("")) if topic else None

    def body(self) -> Iterable[Widget]:
        tabs = (TABS[0], *([COLUMNS_TAB] if self._columns else []), *TABS[1:])
        yield Pane(TabBar(tabs), DetailView(id="help-text"), id="help")
        yield FilterBar(id="search")

    def breadcrumbs(self) -> Sequence[str]:
        """Return the path of the opening screen, ``Help``, and the manual page if one is open."""
        return (*self._crumbs, "Help", *([self._page.topic] if self._page is not None else []))

    def on_mount(self) -> None:
        if self._wanted_page is not None:
            self.query_one(TabBar).choose("manual")
        self._show()

    def on_tab_bar_tab_activated(self, message: TabBar.TabActivated) -> None:
        page, self._wanted_page = self._wanted_page, None
        self._open_page(page)

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Open a page of the manual, at the heading found by a search."""
        if not isinstance(message.link, ManualLink):
            return
        self._search = ""
        bar = self.query_one(TabBar)
        if bar.active == "manual":
            self._open_page(message.link)
        else:
            # The page is opened when the bar posts that its tab has changed.
            self._wanted_page = message.link
            bar.choose("manual")

    def on_detail_view_width_changed(self) -> None:
        self._show()

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one(FilterBar).edit(self._search)
        self._show()

    def action_back(self) -> None:
        """Leave the search, then the page of the manual, then the help."""
        if self._search:
            self.filter_typed("")
        elif self._page is not None:
            self._open_page(None)
        else:
            super().action_back()

    def _open_page(self, page: ManualLink | None) -> None:
        """Show a page of the manual, or the tab's own content if ``page`` is ``None``."""
        before, self._page = self._page, page
        view = self.query_one(DetailView)
        view.reset()
        self._show()
        self.show_crumbs()
        if page is None:
            view.go_to_target(ManualLink)
            if before is not None:
                # One row for each page follows the heading.
                view.move_cursor(1 + list(TOPICS).index(before.topic))
        elif page.heading:
            view.go_to_section(page.heading, page.words)

    def filter_typed(self, text: str) -> None:
        self._search = text.strip()
        self.query_one(DetailView).reset()
        self._show()

    def close_filter(self) -> None:
        super().close_filter()
        self.query_one(DetailView).focus()

    def _show(self) -> None:
        view = self.query_one(DetailView)
        try:
            shown = self._search_all() if self._search else self._tab_sections()
        except OSError as error:
            message = line(f"The manual cannot be read: {error.strerror}. Install runwatch again.")
            shown = [text_section(message, role=Role.BAD)]
        count = sum(len(section.lines) for section in shown)
        if self._search and not shown:
            shown = [text_section(line(f"Nothing here contains {self._search}."), role=Role.WARN)]
        view.show(shown if self._page is not None else _with_even_labels(shown), whole=bool(self._search))
        found = "1 line contains" if count == 1 else f"{count} lines contain"
        searched = label_span(f"{found} {line(self._search, 40)}" if self._search else "")
        self.query_one("#help", Pane).set_border_text(title=line("Help"), state=(searched,))
        self.query_one(FilterBar).show_count(line(f"{count} found" if self._search else ""))

    def _tab_sections(self) -> list[DetailSection]:
        """Return the sections of the active tab.

        Raises:
            OSError: A page of the manual is missing from the installation.
        """
        tab = self.query_one(TabBar).active
        if tab == "keys":
            return self._keys()
        if tab == "columns":
            return list(self._columns)
        if tab == "signs":
            return reference_sections(self.console.launch.paths, self.console.keys.shown, self.console.glyphs)
        if tab == "service":
            return service_sections(self.console.keys.shown)
        if self._page is None:
            return [topics_section()]
        return page_sections(self._page.topic, self._cells, self.console.glyphs)

    def _search_all(self) -> list[DetailSection]:
        """Return the matches of all tabs and of every page of the manual.

        Raises:
            OSError: A page of the manual is missing from the installation.
        """
        key_of = self.console.keys.shown
        parts = [
            *self._keys(),
            *self._columns,
            *reference_sections(self.console.launch.paths, key_of, self.console.glyphs),
            *service_sections(key_of),
        ]
        return [
            *search_sections(parts, self._search),
            *search_manual(self._search, self._cells - LINK_CELLS, glyphs=self.console.glyphs),
        ]

    @property
    def _cells(self) -> int:
        """Width of the manual's lines in cells, limited because long lines are hard to read."""
        return max(20, min(100, self.query_one(DetailView).value_cells(())))

    def _keys(self) -> list[DetailSection]:
        """Return the keys of the focused pane, of its screen and of the app, then the keys that work elsewhere."""
        panes: list[KeyScope] = ["replay", "wall", "list", "tail", "detail", "review", "text", "form"]
        here = [scope for scope in panes if any(action.id in self._active for action in list_actions(scope))]
        scopes: list[KeyScope] = [*here, "screen", "app"]
        made = [self._section(scope, SCOPE_TITLES[scope], only_active=True) for scope in scopes]
        made.insert(len(here) + 1, self._own_commands())
        elsewhere: list[KeyScope] = ["screen", *(scope for scope in panes if scope not in here), "dialog"]
        for scope in elsewhere:
            title = "On other screens" if scope == "screen" else SCOPE_TITLES[scope]
            made.append(self._section(scope, title, only_active=False))
        return [section for section in made if section.lines]

    def _own_commands(self) -> DetailSection:
        """Return the user's own commands; one without a key is in the menu."""
        console = self.console
        refused = console.command_keys.refused
        lines = (
            DetailLine(
                line(
                    command.key
                    if command.key and command.name not in refused
                    else console.keys.shown("screen.commands")
                ),
                line(f"{command.name}: {' '.join(map(quote_exactly, command.run))}", None),
                note=f"commands.{command.name}",
            )
            for command in console.settings.commands.values()
        )
        return DetailSection(line("Own commands"), tuple(lines))

    def _section(self, scope: KeyScope, title: str, *, only_active: bool) -> DetailSection:
        """Return the actions of a scope: those enabled where the help was opened, or the others."""
        keys = self.console.keys
        chosen = [
            action for action in KEY_ACTIONS if action.scope == scope and (action.id in self._active) == only_active
        ]
        return DetailSection(
            line(title),
            tuple(
                DetailLine(
                    line("  ".join(key_label(key) for key in keys.keys(action.id))), line(action.help), note=action.id
                )
                for action in chosen
            ),
        )


def _with_even_labels(sections: Sequence[DetailSection]) -> list[DetailSection]:
    """Return sections whose labels have one width, so that the texts beside them stand in one column.

    Those without labels, such as paragraphs of the manual, have the whole row.
    """
    widths = (cell_width(entry.label) for section in sections for entry in section.lines)
    cells = max((width for width in widths if width <= LABEL_CELLS), default=0)

    def padded(entry: DetailLine) -> DetailLine:
        return replace(entry, label=fit(entry.label, cells)) if cell_width(entry.label) < cells else entry

    return [
        replace(section, lines=tuple(map(padded, section.lines)))
        if any(entry.label for entry in section.lines)
        else section
        for section in sections
    ]
