"""The console's screens by name, for those who only name them."""

from __future__ import annotations

from typing import Final

PAGES: Final = ("overview", "settings", "tail", "around", "codes", "account", "usage", "compliance")
"""Screens that show no list of one resource."""


def screen_names() -> tuple[str, ...]:
    """Every name that ``--open`` and the setting ``home_screen`` take."""
    from runwatch.view.registry import RESOURCES

    return tuple(dict.fromkeys((*(spec.name for spec in RESOURCES if spec.has_screen), *PAGES)))
