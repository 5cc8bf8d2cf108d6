"""Account and usage: what is left, what was used, and how output checks have judged, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from runwatch.records.account import Account
from runwatch.records.apikey import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.evaluation import EvalSummary
from runwatch.records.record import Record
from runwatch.records.usage import Usage
from runwatch.records.verifier import Verifier
from runwatch.settings.session import View
from runwatch.store.live import ACCOUNT_S
from runwatch.store.reports import REPORT_S, Report
from runwatch.tui.actions import bindings
from runwatch.tui.draw import word
from runwatch.tui.screens.report import ReportScreen
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.view.account import account_sections
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role
from runwatch.view.period import Period
from runwatch.view.resources.account import ACCOUNT
from runwatch.view.resources.organization import USAGE
from runwatch.view.trends import overview_section
from runwatch.view.usage import Names, usage_sections

_MORE: Final = Section(
    line("For auditors"),
    (Line(line("compliance export"), line("receipts, usage and decisions of a period"), target=View("compliance")),),
)


class UsageScreen(ReportScreen):
    """The screen of the account and of what was used."""

    AUTO_FOCUS = "#usage-text"
    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.new",))
    DEFAULT_CSS = """
    UsageScreen {
        & #account {
            width: 10fr;
        }
        & #usage {
            width: 12fr;
        }
        &.-narrow #account {
            width: 1fr;
            height: 9;
        }
        &.-narrow #usage {
            width: 1fr;
            height: 1fr;
        }
    }
    """

    def body(self) -> Iterable[Widget]:
        """What is left beside what was used."""
        account = Pane(DetailView(id="account-text"), id="account")
        usage = Pane(self.period_tabs(), DetailView(id="usage-text"), id="usage")
        yield Container(account, usage, id="panes")
        yield self.period_bar()

    def crumbs(self) -> Sequence[str]:
        """The name."""
        return ("Account and usage",)

    def hints(self) -> Sequence[Hint]:
        """What can be done here."""
        return (
            ("detail.open", "open list"), ("screen.next_tab", "next period"), ("screen.filter", "other period"),
            ("screen.new", "add credit"), "screen.refresh", "screen.raw", "screen.full", "screen.time", "app.quit",
        )  # fmt: skip

    def action_new(self) -> None:
        """Add sample credit, which is what can be made of an account."""
        self.console.perform(self, None, ACCOUNT.makes[0])

    def lists(self) -> tuple[type[Record], ...]:
        """What reports name by id is shown by its name."""
        return (Arm, ApiKey, Verifier)

    def asked(self, period: Period) -> tuple[Report, ...]:
        """What was used, and how checks have judged."""
        query = tuple(period.query().items())
        return Report("getUsage", Usage, query), Report("getEvalSummary", EvalSummary, query)

    def draw(self) -> None:
        """Both panes."""
        self._draw_account()
        context, period = self.console.context(), self.period
        names = Names(self.known(Arm), self.known(ApiKey))
        room_of = self.room_of("usage")
        usage, evals = self.asked(period)

        def sections_of(record: Usage) -> Sequence[Section]:
            judged = self.record_of(evals.kind)
            checks = (
                overview_section(judged, self.known(Verifier), room_of, context)
                if isinstance(judged, EvalSummary)
                else []
            )
            return [*usage_sections(record, names, room_of, context), *checks, _MORE]

        title = (word("Usage", Role.PLAIN), line(f"   {period.words()}"))
        self.show_pane("usage", USAGE, usage.kind, title, REPORT_S, sections_of)

    def _draw_account(self) -> None:
        context = self.console.context()
        title = (word("Account", Role.PLAIN),)
        self.show_pane(
            "account", ACCOUNT, Account.KIND, title, ACCOUNT_S, lambda record: account_sections(record, context)
        )

    def action_refresh(self) -> None:
        """Read both now."""
        super().action_refresh()
        self.console.refresh_kind(ACCOUNT)
