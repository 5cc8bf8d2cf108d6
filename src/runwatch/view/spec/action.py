"""Resource actions as pure data: the action, the mutation it sends and the private page.

The console opens a form if there are fields, then the dialog; a command takes the same fields as options. Bodies are
validated by :mod:`runwatch.records.requests`, which the service uses too. :mod:`runwatch.view.actions.form` interprets
this data for forms, :mod:`runwatch.commands.resource_writes` for commands, and
:mod:`runwatch.view.actions.private_page` for private pages. One module, because the parts refer to each other: an
action to its mutation, a mutation to its page, and a page to the next action.

Form fields and other parts are in :mod:`runwatch.view.spec.action_parts`, because lists name their actions before the
console's first paint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from runwatch.records.record import Record

if TYPE_CHECKING:
    from runwatch.view.spec.action_parts import (
        DialogWords,
        EffectCheck,
        FormField,
        IntentNote,
        PageProgress,
        PageResult,
        Prerequisite,
    )

S = TypeVar("S")
A = TypeVar("A")
"""The subject of an action, or ``None`` if it needs none."""


def _waiting(_: object, __: object) -> PageProgress:
    from runwatch.view.spec.action_parts import PageProgress

    return PageProgress("waiting", "")


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
        begins_in: Id of the field that has the cursor first; empty for the first field.
        command_fields: Fields that only the command takes.
        members: Members of the body that are not typed. Without these and ``fields`` no body is sent.
        changes_only: Whether to send only members that differ from their initial values.
        transform: Restructures the body if what is typed and what is sent differ in more than position.
        request: Validates the body: ``module.Class`` below :mod:`runwatch.records.requests`; empty for no validation.
        invalidates: Kinds whose lists are read again afterwards.
        summarize: Lines (label, text) that the dialog shows for a successful response besides id and status. Both are
            cleaned when rendered.
        status: Word of the lists for the status of the record in a response, from its JSON, where that is another than
            the member ``status``.
        one_time_member: Member of a successful response that holds a secret, shown only this once and copied from the
            dialog; empty for none.
        copy_note: What the command prints after that secret.
        no_copy_note: What the command prints if the response holds no such secret.
        done: Outcome word for a command that acts on several records: ``disabled``.
        prerequisite: A read needed first, if the record is not enough.
        effect_check: A read needed afterwards, if the response is not enough.
        private_page: What the user does next on a private page, if the response names one.
        then: The action that is offered next, from the changed record; ``None`` for none.
        leads_to: The screen to go to afterwards, and its filter; ``None`` for the list of what is new, or to stay.
        completed: What was done, at the beginning of the notice; empty for the title of the operation.
        next_step: What to do there, for the notice; keys as action ids in braces.
    """

    operation: str
    sentence: Callable[[S], str]
    confirm_label: str = ""
    cancel_label: str = "Leave it as it is"
    words_for: Callable[[Mapping[str, Any]], DialogWords | None] = lambda _: None
    fields: tuple[FormField, ...] = ()
    begins_in: str = ""
    command_fields: tuple[FormField, ...] = ()
    members: Callable[[S], Mapping[str, Any]] | None = None
    changes_only: bool = False
    transform: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    request: str = ""
    invalidates: tuple[type[Record], ...] = ()
    summarize: Callable[[Mapping[str, Any]], Sequence[tuple[str, str]]] = lambda _: ()
    status: Callable[[Mapping[str, Any]], str | None] | None = None
    one_time_member: str = ""
    copy_note: str = ""
    no_copy_note: str = ""
    done: str = ""
    prerequisite: Prerequisite | None = None
    effect_check: EffectCheck | None = None
    private_page: PrivatePageSpec[Any] | None = None
    then: Callable[[Any], ResourceAction[Any] | None] | None = None
    leads_to: Callable[[S], tuple[str, str]] | None = None
    completed: str = ""
    next_step: str = ""

    @property
    def option_fields(self) -> tuple[FormField, ...]:
        return tuple(field for field in (*self.command_fields, *self.fields) if field.option is not None)

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
        off_for: Another such text for a record; ``None`` for the usual one.
        label_for: Another label for a record; ``None`` for the usual one.
        mutation: What it sends; ``None`` if a separate screen or command handles it.
        summary: One line of command help; the label by default.
        notes: An additional paragraph of command help.
        leads_to: The screen that it opens in place of a request, and its filter.
        step: Which of several steps it is, such as ``step 2 of 4``; form and dialog then have its label as their title.
    """

    id: str
    label: str
    command: str
    operation: str = ""
    is_destructive: bool = False
    enabled_when: Callable[[A], bool] = lambda _: True
    off_because: str = ""
    off_for: Callable[[A], str | None] = lambda _: None
    mutation: Mutation[A] | None = None
    summary: str = ""
    notes: str = ""
    label_for: Callable[[A], str | None] = lambda _: None
    leads_to: Callable[[A], tuple[str, str]] | None = None
    step: str = ""

    @property
    def step_title(self) -> str:
        """Its label and which step it is; empty if it is not one of several steps."""
        return f"{self.label}, {self.step}" if self.step else ""

    def label_of(self, subject: A) -> str:
        """Return its label for a record."""
        return self.label_for(subject) or self.label

    def off_text(self, subject: A) -> str:
        """Say why a record's state does not allow it."""
        return self.off_for(subject) or self.off_because

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
        step: Which of several steps the entry is, such as ``step 1 of 4``; empty if it is not one of several.
    """

    what: str
    read: str = ""
    read_id: Callable[[Any, Mapping[str, Any]], str] = lambda subject, _: subject.id
    progress: Callable[[Mapping[str, Any], Mapping[str, Any]], PageProgress] = _waiting
    then: ResourceAction[PageResult] | None = None
    then_for: Callable[[PageResult], ResourceAction[PageResult] | None] = lambda _: None
    keeps: Callable[[Mapping[str, Any], Mapping[str, Any]], IntentNote] | None = None
    step: str = ""

    def next_for(self, result: PageResult) -> ResourceAction[PageResult] | None:
        """Return the action that follows a result, if there is one."""
        return self.then_for(result) or self.then
