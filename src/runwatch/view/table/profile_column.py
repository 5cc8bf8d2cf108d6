"""The profile of each record, for lists with records of several profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from runwatch.view.spec.resource import Column, ResourceSpec

PROFILE: Final = "profile"
"""Name of the column, the CSV column and the JSON member."""


def move_profile_column_first(spec: ResourceSpec[Any]) -> ResourceSpec[Any]:
    """Put the profile column first, never hidden, for a resource whose records name their profile themselves."""
    own = spec.column(PROFILE)
    assert own is not None
    shown = replace(own, hide_order=0, hide_if_empty=False, is_extra=False, min_cells=7, max_cells=16, whole_first=True)
    return _put_first(spec, shown)


def _put_first(spec: ResourceSpec[Any], profiles: Column[Any]) -> ResourceSpec[Any]:
    return replace(spec, columns=(profiles, *(column for column in spec.columns if column.id != PROFILE)))


class RecordProfiles:
    """The profile of each subject of a list.

    Keyed by object identity, because templates of two profiles may have the same id. Subjects are kept alive, so an
    identity is never reused.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}

    def add(self, subject: Any, profile: str) -> None:
        self._known[id(subject)] = (subject, profile)

    def of(self, subject: Any) -> str:
        """Return the profile of a subject; empty if unknown."""
        return self._known.get(id(subject), (None, ""))[1]

    def clear(self) -> None:
        self._known.clear()

    def add_column(self, spec: ResourceSpec[Any]) -> ResourceSpec[Any]:
        """Put the profile column first, replacing any column of the same name."""
        shown: Column[Any] = Column(
            id=PROFILE,
            title=PROFILE,
            value=lambda it: self.of(it) or None,
            min_cells=6,
            max_cells=16,
            is_pure=False,
            whole_first=True,
        )
        return _put_first(spec, shown)
