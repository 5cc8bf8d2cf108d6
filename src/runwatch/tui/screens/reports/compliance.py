"""The compliance export: a period, its contents, who decided what, and a file with all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from textual.containers import Container
from textual.widget import Widget

from runwatch.base.files import write_export
from runwatch.records.compliance import ComplianceExport
from runwatch.store.live.report_poller import ReportQuery
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.screens.base.report_screen import ReportScreen
from runwatch.tui.widgets.bars.filter_bar import FilterBar
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.reports.compliance import decision_sections, export_text, summary_sections
from runwatch.view.reports.period import ReportPeriod
from runwatch.view.resources.organization import COMPLIANCE
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

AGE_S: Final = 1800.0
"""An export is stale at twice this age; it is read once, and again only on request."""


class ComplianceScreen(ReportScreen):
    """The screen of the compliance export. Nothing is written until the user requests the file."""

    AUTO_FOCUS = "#decisions-text"
    BINDINGS = make_bindings("screen.export")
    HINTS = (
        ("screen.export", "write the file"), ("detail.open", "open"), ("screen.next_tab", "next period"),
        ("screen.filter", "other period"), "screen.refresh", "screen.raw", "screen.full", "screen.time", "app.quit",
    )  # fmt: skip
    CRUMBS = ("Compliance export",)
    DEFAULT_CSS = """
    ComplianceScreen {
        & #export, & #decisions {
            width: 1fr;
            height: 1fr;
        }
        &.-narrow #decisions {
            height: auto;
            max-height: 50%;
        }
        &.-narrow #decisions-text {
            height: auto;
            max-height: 100%;
        }
        &.-narrow.-full #decisions {
            max-height: 100%;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._written: Path | None = None

    def body(self) -> Iterable[Widget]:
        export = Pane(self.period_tabs(), DetailView(id="export-text"), id="export")
        decisions = Pane(DetailView(id="decisions-text"), id="decisions")
        yield Container(export, decisions, id="panes")
        yield FilterBar(id="filter")

    def reports_for(self, period: ReportPeriod) -> tuple[ReportQuery, ...]:
        query = tuple(period.query().items())
        return (ReportQuery("getComplianceExport", ComplianceExport, query, is_read_once=True),)

    def draw(self) -> None:
        context, (report,) = self.console.render_context(), self.reports_for(self.period)
        title = (label_span("Compliance export", Role.PLAIN), line(f"   {self.period.text()}"))
        # Shown here, because a narrow status bar cuts the path of the file just written.
        written = (
            [DetailSection(line(""), (DetailLine(line("written to"), line(str(self._written), None)),))]
            if self._written
            else []
        )
        self.show_pane(
            "export", COMPLIANCE, report.kind, title, AGE_S, lambda it: [*written, *summary_sections(it, context)]
        )
        exported = self.reports.record(report.kind)
        counted = len(exported.decision_log or ()) if isinstance(exported, ComplianceExport) else None
        title = (label_span("Decision log", Role.PLAIN), line("" if counted is None else f"   {counted}"))
        self.show_pane(
            "decisions", COMPLIANCE, report.kind, title, AGE_S, lambda record: decision_sections(record, context)
        )

    def action_export(self) -> None:
        """Write the export to a file atomically, readable only by this user, and show its path."""
        from runwatch.tui.flows.exports import choose_path, free_name

        (report,) = self.reports_for(self.period)
        exported = self.reports.record(report.kind)
        if not isinstance(exported, ComplianceExport):
            self.notify_user("No export of this period yet.", Role.WARN)
            return
        name = f"compliance-{self.period.first}-{self.period.last}.json"
        path = free_name(self.console.launch.paths.exports_dir / name)

        def write(chosen: Path) -> None:
            start_worker(self, self._write(chosen, exported), "writing the export", group="export")

        choose_path(self, path, write)

    async def _write(self, path: Path, exported: ComplianceExport) -> None:
        try:
            # In a thread, because an export may hold a year of receipts.
            await asyncio.to_thread(lambda: write_export(path, export_text(exported).encode("utf-8")))
        except OSError as error:
            self.notify_user(f"The export cannot be written, {error.strerror}: {path}", Role.BAD)
        else:
            if self.console.download(path):
                self.notify_user(f"{path.name} goes to the browser's downloads", Role.GOOD)
                return
            self._written = path
            self.draw()
            self.notify_user(f"Written to {path}", Role.GOOD)
