"""Base of screens about a period, chosen by key among named ones or typed."""

from __future__ import annotations

from typing import Final

from runwatch.base.errors import UsageError
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.view.reports.period import DEFAULT_PERIOD, PERIODS, SHORT_PERIOD_HINT, ReportPeriod, parse_period
from runwatch.view.text.safe_text import line

CUSTOM_PERIOD: Final = "own"
"""The tab of a typed period."""

_PERIOD_KEYS: Final = frozenset({"screen.next_tab", "screen.previous_tab", "screen.filter"})
"""Keys that choose another period."""


class PeriodScreen(ConsoleScreen):
    """A screen with a period. Subclasses place tabs and input line, and show the content of the period.

    The filter key opens the input line, because the period selects what such a screen shows.
    """

    BINDINGS = make_bindings("screen.next_tab", "screen.previous_tab", "screen.filter")
    period_text: str = DEFAULT_PERIOD
    """The period as the user chose it."""

    _own: str = ""

    def offers(self, id: str) -> bool:
        """Return whether a key action works here: no other period of a file can be read."""
        return not (id in _PERIOD_KEYS and self.console.has_file) and super().offers(id)

    # For subclasses to override.

    def period_chosen(self) -> None:
        """Called when the period has changed."""
        raise NotImplementedError

    # Called by subclasses.

    @property
    def period(self) -> ReportPeriod:
        return parse_period(self.period_text, self.console.clock.now())

    def period_tabs(self) -> TabBar:
        return TabBar([*((named.id, line(named.title)) for named in PERIODS.values()), (CUSTOM_PERIOD, line("Other"))])

    def take_period(self, text: str) -> None:
        """Switch to another period.

        Raises:
            UsageError: The text is not a valid period.
        """
        parse_period(text, self.console.clock.now())
        self.period_text = text
        if text not in PERIODS:
            self._own = text
        self.choose_tab()
        self.period_chosen()

    def period_by(self, text: str) -> None:
        """Switch to a period as if the user had typed it; keep an invalid one in the input line with its error."""
        if not self.filter_submitted(text):
            self.action_filter()
            self.query_one(FilterBar).edit(text)
            self.filter_submitted(text)

    def choose_tab(self) -> None:
        """Activate the tab of the current period."""
        for bar in self.query(TabBar):
            # This posts a message back to this screen, which then changes nothing.
            bar.choose(self.period_text if self.period_text in PERIODS else CUSTOM_PERIOD)

    # Messages and key actions.

    def on_tab_bar_tab_activated(self, message: TabBar.TabActivated) -> None:
        """Switch to the tab's period, or open the input line."""
        if message.tab in PERIODS:
            self.take_period(message.tab)
        elif self._own:
            self.take_period(self._own)
        else:
            self.action_filter()

    def action_filter(self) -> None:
        self.add_class("-filtering")
        bar = self.query_one(FilterBar)
        bar.edit(self._own)
        bar.show_count(line(SHORT_PERIOD_HINT))

    def filter_typed(self, text: str) -> None:
        self.query_one(FilterBar).show_count(line(SHORT_PERIOD_HINT))

    def filter_submitted(self, text: str) -> bool:
        """Switch to the typed period, or show its error."""
        try:
            self.take_period(text.strip() or DEFAULT_PERIOD)
        except UsageError as error:
            self.query_one(FilterBar).show_error(line(error.sentences))
            return False
        return True

    def filter_cancelled(self) -> None:
        self.choose_tab()
