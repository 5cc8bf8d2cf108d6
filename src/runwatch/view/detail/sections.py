"""A record as sections: those of its specification, then everything else. Nothing is hidden.

Sections name members as the service does. A value of the wrong type is shown as sent and marked; unknown members come
last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from runwatch.records.record import Record
from runwatch.view.detail.column_plot import ColumnPlot
from runwatch.view.spec.resource import ComputedLine, LineTarget, MemberLine, ResourceSpec, S, SectionSpec
from runwatch.view.text import json_paths
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.json_tree import walk_json
from runwatch.view.text.member_format import mark_member
from runwatch.view.text.safe_text import SafeText, block, json_text, line
from runwatch.view.text.shell_commands import add_service
from runwatch.view.text.styled_text import CellText, StyledText, with_role

TYPE_MISMATCH: Final = "not of the expected type"

OTHER_MEMBERS: Final = "Other fields"

NO_VALUE: Final = "without a value"
"""Label of the one line that names the null or empty members of sections that are left out."""

ADVICE: Final = frozenset({"detail", "status_reason"})
"""Members in which the service names commands, without knowing how it was chosen."""


@dataclass(frozen=True, slots=True)
class DetailLine:
    """One labelled value.

    Attributes:
        text: The value, on as many lines as it has.
        note: What is wrong with the value; empty if nothing is.
        target: Link target, passed to the screen when the user opens the line; ``None`` if it is no link.
        does: What ``enter`` does there, in a few words; shown only on screen, in place of the sign of a link.
        hanging: Characters at the start of the text that stand before its other rows too, as a column of their own.
        level: Depth in a tree, 0 at the outermost level and outside trees. A line belongs to the nearest line before it
            with a lower level.
    """

    label: SafeText
    text: SafeText
    role: Role = Role.PLAIN
    note: str = ""
    target: object = None
    does: str = ""
    level: int = 0
    hanging: int = 0


def text_line(label: object, text: object, role: Role = Role.PLAIN, **more: Any) -> DetailLine:
    """Return a line whose label and text are cleaned and cut by :func:`line`; ``more`` are its other members."""
    return DetailLine(line(label), line(text), role, **more)


@dataclass(frozen=True, slots=True)
class DetailSection:
    """A heading with its lines.

    Attributes:
        title: Heading; empty only separates the lines from those before.
        is_tree: Whether to draw levels, with guides from each line to its children.
        plot: A plot below the lines, with a choice that the user moves; on screen alone.
    """

    title: SafeText
    lines: tuple[DetailLine, ...]
    is_tree: bool = False
    plot: ColumnPlot | None = None


def build_sections(spec: ResourceSpec[S], item: Record | S, context: RenderContext) -> list[DetailSection]:
    subject: S = spec.subject(item) if isinstance(item, Record) else item
    return _Detail(spec, subject, context).sections()


class _Detail:
    def __init__(self, spec: ResourceSpec[Any], subject: Any, context: RenderContext) -> None:
        self.spec = spec
        self.subject = subject
        self.context = context
        self.record = spec.record(dict(subject.raw))
        self.flaws = frozenset(self.record.flaws())
        # No flaw is deeper than this, so deeper paths need no check.
        self.flaw_depth = max((len(json_paths.parse_path(flaw)) for flaw in self.flaws), default=0)
        # Paths that a section has shown, including everything below them.
        self.claimed: set[json_paths.JsonPath] = set()
        # Members of sections that are left out, because they would say nothing.
        self.idle: set[json_paths.JsonPath] = set()

    def sections(self) -> list[DetailSection]:
        made: list[DetailSection] = []
        for part in self.spec.sections:
            if part.tree:
                made.extend(self._tree(part))
            else:
                made.extend(self._each(part) if part.each else self._one(part, part.title, (), self.record))
        rest: list[DetailLine] = []
        empty: list[str] = []
        for path, value in self._unclaimed():
            name = json_paths.format_path(path)
            if path in self.idle and _is_empty(value):
                empty.append(name)
            else:
                rest.append(self._leaf(path, value, name))
        if empty:
            rest.append(self._line(NO_VALUE, StyledText(block(", ".join(empty)), Role.QUIET)))
        if rest:
            made.append(DetailSection(line(OTHER_MEMBERS), tuple(rest)))
        return made

    def _each(self, part: SectionSpec) -> Iterator[DetailSection]:
        base = json_paths.parse_path(part.each)
        items = json_paths.get_at(self.record.raw, base)
        self.idle.add(base)
        for position, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                name = item.get(part.names)
                number = f"{position + 1} " if part.is_numbered and name is not None else ""
                title = f"{part.title} {number}{line(position + 1 if name is None else name, 60)}"
                yield from self._one(part, title, (*base, position), part.item(item))

    def _tree(self, part: SectionSpec) -> Iterator[DetailSection]:
        """Yield the whole member as a tree. A non-object or empty member is left to the other members."""
        base = json_paths.parse_path(part.tree)
        whole = json_paths.get_at(self.record.raw, base)
        formats = {
            json_paths.parse_path(entry.path): entry.format for entry in part.lines if isinstance(entry, MemberLine)
        }
        self.idle.add(base)
        lines: list[DetailLine] = []
        for node in walk_json(whole if isinstance(whole, dict) else {}, base):
            format = formats.get(node.path)
            note = self._note(node.path)
            shown: CellText = line("") if node.is_head else self._value(node.value)
            if format is not None and not isinstance(node.value, (dict, list)):
                shown = format(node.value, self.context)
            lines.append(self._line(node.name, self._marked(node.path, shown), note, level=node.level))
        if lines:
            self.claimed.add(base)
            yield DetailSection(line(part.title), tuple(lines), is_tree=True)

    def _one(self, part: SectionSpec, title: str, base: json_paths.JsonPath, item: Record) -> Iterator[DetailSection]:
        """Yield the section unless it has no content; its ``null`` members then come last."""
        lines: list[DetailLine] = []
        claimed: list[json_paths.JsonPath] = []
        is_empty = True
        for entry in part.lines:
            if isinstance(entry, ComputedLine):
                shown, member_path = entry.draw(self.subject, item, self.context), entry.shows(self.subject)
                source = (*base, *json_paths.parse_path(member_path)) if member_path else ()
                if shown is not None:
                    lines.append(self._line(entry.label, shown, lead=entry.leads(self.subject, item)))
                    is_empty = False
                # A line that is left out says that the member is null.
                if member_path and (shown is not None or json_paths.get_at(self.record.raw, source) is None):
                    claimed.append(source)
                continue
            path = (*base, *json_paths.parse_path(entry.path))
            value = json_paths.get_at(self.record.raw, path)
            if value is json_paths.MISSING:
                lines.append(self._line(entry.label or entry.path, self._value(None)))
                continue
            is_empty = is_empty and value is None
            claimed.append(path)
            lines.extend(self._at(entry, path, value, entry.leads(self.subject, item)))
        if is_empty:
            self.idle.update(claimed)
        else:
            self.claimed.update(claimed)
            yield DetailSection(line(title), tuple(lines))

    def _at(
        self, entry: MemberLine, path: json_paths.JsonPath, value: Any, lead: LineTarget | None
    ) -> Iterator[DetailLine]:
        label = entry.label or entry.path
        if entry.format is not None and not isinstance(value, (dict, list)):
            shown = self._marked(path, entry.format(value, self.context))
            yield self._line(label, shown, self._note(path), lead)
            return
        for leaf, inner in json_paths.iter_leaves(value, path, lists=True):
            yield self._leaf(leaf, inner, label if leaf == path else f"{label}{_below(leaf, path)}", lead)

    def _leaf(self, path: json_paths.JsonPath, value: Any, label: str, lead: LineTarget | None = None) -> DetailLine:
        if isinstance(value, str) and path and path[-1] in ADVICE:
            value = add_service(value, self.context.service)
        return self._line(label, self._marked(path, self._value(value)), self._note(path), lead)

    def _marked(self, path: json_paths.JsonPath, shown: CellText) -> CellText:
        return mark_member(shown, json_paths.get_at(self.record.raw, path[:-1]), path[-1])

    def _value(self, value: Any) -> CellText:
        """Render a member for users: items of a list with commas, and one sign for null, empty and missing."""
        if _is_empty(value):
            return StyledText(line(self.context.glyphs.nothing), Role.QUIET)
        if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
            return block(", ".join(map(json_text, value)))
        return block(json_text(value))

    def _line(
        self, label: str, shown: CellText, note: str = "", lead: LineTarget | None = None, *, level: int = 0
    ) -> DetailLine:
        text, role = with_role(shown)
        target, does = (None, "") if lead is None else lead
        return DetailLine(
            line(label), text, Role.WARN if note and role is Role.PLAIN else role, note, target, does, level
        )

    def _note(self, path: json_paths.JsonPath) -> str:
        depths = range(1, min(len(path), self.flaw_depth) + 1)
        if any(_flaw_path(path[:depth]) in self.flaws for depth in depths):
            return TYPE_MISMATCH
        return ""

    def _unclaimed(self) -> Iterator[tuple[json_paths.JsonPath, Any]]:
        for path, value in json_paths.iter_leaves(self.record.raw, lists=True):
            if path and not any(path[:depth] in self.claimed for depth in range(1, len(path) + 1)):
                yield path, value


def _is_empty(value: object) -> bool:
    return value is None or value == "" or value == [] or value == {}


def _below(leaf: json_paths.JsonPath, path: json_paths.JsonPath) -> str:
    rest = leaf[len(path) :]
    spelled = json_paths.format_path(rest)
    return spelled if isinstance(rest[0], int) else f".{spelled}"


def _flaw_path(path: json_paths.JsonPath) -> str:
    """Format a path as :meth:`runwatch.records.record.Record.flaws` does."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
