"""The dialog of a resource action, and the effects of its response: text, reloaded lists and the new selection.

Unknown outcomes, rejected fields and production profiles are handled here for all actions
(:mod:`runwatch.view.spec.action`); :mod:`runwatch.tui.screens.action_form` opens form and dialog.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from runwatch.api.operations import OPERATIONS, Operation, fill_path, is_listable
from runwatch.api.secrets import strip_secrets
from runwatch.base.errors import RunwatchError
from runwatch.base.json import loads
from runwatch.records.record import Record
from runwatch.store.live.report_poller import name_response_collection
from runwatch.store.repositories.outbox import WriteRequest
from runwatch.store.session import ServiceSession
from runwatch.store.state.changes import ListRead
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.flows.write_sender import (
    PendingWrite,
    WriteSender,
    describe_created_record,
    find_id_member,
    list_age,
    make_typed_confirmation,
    profile_label,
    request_text,
)
from runwatch.tui.shell.console_screen import RecordScreen
from runwatch.tui.sources.record_loader import is_list_loaded, load_records, read_object, reload_lists, store_record
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog, DialogText
from runwatch.view.actions.dependents import describe_dependents, find_dependent_kinds, find_dependents
from runwatch.view.actions.request_preview import render_request_body
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.action_parts import DialogWords, PageResult
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, block, line

if TYPE_CHECKING:
    from runwatch.tui.shell.console_screen import ConsoleScreen

_NEW_LINE: Final = block("\n")


def build_action_dialog(
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
) -> WriteSender:
    """Build the dialog of an action and the write it sends.

    Args:
        behind: The screen that shows the result.
        body: The exact bytes; ``None`` sends no body.
        shown: The body as a value, for the preview.
        refused: Called with the error of a rejected request; returns the next step for the problem, if any.
    """
    mutation = action.mutation
    assert mutation is not None
    facts, record_id = OPERATIONS[mutation.operation], "" if subject is None else subject.id
    path = fill_path(facts, record_id)
    name = f" {short_id(record_id, owner.console.glyphs)}" if record_id else ""
    usual = DialogWords(f"{facts.title}{name}", mutation.sentence(subject), action.confirm_label)
    words = mutation.words_for(shown) or usual
    text = DialogText(
        title=line(f"{words.title} on {line(session.target.profile)}"),
        sentence=line(words.sentence, None),
        request=request_text(mutation.operation, path),
        keep=line(mutation.cancel_label),
        confirm=line(words.confirm_label),
        profile=profile_label(session),
        key=line(key),
        body=None if body is None else render_request_body(shown),
        typed=make_typed_confirmation(session, record_id) if record_id else None,
        age=list_age(session, facts.record) if record_id else None,
        record_id=record_id,
        shows_secret=bool(mutation.one_time_member),
    )
    if record_id:
        shown_text = text
        text = replace(text, now=lambda: replace(shown_text, age=list_age(session, facts.record)))

    return WriteSender(
        owner,
        session,
        text,
        [PendingWrite(record_id, WriteRequest(mutation.operation, path, body, key, action.label))],
        lambda _, answer: apply_response(behind, session, mutation, answer, about=record_id),
        describe=partial(describe_success, session, mutation, subject),
        refused=refused,
        after=partial(_follow_up, behind, session, mutation, subject, shown),
    )


async def describe_success(session: ServiceSession, mutation: Mutation[Any], subject: Any, answer: Any) -> StyledSpans:
    """Describe a successful response: id, status, the action's summary, and whether it took effect."""
    said: list[StyledSpan] = [
        *to_spans(describe_created_record(answer, find_id_member(OPERATIONS[mutation.operation])))
    ]
    for label, text in mutation.summarize(answer):
        said += [(_NEW_LINE, Role.PLAIN), label_span(f"{label}   "), (line(text, None), Role.PLAIN)]
    if mutation.effect_check is not None:
        try:
            state = await read_object(session, mutation.effect_check.operation, subject.id)
        except RunwatchError as error:
            said += [
                (_NEW_LINE, Role.PLAIN),
                label_span(f"whether it took effect could not be read: {error}", Role.WARN),
            ]
        else:
            is_good, words = mutation.effect_check.words(subject, state)
            said += [(_NEW_LINE, Role.PLAIN), label_span(words, Role.GOOD if is_good else Role.WARN)]
    return tuple(said)


def make_retry_callbacks(
    screen: ConsoleScreen, session: ServiceSession, kept: WriteRequest
) -> tuple[Callable[[Any], Awaitable[StyledSpans]], Callable[[Any], None], Callable[[Any], Awaitable[None]]] | None:
    """Return the callbacks for the successful retry of a write: text, effects, and what follows the dialog.

    Only the id of its record is known. ``None`` if no action declares the operation.
    """
    from runwatch.view.resources.registry import mutation_for_operation

    mutation = mutation_for_operation(kept.operation)
    if mutation is None:
        return None
    body = _loaded(kept.body)
    record_id = next(iter(kept.path.values()), "")
    subject = PageResult(record_id, None, {}, {"pending_key": body})

    return (
        partial(describe_success, session, mutation, subject),
        partial(apply_response, screen, session, mutation, about=record_id),
        partial(_follow_up, screen, session, mutation, subject, body),
    )


async def _follow_up(
    behind: ConsoleScreen, session: ServiceSession, mutation: Mutation[Any], subject: Any, body: Any, answer: Any
) -> None:
    """Open what follows a mutation: its next action, its private page, or the new record if another screen lists it."""
    record = _record(session, OPERATIONS[mutation.operation], answer) if mutation.then is not None else None
    following = None if record is None or mutation.then is None else mutation.then(record)
    if following is not None:
        behind.console.perform(behind, record, following)
        return
    if mutation.private_page is not None:
        from runwatch.tui.flows.private_page import open_private_page

        open_private_page(behind, session, subject, mutation.private_page, answer, body)
        return
    if behind.SHOWS_OUTCOMES:
        return
    known = [] if subject is None else [subject.id, *subject.raw.values()]
    here = [behind.spec.record] if isinstance(behind, RecordScreen) else []
    for kind in (*here, *filter(is_listable, mutation.invalidates)):
        made = _own_id(kind, answer)
        if made and made not in known:
            if kind not in here:
                await behind.console.open_record(kind.KIND, made)
            return


def _own_id(kind: type[Record], answer: Any) -> str:
    """Return the id of a record of this kind that a response names, or an empty text."""
    name = "" if kind.WIRE is None else kind.WIRE.id
    found = answer.get(name) if name and isinstance(answer, dict) else None
    return found if isinstance(found, str) else ""


def _loaded(body: bytes | None) -> dict[str, Any]:
    try:
        value = loads(body or b"")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def apply_response(
    behind: ConsoleScreen, session: ServiceSession, mutation: Mutation[Any], answer: Any, *, about: str
) -> None:
    """Store the response, reload the lists it changes, and select a new record.

    Args:
        behind: The screen that shows the result.
        about: The id of the changed record; empty for a new one, which is then selected.
    """
    facts = OPERATIONS[mutation.operation]
    value = strip_secrets(facts, answer)
    record = _record(session, facts, value)
    if record is not None:
        store_record(session, record)
    elif about and facts.record is not None and isinstance(value, dict) and not is_listable(facts.record):
        # Responses that no list contains, such as test results, are kept for the record's screen.
        now, monotonic = session.clock.now(), session.clock.monotonic()
        kind, records = name_response_collection(facts.record, about), (facts.record(value),)
        session.store.apply(
            ListRead(session.scope.profile, kind, now, monotonic, records, complete=True, end_is_proven=True)
        )
    # A replayed response may be old, so reload the lists.
    changed = {*mutation.invalidates, *behind.polled_lists(), *(kind for kind in (facts.record,) if kind is not None)}
    reload_lists(behind, session, [kind for kind in changed if is_listable(kind)])
    behind.after_write_succeeded(mutation.operation, value)
    if not about and isinstance(behind, RecordScreen):
        made = _own_id(behind.spec.record, value)
        if made:
            behind.select_record(made, opened=True)


def _record(session: ServiceSession, facts: Operation, value: Any) -> Record | None:
    """Return the record of a response, merged into the known one, because a response may be partial."""
    kind = facts.record
    if kind is None or facts.lists or not is_listable(kind) or not isinstance(value, dict):
        return None
    record = kind(value)
    known = session.store.get(session.scope.profile, kind.KIND, record.id) if record.id else None
    return kind({**known.record.raw, **value}) if known is not None else record if record.id else None


async def show_dependents(session: ServiceSession, dialog: ConfirmDialog, subject: Any) -> None:
    """Show a record's dependents on a dialog, after reading lists not read yet."""
    wanted = find_dependent_kinds(subject)
    if not wanted:
        return
    dialog.note((label_span("checking for dependents"),))
    known = {each: tuple(await load_records(session, each)) for each in wanted}
    unread = [each for each in wanted if not is_list_loaded(session, each)]
    found = find_dependents(subject, known)
    role = Role.WARN if found or unread else Role.QUIET
    dialog.note((label_span(describe_dependents(found, [each.KIND for each in unread]), role),))
