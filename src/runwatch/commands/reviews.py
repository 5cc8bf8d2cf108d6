"""``github connect``: connect a repository for review agents (wire reference 2.14)."""

from __future__ import annotations

from typing import Final

from runwatch.commands.call import Call
from runwatch.commands.entry import tell_intent
from runwatch.commands.resources import as_record
from runwatch.commands.session import Session
from runwatch.commands.writing import given_key, write, writing
from runwatch.records.github import GithubIntent

CONNECT: Final = "postGithubConnectionsIntents"


def connect(call: Call) -> int:
    """``github connect``: begin to connect a repository; a person completes it on a private page."""
    repository, key = call.options.repository, given_key(call)

    async def work(session: Session) -> int:
        value = await write(session, CONNECT, f"connect {repository}", body={"repository": repository}, key=key)
        tell_intent(call, as_record(GithubIntent, value), "runwatch github list shows the repository once that is done")
        return 0

    return writing(call, CONNECT, work)
