"""How the members of a record are drawn in its detail."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import detail_seconds, detail_state, detail_time, detail_usd
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import StyledText
from tests.view.strategies import CONTEXT


@pytest.mark.parametrize("draw", [detail_state, detail_time, detail_usd, detail_seconds])
def test_a_member_without_a_value_is_a_dash_and_a_list_is_shown_as_sent(draw: Any) -> None:
    assert draw(None, CONTEXT) == StyledText(line("–"), Role.QUIET)
    assert str(draw(["x"], CONTEXT)) == '["x"]'
