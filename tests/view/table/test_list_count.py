"""How much of a list is shown and was read."""

from __future__ import annotations

import pytest

from runwatch.view.table.list_count import list_count_text
from runwatch.view.text.glyphs import UNICODE


@pytest.mark.parametrize(
    ("shown", "read", "is_whole", "goes_on", "total", "text"),
    [
        (400, 400, True, False, None, "400"),
        (3, 400, True, False, 400, "3 of 400"),
        (100, 100, False, True, None, "100 so far"),
        (100, 100, False, True, 5000, "100 of 5,000"),
        (100, 100, False, True, 99, "100 so far"),
        (3, 400, False, True, None, "3 of 400 read · service has more"),
        (3, 400, False, True, 5000, "3 of 400 read · 5,000 in all"),
        (3, 400, False, False, None, "3 of 400 so far"),
    ],
)
def test_a_count_says_what_it_is_a_part_of(
    shown: int, read: int, *, is_whole: bool, goes_on: bool, total: int | None, text: str
) -> None:
    assert list_count_text(shown, read, UNICODE, is_whole=is_whole, goes_on=goes_on, total=total) == text
