"""Environment variables of programs of the user that runwatch starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_OURS: Final = "RUNWATCH_"
"""Prefix of runwatch's own variables, service keys among them."""


def without_own_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a browser, an editor, a pager or a clipboard tool: all but runwatch's own."""
    return {name: value for name, value in environment.items() if not name.startswith(_OURS)}
