"""The sheet of an action, and what comes of its answer: what is told, what is read again, and where the cursor goes.

Lost answers, refused fields and production profiles are handled here once for every action there is
(:mod:`runwatch.view.mutation`); :mod:`runwatch.tui.screens.action_form` opens the form and the sheet.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from runwatch.api.operations import OPERATIONS, Operation, has_list
from runwatch.api.private import without_secrets
from runwatch.base.errors import RunwatchError
from runwatch.base.json import loads
from runwatch.records.record import Record
from runwatch.store.change import ListRead, RecordRead
from runwatch.store.desk import Desk
from runwatch.store.outbox import Order as Write
from runwatch.store.reports import answer_kind
from runwatch.tui.draw import Piece, Pieces, pieces_of, word
from runwatch.tui.known import read_again, read_state
from runwatch.tui.screens.base import RecordScreen
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
from runwatch.view.body import body_block
from runwatch.view.drawn import Drawn, block, line
from runwatch.view.format import compact, short_id
from runwatch.view.glyphs import Role
from runwatch.view.mutation import Action, Entered, Mutation

if TYPE_CHECKING:
    from runwatch.tui.screens.base import ConsoleScreen

_NEW_LINE: Final = block("\n")


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
    if not about and isinstance(behind, RecordScreen) and isinstance(value, dict):
        wire = behind.spec.record.WIRE
        made = None if wire is None else value.get(wire.id)
        if isinstance(made, str) and made:
            behind.want(made)


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
