"""What an action sends to the service, as pure data: what is asked in a form, the body it makes, and how it is worded.

The console opens a form where something is asked, then the sheet; the rules that a body has to keep are those of
:mod:`runwatch.records.requests`, which the service checks too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from runwatch.records.record import Record

S = TypeVar("S")

AskKind = Literal["text", "number", "list", "choice", "switch", "json"]
"""How what is typed becomes a JSON value; a list is separated by commas or spaces, a switch is ``yes`` or ``no``."""


def _nothing(_: object) -> str:
    return ""


def _no_members(_: object) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ask:
    """One thing that a form asks.

    Attributes:
        path: The member of the body that it becomes, with dots between names.
        label: What stands before it.
        hint: What it takes, with its bounds.
        kind: How the typed text becomes a value.
        start: What stands there at first, from the record where there is one.
        choices: The words that can be chosen; others are refused where ``kind`` is ``choice``, offered otherwise.
        is_required: Whether it may be left empty; an empty one that may be is left out of the body.
    """

    path: str
    label: str
    hint: str
    kind: AskKind = "text"
    start: Callable[[Any], str] = _nothing
    choices: tuple[str, ...] = ()
    is_required: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Mutation(Generic[S]):
    """One write.

    Attributes:
        operation: The operation's id.
        sentence: What will happen, and what will not.
        confirm: The label of the button that does it, in words of the thing itself.
        keep: The label of the harmless button.
        path: The parameters of the path.
        asks: What the form asks; without any the sheet opens at once.
        members: Members of the body that nobody types; with neither these nor ``asks`` no body is sent.
        request: The class of :mod:`runwatch.records.requests` that checks the body, by its name; empty checks nothing.
        reads: Kinds whose lists it changes, which are read again.
        told: What the sheet says of a good answer, line by line; label and text, both cleaned where they are drawn.
    """

    operation: str
    sentence: Callable[[S], str]
    confirm: str
    keep: str = "Leave it as it is"
    path: Callable[[S], Mapping[str, str]] = _no_members
    asks: tuple[Ask, ...] = ()
    members: Callable[[S], Mapping[str, Any]] | None = None
    request: str = ""
    reads: tuple[type[Record], ...] = ()
    told: Callable[[Any], Sequence[tuple[str, str]]] = lambda _: ()
