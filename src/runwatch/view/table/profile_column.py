"""The profile that each record of a list came by, where one list holds the records of several profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from runwatch.view.spec.resource import Column, ResourceSpec

PROFILE: Final = "profile"
"""The name of the column, of the CSV column and of the JSON member."""


def move_profile_column_first(spec: ResourceSpec[Any]) -> ResourceSpec[Any]:
    """A resource whose records name their profile themselves, with that column in front, where it never leaves."""
    own = spec.column(PROFILE)
    assert own is not None
    rest = tuple(column for column in spec.columns if column is not own)
    return replace(spec, columns=(replace(own, hide_order=0, min_cells=7, max_cells=16), *rest))


class RecordProfiles:
    """Whose each subject of a list is.

    Profiles are told apart by the object, not by its id: templates of two profiles may well have the same id. The
    subjects are kept, so that no other object ever takes the place of one.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}

    def note(self, subject: Any, profile: str) -> None:
        """Remember whose a subject is."""
        self._known[id(subject)] = (subject, profile)

    def of(self, subject: Any) -> str:
        """The profile of a subject; empty for one that nobody told about."""
        return self._known.get(id(subject), (None, ""))[1]

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()

    def column(self) -> Column[Any]:
        """The column that names the profile."""
        return Column(id=PROFILE, title=PROFILE, value=lambda it: self.of(it) or None, min_cells=6, max_cells=16)

    def add_column(self, spec: ResourceSpec[Any]) -> ResourceSpec[Any]:
        """The resource with that column in front; a column of its own that is called so gives way."""
        rest = tuple(column for column in spec.columns if column.id != PROFILE)
        return replace(spec, columns=(self.column(), *rest))
