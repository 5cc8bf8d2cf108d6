"""``agents register`` and ``github connect``: what asynchronous coding agents need (wire reference 2.13 and 2.14)."""

from __future__ import annotations

from typing import Final

from runwatch.commands.call import Call
from runwatch.commands.entry import tell_intent
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session
from runwatch.commands.writing import body_from, given_key, need, with_given, write, writing
from runwatch.records.agent import ReviewAgent
from runwatch.records.github import GithubIntent
from runwatch.view.resources.reviews import AGENTS

REGISTER: Final = "postReviewComposerAgents"
CONNECT: Final = "postGithubConnectionsIntents"

RUNTIME_S: Final = 1800
"""How long an agent may work on a run unless it is said otherwise, in seconds; ours."""


def register(call: Call) -> int:
    """``agents register``: register an agent for a connected repository."""
    options, key = call.options, given_key(call)
    body = with_given({"max_runtime_s": RUNTIME_S} | body_from(call), {
        "repository": options.repository,
        "display_name": options.name,
        "max_runtime_s": options.max_runtime_s,
    })  # fmt: skip
    if options.url is not None:
        body["endpoint"] = {"url": options.url, "auth_ref": options.auth_ref or ""}
    need(body, {"repository": "--repository", "display_name": "--name", "endpoint": "--url"})

    async def work(session: Session) -> int:
        value = await write(session, REGISTER, f"register {body['display_name']}", body=body, key=key)
        print_record(session, AGENTS, as_record(ReviewAgent, value))
        return 0

    return writing(call, REGISTER, work)


def connect(call: Call) -> int:
    """``github connect``: begin to connect a repository; a person completes it on a private page."""
    repository, key = call.options.repository, given_key(call)

    async def work(session: Session) -> int:
        value = await write(session, CONNECT, f"connect {repository}", body={"repository": repository}, key=key)
        tell_intent(call, as_record(GithubIntent, value), "runwatch github list shows the repository once that is done")
        return 0

    return writing(call, CONNECT, work)
