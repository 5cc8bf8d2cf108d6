"""Resource actions as pure data: the action, the mutation it sends, the form fields and the private page.

The console opens a form if there are fields, then the dialog; a command takes the same fields as options. Bodies are
validated by :mod:`runwatch.records.requests`, which the service uses too. :mod:`runwatch.view.actions.form` interprets
this data for forms, :mod:`runwatch.commands.resource_writes` for commands, and
:mod:`runwatch.view.actions.private_page` for private pages. One module, because the parts refer to each other: an
action to its mutation, a mutation to its page, and a page to the next action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from runwatch.records.record import Record

S = TypeVar("S")
A = TypeVar("A")
"""The subject of an action, or ``None`` if it needs none."""

FieldKind = Literal["text", "lines", "number", "list", "choice", "switch", "json", "span"]
"""How typed text becomes a JSON value: a list is separated by commas or spaces, a switch is ``yes`` or ``no``, a span
is a duration such as ``30d`` and becomes whole seconds.

``lines`` is multi-line text and is sent exactly as typed; for all other kinds surrounding blanks are removed.
"""


def _nothing(_: object) -> str:
    return ""


def _own_id(record: Record) -> str | None:
    return record.id


def _own_name(record: Record) -> str:
    name = record.raw.get("display_name")
    return name if isinstance(name, str) else ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Suggestions:
    """Records whose ids or other words are offered as input for a field.

    Attributes:
        kind: The records to offer; their list is read if it is not known.
        value: The word that a record offers; ``None`` if it offers none.
        name: Display name of the record, shown once its word is chosen; empty for nothing.
    """

    kind: type[Record]
    value: Callable[[Any], str | None] = _own_id
    name: Callable[[Any], str] = _own_name


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FieldOption:
    """The command option or argument that sets a field.

    Attributes:
        name: With dashes for an option (``--url``), without for the placeholder of an argument (``NAME``).
        metavar: Placeholder of the value; empty for a switch.
        negative: The switch that means ``no``, and its help; empty if only ``yes`` can be given.
        names: The ``KIND`` of the record that the value names, for shell completion; empty for anything else.
        is_required: Whether the command needs it; ``None`` if the form decides, see :attr:`FormField.is_required`.
        uses_start: Whether to use the form's initial value if the option is left out and the enclosing object is sent.
        is_whole: Whether a number must be a whole number, 0 or more.
        is_open: Whether the service may accept words other than :attr:`FormField.choices`.
    """

    name: str
    metavar: str = ""
    help: str
    negative: tuple[str, str] = ("", "")
    names: str = ""
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
        is_required: Whether it must be filled in. An empty optional field is left out of the body; an empty required
            field is sent, so validation names it.
        max_s: Maximum duration, in seconds.
        option: The command option; ``None`` if only the form asks for it.
    """

    path: str
    label: str
    hint: str
    id: str = ""
    kind: FieldKind = "text"
    start: Callable[[Any], str] = _nothing
    choices: tuple[str, ...] = ()
    offer: Suggestions | None = None
    is_required: bool = False
    max_s: int = 0
    option: FieldOption | None = None

    @property
    def is_needed(self) -> bool:
        """Whether the command requires it."""
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
        lacks: Why the action is impossible with what was read; empty if it is possible.
    """

    operation: str
    lacks: Callable[[Mapping[str, Any]], str] = _nothing


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EffectCheck:
    """A read after the write, for writes whose response does not show whether they took effect.

    Attributes:
        operation: Operation id of the read, by the subject's id.
        words: From the subject and what was read: whether the write took effect, and a text that says so.
    """

    operation: str
    words: Callable[[Any, Mapping[str, Any]], tuple[bool, str]]


@dataclass(frozen=True, slots=True)
class DialogWords:
    """Title, sentence and button of a dialog whose request means something else with a certain body."""

    title: str
    sentence: str
    confirm_label: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Mutation(Generic[S]):
    """One write request, declared as data. The subject is ``None`` if the action needs no record.

    The only parameter that the path of an operation may have is the subject's id.

    Attributes:
        sentence: What will happen and what will not.
        confirm_label: Label of the button that sends the request; by default the action's, or that it asks for a page.
        cancel_label: Label of the button that does not.
        words_for: Other words of the dialog, from the body; ``None`` for the usual ones.
        fields: Fields of the form; without any, the dialog opens at once.
        command_fields: Fields that only the command takes.
        members: Members of the body that are not typed. Without these and ``fields`` no body is sent.
        changes_only: Whether to send only members that differ from their initial values.
        transform: Restructures the body if what is typed and what is sent differ in more than position.
        request: Validates the body: ``module.Class`` below :mod:`runwatch.records.requests`; empty for no validation.
        invalidates: Kinds whose lists are read again afterwards.
        summarize: Lines (label, text) that the dialog shows for a successful response besides id and status. Both are
            cleaned when rendered.
        one_time_member: Member of a successful response that holds a secret, shown only this once and copied from the
            dialog; empty for none.
        copy_note: What the command prints after that secret.
        no_copy_note: What the command prints if the response holds no such secret.
        done: Outcome word for a command that acts on several records: ``disabled``.
        prerequisite: A read needed first, if the record is not enough.
        effect_check: A read needed afterwards, if the response is not enough.
        private_page: What the user does next on a private page, if the response names one.
        then: The action that is offered next, from the changed record; ``None`` for none.
    """

    operation: str
    sentence: Callable[[S], str]
    confirm_label: str = ""
    cancel_label: str = "Leave it as it is"
    words_for: Callable[[Any], DialogWords | None] = lambda _: None
    fields: tuple[FormField, ...] = ()
    command_fields: tuple[FormField, ...] = ()
    members: Callable[[S], Mapping[str, Any]] | None = None
    changes_only: bool = False
    transform: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    request: str = ""
    invalidates: tuple[type[Record], ...] = ()
    summarize: Callable[[Any], Sequence[tuple[str, str]]] = lambda _: ()
    one_time_member: str = ""
    copy_note: str = ""
    no_copy_note: str = ""
    done: str = ""
    prerequisite: Prerequisite | None = None
    effect_check: EffectCheck | None = None
    private_page: PrivatePageSpec[Any] | None = None
    then: Callable[[Any], ResourceAction[Any] | None] | None = None

    @property
    def option_fields(self) -> tuple[FormField, ...]:
        return tuple(ask for ask in (*self.command_fields, *self.fields) if ask.option is not None)

    @property
    def fixed_options(self) -> Iterator[str]:
        """The options that tell a creation from others with the same command, such as ``--kind agent``."""
        nothing: Any = None
        members: Mapping[str, Any] = {} if self.members is None else self.members(nothing)
        for asked in self.command_fields:
            if asked.option is not None and asked.path in members:
                yield from (asked.option.name, str(members[asked.path]))


@dataclass(frozen=True, eq=False, repr=False)
class ResourceAction(Generic[A]):
    """Something that can be done with a record, or without one if listed in ``create_actions``.

    Attributes:
        id: Name in key maps.
        label: Imperative label.
        command: The equivalent command; empty if only the console can do it.
        operation: Operation id; empty if no request is needed or the mutation names it.
        is_destructive: Whether a confirmation dialog opens first.
        enabled_when: Whether the record's state allows it.
        off_because: Shown if it does not.
        mutation: What it sends; ``None`` if a separate screen or command handles it.
        summary: One line of command help; the label by default.
        notes: An additional paragraph of command help.
    """

    id: str
    label: str
    command: str
    operation: str = ""
    is_destructive: bool = False
    enabled_when: Callable[[A], bool] = lambda _: True
    off_because: str = ""
    mutation: Mutation[A] | None = None
    summary: str = ""
    notes: str = ""

    @property
    def calls(self) -> str:
        """The operation id; empty if no request is needed."""
        return self.operation if self.mutation is None else self.mutation.operation

    @property
    def confirm_label(self) -> str:
        """Label of the button that sends the request."""
        if self.mutation is None:
            return self.label
        by_default = self.label if self.mutation.private_page is None else "Ask for the page"
        return self.mutation.confirm_label or by_default


PageStage = Literal["waiting", "entered", "ended"]


@dataclass(frozen=True, slots=True)
class PageProgress:
    """Progress of the entry on a private page.

    Attributes:
        stage: ``waiting`` for the user, ``entered``, or ``ended`` without an entry.
    """

    stage: PageStage
    words: str


@dataclass(frozen=True, slots=True)
class PageResult:
    """The subject of the step after a private page.

    Attributes:
        id: Id of the record that the page was for; empty if there is none yet.
        answer: The response that named the page, without the address.
        state: The last state that the service reported.
    """

    id: str
    subject: Any
    answer: Mapping[str, Any]
    state: Mapping[str, Any]

    @property
    def raw(self) -> Mapping[str, Any]:
        return self.state


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivatePageSpec(Generic[S]):
    """What happens on a private page, and how its progress is read.

    Attributes:
        what: What the user does there: "enter the key of the output check".
        read: Operation id that reads the progress; empty if none does.
        read_id: The id in the path of that operation, from the record and the response that named the page.
        progress: Progress, from the first and the last state read.
        then: Action offered once the entry is made; its subject is a :class:`PageResult`.
        then_for: Returns another action with the same label, if one fits the result better than ``then``.
        keeps: Note to keep on this machine until the entry is made, from the request and the response without its
            address; ``None`` keeps nothing.
    """

    what: str
    read: str = ""
    read_id: Callable[[Any, Mapping[str, Any]], str] = lambda subject, _: subject.id
    progress: Callable[[Mapping[str, Any], Mapping[str, Any]], PageProgress] = lambda _, __: PageProgress("waiting", "")
    then: ResourceAction[PageResult] | None = None
    then_for: Callable[[PageResult], ResourceAction[PageResult] | None] = lambda _: None
    keeps: Callable[[Mapping[str, Any], Mapping[str, Any]], IntentNote] | None = None

    def next_for(self, result: PageResult) -> ResourceAction[PageResult] | None:
        """Return the action that follows a result, if there is one."""
        return self.then_for(result) or self.then


@dataclass(frozen=True, slots=True)
class IntentNote:
    """A local note about an intent started here.

    Attributes:
        kind: Kind of record that will result.
        id: Id of the intent.
        facts: Known facts; never the address.
    """

    kind: str
    id: str
    facts: Mapping[str, Any]
