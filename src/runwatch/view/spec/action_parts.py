"""Parts of resource actions as pure data: form fields, reads around a write, and results of private pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from runwatch.records.record import Record

FieldKind = Literal["text", "lines", "number", "list", "choice", "switch", "json", "span"]
"""How typed text becomes a JSON value: a list is separated by commas or spaces, a switch is ``yes`` or ``no``, a span
is a duration such as ``30d`` and becomes whole seconds.

``lines`` is multi-line text and is sent exactly as typed; for all other kinds surrounding blanks are removed.
"""


def _own_name(record: Record) -> str:
    name = record.raw.get("display_name")
    return name if isinstance(name, str) else ""


def _no_caution(_: str) -> str:
    return ""


def _no_words(_: Any) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Suggestions:
    """Records whose ids or other words are offered as input for a field; their list is read if it is not known.

    The display name of a record, empty for none, is shown once its word is chosen.
    """

    kind: type[Record]
    value: Callable[[Any], str | None] = lambda record: record.id
    name: Callable[[Any], str] = _own_name


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FieldOption:
    """The command option or argument that sets a field.

    Attributes:
        name: With dashes for an option (``--url``), without for the placeholder of an argument (``NAME``).
        metavar: Placeholder of the value; empty for a switch.
        negative: The switch that means ``no``, and its help; empty if only ``yes`` can be given.
        is_required: Whether the command needs it; ``None`` if the form decides, see :attr:`FormField.is_required`.
        uses_start: Whether to use the form's initial value if the option is left out and the enclosing object is sent.
        is_whole: Whether a number must be a whole number, 0 or more.
        is_open: Whether the service may accept words other than :attr:`FormField.choices`.
    """

    name: str
    metavar: str = ""
    help: str
    negative: tuple[str, str] = ("", "")
    is_required: bool | None = None
    uses_start: bool = False
    is_whole: bool = False
    is_open: bool = False

    @property
    def is_argument(self) -> bool:
        """Whether it is positional."""
        return not self.name.startswith("-")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FormField:
    """One field of a body: an input of the form and an option of the command.

    Attributes:
        path: Member of the body, with dots between names; empty for a field that only the form needs.
        hint: Accepted values and their bounds.
        id: Name in the form; by default the path with dashes.
        kind: How the typed text becomes a value.
        start: Initial text, from the record if there is one.
        choices: Possible words. Others are refused if ``kind`` is ``choice``, accepted otherwise.
        offer: Records whose words are offered too.
        follows: Id of the field on which the possible words depend; empty for none.
        words_for: The words that a value of that field leaves; empty if it leaves them open.
        is_required: Whether it must be filled in. An empty optional field is left out of the body; an empty required
            field is sent, so validation names it.
        max_s: Maximum duration, in seconds.
        caution: What will become of a text that is accepted all the same; empty for nothing to be cautious about.
        option: The command option; ``None`` if only the form asks for it.
    """

    path: str
    label: str
    hint: str
    id: str = ""
    kind: FieldKind = "text"
    start: Callable[[Any], str] = lambda _: ""
    choices: tuple[str, ...] = ()
    offer: Suggestions | None = None
    follows: str = ""
    words_for: Callable[[str], tuple[str, ...]] = _no_words
    is_required: bool = False
    max_s: int = 0
    caution: Callable[[str], str] = _no_caution
    option: FieldOption | None = None

    @property
    def is_needed(self) -> bool:
        if self.option is None:
            return False
        by_form = self.is_required and not self.option.uses_start
        return by_form if self.option.is_required is None else self.option.is_required

    def __post_init__(self) -> None:
        """Derive the id from the path if none is given."""
        object.__setattr__(self, "id", self.id or self.path.replace(".", "-"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Prerequisite:
    """A read that must succeed before the form or dialog opens.

    The subject of everything else is then a :class:`PageResult` with the record and what was read.

    Attributes:
        operation: Operation id of the read, by the record's id.
        lacks: Returns why the action is impossible with what was read; empty if it is possible.
    """

    operation: str
    lacks: Callable[[Mapping[str, Any]], str] = lambda _: ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EffectCheck:
    """A read after a write whose response does not show whether it took effect.

    Attributes:
        operation: Operation id of the read, by the subject's id.
        words: Returns, from the subject and what was read, whether the write took effect, and a text that says so.
    """

    operation: str
    words: Callable[[Any, Mapping[str, Any]], tuple[bool, str]]


@dataclass(frozen=True, slots=True)
class DialogWords:
    """Title, sentence and button of a dialog whose request means something else with a certain body."""

    title: str
    sentence: str
    confirm_label: str


PageStage = Literal["waiting", "entered", "ended"]


@dataclass(frozen=True, slots=True)
class PageProgress:
    """Progress of the entry on a private page: it waits for the user, was entered, or ended without an entry."""

    stage: PageStage
    words: str


@dataclass(frozen=True, slots=True)
class PageResult:
    """The subject of the step after a private page, and of an action with a prerequisite.

    Attributes:
        id: Id of the record; empty if there is none yet.
        subject: The record; ``None`` if there is none yet.
        response: The response that named the page, without the address; empty after a prerequisite.
        state: The last state that the service reported, or what the prerequisite read.
    """

    id: str
    subject: Any
    response: Mapping[str, Any]
    state: Mapping[str, Any]

    @property
    def raw(self) -> Mapping[str, Any]:
        return self.state


@dataclass(frozen=True, slots=True)
class IntentNote:
    """A local note about an intent started here: the kind of record that will result, and facts, never the address."""

    kind: str
    id: str
    facts: Mapping[str, Any]
