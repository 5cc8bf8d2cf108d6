"""The account with links from its numbers to what they count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from runwatch.records.account import Account
from runwatch.settings.view_state import ViewState
from runwatch.view.detail.sections import DetailSection, build_sections
from runwatch.view.resources.account import ACCOUNT
from runwatch.view.text.format import RenderContext

LEADS: Final[Mapping[str, ViewState]] = {
    "runs": ViewState("runs"),
    "live now": ViewState("runs", filter="is:live"),
    "requests/min": ViewState("requests"),
    "balance": ViewState("receipts"),
    "key": ViewState("keys"),
}
"""Link targets of account lines by label."""

_LEADING: Final = frozenset({"Left", "Account"})
"""Sections whose lines are links."""


def account_sections(account: Account, context: RenderContext) -> list[DetailSection]:
    """Return the sections of an account: limits first, then every member."""
    return [
        replace(part, lines=tuple(replace(one, target=LEADS.get(one.label)) for one in part.lines))
        if part.title in _LEADING
        else part
        for part in build_sections(ACCOUNT, account, context)
    ]
