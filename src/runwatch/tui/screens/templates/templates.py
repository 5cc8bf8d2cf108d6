"""Templates: eligibility first, next actions within reach, and the changes since the last visit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from runwatch.records.source import SourceConnection
from runwatch.records.template import Template
from runwatch.store.repositories.record_versions import RecordVersion
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.shell.refusals import is_read_only
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.sources.template_source import TemplateSource
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.detail_layout import DetailLink
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.detail.sections import DetailSection
from runwatch.view.export.file_formats import FileFormat, encode_for_file
from runwatch.view.export.template_report import render_report
from runwatch.view.resources.templates import TEMPLATES
from runwatch.view.table.rows import RecordRow
from runwatch.view.templates.applications import ApplicationNote
from runwatch.view.templates.eligibility import TemplateFacts, describe_changes
from runwatch.view.templates.next_actions import NextActionTarget, without_changes
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.format import RenderContext, ago, short_id, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.records.record import Record


class TemplatesScreen(ResourceScreen):
    BINDINGS = make_bindings("review")
    HINTS: ClassVar[Sequence[KeyHint]] = (
        ("list.open", "open and act"), "review.decide", "screen.compare",
        ("screen.export", "report"), "screen.filter", "screen.copy", "screen.raw", "app.quit",
    )  # fmt: skip

    def __init__(self, source: RowSource) -> None:
        super().__init__(TEMPLATES, self._make_source(source))
        self._acted_on: Template | None = None

    def _make_source(self, source: RowSource) -> TemplateSource:
        return TemplateSource(source, lambda: self.console.session)

    # Layout.

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return templates and connections, which next actions refer to."""
        return (Template, SourceConnection)

    def counters(self) -> StyledSpans:
        items = [row.subject.template for row in self.listing.shown_rows]
        if not items:
            return line("")
        eligible = sum(template.eligible is True for template in items)
        blocked = sum(template.eligible is False for template in items)
        dot = self.console.glyphs.dot
        return (
            label_span(f"{eligible} eligible", Role.GOOD if eligible else Role.QUIET),
            label_span(f" {dot} "),
            label_span(f"{blocked} blocked", Role.BAD if blocked else Role.QUIET),
        )

    def all_hints(self) -> Sequence[KeyHint]:
        """Return the hints; on a read-only profile a template is opened, and nothing acts."""
        return ("list.open", *self.HINTS[1:]) if is_read_only(self.console) else self.HINTS

    def link_label(self) -> str:
        """Return what enter does: a next action is run, unless the profile is read-only."""
        does = isinstance(self.query_one(DetailView).target, NextActionTarget) and not is_read_only(self.console)
        return "run next action" if does else super().link_label()

    def detail_title(self, row: RecordRow[Any]) -> StyledSpans:
        """Return the template's uncut id, because it has no other name, and its version."""
        version = row.subject.template.template_version
        return line(f"{line(row.id)}" + (f"  version {version}" if version else ""))

    def _links(self, row: RecordRow[Any]) -> list[DetailLink]:
        begun = row.subject.application
        if not begun.id or begun.spend:
            # One that waits for the user's go is the first line.
            return super()._links(row)
        shown = short_id(begun.id, self.console.glyphs)
        return [DetailLink(line("application started here"), shown, begun), *super()._links(row)]

    def detail_sections(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return the fields; on a read-only profile no next action is offered that changes something."""
        sections = super().detail_sections(row, context)
        if not is_read_only(self.console):
            return sections
        return without_changes(sections, of_file=self.console.has_file)

    def focus_detail(self) -> None:
        """Move to the application that waits for the user's go, or else to the first next action."""
        super().focus_detail()
        row = self.row
        waits = row is not None and row.subject.application.spend
        self.query_one(DetailView).go_to_target(ApplicationNote if waits else NextActionTarget)

    # Events.

    def on_mount(self) -> None:
        """Watch for decisions made in other consoles."""
        self.watch_notes()

    def use(self, source: RowSource) -> None:
        super().use(self._make_source(source))

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Read again: a version may have become an earlier one, or the user returns from an application."""
        super().data_changed(kinds)
        if not kinds or Template.KIND in kinds:
            self.read_source()

    def rows_shown(self, *, keeps_detail: bool) -> None:
        """Move to the first next action again after a next action has changed the template."""
        super().rows_shown(keeps_detail=keeps_detail)
        row, before = self.row, self._acted_on
        if before is not None and row is not None and row.id == before.id and row.subject.template != before:
            self._acted_on = None
            view = self.query_one(DetailView)
            view.reset()
            view.go_to_target(NextActionTarget)

    # User input.

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Perform a next action, compare versions or open the application; the base class does the rest."""
        row, link = self.row, message.link
        if row is None:
            return
        if isinstance(link, NextActionTarget):
            from runwatch.tui.flows.next_actions import follow_next_action
            from runwatch.tui.screens.templates.application import open_plan

            self._acted_on = row.subject.template
            follow_next_action(self, link, row.subject.template, open_plan)
        elif isinstance(link, RecordVersion):
            self._compare_with(row.subject, link)
        elif isinstance(link, ApplicationNote):
            from runwatch.tui.screens.templates.application import open_application

            open_application(self, row.id, link.id)

    def own_actions(self) -> Mapping[str, Callable[[Any], None]]:
        return dict.fromkeys((action.id for action in self.spec.actions), self._open_plan)

    def _open_plan(self, subject: Any) -> None:
        """Open the plan, with which all actions begin."""
        from runwatch.tui.screens.templates.application import open_plan

        open_plan(self, subject.id)

    async def action_copy(self) -> None:
        """Copy the value under the cursor in the detail, such as an evidence reference; otherwise the id."""
        focused = self.focused
        if isinstance(focused, DetailView) and focused.value:
            await self.console.copy_text(copied_word(focused.value), line("value"), several_lines=True)
        else:
            await super().action_copy()

    def action_decide(self) -> None:
        from runwatch.tui.flows.local_notes import open_decision_menu

        row = self.row
        if row is None:
            self.refuse_key("Nothing to decide on.")
        else:
            open_decision_menu(self, row.subject.template, self.read_source)

    def action_compare(self) -> None:
        """Compare a template with an earlier version of itself, or with another template."""
        row = self.row
        if row is None or self.compared is not None or not row.subject.earlier or len(self.marked_rows()) == 2:
            super().action_compare()
            return
        items = [*self._versions(row), MenuItem(line("another template"), super().action_compare)]
        title = (label_span("Compare   ", Role.PLAIN), label_span(f"{line(row.id)} as it is now with …"))
        self.open_overlay(Menu(title, items, id="compare-menu"))

    def action_export(self) -> None:
        from runwatch.tui.flows.exports import open_export_menu

        what = "eligibility: a row a blocker, with its next action and your decision"
        forms: tuple[FileFormat, ...] = ("md", "csv")
        open_export_menu(
            self, [MenuItem(line(f"report {form}"), partial(self._report, form), line(what)) for form in forms]
        )

    def _report(self, form: FileFormat) -> None:
        from runwatch.tui.flows.exports import choose_export_path, write_export

        facts = [row.subject for row in self.rows_to_export()]
        at = self.console.clock.now()
        pieces = [encode_for_file(text) for text in render_report(form, facts, self.console.profile_name, at)]
        path = choose_export_path(self.console, "template-report", form)
        write_export(self, path, pieces, f"report on {len(facts)} template{'s' * (len(facts) != 1)}")

    def _versions(self, row: RecordRow[Any]) -> Iterator[MenuItem]:
        context = self.console.render_context()
        for version in row.subject.earlier:
            times = (time_of_day(at, context) for at in (version.first_seen_at, version.last_seen_at))
            seen = " to ".join(dict.fromkeys(times))
            changes = "; ".join(describe_changes(version.record, row.subject.template)) or "differences only"
            yield MenuItem(line(f"as seen {seen}"), partial(self._compare_with, row.subject, version), line(changes))

    def _compare_with(self, facts: TemplateFacts, version: RecordVersion[Template]) -> None:
        from runwatch.tui.flows.comparison import ComparisonSide, open_comparison

        context = self.console.render_context()
        before = ComparisonSide(line(f"until {ago(version.last_seen_at, context.now)}"), version.record.raw)
        open_comparison(self, before, ComparisonSide(line("now"), facts.raw))
