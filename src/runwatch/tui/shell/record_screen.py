"""The screen of a list, as the flows that are started from it know it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from runwatch.tui.shell.console_screen import ConsoleScreen

if TYPE_CHECKING:
    from runwatch.tui.widgets.lists.record_table import RecordTable
    from runwatch.view.export.file_formats import FileFormat
    from runwatch.view.problems.copy_options import CopyOption
    from runwatch.view.spec.resource import ResourceSpec
    from runwatch.view.table.rows import RecordRow


class RecordScreen(ConsoleScreen):
    """Abstract screen with a list and the record at the cursor, for flows started from it."""

    HAS_SEVERAL_PROFILES: ClassVar[bool] = False
    """Whether its rows are of several profiles, so that nothing may be done with one before its profile is open."""

    spec: ResourceSpec[Any]
    compared: RecordRow[Any] | None

    @property
    def table(self) -> RecordTable:
        raise NotImplementedError

    @property
    def row(self) -> RecordRow[Any] | None:
        raise NotImplementedError

    def marked_rows(self) -> list[RecordRow[Any]]:
        """Return the marked rows that are shown; those that the filter hides keep their marks, and do not count."""
        raise NotImplementedError

    def selected_rows(self) -> list[RecordRow[Any]]:
        """Return the marked rows, or the one at the cursor if none is marked."""
        raise NotImplementedError

    def unmark(self, keys: Collection[str]) -> None:
        """Take the marks off these rows, even if another screen is in front."""
        raise NotImplementedError

    def rows_to_export(self) -> list[RecordRow[Any]]:
        """Return the marked rows, or all visible rows if none is marked."""
        raise NotImplementedError

    def all_rows(self) -> Sequence[RecordRow[Any]]:
        """Return the rows of the list, including those that the filter hides."""
        raise NotImplementedError

    @property
    def filter_text(self) -> str:
        raise NotImplementedError

    def filter_by(self, text: str) -> bool:
        raise NotImplementedError

    def export_pieces(self, form: FileFormat, rows: Sequence[RecordRow[Any]]) -> Iterator[str]:
        raise NotImplementedError

    def read_source(self) -> None:
        raise NotImplementedError

    def copies_in_focus(self) -> Iterable[CopyOption]:
        """Return what can be copied from the focused pane in addition to the record."""
        raise NotImplementedError

    def select_record(self, key: str, *, opened: bool = False) -> None:
        """Select a row once it is listed, and open it if requested; a filter that hides it is removed."""
        raise NotImplementedError
