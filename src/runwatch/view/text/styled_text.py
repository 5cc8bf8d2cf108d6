"""Safe text with the role that colours it."""

from __future__ import annotations

from typing import NamedTuple

from runwatch.view.text.glyphs import Glyphs, Role
from runwatch.view.text.safe_text import SafeText, line


class StyledText(NamedTuple):
    text: SafeText
    role: Role = Role.PLAIN


CellText = SafeText | StyledText


def with_role(shown: CellText) -> StyledText:
    """Return text with its role; plain if it has none."""
    return shown if isinstance(shown, StyledText) else StyledText(shown)


def signed(text: str, role: Role, glyphs: Glyphs) -> StyledText:
    """Return text with the sign of its role before it, uncut."""
    return StyledText(line(f"{glyphs.sign(role)} {text}", None), role)
