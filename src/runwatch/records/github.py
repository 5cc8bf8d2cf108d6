"""GitHub connections and their intents (manual: interface, "Credentials, GitHub connections and webhooks").

Only the local service lists connections.
"""

from __future__ import annotations

from runwatch.records.record import Record, Wire, moment, text


class GithubConnection(Record):
    """A connected repository; ``verification`` says whether a GitHub App verifies it."""

    KIND = "github"
    WIRE = Wire("/v1/github-connections", "connections", "connection_id")

    connection_id = text()
    repository = text()
    status = text()
    verification = text()
    created_at = moment()


class GithubIntent(Record):
    """A one-time permission to connect a repository on a private page; ``continue_url`` is a secret."""

    KIND = "github_intent"

    intent_id = text()
    continue_url = text()
    expires_at = moment()
