"""``account``: identity, quota and balance of the caller."""

from __future__ import annotations

from typing import Final

from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.record_printer import print_record
from runwatch.commands.shared.record_reader import parse_record_of_kind
from runwatch.commands.shared.secret_entry import print_intent
from runwatch.commands.shared.session import CommandSession, in_session
from runwatch.commands.shared.writes import send_write, writes
from runwatch.records.account import TopUpIntent
from runwatch.view.resources.account import ACCOUNT

TOP_UP: Final = "postAccountTopUpIntents"


def account(call: Invocation) -> int:
    """``account``: print the account of the key, or start adding sample credit."""
    return _show(call) if call.options.top_up is None else _top_up(call)


@in_session
async def _show(session: CommandSession) -> int:
    print_record(session, ACCOUNT, await session.client.get_account())
    return 0


@writes(TOP_UP)
async def _top_up(session: CommandSession) -> int:
    call = session.call
    value = await send_write(session, TOP_UP, "add sample credit", body={"amount_usd": call.options.top_up})
    intent = parse_record_of_kind(TopUpIntent, value)
    print_intent(session, intent, "'runwatch account' shows the balance once that is done")
    return 0
