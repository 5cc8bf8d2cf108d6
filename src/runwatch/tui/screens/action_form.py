"""Perform a resource action: a form if it has fields, then the confirmation dialog.

Every action of a specification (:mod:`runwatch.view.spec.action`) reaches the service through this module, so reasons
that prevent one, such as read-only mode, are reported here for all of them. :mod:`runwatch.tui.flows.action_dialog`
handles the request and its outcome.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.api.operations import OPERATIONS, fill_path
from runwatch.base.json import encode_body
from runwatch.store.session import ServiceSession
from runwatch.tui.core.rendering import StyledSpans
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.action_dialog import build_action_dialog
from runwatch.tui.flows.write_sender import WriteSender, request_text
from runwatch.tui.screens.base.form_screen import FormScreen
from runwatch.tui.sources.record_loader import read_object
from runwatch.view.actions.form import build_form, has_body
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.action_parts import PageResult
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen


def perform_action(
    screen: ConsoleScreen, subject: Any | None, action: ResourceAction[Any], *, values: Mapping[str, str] | None = None
) -> None:
    """Perform an action on a record, or without one; show a notice if it is not possible now.

    Args:
        screen: The requesting screen. If it lists records of the kind, its cursor moves to the result.
        subject: The record; ``None`` for an action without one.
        values: Initial values by field id that replace those of the action.
    """
    mutation = action.mutation
    if mutation is None:
        command = screen.console.command(action.command, *([] if subject is None else [subject.id]))
        screen.notify_user(f"on the command line: {command}", Role.WARN)
    elif not action.enabled_when(
        subject.subject if mutation.prerequisite and isinstance(subject, PageResult) else subject
    ):
        screen.notify_user(action.off_because, Role.WARN)
    elif (session := screen.writing_session()) is None:
        return
    elif mutation.prerequisite is not None and not isinstance(subject, PageResult):
        start_worker(screen, _read_first(screen, session, subject, action), action.label, group="first", exclusive=True)
    elif mutation.fields:
        screen.app.push_screen(ActionForm(screen, subject, action, values))
    else:
        _open(screen, session, subject, action)


class ActionForm(FormScreen):
    """The form of an action.

    Args:
        subject: The record; ``None`` if there is none.
        values: Initial values by field id that replace those of the action.
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
        glyphs = self.console.glyphs
        name = "" if self._subject is None else f" {short_id(self._subject.id, glyphs)}"
        return line(f"{self._action.label}{name}")

    def request_line(self) -> StyledSpans:
        operation, record_id = self._mutation.operation, "" if self._subject is None else self._subject.id
        return request_text(operation, fill_path(OPERATIONS[operation], record_id))

    def breadcrumbs(self) -> Sequence[str]:
        return (*self._behind.breadcrumbs(), self._action.label)

    def build_dialog(self, session: ServiceSession, body: bytes, shown: Any, key: str) -> WriteSender:
        return build_action_dialog(
            self, self._behind, session, self._subject, self._action, body, shown, key=key, refused=self.refused
        )

    @property
    def _mutation(self) -> Mutation[Any]:
        assert self._action.mutation is not None
        return self._action.mutation


def _open(screen: ConsoleScreen, session: ServiceSession, subject: Any, action: ResourceAction[Any]) -> None:
    """Open the dialog of an action without fields; for a destructive one, look up the record's dependents."""
    assert action.mutation is not None
    body = build_form(action.mutation, subject).body({}) if has_body(action.mutation) else None
    content = None if body is None else encode_body(body)
    opened = build_action_dialog(screen, screen, session, subject, action, content, body, key=str(uuid.uuid4()))
    screen.app.push_screen(opened.dialog)
    if action.is_destructive and subject is not None:
        from runwatch.tui.flows.action_dialog import show_dependents

        start_worker(screen, show_dependents(session, opened.dialog, subject), "checking for dependents")


async def _read_first(
    screen: ConsoleScreen, session: ServiceSession, subject: Any, action: ResourceAction[Any]
) -> None:
    """Read an action's prerequisite before its form or dialog opens."""
    assert action.mutation is not None
    first = action.mutation.prerequisite
    assert first is not None
    state = await read_object(session, first.operation, subject.id)
    lacking = first.lacks(state)
    if lacking:
        screen.notify_user(lacking, Role.WARN)
    elif screen.is_current:
        perform_action(screen, PageResult(subject.id, subject, {}, state), action)
