"""Choosing the period that a screen is about: by key among the named ones, or typed."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.binding import BindingType

from runwatch.base.errors import UsageError
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.view.reports.period import DEFAULT_PERIOD, PERIOD_HINT, PERIODS, ReportPeriod, parse_period
from runwatch.view.text.safe_text import line

CUSTOM_PERIOD: Final = "own"
"""The tab of a period that the user has typed."""


class PeriodScreen(ConsoleScreen):
    """The part of a screen that is its period. Subclasses place the two lines of it, and show what is of the period.

    A period is typed where other screens filter: what such a screen shows is chosen by its period.
    """

    BINDINGS: ClassVar[list[BindingType]] = make_bindings(
        "screen", only=("screen.next_tab", "screen.previous_tab", "screen.filter")
    )
    DEFAULT_CSS = """
    PeriodScreen {
        & #filter {
            display: none;
        }
        &.-filtering #filter {
            display: block;
        }
    }
    """

    period_text: str = DEFAULT_PERIOD
    """The period as the user chose it."""

    _own: str = ""

    # What subclasses do.

    def period_chosen(self) -> None:
        """The period is another one."""
        raise NotImplementedError

    def leave_period(self) -> None:
        """The line where periods are typed is gone: give the focus to what is shown."""
        raise NotImplementedError

    # What they ask.

    @property
    def period(self) -> ReportPeriod:
        """The period that is shown, as it is now."""
        return parse_period(self.period_text, self.console.clock.now())

    def period_tabs(self) -> TabBar:
        """The line of periods."""
        return TabBar([*((named.id, line(named.title)) for named in PERIODS.values()), (CUSTOM_PERIOD, line("Other"))])

    def period_bar(self) -> FilterBar:
        """Where a period of one's own is typed."""
        return FilterBar(id="filter")

    def take_period(self, text: str) -> None:
        """Show another period.

        Raises:
            UsageError: the text is none.
        """
        parse_period(text, self.console.clock.now())
        self.period_text = text
        if text not in PERIODS:
            self._own = text
        self.choose_tab()
        self.period_chosen()

    def period_by(self, text: str) -> None:
        """Show a period as if the user had typed it; what is none stands where periods are typed, with the reason."""
        if not self._take_typed(text):
            self.action_filter()
            self.query_one(FilterBar).edit(text)
            self._take_typed(text)

    def choose_tab(self) -> None:
        """Mark the period that is shown."""
        for bar in self.query(TabBar):
            # Choosing tells this screen again, which changes nothing then.
            bar.choose(self.period_text if self.period_text in PERIODS else CUSTOM_PERIOD)

    # What people do.

    def on_tab_bar_tab_activated(self, message: TabBar.TabActivated) -> None:
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
        bar.show_count(line(PERIOD_HINT))

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        """A period is shown once it is whole."""
        message.stop()
        message.prevent_default()
        self.query_one(FilterBar).show_count(line(PERIOD_HINT))

    def on_filter_bar_submitted(self, message: FilterBar.Submitted) -> None:
        """Show the period that was typed, or say what is wrong with it."""
        message.stop()
        message.prevent_default()
        if self._take_typed(message.text):
            self._close_bar()

    def on_filter_bar_cancelled(self, message: FilterBar.Cancelled) -> None:
        """Leave the period as it is."""
        message.stop()
        message.prevent_default()
        self._close_bar()
        self.choose_tab()

    # Inside.

    def _take_typed(self, text: str) -> bool:
        """Show a typed period; answer whether it is one."""
        try:
            self.take_period(text.strip() or DEFAULT_PERIOD)
        except UsageError as error:
            self.query_one(FilterBar).show_error(line(f"{error.title}. {error.hint or ''}"))
            return False
        return True

    def _close_bar(self) -> None:
        self.remove_class("-filtering")
        self.leave_period()
