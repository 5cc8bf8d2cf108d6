"""``github connect``: connect a repository for review agents (manual: interface, "Credentials, GitHub connections and
webhooks").
"""

from __future__ import annotations

from typing import Final

from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.record_reader import parse_record_of_kind
from runwatch.commands.shared.secret_entry import print_intent
from runwatch.commands.shared.session import CommandSession
from runwatch.commands.shared.writes import read_idempotency_key, run_write, send_write
from runwatch.records.github import GithubIntent

CONNECT: Final = "postGithubConnectionsIntents"


def connect(call: Invocation) -> int:
    """``github connect``: start connecting a repository; the user completes it on a private page."""
    repository, key = call.options.repository, read_idempotency_key(call)

    async def work(session: CommandSession) -> int:
        value = await send_write(session, CONNECT, f"connect {repository}", body={"repository": repository}, key=key)
        intent = parse_record_of_kind(GithubIntent, value)
        print_intent(session, intent, "'runwatch github list' shows the repository once that is done")
        return 0

    return run_write(call, CONNECT, work)
