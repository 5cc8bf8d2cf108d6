"""A record in sections: what its specification puts in front, then everything else it has. Nothing is hidden.

Each section names its members as the service does. A value that is not of the type the interface gives it is shown as
it came and says so; members nobody here knows come last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from runwatch.records.record import Record
from runwatch.records.spend import is_partial
from runwatch.view import flat
from runwatch.view.drawn import Drawn, block, json_text, line
from runwatch.view.format import UNKNOWN, Context
from runwatch.view.glyphs import Role
from runwatch.view.resource import At, Lead, ResourceSpec, S, SectionSpec, Shown, Styled, Told, styled
from runwatch.view.tree import nodes

FLAW: Final = "not of the expected type"
"""What is said beside a value of the wrong type."""

REST: Final = "Further members"
"""The heading of what no section claims."""


@dataclass(frozen=True, slots=True)
class Line:
    """One labelled value.

    Attributes:
        label: What stands before it.
        text: The value, on as many lines as it has.
        role: The colour role that repeats what it says.
        note: What is wrong with it; empty when nothing is.
        target: What the screen gets when a person opens the line; ``None`` where it leads nowhere.
        does: What opening it does, in a few words; said on the screen alone.
        level: How deep it stands in a tree, 0 outside of trees and at their outermost level; it belongs to the nearest
            line before it with a lower one.
    """

    label: Drawn
    text: Drawn
    role: Role = Role.PLAIN
    note: str = ""
    target: object = None
    does: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its lines.

    Attributes:
        title: The heading; empty only sets the lines apart from those before.
        lines: The lines.
        is_tree: Whether the levels of the lines are drawn, with guides from each to what belongs to it.
    """

    title: Drawn
    lines: tuple[Line, ...]
    is_tree: bool = False


def sections(spec: ResourceSpec[S], item: Record | S, context: Context) -> list[Section]:
    """A record in sections, ready to draw."""
    subject: S = spec.subject(item) if isinstance(item, Record) else item
    return _Detail(spec, subject, context).sections()


class _Detail:
    def __init__(self, spec: ResourceSpec[Any], subject: Any, context: Context) -> None:
        self.spec = spec
        self.subject = subject
        self.context = context
        self.record = spec.record(dict(subject.raw))
        self.flaws = frozenset(self.record.flaws())
        # A deeper path need not be looked at further than the deepest flaw.
        self.flaw_depth = max((len(flat.split(flaw)) for flaw in self.flaws), default=0)
        # Paths that a section has shown; what lies below them is shown with them.
        self.claimed: set[flat.Path] = set()

    def sections(self) -> list[Section]:
        made: list[Section] = []
        for part in self.spec.sections:
            if part.tree:
                made.extend(self._tree(part))
            else:
                made.extend(self._each(part) if part.each else self._one(part, part.title, (), self.record))
        rest = tuple(self._leaf(path, value, flat.spell(path)) for path, value in self._unclaimed())
        if rest:
            made.append(Section(line(REST), rest))
        return made

    def _each(self, part: SectionSpec) -> Iterator[Section]:
        base = flat.split(part.each)
        items = flat.at(self.record.raw, base)
        for position, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                name = item.get(part.names)
                number = f"{position + 1} " if part.is_numbered and name is not None else ""
                title = f"{part.title} {number}{line(position + 1 if name is None else name, 60)}"
                yield from self._one(part, title, (*base, position), part.item(item))

    def _tree(self, part: SectionSpec) -> Iterator[Section]:
        """The whole member as a tree; one that is no object, or an empty one, is left to the further members."""
        base = flat.split(part.tree)
        whole = flat.at(self.record.raw, base)
        formats = {flat.split(entry.path): entry.format for entry in part.lines if isinstance(entry, At)}
        lines: list[Line] = []
        for node in nodes(whole if isinstance(whole, dict) else {}, base):
            format = formats.get(node.path)
            note = self._note(node.path)
            shown: Shown = line("") if node.is_head else block(json_text(node.value))
            if format is not None and not isinstance(node.value, (dict, list)):
                shown = format(node.value, self.context)
            lines.append(self._line(node.name, shown, note, level=node.level))
        if lines:
            self.claimed.add(base)
            yield Section(line(part.title), tuple(lines), is_tree=True)

    def _one(self, part: SectionSpec, title: str, base: flat.Path, item: Record) -> Iterator[Section]:
        """The section, unless all it could say is that there is nothing; what is ``null`` then comes last."""
        lines: list[Line] = []
        claimed: list[flat.Path] = []
        is_empty = True
        for entry in part.lines:
            if isinstance(entry, Told):
                shown = entry.draw(self.subject, item, self.context)
                if shown is not None:
                    lines.append(self._line(entry.label, shown, lead=entry.leads(self.subject, item)))
                    is_empty = False
                    if entry.shows(self.subject):
                        claimed.append((*base, *flat.split(entry.shows(self.subject))))
                continue
            path = (*base, *flat.split(entry.path))
            value = flat.at(self.record.raw, path)
            if value is flat.MISSING:
                nothing = Styled(line(self.context.glyphs.nothing), Role.QUIET)
                lines.append(self._line(entry.label or entry.path, nothing))
                continue
            is_empty = is_empty and value is None
            claimed.append(path)
            lines.extend(self._at(entry, path, value, entry.leads(self.subject, item)))
        if not is_empty:
            self.claimed.update(claimed)
            yield Section(line(title), tuple(lines))

    def _at(self, entry: At, path: flat.Path, value: Any, lead: Lead | None) -> Iterator[Line]:
        label = entry.label or entry.path
        if entry.format is not None and not isinstance(value, (dict, list)):
            shown = entry.format(value, self.context)
            if is_partial(flat.at(self.record.raw, path[:-1]), path[-1]):
                shown = Styled(line(f"at least {styled(shown).text}" if value else UNKNOWN), Role.WARN)
            yield self._line(label, shown, self._note(path), lead)
            return
        for leaf, inner in flat.leaves(value, path, lists=True):
            yield self._leaf(leaf, inner, label if leaf == path else f"{label}{_below(leaf, path)}", lead)

    def _leaf(self, path: flat.Path, value: Any, label: str, lead: Lead | None = None) -> Line:
        return self._line(label, block(json_text(value)), self._note(path), lead)

    def _line(self, label: str, shown: Shown, note: str = "", lead: Lead | None = None, *, level: int = 0) -> Line:
        text, role = styled(shown)
        target, does = (None, "") if lead is None else lead
        return Line(line(label), text, Role.WARN if note and role is Role.PLAIN else role, note, target, does, level)

    def _note(self, path: flat.Path) -> str:
        depths = range(1, min(len(path), self.flaw_depth) + 1)
        if any(_flaw_path(path[:depth]) in self.flaws for depth in depths):
            return FLAW
        return ""

    def _unclaimed(self) -> Iterator[tuple[flat.Path, Any]]:
        for path, value in flat.leaves(self.record.raw, lists=True):
            if path and not any(path[:depth] in self.claimed for depth in range(1, len(path) + 1)):
                yield path, value


def _below(leaf: flat.Path, path: flat.Path) -> str:
    """The part of a leaf's name below a path."""
    rest = leaf[len(path) :]
    spelled = flat.spell(rest)
    return spelled if isinstance(rest[0], int) else f".{spelled}"


def _flaw_path(path: flat.Path) -> str:
    """A path as :meth:`runwatch.records.record.Record.flaws` writes it."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
