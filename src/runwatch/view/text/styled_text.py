"""Safe text with the role that colours it."""

from __future__ import annotations

from typing import NamedTuple

from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText


class StyledText(NamedTuple):
    text: SafeText
    role: Role = Role.PLAIN


CellText = SafeText | StyledText


def with_role(shown: CellText) -> StyledText:
    """Return text with its role; plain if it has none."""
    return shown if isinstance(shown, StyledText) else StyledText(shown)
