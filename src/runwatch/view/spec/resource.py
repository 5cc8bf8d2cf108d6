"""How a resource looks, as pure data: columns, filters, details, links and actions.

A new resource needs a record, a specification under :mod:`runwatch.view.resources` and a line in
:mod:`runwatch.view.resources.resource_index`. Commands and console render the same specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from runwatch.records.record import Record
from runwatch.view.text.format import RenderContext, short_id
from runwatch.view.text.glyphs import Glyphs
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import CellText, StyledText, with_role

if TYPE_CHECKING:
    from runwatch.view.spec.action import ResourceAction


class Subject(Protocol):
    """What a row or a detail shows: a record, alone or with related data."""

    @property
    def id(self) -> str:
        """Id for selection, copying and links; not cleaned for display."""

    @property
    def raw(self) -> Mapping[str, Any]: ...


S = TypeVar("S", bound=Subject)

ValueType = Literal["number", "seconds", "time", "text", "unknown"]
"""What a field's values are to ``>`` and ``<``: text has no order."""

MAX_NAME_IN_TITLE: Final = 60


class SortKey(NamedTuple):
    """A field to sort by; missing values come last in both directions.

    Attributes:
        words: What this sort puts first, such as ``live first``; only for a field that no column shows.
    """

    field: str
    descending: bool = False
    words: str = ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Field(Generic[S]):
    """A value to filter or sort by.

    Attributes:
        id: Name in filters, settings and ``--fields``.
        value: Exact value; ``None`` if unknown.
        sort_key: Sort key, if it is not the value.
        server_parameter: Query parameter with which the service applies the same filter; ``since`` for a time.
        choices: Possible values, if they are fixed.
        value_type: What ``>`` and ``<`` compare it with; by default what the record declares for a member of one of its
            names, else text, and a number in a right-aligned column.
        facet_title: What its facet is called, if the id would be taken for something else in the list; else empty.
    """

    id: str
    value: Callable[[S], object]
    aliases: tuple[str, ...] = ()
    sort_key: Callable[[S], Any] | None = None
    server_parameter: str = ""
    choices: tuple[str, ...] = ()
    value_type: ValueType | None = None
    facet_title: str = ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Column(Field[S]):
    """A field that is a column of the table.

    Attributes:
        format: Renders the value; :func:`line` by default.
        cell: Renders the cell from the whole subject, if the value is not enough.
        hide_order: Order in which columns are dropped from a narrow screen: 0 never, otherwise 1 first.
        min_cells: Minimum useful width.
        max_cells: Maximum width in a list.
        searched: What a filter without a field searches: the value if it is text, and the cell unless it shows an age;
            or the value alone, or nothing, where a cell is always an age.
        words: All words that value and cell may contain, in lower case, where they are few; a filter draws the cell
            only for them.
        shared_texts: Texts of the column that many subjects share, if each adds a number of its own. They have the
            value, and every word of the cell, so a filter that is a single word needs nothing else; ``words`` are the
            rest's.
        is_id: Whether the value is an id: where it cannot be whole, it has its short form, whatever the room.
        shows_id: Whether the value is the subject's id, and the cell a part of it.
        is_pure: Whether value and cell depend on nothing but what the subject holds.
        hide_if_empty: Whether to drop the column from a command's table if it is empty in all rows, and from an empty
            table of the console. A table of the console with rows drops every empty column.
        elides_middle: Whether to cut long text in its middle, because both ends tell it apart, as those of an id do.
        keeps_difference: Whether to cut long text at its end, in its middle or at its start, whichever leaves most of a
            list's texts different, because many share a part, as the names of models do.
        keeps_last_part: Whether to cut a long text before its last part, such as an id, which follows a dot.
        keeps_last_words: Whether a long text loses words at its start, because its end is the value.
        keeps_sign: Whether a text that does not fit is its first word alone, a sign; where there is no room, the column
            is as narrow as that.
        never_cut: Whether to drop the column rather than cut it, because a cut time would be a different time.
            Right-aligned columns are numbers and are never cut either.
        whole_first: Whether free room goes to this column before the others, such as a state, a name or a reason.
        is_extra: Whether the column is shown only if every other column is whole.
        puts_newest_first: Whether it is a time, which sorts the newest first. A time of another day loses its seconds
            rather than cut another text.
    """

    title: str
    format: Callable[[Any, RenderContext], CellText] | None = None
    cell: Callable[[S, RenderContext], CellText] | None = None
    align: Literal["left", "right"] = "left"
    hide_order: int = 0
    min_cells: int = 4
    max_cells: int = 40
    elides_middle: bool = False
    keeps_difference: bool = False
    keeps_last_part: bool = False
    keeps_last_words: bool = False
    keeps_sign: bool = False
    never_cut: bool = False
    hide_if_empty: bool = False
    searched: Literal["cell", "value", "nothing"] = "cell"
    words: tuple[str, ...] | None = None
    shared_texts: Callable[[S], tuple[str, ...]] | None = None
    is_id: bool = False
    shows_id: bool = False
    is_pure: bool = True
    whole_first: bool = False
    is_extra: bool = False
    puts_newest_first: bool = False

    def draw(self, subject: S, context: RenderContext) -> StyledText | None:
        """Render the cell of one row; ``None`` if it is empty or has no special format."""
        if self.cell is not None:
            return with_role(self.cell(subject, context))
        value = self.value(subject)
        if value is None:
            return None
        return with_role(self.format(value, context)) if self.format is not None else None


class LineTarget(NamedTuple):
    """What a detail line opens when the user follows it, and what ``enter`` does there, shown beside the value.

    Without words, the sign of a link is shown.
    """

    target: object
    words: SafeText


class MemberLine(NamedTuple):
    """A detail line for the member at a path.

    Attributes:
        path: Member names with dots; relative to the item in a section with ``each``.
        label: Label; the path if empty, because members keep the names of the service.
        format: Renders the decoded JSON value, which may be any scalar. Objects and arrays get a line for each value.
        leads: Returns the link target for the subject and the section's item, or ``None``.
    """

    path: str
    label: str = ""
    format: Callable[[object, RenderContext], CellText] | None = None
    leads: Callable[[Any, Any], LineTarget | None] = lambda _, __: None


class ComputedLine(NamedTuple):
    """A detail line computed from the record or from other data.

    Attributes:
        draw: Gets the subject, the section's item (the subject's record if the section has none) and the context;
            ``None`` omits the line.
        shows: Path of the member that the line shows exactly, so it is not listed again; empty for none.
        leads: As for :class:`MemberLine`.
    """

    label: str
    draw: Callable[[Any, Any, RenderContext], CellText | None]
    shows: Callable[[Any], str] = lambda _: ""
    leads: Callable[[Any, Any], LineTarget | None] = lambda _, __: None


class SectionSpec(NamedTuple):
    """A section of a detail.

    Attributes:
        each: Member with an array of objects; each object gets its own section.
        item: Record class of such an object.
        names: Member of an item to include in the heading.
        is_numbered: Whether to put the item's position in the heading before its name.
        tree: Member to show whole as a tree; ``lines`` then only gives formats for values in it.
    """

    title: str
    lines: tuple[MemberLine | ComputedLine, ...]
    each: str = ""
    item: type[Record] = Record
    names: str = ""
    is_numbered: bool = False
    tree: str = ""


class RecordLink(NamedTuple, Generic[S]):
    """A link from a record to another: its relation to this one, its ``KIND``, and its id or ``None``."""

    label: str
    kind: str
    target: Callable[[S], str | None]


class DetailTab(NamedTuple):
    """A tab beside the fields of a record, with a response about it that is read while the tab is shown.

    Attributes:
        operation: Operation id of that read, by the record's id.
        record: Type of the response.
        sections: Renders the response.
        action: Performed on the target of a line when the user opens the line.
    """

    id: str
    label: str
    operation: str
    record: type[Record]
    sections: Callable[[Any, RenderContext], Sequence[Any]]
    action: ResourceAction[Any] | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ResourceSpec(Generic[S]):
    """How lists and details show one kind of record.

    Attributes:
        name: Plural noun, used for commands and on the command line.
        title: Human-readable name.
        sections: Sections of the detail, in order; members that none of them shows are appended.
        sort: Initial order of a list.
        empty: Text of an empty list: why, and what to do by commands.
        empty_keys: What to do in the console instead of the commands; keys as action ids in braces.
        note: A line always shown above a detail.
        fields: Fields for filter and sort without a column; a column among them is shown only if the settings or a
            command name it.
        named_kinds: Kinds of which the list shows names; the console reads their lists too.
        flags: Names for ``is:``.
        tabs: Tabs of the detail beside the record's own.
        facets: Names of columns and fields whose values are counted above the list.
        create_actions: Actions without a record, such as creating one.
        subject: Makes a row's subject from a bare record.
        list_summary: One line of help for the ``list`` command; from the title by default.
        show_summary: One line of help for the ``show`` command; from ``singular`` by default.
        id_help: Help for the argument of the ``show`` command; from ``singular`` by default.
        singular: What one of them is called on screen and in messages.
        name_of: Returns what people call a record, or ``None``; titles then fall back on its id.
    """

    record: type[Record]
    name: str
    singular: str
    title: str
    columns: tuple[Column[S], ...]
    sections: tuple[SectionSpec, ...]
    sort: tuple[SortKey, ...] = ()
    empty: str = ""
    empty_keys: str = ""
    note: str = ""
    fields: tuple[Field[S], ...] = ()
    named_kinds: tuple[type[Record], ...] = ()
    flags: Mapping[str, Callable[[S], bool]] = field(default_factory=dict)
    tabs: tuple[DetailTab, ...] = ()
    facets: tuple[str, ...] = ()
    actions: tuple[ResourceAction[S], ...] = ()
    create_actions: tuple[ResourceAction[None], ...] = ()
    links: tuple[RecordLink[S], ...] = ()
    subject: Callable[[Any], S] = lambda record: record
    list_summary: str = ""
    show_summary: str = ""
    id_help: str = ""
    name_of: Callable[[S], str | None] = lambda _: None

    @property
    def kind(self) -> str:
        """The kind that links name."""
        return self.record.KIND

    def short_name(self, subject: S, glyphs: Glyphs) -> SafeText:
        """Return what a title calls a record: its name, or its shortened id."""
        name = self.name_of(subject)
        return line(name, MAX_NAME_IN_TITLE) if name else short_id(subject.id, glyphs)

    def title_of(self, subject: S, glyphs: Glyphs) -> SafeText:
        """Return the kind and the name of a record, such as ``output check Release notes``."""
        return line(f"{self.singular} {self.short_name(subject, glyphs)}")

    @property
    def plural(self) -> str:
        """The title within a sentence, such as ``saved models``; names such as GitHub keep their capitals."""
        first = self.title.partition(" ")[0]
        return self.title if first[1:] != first[1:].lower() else f"{self.title[:1].lower()}{self.title[1:]}"

    @property
    def is_local(self) -> bool:
        """Whether the records come from the local journal instead of the service."""
        return self.record.WIRE is None

    @property
    def has_screen(self) -> bool:
        """Whether the console has a screen for it. Records that belong to another, such as events, are shown there."""
        wire = self.record.WIRE
        return wire is None or "{" not in wire.path

    def all_fields(self) -> Iterator[Field[S]]:
        """Yield columns, then fields without a column."""
        yield from self.columns
        yield from self.fields

    @property
    def all_columns(self) -> tuple[Column[S], ...]:
        """The columns of the list, then those that it does not show by itself."""
        return tuple(field for field in self.all_fields() if isinstance(field, Column))

    def field(self, name: str) -> Field[S] | None:
        """Return the field with this name or alias."""
        for candidate in self.all_fields():
            if name == candidate.id or name in candidate.aliases:
                return candidate
        return None

    def column(self, name: str) -> Column[S] | None:
        """Return the column with this name or alias."""
        found = self.field(name)
        return found if isinstance(found, Column) else None
