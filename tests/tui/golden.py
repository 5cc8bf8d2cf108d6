"""Screens as text, compared with what the user looked at once.

``REFRESH_GOLDENS=1 pytest tests/tui`` writes the files anew; look at the difference before keeping it.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Final

GOLDENS: Final = Path(__file__).parent / "goldens"
REFRESH: Final = bool(os.environ.get("REFRESH_GOLDENS"))


def check_golden(name: str, text: str, *, same_as: str = "") -> None:
    """Compare a screen's text with ``goldens/NAME.txt``, or write that file when goldens are refreshed.

    Args:
        name: The golden.
        text: What the screen shows.
        same_as: The golden that counts where this one has no file, because both screens look alike.

    Raises:
        AssertionError: they differ, with the difference; or there is no such file.
    """
    file = GOLDENS / f"{name}.txt"
    other = GOLDENS / f"{same_as}.txt"
    text = "".join(f"{row.rstrip()}\n" for row in text.splitlines())
    if REFRESH:
        if same_as and name != same_as and other.exists() and other.read_text("utf-8") == text:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return
    if same_as and not file.exists():
        file = other
    if not file.exists():
        raise AssertionError(f"there is no golden {file.name} yet; the screen shows:\n{text}")
    golden = file.read_text("utf-8")
    if text != golden:
        difference = difflib.unified_diff(
            golden.splitlines(), text.splitlines(), f"{name} as it was looked at", f"{name} now", lineterm="", n=1
        )
        raise AssertionError("\n".join(difference))
