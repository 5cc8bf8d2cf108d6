"""Compare two records: every value by its path, and whether both have the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runwatch.base.json import dumps
from runwatch.records.receipt import Receipt
from runwatch.records.spend import AMOUNTS, TOKENS, unknown_calls, unknown_token_calls
from runwatch.view.text import json_paths
from runwatch.view.text.format import UNKNOWN, counted
from runwatch.view.text.safe_text import SafeText, block, json_text, line


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that differs between two records, by its path with dots and brackets; in a record without it, it is
    :data:`runwatch.view.text.json_paths.MISSING`.
    """

    path: str
    left: Any
    right: Any

    @property
    def raw(self) -> dict[str, Any]:
        """As JSON. A side without the value omits its member, which differs from ``null``."""
        sides = {"path": self.path, "left": self.left, "right": self.right}
        return {name: value for name, value in sides.items() if value is not json_paths.MISSING}


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One value of two records as safe text: of an object or array whose parts are compared one by one, how many it
    has; ``None`` if there is none, which differs from ``null``.
    """

    path: SafeText
    left: SafeText | None
    right: SafeText | None
    differs: bool


def compare_records(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[ComparedValue]:
    """Compare every value of two decoded records, in the order of :func:`diff_records`; what differs only by the ids of
    the records, such as their links, comes last.

    A sum that lacks calls of unknown cost or tokens is shown as ``unknown`` or ``at least`` its known part, and differs
    from the same number elsewhere that is complete.
    """
    pairs = list(_pairs(left, right))
    ids = next(((one, two) for path, one, two in pairs if _is_own_id(path) and _differ(one, two)), ("", ""))
    pairs.sort(key=lambda pair: _repeats_ids(ids, *pair[1:]))
    return [
        ComparedValue(line(json_paths.format_path(path), None), mine, other, _differ(one, two) or mine != other)
        for path, one, two in pairs
        for mine, other in [(_shown(left, path, one), _shown(right, path, two))]
    ]


def _is_own_id(path: json_paths.JsonPath) -> bool:
    return len(path) == 1 and str(path[0]).endswith("id")


def _repeats_ids(ids: tuple[Any, Any], one: Any, other: Any) -> bool:
    mine, theirs = ids
    if not all(isinstance(text, str) and text for text in (mine, theirs, one, other)):
        return False
    return bool(one != other and str(one).replace(mine, theirs) == other)


def _shown(record: Mapping[str, Any], path: json_paths.JsonPath, value: Any) -> SafeText | None:
    if value is json_paths.MISSING:
        return _count_parts(json_paths.get_at(record, path))
    shown = block(json_text(value))
    if path[-1] not in AMOUNTS | TOKENS:
        return shown
    holder = json_paths.get_at(record, path[:-1])
    if not isinstance(holder, Mapping):
        return shown
    if path == ("totals", "usd") and "slices" in record:
        # The totals of a receipt of version 0.1.0 have no count of calls of unknown cost.
        unknown = Receipt(dict(record)).unknown_calls
    else:
        unknown = (unknown_calls if path[-1] in AMOUNTS else unknown_token_calls)(holder)
    if not unknown:
        return shown
    return line(f"at least {shown}" if value else UNKNOWN)


def _count_parts(whole: Any) -> SafeText | None:
    """Return how many parts a value has that is compared part by part; ``None`` if it is missing."""
    if not isinstance(whole, (Mapping, list)):
        return None
    return counted(len(whole), "member" if isinstance(whole, Mapping) else "item")


def diff_records(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield the differences between two decoded records: in the order of the first, then what only the second has.

    Objects in arrays are compared by position, arrays of plain values as a whole, and numbers as sent: 0.10 differs
    from 0.1.
    """
    for path, mine, other in _pairs(left, right):
        if _differ(mine, other):
            yield Difference(json_paths.format_path(path), _whole(left, path, mine), _whole(right, path, other))


def _pairs(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[tuple[json_paths.JsonPath, Any, Any]]:
    first = dict(json_paths.iter_leaves(left, lists=True))
    second = dict(json_paths.iter_leaves(right, lists=True))
    for path in {**first, **second}:
        # An empty record is a leaf without a path.
        if path:
            yield path, first.get(path, json_paths.MISSING), second.get(path, json_paths.MISSING)


def _whole(record: Mapping[str, Any], path: json_paths.JsonPath, value: Any) -> Any:
    """Return the value; where the other record has a plain one, the object or array that is there instead."""
    return json_paths.get_at(record, path) if value is json_paths.MISSING else value


def _differ(one: Any, other: Any) -> bool:
    return json_paths.MISSING in (one, other) or dumps(one) != dumps(other)
