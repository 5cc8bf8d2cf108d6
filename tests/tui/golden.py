"""Screens as text, compared with what the user looked at once.

``REFRESH_GOLDENS=1 pytest tests/tui`` writes the files anew; look at the difference before keeping it.
"""

from __future__ import annotations

import difflib
import os
from itertools import groupby
from pathlib import Path
from typing import Final

GOLDENS: Final = Path(__file__).parent / "goldens"
REFRESH: Final = bool(os.environ.get("REFRESH_GOLDENS"))

_TITLE: Final = "── "
_LIKE: Final = ", like "
_NUMBERS: Final = 6
"""Columns before the text of a row: its number, or those of the first and last of equal rows."""


def check_golden(name: str, text: str) -> None:
    """Compare a screen's text with ``goldens/NAME.txt``, or write that file when goldens are refreshed.

    Of more than three equal rows that follow each other, the file has the first and the number of the rest.

    Raises:
        AssertionError: they differ, with the difference; or there is no such file.
    """
    rows = _folded(_rows(text))
    golden = _golden(name, "".join(f"{row}\n" for row in rows))
    if golden is None:
        raise AssertionError(f"there is no golden {name}.txt yet; the screen shows:\n{text}")
    difference = _difference(name, golden.splitlines(), rows)
    assert not difference, difference


def check_states(name: str, states: dict[str, str]) -> None:
    """Compare a screen in several states with goldens, or write these when goldens are refreshed.

    Args:
        name: Of the screen. Its first state is whole in ``goldens/NAME-STATE.txt``. All others are in
            ``goldens/NAME-states.txt``: a title that names an earlier state, and the numbered rows that differ from it.
        states: What the screen shows by state, all of one size.

    Raises:
        AssertionError: they differ, with all differences; or there is no such file.
    """
    screens = {state: _rows(text) for state, text in states.items()}
    first = next(iter(screens))
    check_golden(f"{name}-{first}", states[first])
    golden = _golden(f"{name}-states", _written(screens))
    if golden is None:
        raise AssertionError(f"there is no golden {name}-states.txt yet")
    expected = _read(golden, {first: screens[first]})
    assert list(expected) == list(screens)
    differences = [_difference(f"{name}-{state}", expected[state], rows) for state, rows in screens.items()]
    assert not any(differences), "\n".join(filter(None, differences))


def _rows(text: str) -> list[str]:
    return [row.rstrip() for row in text.splitlines()]


def _folded(rows: list[str]) -> list[str]:
    folded: list[str] = []
    for row, equal in groupby(rows):
        count = len(list(equal))
        folded += [row, f"  ⋮ {count - 1} more of these"] if count > 3 else [row] * count
    return folded


def _golden(name: str, text: str) -> str | None:
    """What a golden says, ``None`` without the file; ``text`` where goldens are refreshed."""
    file = GOLDENS / f"{name}.txt"
    if REFRESH:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return file.read_text("utf-8") if file.exists() else None


def _difference(name: str, golden: list[str], rows: list[str]) -> str:
    return "\n".join(difflib.unified_diff(golden, rows, f"{name} as it was looked at", f"{name} now", lineterm="", n=1))


def _written(screens: dict[str, list[str]]) -> str:
    """All screens but the first, each by how it differs from that earlier one which it is most like."""
    lines: list[str] = []
    earlier: list[str] = []
    for state, rows in screens.items():
        if earlier:
            changes = {other: _changes(screens[other], rows) for other in earlier}
            like = min(changes, key=lambda other: len(changes[other]))
            lines += [f"{_TITLE}{state}{_LIKE}{like}", *changes[like]]
        earlier.append(state)
    return "".join(f"{line}\n" for line in lines)


def _changes(rows: list[str], changed: list[str]) -> list[str]:
    """The rows that differ, with their numbers from 1, equal ones that follow each other in one line."""
    pairs = enumerate(zip(rows, changed, strict=True), 1)
    lines = []
    for text, equal in groupby(pairs, lambda pair: None if pair[1][0] == pair[1][1] else pair[1][1]):
        numbers = [number for number, _ in equal]
        if text is not None:
            span = f"{numbers[0]}-{numbers[-1]}" if numbers[1:] else str(numbers[0])
            lines.append(f"{span:<{_NUMBERS}}{text}".rstrip())
    return lines


def _read(golden: str, screens: dict[str, list[str]]) -> dict[str, list[str]]:
    """The screens that :func:`_written` wrote, after those given."""
    read = dict(screens)
    for line in golden.splitlines():
        if line.startswith(_TITLE):
            state, _, like = line.removeprefix(_TITLE).partition(_LIKE)
            rows = read[state] = list(read[like])
        else:
            first, _, last = line[:_NUMBERS].strip().partition("-")
            for number in range(int(first), int(last or first) + 1):
                rows[number - 1] = line[_NUMBERS:]
    return read
