"""Doing what an action declares: a form where something is asked, then the sheet.

There is no other way from a specification to the service (:mod:`runwatch.view.mutation`): what stops an action, such as
a profile that is read-only, is said here once for every action there is. What is sent, and what comes of it, is in
:mod:`runwatch.tui.doing`.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.base.json import dumps_body
from runwatch.base.shell import runwatch_command
from runwatch.store.desk import Desk
from runwatch.tui.doing import sending
from runwatch.tui.draw import Pieces
from runwatch.tui.known import read_state
from runwatch.tui.screens.form import FormScreen
from runwatch.tui.sending import Sending, read_only_words, request_line
from runwatch.tui.work import start_work
from runwatch.view.drawn import line
from runwatch.view.form import form_of, has_body
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role
from runwatch.view.mutation import Action, Entered, Mutation

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen


def do_action(
    screen: ConsoleScreen, subject: Any | None, action: Action[Any], *, values: Mapping[str, str] | None = None
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
        command = runwatch_command(action.verb, *([] if subject is None else [subject.id]))
        screen.say(f"on the command line: {command}", Role.WARN)
    elif not action.enabled_when(subject.subject if mutation.first and isinstance(subject, Entered) else subject):
        screen.say(action.off_because, Role.WARN)
    elif (desk := screen.connected_desk()) is None:
        return
    elif desk.client.read_only and (mutation.asks or mutation.first is not None):
        screen.say(str(read_only_words(desk)), Role.WARN)
    elif mutation.first is not None and not isinstance(subject, Entered):
        start_work(screen, _read_first(screen, desk, subject, action), action.label, group="first", exclusive=True)
    elif mutation.asks:
        screen.app.push_screen(ActionForm(screen, subject, action, values))
    else:
        _open(screen, desk, subject, action)


class ActionForm(FormScreen):
    """The form of an action.

    Args:
        behind: The screen that opened it.
        subject: The record; ``None`` for none.
        action: What is to be done.
        values: What it holds at first where that is not what the action says, by the id of the ask.
    """

    def __init__(
        self, behind: ConsoleScreen, subject: Any | None, action: Action[Any], values: Mapping[str, str] | None = None
    ) -> None:
        assert action.mutation is not None
        form = form_of(action.mutation, subject)
        super().__init__(form, {**form.start, **(values or {})})
        self._behind = behind
        self._subject = subject
        self._action = action

    def form_title(self) -> Pieces:
        """What is done, to what, by which operation."""
        glyphs = self.console.glyphs
        name = "" if self._subject is None else f" {short_id(self._subject.id, glyphs)}"
        return line(f"{self._action.label}{name} {glyphs.dot} {self._mutation.operation}")

    def request_line(self) -> Pieces:
        """Method and path."""
        return request_line(self._mutation.operation, self._mutation.path(self._subject))

    def crumbs(self) -> Sequence[str]:
        """Below the screen that opened it."""
        return (*self._behind.crumbs(), self._action.label)

    def sheet_for(self, desk: Desk, body: bytes, shown: Any, key: str) -> Sending:
        """The sheet of the action."""
        return sending(
            self, self._behind, desk, self._subject, self._action, body, shown, key=key, refused=self.refused
        )

    @property
    def _mutation(self) -> Mutation[Any]:
        assert self._action.mutation is not None
        return self._action.mutation


def _open(screen: ConsoleScreen, desk: Desk, subject: Any, action: Action[Any]) -> None:
    """Open the sheet of an action that asks nothing, and look for what hangs on the record where it destroys it."""
    assert action.mutation is not None
    body = form_of(action.mutation, subject).body({}) if has_body(action.mutation) else None
    content = None if body is None else dumps_body(body)
    opened = sending(screen, screen, desk, subject, action, content, body, key=str(uuid.uuid4()))
    screen.open_sheet(opened)
    if action.is_destructive and subject is not None:
        from runwatch.tui.hanging import tell_dependents

        start_work(screen, tell_dependents(desk, opened.sheet, subject), "looking for what hangs on it")


async def _read_first(screen: ConsoleScreen, desk: Desk, subject: Any, action: Action[Any]) -> None:
    """Read what an action has to know before its form or sheet opens."""
    assert action.mutation is not None
    first = action.mutation.first
    assert first is not None
    state = await read_state(desk, first.operation, first.path(subject))
    lacking = first.lacks(state)
    if lacking:
        screen.say(lacking, Role.WARN)
    elif screen.is_current:
        do_action(screen, Entered(subject.id, subject, {}, state), action)
