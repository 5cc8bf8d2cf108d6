"""Applying a template: its plan with the spending limits, then the running application, which can be resumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual.widget import Widget

from runwatch.api.errors import ApiError
from runwatch.api.operations import OPERATIONS
from runwatch.api.secrets import strip_secrets
from runwatch.base.errors import RunwatchError
from runwatch.base.json import encode_body
from runwatch.records.template import Application, Plan, Template
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.action_dialog import perform_action
from runwatch.tui.flows.next_actions import follow_next_action
from runwatch.tui.shell.console_screen import ConsoleScreen, CoveringScreen
from runwatch.tui.shell.refusals import action_refusal, is_read_only
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.detail_layout import DetailLink
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.actions.private_page import find_page_address
from runwatch.view.detail.sections import DetailLine, DetailSection, build_sections
from runwatch.view.resources.applications import APPLICATION, PLAN
from runwatch.view.spec.action import PrivatePageSpec, ResourceAction
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.templates.applications import (
    NO_APPLICATION,
    choose_poll_interval_s,
    encode_application_note,
    note_application,
)
from runwatch.view.templates.next_actions import AUTHORIZE, NextActionTarget, without_changes
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.format import short_duration, short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import json_block, line

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.widgets.panes.menu import MenuItem

_PLAN: Final = "postTenantTemplatePlans"
_READ: Final = "getTenantTemplateApplicationsByApplicationId"

_CONSENT: Final = PrivatePageSpec[Application](what="enter the key of the model source")
"""What happens on the private page that an application may name."""


def open_plan(screen: ConsoleScreen, template_id: str) -> None:
    """Open the plan of a template: what applying it would do and spend."""
    if screen.console.has_file:
        screen.connected_session()
    else:
        screen.app.push_screen(ApplicationScreen(template_id, screen.breadcrumbs()))


def open_application(screen: ConsoleScreen, template_id: str, application_id: str) -> None:
    screen.app.push_screen(ApplicationScreen(template_id, screen.breadcrumbs(), application_id))


class ApplicationScreen(CoveringScreen):
    """The plan of a template, or its application."""

    BINDINGS = make_bindings("screen.raw", "screen.copy", "screen.actions", "screen.refresh")
    AUTO_FOCUS = "#fields"
    SHOWS_OUTCOMES = True

    def __init__(self, template_id: str, crumbs: Sequence[str], application_id: str = "") -> None:
        super().__init__()
        self._template_id: Final = template_id
        self._crumbs: Final = tuple(crumbs[:1])
        self._application_id = application_id
        self._record: Plan | Application | None = None
        self._read_at: float | None = None
        self._is_reading = False
        self._failure: RunwatchError | None = None
        self._is_raw = False
        self._noted = NO_APPLICATION
        self._offered: tuple[object, object] | None = None

    # Layout.

    def body(self) -> Iterable[Widget]:
        yield Pane(DetailView(id="fields"), id="detail")

    def breadcrumbs(self) -> Sequence[str]:
        """Return the template, and whether its plan or application is shown."""
        return (*self._crumbs, self._template_id, "Application" if self._application_id else "Plan")

    def hints(self) -> Sequence[KeyHint]:
        target = self.query_one(DetailView).target
        does = isinstance(target, NextActionTarget) and not is_read_only(self.console)
        return (
            ("detail.open", "run next action" if does else "open"), ("screen.actions", "actions"),
            ("screen.copy", "copy value"), "screen.refresh", "screen.raw", "screen.back",
        )  # fmt: skip

    # Events.

    def on_mount(self) -> None:
        self.action_refresh()
        self._show()

    def session_opened(self) -> None:
        """Read the plan or application once the service is connected."""
        self.action_refresh()

    def tick(self) -> None:
        """Read a running application when it is due; a plan is made only on request."""
        if self._is_due():
            self.action_refresh()
        self._show()

    def after_write_succeeded(self, operation: str, response: Any) -> None:
        if not isinstance(response, dict) or not isinstance(response.get("state"), str):
            self.action_refresh()
            return
        self._set_record(Application(response))
        start_worker(self, self._save(), "saving the application")

    # User input.

    def action_refresh(self) -> None:
        """Make a new plan, or read the application."""
        session = self.console.session
        if session is not None and not self._is_reading:
            self._is_reading = True
            start_worker(self, self._read(session), "reading", group="read")

    def action_raw(self) -> None:
        self._is_raw = not self._is_raw
        self._show()

    async def action_copy(self) -> None:
        value = self.query_one(DetailView).value
        if value:
            await self.console.copy_text(copied_word(value), line("value"), several_lines=True)
        else:
            self.nothing_to_copy()

    def action_show_actions(self) -> None:
        """Show the available actions, and why others are unavailable."""
        if self._record is None:
            self.open_more_keys()
            return
        from runwatch.tui.widgets.panes.menu import Menu

        title = (label_span(f"Actions   {self._spec.singular}"),)
        self.open_overlay(Menu(title, self._action_items(), id="action-menu", now=self._action_items))

    def _action_items(self) -> list[MenuItem]:
        from runwatch.tui.flows.record_menus import command_item
        from runwatch.tui.widgets.panes.menu import MenuItem

        record = self._record
        assert record is not None
        items = [
            MenuItem(
                line(action.label),
                partial(self._perform, action),
                disabled_reason=action_refusal(self.console, action)
                if action.enabled_when(record)
                else line(action.off_text(record)),
            )
            for action in self._spec.actions
        ]
        commands = [
            (action.label, self.console.command(action.command, record.id or self._template_id))
            for action in self._spec.actions
            if action.enabled_when(record)
        ]
        return [*items, *command_item(self, commands)]

    def _perform(self, action: ResourceAction[Any]) -> None:
        perform_action(self, self._record, action)

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Perform a next action, or open a created record."""
        link = message.link
        if isinstance(link, tuple):
            self.console.follow_link(*link)
        elif isinstance(link, NextActionTarget):
            self._follow(link)

    @property
    def _spec(self) -> ResourceSpec[Any]:
        return APPLICATION if isinstance(self._record, Application) else PLAN

    def _follow(self, wanted: NextActionTarget) -> None:
        kind = None if wanted.step is None else wanted.step.kind
        if kind == "plan" and isinstance(self._record, Application):
            behind = self.app.screen_stack[-2]
            assert isinstance(behind, ConsoleScreen)
            self.app.pop_screen()
            open_plan(behind, wanted.template_id or self._template_id)
        elif wanted.step is not None and kind in {"apply", "resume", "select"}:
            id = "authorize" if wanted.step.action == AUTHORIZE else str(kind)
            action = next((each for each in self._spec.actions if each.id == id), None)
            if action is not None:
                self._perform(action)
        else:
            follow_next_action(self, wanted, None, open_plan)

    def _is_due(self) -> bool:
        if self._read_at is None or not isinstance(self._record, Application):
            return False
        again = choose_poll_interval_s(self._record)
        return again is not None and self.console.clock.monotonic() - self._read_at >= again

    async def _read(self, session: ServiceSession) -> None:
        try:
            async with session.live.scheduler.user_turn():
                if self._application_id:
                    path: Mapping[str, str] = {"application_id": self._application_id}
                    result = await session.client.request(_READ, path=path)
                else:
                    result = await session.client.request(_PLAN, body=encode_body({"template_id": self._template_id}))
        except ApiError as error:
            # Keep the content, and show why it could not be read again.
            self._failure = error
            self._read_at = self.console.clock.monotonic()
            self._show()
            return
        finally:
            self._is_reading = False
        if not isinstance(result.value, dict):
            return
        if not self._application_id:
            self._set_record(Plan(result.value))
            return
        read = Application(strip_secrets(OPERATIONS[_READ], result.value))
        self._set_record(read)
        if note_application(read) != self._noted:
            await self._save()
        if isinstance(consent := result.value.get("consent"), dict) and find_page_address(consent):
            self._offer_page(session, consent)

    def _offer_page(self, session: ServiceSession, consent: Mapping[str, Any]) -> None:
        """Offer a private page once for each attempt; its address is never stored."""
        attempt = (consent.get("handoff_intent_id"), consent.get("attempt"))
        if attempt != self._offered:
            self._offered = attempt
            from runwatch.tui.flows.private_page import open_private_page

            open_private_page(self, session, self._record, _CONSENT, consent, None, perform_action)

    def _set_record(self, record: Plan | Application) -> None:
        is_first = isinstance(record, Application) and not isinstance(self._record, Application)
        self._record, self._failure = record, None
        self._read_at = self.console.clock.monotonic()
        if isinstance(record, Application) and record.id:
            self._application_id = record.id
        if is_first and self.is_mounted:
            self.query_one(DetailView).reset()
            self.show_crumbs()
        self._show()
        self.query_one(DetailView).go_to_target(NextActionTarget)

    async def _save(self) -> None:
        """Store the id of the application and what it waits for, so that a later session can resume it."""
        session = self.console.session
        if session is not None and isinstance(self._record, Application) and self._application_id:
            self._noted = note_application(self._record)
            text = encode_application_note(replace(self._noted, id=self._application_id))
            await session.notes.write(session.scope, Template.KIND, self._template_id, "intent", text)

    def _show(self) -> None:
        if not self.is_mounted:
            return
        view, record = self.query_one(DetailView), self._record
        if record is None:
            view.show(self._nothing())
        elif self._is_raw:
            shown = {name: value for name, value in record.raw.items() if name != "consent"}
            view.show([text_section(json_block(shown))])
        else:
            spec = self._spec
            head = ((line(spec.note), Role.QUIET),) if spec.note else ()
            sections = build_sections(spec, record, self.console.render_context())
            shown_sections = without_changes(sections) if is_read_only(self.console) else sections
            view.show(shown_sections, self._links(record), head=head)
        self.show_hints()
        self._show_edge()

    def _nothing(self) -> list[DetailSection]:
        if self._failure is None:
            return [text_section(line("reading…"), role=Role.QUIET)]
        error = self._failure
        lines = [DetailLine(line("what"), line(str(error), None), Role.BAD)]
        if error.hint:
            lines.append(DetailLine(line("next"), line(error.hint, None)))
        key = self.console.keys.shown("screen.refresh")
        lines.append(DetailLine(line(""), line(f"{key} reads it again."), Role.QUIET))
        return [DetailSection(line(""), tuple(lines))]

    def _links(self, record: Plan | Application) -> list[DetailLink]:
        found = ((link, link.target(record)) for link in self._spec.links)
        return [
            DetailLink(line(link.label), line(short_id(target, self.console.glyphs)), (link.kind, target))
            for link, target in found
            if target
        ]

    def _show_edge(self) -> None:
        if not self.is_mounted:
            return
        record = self._record
        name = short_id(self._application_id, self.console.glyphs) if self._application_id else self._template_id
        state: StyledSpans = line("")
        if isinstance(record, Application) and record.state:
            state = (label_span(record.state, Role.LIVE if choose_poll_interval_s(record) is not None else Role.PLAIN),)
        self.query_one("#detail", Pane).set_border_text(
            title=line(f"{self._spec.singular} {name}"), state=state, age=self._age_text()
        )

    def _age_text(self) -> StyledSpans:
        if self._failure is not None:
            return (label_span(f"no response: {self._failure.title}", Role.BAD),)
        if self._read_at is None:
            return (label_span("not connected" if self.console.session is None else "reading"),)
        age = short_duration(max(0.0, self.console.clock.monotonic() - self._read_at))
        again = choose_poll_interval_s(self._record) if isinstance(self._record, Application) else None
        pace = "" if again is None else f" {self.console.glyphs.dot} read every {again:.0f}s"
        return (label_span(f"read {age} ago{pace}"),)
