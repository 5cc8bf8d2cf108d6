"""Lists say in words why something cannot be used, and details add the code."""

from __future__ import annotations

import pytest

from runwatch.view.problems.status_reasons import detail_status_reason, status_reason_cell
from runwatch.view.text.styled_text import with_role
from tests.view.strategies import CONTEXT


@pytest.mark.parametrize(
    ("reason", "cell", "detail"),
    [
        ("connection_expired", "its key has expired", "its key has expired (connection_expired)"),
        ("domain_expired", "domain expired", "domain expired (domain_expired)"),
        ("Retired by its provider.", "Retired by its provider.", "Retired by its provider."),
        ("\x1b[2J", "␛[2J", "␛[2J"),
    ],
)
def test_a_code_is_said_in_words(reason: str, cell: str, detail: str) -> None:
    assert status_reason_cell(reason, CONTEXT) == cell
    assert with_role(detail_status_reason(reason, CONTEXT)).text == detail
