"""How much of a list is shown and was read, for the frame of the list."""

from __future__ import annotations

from runwatch.view.text.format import grouped_number
from runwatch.view.text.glyphs import Glyphs
from runwatch.view.text.safe_text import SafeText, line


def list_count_text(
    shown: int, read: int, glyphs: Glyphs, *, is_whole: bool, goes_on: bool = False, total: int | None = None
) -> SafeText:
    """Return the number of records, and what it is a part of.

    Args:
        shown: Records that the filter leaves.
        read: Records known here.
        is_whole: Whether these are all.
        goes_on: Whether the service has more that can be read.
        total: Number of all records, where the service says it.
    """
    is_filtered = shown != read
    number = f"{grouped_number(shown)} of {grouped_number(read)}" if is_filtered else f"{grouped_number(read)}"
    if is_whole:
        return line(number)
    of_total = "" if total is None or total <= read else f"{grouped_number(total)}"
    if not is_filtered:
        return line(f"{number} of {of_total}" if of_total else f"{number} so far")
    if not goes_on:
        return line(f"{number} so far")
    rest = f"{of_total} in all" if of_total else "service has more"
    return line(f"{number} read {glyphs.dot} {rest}")
