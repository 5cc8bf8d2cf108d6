"""``account``: identity, quota and balance of the caller."""

from __future__ import annotations

from typing import Final

from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.resources import parse_record_of_kind
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.secret_entry import print_intent
from runwatch.commands.shared.session import CommandSession, run_in_session
from runwatch.commands.shared.writes import run_write, send_write
from runwatch.records.account import TopUpIntent
from runwatch.view.resources.account import ACCOUNT

TOP_UP: Final = "postAccountTopUpIntents"


def account(call: Invocation) -> int:
    """``account``: print the account of the key, or start adding sample credit."""
    if call.options.top_up is not None:
        return _top_up(call, call.options.top_up)

    async def work(session: CommandSession) -> int:
        found = await session.client.get_account()
        RecordPrinter(call, session.settings, ACCOUNT).record(found, found.raw)
        return 0

    return run_in_session(call, work)


def _top_up(call: Invocation, usd: float) -> int:
    async def work(session: CommandSession) -> int:
        value = await send_write(session, TOP_UP, "add sample credit", body={"amount_usd": usd})
        print_intent(
            call, parse_record_of_kind(TopUpIntent, value), "runwatch account shows the balance once that is done"
        )
        return 0

    return run_write(call, TOP_UP, work)
