"""Two records beside each other: every value by its path, and whether they share it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runwatch.base.json import dumps
from runwatch.view.text import json_paths
from runwatch.view.text.safe_text import SafeText, block, json_text, line


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that two records do not share.

    Attributes:
        path: Where it stands, spelled with dots and brackets.
        left: The first one's value; :data:`runwatch.view.text.json_paths.MISSING` where it has none.
        right: The same of the second.
    """

    path: str
    left: Any
    right: Any

    @property
    def raw(self) -> dict[str, Any]:
        """As JSON: a side without the value leaves its member out, which is something else than ``null``."""
        sides = {"path": self.path, "left": self.left, "right": self.right}
        return {name: value for name, value in sides.items() if value is not json_paths.MISSING}


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One value of two records, ready to draw.

    Attributes:
        path: Where it stands.
        left: The first one's value; ``None`` where it has none, which is something else than ``null``.
        right: The same of the second.
        differs: Whether they are not the same.
    """

    path: SafeText
    left: SafeText | None
    right: SafeText | None
    differs: bool


def compare_records(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[ComparedValue]:
    """Every value of two decoded records, in the order of :func:`diff_records`."""
    return [
        ComparedValue(line(json_paths.format_path(path), None), _shown(one), _shown(other), _differ(one, other))
        for path, one, other in _pairs(left, right)
    ]


def _shown(value: Any) -> SafeText | None:
    return None if value is json_paths.MISSING else block(json_text(value))


def diff_records(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    """Where two decoded records differ, in the order of the first, then what only the second has.

    Objects in arrays are compared by their position, arrays of plain values as a whole, and numbers as they were sent:
    0.10 is not 0.1.
    """
    for path, one, other in _pairs(left, right):
        if _differ(one, other):
            yield Difference(json_paths.format_path(path), one, other)


def _pairs(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[tuple[json_paths.JsonPath, Any, Any]]:
    first = dict(json_paths.iter_leaves(left, lists=True))
    second = dict(json_paths.iter_leaves(right, lists=True))
    for path in {**first, **second}:
        # An empty record is a leaf of its own without a path.
        if path:
            yield path, first.get(path, json_paths.MISSING), second.get(path, json_paths.MISSING)


def _differ(one: Any, other: Any) -> bool:
    return json_paths.MISSING in (one, other) or dumps(one) != dumps(other)
