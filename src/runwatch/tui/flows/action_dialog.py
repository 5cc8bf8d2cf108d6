"""Perform a resource action: a form if it has fields, then the confirmation dialog, and what follows it.

Every action of a specification (:mod:`runwatch.view.spec.action`) reaches the service through this module, so reasons
that prevent one, such as read-only mode, are reported here for all of them, as are unknown outcomes, rejected fields
and production profiles. :mod:`runwatch.tui.flows.action_response` applies the response.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from runwatch.api.operations import OPERATIONS, fill_path, is_listable
from runwatch.base.errors import RunwatchError
from runwatch.base.json import encode_body, loads
from runwatch.base.secrets.secret_patterns import find_secret
from runwatch.settings.view_state import ViewState
from runwatch.store.repositories.outbox import WriteRequest
from runwatch.store.session import ServiceSession
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.action_response import apply_response, describe_success, own_id, response_record
from runwatch.tui.flows.form_screen import FormScreen
from runwatch.tui.flows.writes.write_sender import (
    PendingWrite,
    WriteCallbacks,
    WriteSender,
    list_age,
    make_typed_confirmation,
    profile_label,
)
from runwatch.tui.flows.writes.write_texts import request_text
from runwatch.tui.shell.record_screen import RecordScreen
from runwatch.tui.sources.record_loader import is_list_loaded, load_records, read_object
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog, DialogText
from runwatch.view.actions.dependents import describe_dependents, find_dependent_kinds, find_dependents
from runwatch.view.actions.form import build_form, has_body, render_request_body
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.action_parts import DialogWords, PageResult
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.records.record import Record
    from runwatch.tui.shell.console_screen import ConsoleScreen


def perform_action(screen: ConsoleScreen, subject: Any | None, action: ResourceAction[Any]) -> None:
    """Perform an action on a record, or without one; show a notice if it is not possible now.

    If the screen lists records of the kind, its cursor moves to the result.
    """
    mutation = action.mutation
    if mutation is None and action.leads_to is not None:
        screen.go_to_view_later(_view_of(action.leads_to(subject)))
    elif mutation is None:
        command = screen.console.command(action.command, *([] if subject is None else [subject.id]))
        screen.notify_user(f"On the command line: {command}", Role.WARN)
    elif not action.enabled_when(
        subject.subject if mutation.prerequisite and isinstance(subject, PageResult) else subject
    ):
        screen.notify_user(action.off_text(subject), Role.WARN)
    elif (session := screen.writing_session()) is None:
        return
    elif mutation.prerequisite is not None and not isinstance(subject, PageResult):
        start_worker(screen, _read_first(screen, session, subject, action), action.label, group="first", exclusive=True)
    elif mutation.fields:
        screen.app.push_screen(ActionForm(screen, subject, action))
    else:
        _open(screen, session, subject, action)


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


def _open(screen: ConsoleScreen, session: ServiceSession, subject: Any, action: ResourceAction[Any]) -> None:
    """Open the dialog of an action without fields; for a destructive one, look up the record's dependents."""
    assert action.mutation is not None
    body = build_form(action.mutation, subject).body({}) if has_body(action.mutation) else None
    content = None if body is None else encode_body(body)
    opened = build_action_sender(screen, screen, session, subject, action, content, body, key=str(uuid.uuid4()))
    screen.app.push_screen(opened.dialog)
    if action.is_destructive and subject is not None:
        start_worker(screen, _show_dependents(session, opened.dialog, subject), "checking for dependents")


class ActionForm(FormScreen):
    """The form of an action on a record, or without one. What is typed is kept however the form is left, until the
    service accepts it.
    """

    def __init__(self, behind: ConsoleScreen, subject: Any | None, action: ResourceAction[Any]) -> None:
        assert action.mutation is not None
        form = build_form(action.mutation, subject)
        console, record_id = behind.console, "" if subject is None else subject.id
        self._drafts = console.form_drafts
        self._draft_of = (console.profile_name, action.mutation.operation, action.id, record_id)
        draft = self._drafts.get(self._draft_of, {})
        super().__init__(form, {**form.start, **draft}, action.mutation.begins_in)
        self.is_draft = bool(draft)
        self._behind = behind
        self._subject = subject
        self._action = action

    def typed(self, values: Mapping[str, str]) -> None:
        """Keep what differs from what the form begins with, so that a record's other values are those it has then.

        A value that holds a well-known key is not kept, as no form takes one.
        """
        start = self.form.start
        draft = {id: text for id, text in values.items() if text != start.get(id, "") and find_secret(text) is None}
        if draft:
            self._drafts[self._draft_of] = draft
        else:
            self._drafts.pop(self._draft_of, None)

    def _forget_draft(self, draft: Mapping[str, str] | None) -> None:
        """Forget a draft that was accepted, unless the user has typed something else since."""
        if self._drafts.get(self._draft_of) == draft:
            self._drafts.pop(self._draft_of, None)

    def form_title(self) -> StyledSpans:
        record_id = "" if self._subject is None else self._subject.id
        name = f" {short_id(record_id, self.console.glyphs)}" if record_id else ""
        return line(self._action.step_title or f"{self._action.label}{name}")

    @property
    def request(self) -> tuple[str, Mapping[str, str]]:
        operation, record_id = self._mutation.operation, "" if self._subject is None else self._subject.id
        return operation, fill_path(OPERATIONS[operation], record_id)

    def breadcrumbs(self) -> Sequence[str]:
        return (*self._behind.breadcrumbs(), self._action.label)

    def build_sender(self, session: ServiceSession, body: bytes, shown: Any, key: str) -> WriteSender:
        return build_action_sender(
            self, self._behind, session, self._subject, self._action, body, shown, key=key, refused=self.refused,
            accepted=partial(self._forget_draft, self._drafts.get(self._draft_of)),
        )  # fmt: skip

    def dialog_closed(self, dialog: ConfirmDialog) -> None:
        """Forget the draft of a request with unknown outcome too: it is kept with its key, to be sent again."""
        if dialog.state == "unknown":
            self._forget_draft(self._drafts.get(self._draft_of))
        super().dialog_closed(dialog)

    @property
    def _mutation(self) -> Mutation[Any]:
        assert self._action.mutation is not None
        return self._action.mutation


def build_action_sender(
    owner: ConsoleScreen,
    behind: ConsoleScreen,
    session: ServiceSession,
    subject: Any | None,
    action: ResourceAction[Any],
    body: bytes | None,
    shown: Any,
    *,
    key: str,
    refused: Callable[[RunwatchError], SafeText | None] | None = None,
    accepted: Callable[[], None] = lambda: None,
) -> WriteSender:
    """Build the sender of an action's write, with its dialog.

    Args:
        behind: The screen that shows the result.
        body: The exact bytes; ``None`` sends no body.
        shown: The body as a value, for the preview.
        refused: Called with the error of a rejected request; returns the next step for the problem, if any.
        accepted: Called once the request has succeeded.
    """
    mutation = action.mutation
    assert mutation is not None
    operation, record_id = OPERATIONS[mutation.operation], "" if subject is None else subject.id
    path = fill_path(operation, record_id)
    name = f" {short_id(record_id, owner.console.glyphs)}" if record_id else ""
    usual = DialogWords(f"{operation.title}{name}", mutation.sentence(subject), action.confirm_label)
    words = mutation.words_for(shown if isinstance(shown, Mapping) else {}) or usual
    title = action.step_title or words.title
    text = DialogText(
        title=line(f"{title} on {line(session.target.profile)}"),
        short_title=line(title.removesuffix(name)),
        sentence=line(words.sentence, None),
        request=request_text(mutation.operation, path),
        keep=line(mutation.cancel_label),
        confirm=line(words.confirm_label),
        profile=profile_label(session),
        key=line(key),
        body=None if body is None else render_request_body(shown),
        typed=make_typed_confirmation(session, record_id) if record_id else None,
        age=list_age(session, operation.record) if record_id else None,
        record_id=record_id,
        is_destructive=action.is_destructive,
        shows_secret=bool(mutation.one_time_member) or mutation.private_page is not None,
    )
    if record_id:
        shown_text = text
        text = replace(text, make_updated=lambda: replace(shown_text, age=list_age(session, operation.record)))

    callbacks = _make_callbacks(behind, session, mutation, subject, shown)

    def done(about: str, response: Any, is_watched: bool) -> None:
        accepted()
        callbacks.done(about, response, is_watched)

    return WriteSender(
        owner,
        session,
        text,
        [PendingWrite(record_id, WriteRequest(mutation.operation, path, body, key, action.label))],
        callbacks._replace(done=done, refused=refused, completed=partial(_completed_text, session, action)),
    )


def _make_callbacks(
    behind: ConsoleScreen, session: ServiceSession, mutation: Mutation[Any], subject: Any, body: Any
) -> WriteCallbacks:
    """Return what follows the success of a mutation."""
    return WriteCallbacks(
        partial(apply_response, behind, session, mutation),
        partial(describe_success, session, behind.console, mutation, subject),
        partial(_follow_up, behind, session, mutation, subject, body),
        mutation.one_time_member,
    )


def make_retry_callbacks(
    screen: ConsoleScreen, session: ServiceSession, request: WriteRequest
) -> tuple[str, WriteCallbacks] | None:
    """Return the id of the record of a write, all that is known of it, and what follows its successful retry.

    ``None`` if no action declares the operation.
    """
    from runwatch.view.resources.registry import mutation_for_operation

    mutation = mutation_for_operation(request.operation)
    if mutation is None:
        return None
    body = _loaded(request.body)
    record_id = next(iter(request.path.values()), "")
    subject = PageResult(record_id, None, {}, {"pending_key": body})
    return record_id, _make_callbacks(screen, session, mutation, subject, body)


async def _follow_up(
    behind: ConsoleScreen, session: ServiceSession, mutation: Mutation[Any], subject: Any, body: Any, response: Any
) -> None:
    """Open what follows a mutation: its next action, its private page, or the screen of what is new."""
    record, following = _next_action(session, mutation, response)
    if following is not None:
        perform_action(behind, record, following)
        return
    if mutation.private_page is not None:
        from runwatch.tui.flows.private_page import open_private_page

        open_private_page(behind, session, subject, mutation.private_page, response, body, perform_action)
        return
    if behind.SHOWS_OUTCOMES:
        return
    if mutation.leads_to is not None:
        # Awaited, because the notice of the outcome comes next, and is shown where this leads.
        await behind.console.go_to_view(_view_of(mutation.leads_to(subject)))
        return
    known = [] if subject is None else [subject.id, *subject.raw.values()]
    here = [behind.spec.record] if isinstance(behind, RecordScreen) else []
    for kind in (*here, *filter(is_listable, mutation.invalidates)):
        made = own_id(kind, response)
        if made and made not in known:
            if kind not in here:
                await behind.console.open_record(kind.KIND, made)
            return


def _next_action(
    session: ServiceSession, mutation: Mutation[Any], response: Any
) -> tuple[Record | None, ResourceAction[Any] | None]:
    """Return the record in a response, and the action that is offered next for it."""
    record = response_record(session, OPERATIONS[mutation.operation], response) if mutation.then is not None else None
    return record, None if record is None or mutation.then is None else mutation.then(record)


def _completed_text(session: ServiceSession, action: ResourceAction[Any], response: Any) -> str:
    """Say what is completed; empty for nothing to say of it, or a step after which the next cannot be taken."""
    mutation = action.mutation
    if mutation is not None and mutation.completed:
        return mutation.completed
    if not action.step or mutation is None or (mutation.then and not _next_action(session, mutation, response)[1]):
        return ""
    return f"{action.step.capitalize()} completed"


def _view_of(target: tuple[str, str]) -> ViewState:
    name, filter = target
    return ViewState(name, filter=filter)


def _loaded(body: bytes | None) -> dict[str, Any]:
    try:
        value = loads(body or b"")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


async def _show_dependents(session: ServiceSession, dialog: ConfirmDialog, subject: Any) -> None:
    """Show a record's dependents on a dialog, after reading lists not read yet."""
    wanted = find_dependent_kinds(subject)
    if not wanted:
        return
    dialog.show_facts((label_span("checking for dependents"),))
    known = {each: tuple(await load_records(session, each)) for each in wanted}
    unread = [each for each in wanted if not is_list_loaded(session, each)]
    found = find_dependents(subject, known)
    role = Role.WARN if found or unread else Role.QUIET
    dialog.show_facts((label_span(describe_dependents(found, [each.KIND for each in unread]), role),))
