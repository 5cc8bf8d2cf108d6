"""What a resource looks like, as pure data: columns, filters, details, links and actions.

A new resource is a record, one specification under :mod:`runwatch.view.resources` and one line in
:mod:`runwatch.view.resources.resource_index`. The commands and the console draw the same specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from runwatch.records.record import Record
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import SafeText
from runwatch.view.text.styled_text import CellText, StyledText, with_role

if TYPE_CHECKING:
    from runwatch.view.spec.action import ResourceAction


class Subject(Protocol):
    """What a row and a detail are about: a record, or a record with everything else known about it."""

    @property
    def id(self) -> str:
        """The id that selection, copying and links use; never drawn as it is."""
        ...

    @property
    def raw(self) -> Mapping[str, Any]:
        """The record's own JSON."""
        ...


S = TypeVar("S", bound=Subject)


class SortKey(NamedTuple):
    """One field that rows are ordered by; a missing value comes last in either direction."""

    field: str
    descending: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Field(Generic[S]):
    """Something a filter or a sort can ask for.

    Attributes:
        id: Its name in filters, settings and ``--fields``.
        value: The exact value; ``None`` when it is not known.
        aliases: Other names it has in filters.
        sort_key: What it is sorted by, where that is not the value.
        server_parameter: The query parameter by which the service filters the same; a moment's parameter is ``since``.
        choices: The values that it can have, where they are fixed.
    """

    id: str
    value: Callable[[S], object]
    aliases: tuple[str, ...] = ()
    sort_key: Callable[[S], Any] | None = None
    server_parameter: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Column(Field[S]):
    """A field with a place in the table.

    Attributes:
        title: Its head.
        format: Draws the value, where the gate's own way does not do.
        cell: Draws the whole subject, where the value alone does not do.
        align: Where shorter text stands.
        hide_order: When it leaves a narrow screen: 0 never, otherwise 1 goes first.
        min_cells: The fewest cells in which it is of use.
        max_cells: The most cells it takes in a list.
        hide_if_empty: Whether it leaves a list in which no row in sight has anything in it.
        elides_middle: Whether a cell that is too long loses its middle, because ids differ at their ends.
        never_cut: Whether it leaves rather than be cut, because a part of it would say something else: a time. Where
            shorter text stands on the right it is a number, and is kept whole too.
    """

    title: str
    format: Callable[[Any, RenderContext], CellText] | None = None
    cell: Callable[[S, RenderContext], CellText] | None = None
    align: Literal["left", "right"] = "left"
    hide_order: int = 0
    min_cells: int = 4
    max_cells: int = 40
    elides_middle: bool = False
    never_cut: bool = False
    hide_if_empty: bool = False

    def draw(self, subject: S, context: RenderContext) -> StyledText | None:
        """The cell of one row, or ``None`` where there is nothing to draw."""
        if self.cell is not None:
            return with_role(self.cell(subject, context))
        value = self.value(subject)
        if value is None:
            return None
        return with_role(self.format(value, context)) if self.format is not None else None


def _nothing(_: object) -> str:
    return ""


class LineTarget(NamedTuple):
    """Where a line of a detail leads the user who stands on it.

    Attributes:
        target: What the screen gets when the line is followed.
        words: What following it does, in a few words; drawn beside the value.
    """

    target: object
    words: SafeText


def _nowhere(_: object, __: object) -> LineTarget | None:
    return None


class MemberLine(NamedTuple):
    """A line of a detail that shows the member at a path.

    Attributes:
        path: Member names with dots between them; in a section with ``each`` relative to the item.
        label: What stands before it; the path when empty, because members are named as the service names them.
        format: Draws the decoded JSON value, whatever scalar it is, where the gate's own way does not do. An object or
            array is taken apart into a line for each of its values.
        leads: Where the line leads: gets the subject and the section's item; ``None`` for nowhere.
    """

    path: str
    label: str = ""
    format: Callable[[object, RenderContext], CellText] | None = None
    leads: Callable[[Any, Any], LineTarget | None] = _nowhere


class ComputedLine(NamedTuple):
    """A line of a detail that is not a member: worked out here, or taken from elsewhere.

    Attributes:
        label: What stands before it.
        draw: Gets the subject, the section's item (the subject's record where the section has none) and the context;
            ``None`` leaves the line out.
        shows: The member whose exact value the line shows for this subject, so that it is not listed again; empty
            for none.
        leads: Where the line leads, as that of :class:`MemberLine`.
    """

    label: str
    draw: Callable[[Any, Any, RenderContext], CellText | None]
    shows: Callable[[Any], str] = _nothing
    leads: Callable[[Any, Any], LineTarget | None] = _nowhere


class SectionSpec(NamedTuple):
    """A part of a detail.

    Attributes:
        title: Its heading.
        lines: Its lines in order.
        each: The member holding an array of objects, each of which gets a section of its own.
        item: The record of such an object.
        names: The member of an item that goes into the heading.
        is_numbered: Whether an item's place goes into the heading before its name.
        tree: The member that is shown whole as a tree; the lines say only how values in it are drawn that the gate's
            own way does not do for.
    """

    title: str
    lines: tuple[MemberLine | ComputedLine, ...]
    each: str = ""
    item: type[Record] = Record
    names: str = ""
    is_numbered: bool = False
    tree: str = ""


class RecordLink(NamedTuple, Generic[S]):
    """A way from a record to another one.

    Attributes:
        label: What the other one is to this one.
        kind: The ``KIND`` of the other record.
        target: Its id, or ``None`` when there is none.
    """

    label: str
    kind: str
    target: Callable[[S], str | None]


def _itself(record: Any) -> Any:
    return record


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ResourceSpec(Generic[S]):
    """One kind of record, as lists and details show it.

    Attributes:
        record: The record.
        name: The noun of its commands and of the command line, in the plural.
        singular: The same for one.
        title: The human word and, where it is another one, the API's.
        columns: Its table, in order.
        sections: Its detail, in order; members that none of them shows come last by themselves.
        sort: How a list is ordered before somebody sorts it.
        empty: What an empty list says: why, and what to do.
        note: One line that always stands above a detail.
        fields: What filters and sorts know besides the columns.
        flags: What ``is:`` knows.
        facets: Columns and fields whose values are counted above the list, by name.
        actions: What can be done with a record.
        create_actions: What can be done without one, such as making one.
        links: Ways to other records.
        subject: Makes a row's subject from a bare record.
        list_summary: What the ``list`` command does, in one line of help; made from the title when left out.
        show_summary: The same of the ``show`` command; made from ``singular``.
        id_help: What the ``show`` command takes; made from ``singular``.
    """

    record: type[Record]
    name: str
    singular: str
    title: str
    columns: tuple[Column[S], ...]
    sections: tuple[SectionSpec, ...]
    sort: tuple[SortKey, ...] = ()
    empty: str = ""
    note: str = ""
    fields: tuple[Field[S], ...] = ()
    flags: Mapping[str, Callable[[S], bool]] = field(default_factory=dict)
    facets: tuple[str, ...] = ()
    actions: tuple[ResourceAction[S], ...] = ()
    create_actions: tuple[ResourceAction[None], ...] = ()
    links: tuple[RecordLink[S], ...] = ()
    subject: Callable[[Any], S] = _itself
    list_summary: str = ""
    show_summary: str = ""
    id_help: str = ""

    @property
    def kind(self) -> str:
        """The kind that links name."""
        return self.record.KIND

    @property
    def is_local(self) -> bool:
        """Whether the records come from this machine's journal instead of the service."""
        return self.record.WIRE is None

    @property
    def has_screen(self) -> bool:
        """Whether the console has a screen of it: what belongs to another record, such as events, is shown there."""
        wire = self.record.WIRE
        return wire is None or "{" not in wire.path

    def all_fields(self) -> Iterator[Field[S]]:
        """Columns, then the fields without a column."""
        yield from self.columns
        yield from self.fields

    def field(self, name: str) -> Field[S] | None:
        """The field of that name or alias."""
        for candidate in self.all_fields():
            if name == candidate.id or name in candidate.aliases:
                return candidate
        return None

    def column(self, name: str) -> Column[S] | None:
        """The column of that name or alias."""
        found = self.field(name)
        return found if isinstance(found, Column) else None
