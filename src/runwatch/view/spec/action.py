"""What can be done with a record, as pure data: the action, what it sends, what a form asks, and the private page.

The console opens a form where something is asked, then the dialog; a command takes the same fields as options. The
rules that a body has to keep are those of :mod:`runwatch.records.requests`, which the service checks too. What the data
mean for a form is worked out in :mod:`runwatch.view.actions.form`, for a command in
:mod:`runwatch.commands.resource_writes`, and the rules of private pages are in
:mod:`runwatch.view.actions.private_page`. All of it is in one module because each part names the next: an action its
mutation, that its page, and the page the action that comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from runwatch.records.record import Record

S = TypeVar("S")
A = TypeVar("A")
"""What an action is about: a subject, or ``None`` where it needs none."""

FieldKind = Literal["text", "lines", "number", "list", "choice", "switch", "json", "span"]
"""How what is typed becomes a JSON value; a list is separated by commas or spaces, a switch is ``yes`` or ``no``,
a span is a length of time such as ``30d`` and becomes whole seconds.

``lines`` is a text of several lines, which is sent exactly as it stands there; blanks around any other are left out.
"""


def _nothing(_: object) -> str:
    return ""


def _no_members(_: object) -> Mapping[str, Any]:
    return {}


def _own_id(record: Record) -> str | None:
    return record.id


def _own_name(record: Record) -> str:
    name = record.raw.get("display_name")
    return name if isinstance(name, str) else ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Suggestions:
    """Records whose ids, or other words, are offered where something is typed.

    Attributes:
        kind: Which records; their list is read when it is not known.
        value: The word that one of them offers; ``None`` where it offers none.
        name: What people call the record, told once its word is chosen; empty for nothing.
    """

    kind: type[Record]
    value: Callable[[Any], str | None] = _own_id
    name: Callable[[Any], str] = _own_name


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FieldOption:
    """The option, or the argument, of a command that gives a field its value.

    Attributes:
        name: Its name with dashes, or without them as the placeholder of an argument: ``--url``, ``NAME``.
        metavar: The placeholder of its value; empty for a switch.
        help: One line for the help text.
        negative: The switch that says ``no``, and its help; empty where only ``yes`` can be said.
        names: The ``KIND`` of the record that its value names, so that a shell can offer it; empty for anything else.
        is_required: Whether the command needs it; ``None`` where the form decides, see :attr:`FormField.is_required`.
        uses_start: Whether the command takes what stands in the form at first where the option is left out and the
            object around the member is sent.
        is_whole: Whether a number has to be a whole one, 0 or more.
        is_open: Whether the service may know other words than :attr:`FormField.choices`.
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
        """Whether it is given by its place instead of by a name."""
        return not self.name.startswith("-")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FormField:
    """One field of a body: what a form asks, and what an option of the command gives.

    Attributes:
        path: The member of the body that it becomes, with dots between names; empty for what only the form needs.
        label: What stands before it.
        hint: What it takes, with its bounds.
        id: Its name in the form; the path with dashes when left out.
        kind: How the typed text becomes a value.
        start: What stands there at first, from the record where there is one.
        choices: The words that can be chosen; others are refused where ``kind`` is ``choice``, offered otherwise.
        offer: Records whose words can be chosen besides.
        is_required: Whether it has to be filled in. What may be left empty is left out of the body then; what has to
            be filled in stands in the body all the same, so that the rules name it.
        max_s: The longest span that is taken, in seconds.
        option: What gives it on the command line; ``None`` where the form alone asks for it.
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
        """Whether the command cannot do without it."""
        if self.option is None:
            return False
        by_form = self.is_required and not self.option.uses_start
        return by_form if self.option.is_required is None else self.option.is_required

    def __post_init__(self) -> None:
        """Name it by its path where it has no other name."""
        object.__setattr__(self, "id", self.id or self.path.replace(".", "-"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Prerequisite:
    """What has to be read before the form or the dialog can open.

    The subject of everything else is an :class:`PageResult` then, which holds the record and what was read.

    Attributes:
        operation: The operation that reads it.
        path: The parameters of its path, from the record.
        lacks: Why nothing can be done with what was read; empty when it can.
    """

    operation: str
    path: Callable[[Any], Mapping[str, str]]
    lacks: Callable[[Mapping[str, Any]], str] = _nothing


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EffectCheck:
    """What is read afterwards, because the answer does not tell whether it took effect.

    Attributes:
        operation: The operation that reads it.
        path: The parameters of its path, from the subject.
        words: From the subject and what was read: whether it took effect, and that in words.
    """

    operation: str
    path: Callable[[Any], Mapping[str, str]]
    words: Callable[[Any, Mapping[str, Any]], tuple[bool, str]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Mutation(Generic[S]):
    """One write. Where an action needs no record, ``None`` stands for the subject.

    Attributes:
        operation: The operation's id.
        sentence: What will happen, and what will not.
        confirm_label: The label of the button that does it, in words of the thing itself.
        cancel_label: The label of the harmless button.
        path: The parameters of the path.
        fields: What the form asks; without any the dialog opens at once.
        command_fields: Fields that the command alone takes, besides ``fields``.
        members: Members of the body that nobody types; with neither these nor ``fields`` no body is sent.
        changes_only: Whether only those members are sent that differ from what stood there at first.
        transform: Gives the body its last form, where what is typed and what is sent differ by more than its place.
        request: What checks the body: ``module.Class`` below :mod:`runwatch.records.requests`; empty checks nothing.
        invalidates: Kinds whose lists it changes, which are read again.
        summarize: What the dialog says of a good answer beside id and status, line by line; label and text, both
            cleaned where they are drawn.
        one_time_member: The member of a good answer that is a secret, told this once and copied from the dialog;
            empty for none.
        copy_note: What the command says of that secret once it is printed.
        no_copy_note: What the command says where the answer holds no such secret.
        done: The outcome's word of a command that does it to several records: ``disabled``.
        prerequisite: What has to be read before, where the record does not tell enough.
        effect_check: What is read afterwards, where the answer does not tell enough.
        private_page: What the user does next on a private page, where the answer names one.
    """

    operation: str
    sentence: Callable[[S], str]
    confirm_label: str
    cancel_label: str = "Leave it as it is"
    path: Callable[[S], Mapping[str, str]] = _no_members
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

    @property
    def option_fields(self) -> tuple[FormField, ...]:
        """The fields that the command takes."""
        return tuple(ask for ask in (*self.command_fields, *self.fields) if ask.option is not None)


@dataclass(frozen=True, eq=False, repr=False)
class ResourceAction(Generic[A]):
    """Something that can be done with a record, or, among what a resource ``makes``, without one.

    Attributes:
        id: Its name in key maps.
        label: What it does, as an imperative.
        command: The command of the command line that does the same; empty where the console alone does it.
        operation: The operation id it calls; empty for what needs no request, and where a mutation names it.
        is_destructive: Whether it goes through the dialog that asks.
        enabled_when: Whether the record's state allows it.
        off_because: What is said when it does not.
        mutation: What it sends; ``None`` where a screen of its own or a command does it.
        summary: What the command does, in one line of help; the label when left out.
        notes: A further paragraph of the command's help.
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
        """The operation id it calls, wherever that is named; empty for what needs no request."""
        return self.operation if self.mutation is None else self.mutation.operation


PageStage = Literal["waiting", "entered", "ended"]


@dataclass(frozen=True, slots=True)
class PageProgress:
    """How far the entry on a private page is.

    Attributes:
        stage: ``waiting`` for the user, ``entered``, or ``ended`` without.
        words: What is said of it.
    """

    stage: PageStage
    words: str


@dataclass(frozen=True, slots=True)
class PageResult:
    """What the next step after a private page is about.

    Attributes:
        id: The id of the record that it was for; empty where there is none yet.
        subject: That record.
        answer: The answer that named the page, without the address.
        state: What the service said last of the entry.
    """

    id: str
    subject: Any
    answer: Mapping[str, Any]
    state: Mapping[str, Any]

    @property
    def raw(self) -> Mapping[str, Any]:
        """What the service said last."""
        return self.state


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivatePageSpec(Generic[S]):
    """What goes on at a private page, and how one learns of it.

    Attributes:
        what: What the user does there: "enter the key of the output check".
        read: The operation that tells how far it is; empty where nothing does.
        path: The parameters of its path, from the record and the answer that named the page.
        progress: How far it is, from what was read first and what was read last.
        then: What is offered once it is entered; its subject is an :class:`PageResult`.
        keeps: What is remembered of it on this machine until it is over, from what was asked for and the answer
            without its address; ``None`` remembers nothing.
    """

    what: str
    read: str = ""
    path: Callable[[S, Mapping[str, Any]], Mapping[str, str]] = lambda _, __: {}
    progress: Callable[[Mapping[str, Any], Mapping[str, Any]], PageProgress] = lambda _, __: PageProgress("waiting", "")
    then: ResourceAction[PageResult] | None = None
    keeps: Callable[[Mapping[str, Any], Mapping[str, Any]], IntentNote] | None = None


@dataclass(frozen=True, slots=True)
class IntentNote:
    """What is remembered of an intent that was started here.

    Attributes:
        kind: The kind of record that comes of it.
        id: The intent's id.
        facts: What is known of it; never the address.
    """

    kind: str
    id: str
    facts: Mapping[str, Any]
