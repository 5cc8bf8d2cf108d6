"""The account with ways from its numbers to what they count. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from runwatch.records.account import Account
from runwatch.settings.session import View
from runwatch.view.detail import Section, sections
from runwatch.view.format import Context
from runwatch.view.resources.account import ACCOUNT

LEADS: Final[Mapping[str, View]] = {
    "runs": View("runs"),
    "live now": View("runs", filter="is:live"),
    "requests/min": View("requests"),
    "balance": View("receipts"),
    "key": View("keys"),
}
"""What lines of the account lead to, by their labels."""

_LEADING: Final = frozenset({"Left", "Account"})
"""Sections whose lines lead somewhere."""


def account_sections(account: Account, context: Context) -> list[Section]:
    """An account, ready to draw: what is left first, then every member."""
    return [
        replace(part, lines=tuple(replace(one, target=LEADS.get(one.label)) for one in part.lines))
        if part.title in _LEADING
        else part
        for part in sections(ACCOUNT, account, context)
    ]
