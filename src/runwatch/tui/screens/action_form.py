"""Doing what an action declares: a form where something is asked, then the dialog.

There is no other way from a specification to the service (:mod:`runwatch.view.spec.action`): what stops an action, such
as a profile that is read-only, is said here once for every action there is. What is sent, and what comes of it, is in
:mod:`runwatch.tui.flows.action_dialog`.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.base.json import encode_body
from runwatch.base.shell_words import runwatch_command
from runwatch.store.session import ServiceSession
from runwatch.tui.core.rendering import StyledSpans
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.action_dialog import build_action_dialog
from runwatch.tui.flows.write_dialog import WriteDialog, read_only_text, request_text
from runwatch.tui.screens.base.form_screen import FormScreen
from runwatch.tui.sources.record_loader import read_object
from runwatch.view.actions.form import build_form, has_body
from runwatch.view.spec.action import Mutation, PageResult, ResourceAction
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen


def perform_action(
    screen: ConsoleScreen, subject: Any | None, action: ResourceAction[Any], *, values: Mapping[str, str] | None = None
) -> None:
    """Do what an action declares with a record, or without one; why it cannot be done now is said on the screen.

    Args:
        screen: The screen that asks for it; when it is done and the screen lists such records, its cursor goes there.
        subject: The record; ``None`` for what is done without one.
        action: What is to be done.
        values: What the form holds at first where that is not what the action says, by the id of the ask.
    """
    mutation = action.mutation
    if mutation is None:
        command = runwatch_command(action.command, *([] if subject is None else [subject.id]))
        screen.notify_user(f"on the command line: {command}", Role.WARN)
    elif not action.enabled_when(
        subject.subject if mutation.prerequisite and isinstance(subject, PageResult) else subject
    ):
        screen.notify_user(action.off_because, Role.WARN)
    elif (session := screen.connected_session()) is None:
        return
    elif session.client.read_only and (mutation.fields or mutation.prerequisite is not None):
        screen.notify_user(str(read_only_text(session)), Role.WARN)
    elif mutation.prerequisite is not None and not isinstance(subject, PageResult):
        start_worker(screen, _read_first(screen, session, subject, action), action.label, group="first", exclusive=True)
    elif mutation.fields:
        screen.app.push_screen(ActionForm(screen, subject, action, values))
    else:
        _open(screen, session, subject, action)


class ActionForm(FormScreen):
    """The form of an action.

    Args:
        behind: The screen that opened it.
        subject: The record; ``None`` for none.
        action: What is to be done.
        values: What it holds at first where that is not what the action says, by the id of the ask.
    """

    def __init__(
        self,
        behind: ConsoleScreen,
        subject: Any | None,
        action: ResourceAction[Any],
        values: Mapping[str, str] | None = None,
    ) -> None:
        assert action.mutation is not None
        form = build_form(action.mutation, subject)
        super().__init__(form, {**form.start, **(values or {})})
        self._behind = behind
        self._subject = subject
        self._action = action

    def form_title(self) -> StyledSpans:
        """What is done, to what, by which operation."""
        glyphs = self.console.glyphs
        name = "" if self._subject is None else f" {short_id(self._subject.id, glyphs)}"
        return line(f"{self._action.label}{name} {glyphs.dot} {self._mutation.operation}")

    def request_line(self) -> StyledSpans:
        """Method and path."""
        return request_text(self._mutation.operation, self._mutation.path(self._subject))

    def breadcrumbs(self) -> Sequence[str]:
        """Below the screen that opened it."""
        return (*self._behind.breadcrumbs(), self._action.label)

    def build_dialog(self, session: ServiceSession, body: bytes, shown: Any, key: str) -> WriteDialog:
        """The dialog of the action."""
        return build_action_dialog(
            self, self._behind, session, self._subject, self._action, body, shown, key=key, refused=self.refused
        )

    @property
    def _mutation(self) -> Mutation[Any]:
        assert self._action.mutation is not None
        return self._action.mutation


def _open(screen: ConsoleScreen, session: ServiceSession, subject: Any, action: ResourceAction[Any]) -> None:
    """Open the dialog of an action that asks nothing, and look for what hangs on the record where it destroys it."""
    assert action.mutation is not None
    body = build_form(action.mutation, subject).body({}) if has_body(action.mutation) else None
    content = None if body is None else encode_body(body)
    opened = build_action_dialog(screen, screen, session, subject, action, content, body, key=str(uuid.uuid4()))
    screen.open_dialog(opened)
    if action.is_destructive and subject is not None:
        from runwatch.tui.flows.action_dialog import show_dependents

        start_worker(screen, show_dependents(session, opened.dialog, subject), "checking for dependents")


async def _read_first(
    screen: ConsoleScreen, session: ServiceSession, subject: Any, action: ResourceAction[Any]
) -> None:
    """Read what an action has to know before its form or dialog opens."""
    assert action.mutation is not None
    first = action.mutation.prerequisite
    assert first is not None
    state = await read_object(session, first.operation, first.path(subject))
    lacking = first.lacks(state)
    if lacking:
        screen.notify_user(lacking, Role.WARN)
    elif screen.is_current:
        perform_action(screen, PageResult(subject.id, subject, {}, state), action)
