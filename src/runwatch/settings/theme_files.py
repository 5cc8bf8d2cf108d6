"""Locations and names of theme files, without reading them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from runwatch.base.lazy_pattern import lazy_pattern

PLAIN_NAME: Final = "runwatch-plain"
"""The theme without colours, which needs no file."""

_NAME: Final = lazy_pattern(r"[a-z0-9][a-z0-9-]{0,40}\Z")


def is_theme_name(text: str) -> bool:
    """Return whether a theme may have this name."""
    return _NAME.match(text) is not None


def theme_directories(*more: Path) -> tuple[Path, ...]:
    """Return the directories of theme files: those given, later ones first, then the shipped one."""
    package = Path(__file__).resolve().parents[1]
    # Beside the package in a wheel, at the root of the project in a checkout.
    shipped = next((each for each in (package / "themes", package.parents[1] / "themes") if each.is_dir()), None)
    return (*reversed(more), *([shipped] if shipped else []))


def theme_names(directories: Sequence[Path]) -> tuple[str, ...]:
    """Return the names of all themes, in alphabetical order."""
    files = (file.stem for place in directories if place.is_dir() for file in place.glob("*.toml"))
    return tuple(sorted({PLAIN_NAME, *(name for name in files if is_theme_name(name))}))
