"""Two records beside each other: every value in which they differ, by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runwatch.base.json import dumps
from runwatch.view import flat


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that two records do not share.

    Attributes:
        path: Where it stands, spelled with dots and brackets.
        left: The first one's value; :data:`runwatch.view.flat.MISSING` where it has none.
        right: The same of the second.
    """

    path: str
    left: Any
    right: Any

    @property
    def raw(self) -> dict[str, Any]:
        """As JSON: a side without the value leaves its member out, which is something else than ``null``."""
        sides = {"path": self.path, "left": self.left, "right": self.right}
        return {name: value for name, value in sides.items() if value is not flat.MISSING}


def differences(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    """Where two decoded records differ, in the order of the first, then what only the second has.

    Objects in arrays are compared by their position, arrays of plain values as a whole, and numbers as they were sent:
    0.10 is not 0.1.
    """
    first = dict(flat.leaves(left, lists=True))
    second = dict(flat.leaves(right, lists=True))
    for path in {**first, **second}:
        one, other = first.get(path, flat.MISSING), second.get(path, flat.MISSING)
        # An empty record is a leaf of its own without a path.
        if path and (flat.MISSING in (one, other) or dumps(one) != dumps(other)):
            yield Difference(flat.spell(path), one, other)
