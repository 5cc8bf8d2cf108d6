"""The compliance export: a period, what is in it, who decided what, and a file of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from runwatch.base.files import write_export
from runwatch.records.compliance import ComplianceExport
from runwatch.store.reports import Report
from runwatch.tui.actions import bindings
from runwatch.tui.draw import word
from runwatch.tui.screens.report import ReportScreen
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.tui.work import start_work
from runwatch.view.compliance import decision_sections, file_text, summary_sections
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role
from runwatch.view.period import Period
from runwatch.view.resources.organization import COMPLIANCE

AGE_S: Final = 1800.0
"""Twice so old, an export is called stale: it is read once, and again when a person asks."""


class ComplianceScreen(ReportScreen):
    """The screen of the compliance export. Nothing is written before a person asks for the file."""

    AUTO_FOCUS = "#decisions-text"
    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.export",))
    DEFAULT_CSS = """
    ComplianceScreen {
        & #export, & #decisions {
            width: 1fr;
            height: 1fr;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._written: Path | None = None

    def body(self) -> Iterable[Widget]:
        """What the export holds beside its decision log."""
        export = Pane(self.period_tabs(), DetailView(id="export-text"), id="export")
        decisions = Pane(DetailView(id="decisions-text"), id="decisions")
        yield Container(export, decisions, id="panes")
        yield self.period_bar()

    def crumbs(self) -> Sequence[str]:
        """The name."""
        return ("Compliance export",)

    def hints(self) -> Sequence[Hint]:
        """What can be done here."""
        return (
            ("screen.export", "write the file"), ("detail.open", "open"), ("screen.next_tab", "next period"),
            ("screen.filter", "other period"), "screen.refresh", "screen.raw", "screen.full", "app.quit",
        )  # fmt: skip

    def asked(self, period: Period) -> tuple[Report, ...]:
        """The export."""
        query = tuple(period.query().items())
        return (Report("getComplianceExport", ComplianceExport, query, is_read_once=True),)

    def draw(self) -> None:
        """What is in it, and the decisions."""
        context, (report,) = self.console.context(), self.asked(self.period)
        title = (word("Compliance export", Role.PLAIN), line(f"   {self.period.words()}"))
        # A narrow status line cuts the path of a file that was just written, and this does not.
        written = (
            [Section(line(""), (Line(line("written to"), line(str(self._written), None)),))] if self._written else []
        )
        self.show_pane(
            "export", COMPLIANCE, report.kind, title, AGE_S, lambda it: [*written, *summary_sections(it, context)]
        )
        exported = self.record_of(report.kind)
        counted = len(exported.decision_log or ()) if isinstance(exported, ComplianceExport) else None
        title = (word("Decision log", Role.PLAIN), line("" if counted is None else f"   {counted}"))
        self.show_pane(
            "decisions", COMPLIANCE, report.kind, title, AGE_S, lambda record: decision_sections(record, context)
        )

    def action_export(self) -> None:
        """Write the export to a file, whole or not at all, for this user alone, and say where it is."""
        from runwatch.tui.exporting import free_name

        (report,) = self.asked(self.period)
        exported = self.record_of(report.kind)
        if not isinstance(exported, ComplianceExport):
            self.say("There is no export of this period yet.", Role.WARN)
            return
        name = f"compliance-{self.period.first}-{self.period.last}.json"
        path = free_name(self.console.opening.paths.exports_dir / name)
        start_work(self, self._write(path, exported), "writing the export", group="export")

    async def _write(self, path: Path, exported: ComplianceExport) -> None:
        import asyncio

        def write() -> None:
            write_export(path, file_text(exported).encode("utf-8"))

        try:
            # Beside the loop, because an export may hold a year of receipts.
            await asyncio.to_thread(write)
        except OSError as error:
            self.say(f"the export cannot be written, {error.strerror}: {path}", Role.BAD)
        else:
            self._written = path
            self.draw()
            self.say(f"written to {path}", Role.GOOD)
