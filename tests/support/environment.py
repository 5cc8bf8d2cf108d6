"""The environment that tests and the programs they start live in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_FOREIGN: Final = re.compile(
    r"(RUNWATCH|SOLVERAPI|TEXTUAL)_.*|(.*_)?PROXY|NO_COLOR|FORCE_COLOR|COLORTERM|COLUMNS|LINES|TMUX|SSL_CERT_(FILE|DIR)",
    re.IGNORECASE,
)


def is_foreign(name: str) -> bool:
    """Whether a variable of the surrounding environment could change what a test sees."""
    return _FOREIGN.fullmatch(name) is not None


def places(home: Path) -> dict[str, str]:
    """Variables that keep home, settings and data inside one directory."""
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "RUNWATCH_CONFIG": str(home / "settings.toml"),
        "RUNWATCH_DATA_DIR": str(home / "runwatch-data"),
    }


def clean_environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a program that a test starts: the surrounding one without foreign variables, plus ``more``."""
    kept = {name: value for name, value in os.environ.items() if not is_foreign(name)}
    return {**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", **places(home), **(more or {})}
