"""Applying a template: its plan with what it may spend, then the application while it goes on, which can be resumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType
from textual.widget import Widget

from runwatch.api.errors import ApiError
from runwatch.api.operations import OPERATIONS
from runwatch.api.private import without_secrets
from runwatch.base.errors import RunwatchError
from runwatch.base.json import dumps_body
from runwatch.base.shell import quote_active
from runwatch.records.template import Application, Plan, Template
from runwatch.tui.actions import bindings
from runwatch.tui.draw import Pieces, word
from runwatch.tui.next_steps import follow
from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.widgets.detail_rows import DetailLink
from runwatch.tui.widgets.detail_view import DetailView, LinkFollowed
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.tui.work import start_work
from runwatch.view.application import note_of_application, read_again_in_s
from runwatch.view.detail import Line, Section, sections
from runwatch.view.drawn import json_block, line
from runwatch.view.entry import address_of
from runwatch.view.format import compact, short_id
from runwatch.view.glyphs import Role
from runwatch.view.mutation import Action, Entry
from runwatch.view.next_actions import AUTHORIZE, Next
from runwatch.view.resource import ResourceSpec
from runwatch.view.resources.applications import APPLICATION, PLAN

if TYPE_CHECKING:
    from runwatch.store.desk import Desk

_PLAN: Final = "postTenantTemplatePlans"
_READ: Final = "getTenantTemplateApplicationsByApplicationId"

_CONSENT: Final = Entry[Application](what="enter the key of the model source")
"""What goes on at the private page that an application may name."""


def open_plan(screen: ConsoleScreen, template_id: str) -> None:
    """Show what applying a template would do and spend, in front of a screen."""
    if screen.console.has_file:
        screen.connected_desk()
    else:
        screen.app.push_screen(ApplicationScreen(template_id, screen.crumbs()))


def open_application(screen: ConsoleScreen, template_id: str, application_id: str) -> None:
    """Show an application while it goes on, in front of a screen."""
    screen.app.push_screen(ApplicationScreen(template_id, screen.crumbs(), application_id))


class ApplicationScreen(ConsoleScreen):
    """A template's plan, or its application.

    Args:
        template_id: The template.
        place: The way to the screen it was opened from.
        application_id: The application; without one a plan is made.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "screen", only=("screen.raw", "screen.copy", "screen.actions", "screen.refresh")
    )
    AUTO_FOCUS = "#fields"
    DEFAULT_CSS = """
    ApplicationScreen {
        & > Pane {
            height: 1fr;
        }
    }
    """

    def __init__(self, template_id: str, place: Sequence[str], application_id: str = "") -> None:
        super().__init__()
        self._template_id: Final = template_id
        self._place: Final = tuple(place[:1])
        self._application_id = application_id
        self._record: Plan | Application | None = None
        self._read_at: float | None = None
        self._is_reading = False
        self._failure: RunwatchError | None = None
        self._is_raw = False
        self._offered: tuple[object, object] | None = None

    # What it is made of.

    def body(self) -> Iterable[Widget]:
        """One pane."""
        yield Pane(DetailView(id="fields"), id="detail")

    def crumbs(self) -> Sequence[str]:
        """The template, and which of the two is shown."""
        return (*self._place, self._template_id, "Application" if self._application_id else "Plan")

    def hints(self) -> Sequence[Hint]:
        """Standing on a next action is how it goes on."""
        return (
            ("detail.open", "run next action"), ("screen.actions", "actions"), ("screen.copy", "copy value"),
            "screen.refresh", "screen.raw", "screen.back",
        )  # fmt: skip

    @property
    def is_at_root(self) -> bool:
        """Never: it stands in front of another screen."""
        return False

    # When something changes.

    def on_mount(self) -> None:
        """Read what is to be shown."""
        self.action_refresh()
        self._show()

    def desk_opened(self) -> None:
        """Read it now that the service is there."""
        self.action_refresh()

    def tick(self) -> None:
        """Read an application that goes on when it is due; a plan is made when a person asks for it."""
        if self._is_due():
            self.action_refresh()
        self._show()

    def answered(self, operation: str, answer: Any) -> None:
        """Take the application that came of what was done here."""
        if not isinstance(answer, dict) or not isinstance(answer.get("state"), str):
            self.action_refresh()
            return
        self._take(Application(answer))
        start_work(self, self._keep(), "keeping the application")

    # What people do.

    def action_refresh(self) -> None:
        """Make the plan anew, or read the application."""
        desk = self.console.desk
        if desk is not None and not self._is_reading:
            self._is_reading = True
            start_work(self, self._read(desk), "reading", group="read")

    def action_raw(self) -> None:
        """Show fields, or the JSON as it came."""
        self._is_raw = not self._is_raw
        self._show()

    async def action_copy(self) -> None:
        """Copy the value under the cursor."""
        value = self.query_one(DetailView).value
        if value:
            await self.console.copy_text(quote_active(value), line("value"), several_lines=True)

    def action_show_actions(self) -> None:
        """Show what can be done, and why the rest of it cannot."""
        record = self._record
        if record is None:
            self.say("There is nothing to act on yet.", Role.WARN)
            return
        from runwatch.tui.widgets.menu import Menu, MenuItem

        items = [
            MenuItem(
                line(action.label), action, line(f"runwatch {action.verb}"),
                None if action.enabled_when(record) else line(action.off_because),
            )
            for action in self._spec.actions
        ]  # fmt: skip
        self.put_over(Menu((word(f"Actions   {self._spec.singular}"),), items, id="action-menu"))

    async def take_choice(self, target: object) -> None:
        """Do what was chosen."""
        if isinstance(target, Action):
            self.console.perform(self, self._record, target)
        else:
            await super().take_choice(target)

    def on_link_followed(self, message: LinkFollowed) -> None:
        """Do what the next action asks for, or go to what was made."""
        message.stop()
        link = message.link
        if isinstance(link, tuple):
            self.console.call_later(self.console.open_record, *link)
        elif isinstance(link, Next):
            self._follow(link)

    def action_back(self) -> None:
        """Back to the screen it was opened from; an application goes on without being looked at."""
        self.app.pop_screen()

    # Inside.

    @property
    def _spec(self) -> ResourceSpec[Any]:
        return APPLICATION if isinstance(self._record, Application) else PLAN

    def _follow(self, wanted: Next) -> None:
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
                self.console.perform(self, self._record, action)
        else:
            follow(self, wanted, None, open_plan)

    def _is_due(self) -> bool:
        if self._read_at is None or not isinstance(self._record, Application):
            return False
        again = read_again_in_s(self._record)
        return again is not None and self.console.clock.monotonic() - self._read_at >= again

    async def _read(self, desk: Desk) -> None:
        try:
            await desk.live.scheduler.turn_of_a_person()
            if self._application_id:
                path: Mapping[str, str] = {"application_id": self._application_id}
                answer = await desk.client.request(_READ, path=path)
            else:
                answer = await desk.client.request(_PLAN, body=dumps_body({"template_id": self._template_id}))
        except ApiError as error:
            # What is shown stays, with why it could not be read again.
            self._failure = error
            self._read_at = self.console.clock.monotonic()
            self._show()
            return
        finally:
            self._is_reading = False
        if not isinstance(answer.value, dict):
            return
        if not self._application_id:
            self._take(Plan(answer.value))
            return
        self._take(Application(without_secrets(OPERATIONS[_READ], answer.value)))
        if isinstance(consent := answer.value.get("consent"), dict) and address_of(consent):
            self._offer_page(desk, consent)

    def _offer_page(self, desk: Desk, consent: Mapping[str, Any]) -> None:
        """Offer a private page, once for each attempt; its address is kept nowhere."""
        attempt = (consent.get("handoff_intent_id"), consent.get("attempt"))
        if attempt != self._offered:
            self._offered = attempt
            from runwatch.tui.private_pages import open_page

            open_page(self, desk, self._record, _CONSENT, consent, None)

    def _take(self, record: Plan | Application) -> None:
        is_first = isinstance(record, Application) and not isinstance(self._record, Application)
        self._record, self._failure = record, None
        self._read_at = self.console.clock.monotonic()
        if isinstance(record, Application) and record.id:
            self._application_id = record.id
        if is_first and self.is_mounted:
            self.query_one(DetailView).start_over()
            self.show_crumbs()
        self._show()
        self.query_one(DetailView).go_to_lead(Next)

    async def _keep(self) -> None:
        """Keep which application was begun, so that it can be resumed in a later session."""
        desk = self.console.desk
        if desk is not None and self._application_id:
            text = note_of_application(self._application_id)
            await desk.notes.write(desk.scope, Template.KIND, self._template_id, "intent", text)

    def _show(self) -> None:
        if not self.is_mounted:
            return
        view, record = self.query_one(DetailView), self._record
        if record is None:
            view.show(self._nothing())
        elif self._is_raw:
            shown = {name: value for name, value in record.raw.items() if name != "consent"}
            view.show([Section(line(""), (Line(line(""), json_block(shown)),))])
        else:
            spec = self._spec
            head = ((line(spec.note), Role.QUIET),) if spec.note else ()
            view.show(sections(spec, record, self.console.context()), self._links(record), head=head)
        self._show_edge()

    def _nothing(self) -> list[Section]:
        if self._failure is None:
            return [Section(line(""), (Line(line(""), line("reading…"), Role.QUIET),))]
        error = self._failure
        told = [Line(line("what"), line(str(error), None), Role.BAD)]
        if error.hint:
            told.append(Line(line("next"), line(error.hint, None)))
        key = self.console.keys.shown("screen.refresh")
        told.append(Line(line(""), line(f"{key} reads it again."), Role.QUIET))
        return [Section(line(""), tuple(told))]

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
        state: Pieces = line("")
        if isinstance(record, Application) and record.state:
            state = (word(record.state, Role.LIVE if read_again_in_s(record) is not None else Role.PLAIN),)
        self.query_one("#detail", Pane).show_edge(
            title=line(f"{self._spec.singular} {name}"), state=state, age=self._age_words()
        )

    def _age_words(self) -> Pieces:
        if self._failure is not None:
            return (word(f"no answer: {self._failure.title}", Role.BAD),)
        if self._read_at is None:
            return (word("not connected" if self.console.desk is None else "reading"),)
        age = compact(max(0.0, self.console.clock.monotonic() - self._read_at))
        again = read_again_in_s(self._record) if isinstance(self._record, Application) else None
        pace = "" if again is None else f" {self.console.glyphs.dot} read every {again:.0f}s"
        return (word(f"read {age} ago{pace}"),)
