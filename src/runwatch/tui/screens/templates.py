"""Templates: eligibility first, every next action within reach, and what changed since it was looked at last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from runwatch.base.shell import quote_active
from runwatch.records.source import SourceConnection
from runwatch.records.template import Template
from runwatch.store.versions import Version
from runwatch.tui.actions import bindings
from runwatch.tui.draw import Pieces, word
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.sources import Source
from runwatch.tui.template_source import TemplateSource
from runwatch.tui.widgets.detail_rows import DetailLink
from runwatch.tui.widgets.detail_view import DetailView, LinkFollowed
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.widgets.status_line import Hint
from runwatch.view.drawn import line
from runwatch.view.eligibility import TemplateFacts, changes
from runwatch.view.exports import Form, encoded
from runwatch.view.format import ago, short_id, time_of_day
from runwatch.view.glyphs import Role
from runwatch.view.mutation import Action
from runwatch.view.next_actions import Next
from runwatch.view.resources.templates import TEMPLATES
from runwatch.view.table import Row
from runwatch.view.template_report import report

if TYPE_CHECKING:
    from runwatch.records.record import Record


@dataclass(frozen=True, slots=True)
class _Begun:
    """A way to an application that was begun here."""

    application_id: str


class TemplatesScreen(ResourceScreen):
    """The screen of templates."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("review")

    def __init__(self, source: Source) -> None:
        super().__init__(TEMPLATES, self._with_the_rest(source))
        self._acted_on: Template | None = None

    def _with_the_rest(self, source: Source) -> TemplateSource:
        return TemplateSource(source, lambda: self.console.desk)

    # What it is made of.

    def lists(self) -> tuple[type[Record], ...]:
        """Connections too: next actions are about them."""
        return (Template, SourceConnection)

    def hints(self) -> Sequence[Hint]:
        """What reviewers do."""
        return (
            ("list.open", "open and act"), "review.decide", "screen.compare",
            ("screen.export", "report"), "screen.filter", "screen.copy", "screen.raw", "app.quit",
        )  # fmt: skip

    def counters(self) -> Pieces:
        """How many there are of each."""
        items = [row.subject.template for row in self._all_rows()]
        if not items:
            return line("")
        eligible = sum(template.eligible is True for template in items)
        blocked = sum(template.eligible is False for template in items)
        dot = self.console.glyphs.dot
        return (
            word(f"{eligible} eligible", Role.GOOD if eligible else Role.QUIET),
            word(f" {dot} "),
            word(f"{blocked} blocked", Role.BAD if blocked else Role.QUIET),
        )

    def detail_title(self, row: Row[Any]) -> Pieces:
        """The template whole, because it has no other name, and its version."""
        version = row.subject.template.template_version
        return line(f"{line(row.id)}" + (f"  version {version}" if version else ""))

    def _links(self, row: Row[Any]) -> list[DetailLink]:
        application_id = row.subject.application_id
        if not application_id:
            return super()._links(row)
        shown = short_id(application_id, self.console.glyphs)
        mine = DetailLink(line("application begun here"), line(shown), _Begun(application_id))
        return [mine, *super()._links(row)]

    def focus_detail(self) -> None:
        """Stand on the first next action."""
        super().focus_detail()
        self.query_one(DetailView).go_to_lead(Next)

    # When something changes.

    def on_mount(self) -> None:
        """Decisions of another console come by themselves."""
        self.watch_notes()

    def use(self, source: Source) -> None:
        """Take the templates from somewhere else from now on."""
        super().use(self._with_the_rest(source))

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Another version may have become an earlier one, or a person comes back from an application."""
        super().data_changed(kinds)
        if not kinds or Template.KIND in kinds:
            self.read_source()

    def rows_shown(self) -> None:
        """Stand on the first next action again when the one that was followed has changed the template."""
        super().rows_shown()
        row, before = self.row, self._acted_on
        if before is not None and row is not None and row.id == before.id and row.subject.template != before:
            self._acted_on = None
            view = self.query_one(DetailView)
            view.start_over()
            view.go_to_lead(Next)

    # What people do.

    def on_link_followed(self, message: LinkFollowed) -> None:
        """Do what a next action asks for, compare, or go to the application; other links are followed as everywhere."""
        row, link = self.row, message.link
        if row is None:
            return
        if isinstance(link, Next):
            from runwatch.tui.next_steps import follow
            from runwatch.tui.screens.application import open_plan

            self._acted_on = row.subject.template
            follow(self, link, row.subject.template, open_plan)
        elif isinstance(link, Version):
            self._compare_with(row.subject, link)
        elif isinstance(link, _Begun):
            from runwatch.tui.screens.application import open_application

            open_application(self, row.id, link.application_id)

    async def do_with(self, row: Row[Any], action: Action[Any]) -> None:
        """Both begin with the plan."""
        from runwatch.tui.screens.application import open_plan

        open_plan(self, row.id)

    async def action_copy(self) -> None:
        """Copy the value under the cursor where a person stands on one, such as an evidence reference; else the id."""
        focused = self.focused
        if isinstance(focused, DetailView) and focused.value:
            await self.console.copy_text(quote_active(focused.value), line("value"), several_lines=True)
        else:
            await super().action_copy()

    def action_decide(self) -> None:
        """Keep a go or no-go."""
        from runwatch.tui.deciding import decide

        row = self.row
        if row is None:
            self.say("There is nothing to decide on.", Role.WARN)
        else:
            decide(self, row.subject.template, self.read_source)

    def action_compare(self) -> None:
        """Compare a template with an earlier version of itself, or with another one."""
        row = self.row
        if row is None or self.compared is not None or not row.subject.earlier or len(self.table.marks) == 2:
            super().action_compare()
            return
        items = [*self._versions(row), MenuItem(line("another template"), super().action_compare)]
        title = (word("Compare   ", Role.PLAIN), word(f"{line(row.id)} as it is now with …"))
        self.put_over(Menu(title, items, id="compare-menu"))

    def action_export(self) -> None:
        """Write the report, or the records."""
        from runwatch.tui.exporting import open_export_menu

        what = "eligibility: a row a blocker, with its next action and your decision"
        forms: tuple[Form, ...] = ("md", "csv")
        open_export_menu(
            self, [MenuItem(line(f"report {form}"), partial(self._report, form), line(what)) for form in forms]
        )

    # Inside.

    def _report(self, form: Form) -> None:
        from runwatch.tui.exporting import new_file, write_export

        facts = [row.subject for row in self.exported()]
        at = self.console.clock.now()
        pieces = [encoded(text) for text in report(form, facts, self.console.profile_name, at)]
        path = new_file(self.console, "template-report", form)
        write_export(self, path, pieces, f"report on {len(facts)} template{'s' * (len(facts) != 1)}")

    def _versions(self, row: Row[Any]) -> Iterator[MenuItem]:
        context = self.console.context()
        for version in row.subject.earlier:
            seen = f"{time_of_day(version.first_seen_at, context)} to {time_of_day(version.last_seen_at, context)}"
            told = "; ".join(changes(version.record, row.subject.template)) or "only what a comparison shows"
            yield MenuItem(line(f"as seen {seen}"), partial(self._compare_with, row.subject, version), line(told))

    def _compare_with(self, facts: TemplateFacts, version: Version[Template]) -> None:
        from runwatch.tui.comparing import Side, open_comparison

        context = self.console.context()
        before = Side(line(f"until {ago(version.last_seen_at, context.now)}"), version.record.raw)
        open_comparison(self, before, Side(line("now"), facts.raw))
