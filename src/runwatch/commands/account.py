"""``account``: who the service thinks the caller is, and what is left to spend."""

from __future__ import annotations

from runwatch.commands.call import Call
from runwatch.commands.printing import Printer
from runwatch.commands.session import Session, with_session
from runwatch.view.resources.account import ACCOUNT


def account(call: Call) -> int:
    """``account``: print the account behind the key."""

    async def work(session: Session) -> int:
        found = await session.client.get_account()
        Printer(call, session.settings, ACCOUNT).record(found, found.raw)
        return 0

    return with_session(call, work)
