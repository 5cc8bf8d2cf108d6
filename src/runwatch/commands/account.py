"""``account``: who the service thinks the caller is, and what is left to spend."""

from __future__ import annotations

from typing import Final

from runwatch.commands.call import Call
from runwatch.commands.entry import tell_intent
from runwatch.commands.printing import Printer
from runwatch.commands.resources import as_record
from runwatch.commands.session import Session, with_session
from runwatch.commands.writing import write, writing
from runwatch.records.account import TopUpIntent
from runwatch.view.resources.account import ACCOUNT

TOP_UP: Final = "postAccountTopUpIntents"


def account(call: Call) -> int:
    """``account``: print the account behind the key, or begin to add sample credit to it."""
    if call.options.top_up is not None:
        return _top_up(call, call.options.top_up)

    async def work(session: Session) -> int:
        found = await session.client.get_account()
        Printer(call, session.settings, ACCOUNT).record(found, found.raw)
        return 0

    return with_session(call, work)


def _top_up(call: Call, usd: float) -> int:
    async def work(session: Session) -> int:
        value = await write(session, TOP_UP, "add sample credit", body={"amount_usd": usd})
        tell_intent(call, as_record(TopUpIntent, value), "runwatch account shows the balance once that is done")
        return 0

    return writing(call, TOP_UP, work)
