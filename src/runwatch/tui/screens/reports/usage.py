"""Account and usage: what is left, what was used, and how output checks have judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from textual.containers import Container
from textual.widget import Widget

from runwatch.records.account import Account
from runwatch.records.api_key import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.evaluation import EvalSummary
from runwatch.records.record import Record
from runwatch.records.usage import Usage
from runwatch.records.verifier import Verifier
from runwatch.settings.view_state import ViewState
from runwatch.store.live.poller import ACCOUNT_S
from runwatch.store.live.report_poller import REPORT_S, ReportQuery
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import label_span
from runwatch.tui.screens.base.report_screen import ReportScreen
from runwatch.tui.shell.console_screen import AGE_REFRESH_S
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.sections import DetailLine, DetailSection, build_sections
from runwatch.view.reports.check_trends import overview_section
from runwatch.view.reports.period import ReportPeriod
from runwatch.view.reports.usage import NameLookup, usage_sections
from runwatch.view.resources.account import ACCOUNT, has_times
from runwatch.view.resources.organization import USAGE
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

_EXPORT: Final = "compliance"
"""The screen that the last line opens."""

_MORE: Final = DetailSection(
    line("For auditors"),
    (DetailLine(line("compliance export"), line("receipts, usage and decisions of a period"), target=_EXPORT),),
)


class UsageScreen(ReportScreen):
    AUTO_FOCUS = "#usage-text"
    BINDINGS = make_bindings("screen.new", "detail.group")
    HINTS = (
        ("detail.open", "open list"), ("screen.next_tab", "next period"),
        ("screen.filter", "other period"), ("screen.new", "add credit"), "screen.refresh", "screen.raw", "screen.full",
        "screen.time", "app.quit",
    )  # fmt: skip
    KEY_HELP: ClassVar[Mapping[str, str]] = {"screen.new": "Add sample credit."}
    CRUMBS = ("Account and usage",)
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
        account = Pane(DetailView(id="account-text"), id="account")
        usage = Pane(self.period_tabs(), DetailView(id="usage-text"), id="usage")
        yield Container(account, usage, id="panes")
        yield FilterBar(id="filter")

    def hints(self) -> Sequence[KeyHint]:
        """Return the hints, after the first those of a plot in sight; of times where the account has any."""
        account = self.reports.record(Account.KIND)
        has_any = isinstance(account, Account) and has_times(account)
        first, *others = (hint for hint in self.HINTS if has_any or hint != "screen.time")
        return [first, *self.query_one("#usage-text", DetailView).plot_hints, *others]

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Open the export of the same period."""
        if message.link == _EXPORT:
            self.go_to_view_later(ViewState(_EXPORT, filter=self.period_text))

    def action_group(self) -> None:
        """Group the plot of the period from the other pane too, or say that there is none."""
        usage = self.query_one("#usage-text", DetailView)
        if usage.plot_hints:
            usage.focus()
            usage.action_group()
        else:
            self.notify_user("This period has no plot to group; a longer one may have.")

    def action_new(self) -> None:
        """Add sample credit, the only thing to create for an account."""
        from runwatch.tui.flows.action_dialog import perform_action

        perform_action(self, None, ACCOUNT.create_actions[0])

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return the lists that supply names for ids in reports."""
        return (Arm, ApiKey, Verifier)

    def reports_for(self, period: ReportPeriod) -> tuple[ReportQuery, ...]:
        query = tuple(period.query().items())
        return ReportQuery("getUsage", Usage, query), ReportQuery("getEvalSummary", EvalSummary, query)

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Read the account again, within the requests granted, after a report that is newer: both count runs."""
        usage, _ = self.reports_for(self.period)
        session = self.console.session
        if session is not None and usage.kind in kinds:
            used_s = self.reports.state(usage.kind, REPORT_S).age_s
            account_s = self.reports.state(Account.KIND, ACCOUNT_S).age_s
            if used_s is not None and account_s is not None and account_s - used_s > AGE_REFRESH_S:
                session.live.scheduler.run_soon(Account.KIND)
        super().data_changed(kinds)

    def draw(self) -> None:
        self._draw_account()
        context, period = self.console.render_context(), self.period
        names = NameLookup(self.console.records(Arm), self.console.records(ApiKey))
        room_of = self.query_one("#usage-text", DetailView).value_cells
        usage, evals = self.reports_for(period)

        def sections_of(record: Usage) -> Sequence[DetailSection]:
            judged = self.reports.record(evals.kind)
            checks = (
                overview_section(judged, self.console.records(Verifier), room_of, context)
                if isinstance(judged, EvalSummary)
                else []
            )
            return [*usage_sections(record, names, room_of, context), *checks, _MORE]

        title = (label_span("Usage", Role.PLAIN), line(f"   {period.text()}"))
        self.show_pane("usage", USAGE, usage.kind, title, REPORT_S, sections_of)
        self.show_hints()

    def _draw_account(self) -> None:
        context = self.console.render_context()
        title = (label_span("Account", Role.PLAIN),)
        self.show_pane(
            "account", ACCOUNT, Account.KIND, title, ACCOUNT_S, lambda record: build_sections(ACCOUNT, record, context)
        )

    def action_refresh(self) -> None:
        super().action_refresh()
        self.console.refresh_resource(ACCOUNT)
