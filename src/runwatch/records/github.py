"""GitHub connections and the intents that begin them (specification, GitHub connection intent request).

The answer to an intent follows that of the other intents (wire reference 2.14). The list of connections is an
operation of the local service alone.
"""

from __future__ import annotations

from runwatch.records.record import Record, Wire, moment, text


class GithubConnection(Record):
    """A repository that somebody connected; ``verification`` says whether a GitHub App vouches for it."""

    KIND = "github"
    WIRE = Wire("/v1/github-connections", "connections", "connection_id")

    connection_id = text("connection_id")
    repository = text("repository")
    status = text("status")
    verification = text("verification")
    created_at = moment("created_at")


class GithubIntent(Record):
    """A one-time permission to connect a repository on a private page; ``continue_url`` is a secret."""

    KIND = "github_intent"

    intent_id = text("intent_id")
    continue_url = text("continue_url")
    expires_at = moment("expires_at")
