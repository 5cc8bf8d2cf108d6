"""Doing what an action declares: a form where something is asked, then the sheet, then the outbox.

There is no other way from a specification to the service (:mod:`runwatch.view.mutation`): read-only profiles, lost
answers, refused fields and production profiles are handled here once for every action there is.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from runwatch.api.operations import OPERATIONS, Operation, has_list
from runwatch.api.private import without_secrets
from runwatch.base.errors import RunwatchError
from runwatch.base.json import dumps_body, loads
from runwatch.base.shell import runwatch_command
from runwatch.records.record import Record
from runwatch.store.change import ListRead, RecordRead
from runwatch.store.desk import Desk
from runwatch.store.outbox import Order as Write
from runwatch.store.reports import answer_kind
from runwatch.tui.draw import Piece, Pieces, pieces_of, word
from runwatch.tui.known import read_again
from runwatch.tui.screens.form import FormScreen
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.sending import (
    Item,
    Sending,
    came,
    id_member,
    no_next_step,
    profile_words,
    read_only_words,
    request_line,
    typed_end,
)
from runwatch.tui.widgets.sheet import Order
from runwatch.tui.work import start_work
from runwatch.view.body import body_block
from runwatch.view.drawn import Drawn, block, line
from runwatch.view.form import form_of, has_body
from runwatch.view.format import compact, short_id
from runwatch.view.glyphs import Role
from runwatch.view.mutation import Action, Entered, Mutation

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen

_NEW_LINE: Final = block("\n")


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


def make(screen: ConsoleScreen, action: Action[Any], *, values: Mapping[str, str] | None = None) -> None:
    """Do what is done without a record, such as making one."""
    do_action(screen, None, action, values=values)


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


def sending(
    owner: ConsoleScreen,
    behind: ConsoleScreen,
    desk: Desk,
    subject: Any | None,
    action: Action[Any],
    body: bytes | None,
    shown: Any,
    *,
    key: str,
    refused: Callable[[RunwatchError], Drawn | None] = no_next_step,
) -> Sending:
    """The sheet of an action and the write behind it.

    Args:
        owner: The screen that opens the sheet.
        behind: The screen that shows what came of it.
        desk: Where it goes.
        subject: The record; ``None`` for none.
        action: What is done.
        body: The exact bytes; ``None`` sends no body.
        shown: The same as a value, for the preview.
        key: The idempotency key.
        refused: Called when it was refused; what it answers is the next step that the problem names.
    """
    mutation = action.mutation
    assert mutation is not None
    facts, path = OPERATIONS[mutation.operation], dict(mutation.path(subject))
    record_id = "" if subject is None else subject.id
    name = f" {short_id(record_id, owner.console.glyphs)}" if record_id else ""
    order = Order(
        title=line(f"{facts.title}{name} on {line(desk.target.profile)}"),
        sentence=line(mutation.sentence(subject), None),
        request=request_line(mutation.operation, path),
        keep=line(mutation.keep),
        confirm=line(mutation.confirm),
        profile=profile_words(desk),
        key=line(key),
        body=None if body is None else body_block(shown),
        typed=typed_end(desk, record_id) if record_id else None,
        age=_age(desk, facts.record) if record_id else None,
        off=read_only_words(desk),
    )

    def after(answer: Any) -> None:
        if mutation.entry is not None:
            from runwatch.tui.private_pages import open_page

            open_page(behind, desk, subject, mutation.entry, answer, shown)

    async def told(answer: Any) -> Pieces:
        return await tell(desk, mutation, subject, answer)

    return Sending(
        owner,
        desk,
        order,
        [Item(record_id, Write(mutation.operation, path, body, key, action.label))],
        lambda _, answer: take(behind, desk, mutation, answer, about=record_id),
        told=told,
        refused=refused,
        after=after,
    )


async def tell(desk: Desk, mutation: Mutation[Any], subject: Any, answer: Any) -> Pieces:
    """What the sheet says of a good answer: id and status, what the action tells of it, and whether it took effect."""
    said: list[Piece] = [*pieces_of(came(answer, id_member(OPERATIONS[mutation.operation])))]
    for label, text in mutation.told(answer):
        said += [(_NEW_LINE, Role.PLAIN), word(f"{label}   "), (line(text, None), Role.PLAIN)]
    if mutation.proof is not None:
        try:
            state = await read_state(desk, mutation.proof.operation, mutation.proof.path(subject))
        except RunwatchError as error:
            said += [(_NEW_LINE, Role.PLAIN), word(f"whether it took effect could not be read: {error}", Role.WARN)]
        else:
            is_good, words = mutation.proof.words(subject, state)
            said += [(_NEW_LINE, Role.PLAIN), word(words, Role.GOOD if is_good else Role.WARN)]
    return tuple(said)


def asked_again(
    screen: ConsoleScreen, desk: Desk, kept: Write
) -> tuple[Callable[[Any], Awaitable[Pieces]], Callable[[Any], None], Callable[[Any], None]] | None:
    """What is told, taken and done after the good answer to a write that is asked for again.

    The record that it was about is known by its id alone. ``None`` where no action declares the operation.

    Args:
        screen: The screen that shows what came of it.
        desk: Where it goes.
        kept: What was sent.
    """
    from runwatch.view.registry import mutation_of

    mutation = mutation_of(kept.operation)
    if mutation is None:
        return None
    body = _loaded(kept.body)
    record_id = next(iter(kept.path.values()), "")
    subject = Entered(record_id, None, {}, {"pending_key": body})

    async def told(answer: Any) -> Pieces:
        return await tell(desk, mutation, subject, answer)

    def after(answer: Any) -> None:
        if mutation.entry is not None:
            from runwatch.tui.private_pages import open_page

            open_page(screen, desk, subject, mutation.entry, answer, body)

    return told, lambda answer: take(screen, desk, mutation, answer, about=record_id), after


def _loaded(body: bytes | None) -> dict[str, Any]:
    try:
        value = loads(body or b"")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


async def read_state(desk: Desk, operation: str, path: Mapping[str, str]) -> dict[str, Any]:
    """Read one object for a person.

    Raises:
        RunwatchError: it cannot be read, or is no object.
    """
    await desk.live.scheduler.turn_of_a_person()
    answer = await desk.client.request(operation, path=dict(path))
    if not isinstance(answer.value, dict):
        raise RunwatchError("The answer is no record", detail=f"{OPERATIONS[operation].title} answered no object")
    return answer.value


def take(behind: ConsoleScreen, desk: Desk, mutation: Mutation[Any], answer: Any, *, about: str) -> None:
    """Have the store know what came, read the lists that it changes, and go to what was made.

    Args:
        behind: The screen that shows what came of it.
        desk: Where it was sent.
        mutation: What was sent.
        answer: The decoded answer.
        about: The id of the record that it was done with; empty where one was made, to which the cursor goes.
    """
    facts = OPERATIONS[mutation.operation]
    value = without_secrets(facts, answer)
    record = _record(desk, facts, value)
    if record is not None:
        now, monotonic = desk.clock.now(), desk.clock.monotonic()
        desk.store.apply(RecordRead(desk.scope.profile, record.KIND, now, monotonic, record))
    elif about and facts.record is not None and isinstance(value, dict) and not has_list(facts.record):
        # What no list ever tells, such as what a test found, is kept for the screen of that record.
        now, monotonic = desk.clock.now(), desk.clock.monotonic()
        kind, told = answer_kind(facts.record, about), (facts.record(value),)
        desk.store.apply(ListRead(desk.scope.profile, kind, now, monotonic, told, complete=True, end_is_proven=True))
    # A replayed answer may be old, so that the lists are read again.
    changed = {*mutation.reads, *behind.lists(), *(kind for kind in (facts.record,) if kind is not None)}
    read_again(behind, desk, [kind for kind in changed if has_list(kind)])
    behind.answered(mutation.operation, value)
    if not about and isinstance(behind, ResourceScreen) and isinstance(value, dict):
        wire = behind.spec.record.WIRE
        made = None if wire is None else value.get(wire.id)
        if isinstance(made, str) and made:
            behind.want(made)


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


def _record(desk: Desk, facts: Operation, value: Any) -> Record | None:
    """The record that an answer is, over what is known of it: an answer may tell of it in part."""
    kind = facts.record
    if kind is None or facts.lists or not has_list(kind) or not isinstance(value, dict):
        return None
    record = kind(value)
    known = desk.store.get(desk.scope.profile, kind.KIND, record.id) if record.id else None
    return kind({**known.record.raw, **value}) if known is not None else record if record.id else None


def _age(desk: Desk, kind: type[Record] | None) -> Drawn | None:
    """How old the list is that this is decided on."""
    read_at = None if kind is None else desk.store.collection(desk.scope.profile, kind.KIND).read_at
    return None if read_at is None else line(f"data is {compact(max(0.0, desk.clock.monotonic() - read_at))} old")
