"""The private page on which an owner records a GitHub repository as connected; ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.service.access import entry
from runwatch.service.access.entry import Intent
from runwatch.service.http.call import Call
from runwatch.service.http.pages import Field
from runwatch.service.models import github
from runwatch.service.transaction import Transaction


class GithubEntry:
    """The page on which an owner records a repository as connected."""

    title = "Connect a GitHub repository"
    button = "Record as connected"

    def facts(self, intent: Intent) -> list[tuple[str, str]]:
        """The repository."""
        return [("Repository", intent.subject_id)]

    def sentences(self, intent: Intent) -> list[str]:
        """What a person has to know before they record it."""
        return [
            "No GitHub App is installed on this service, so it cannot ask GitHub whether this repository is yours.",
            "You can record it as connected. It will be labelled unverified, and nothing is sent to GitHub.",
        ]

    def fields(self, intent: Intent) -> list[Field]:
        """Nothing is entered."""
        return []

    async def complete(self, call: Call, token: str, intent: Intent, fields: Mapping[str, str]) -> dict[str, Any]:
        """Record the repository."""

        def effect(transaction: Transaction) -> dict[str, Any]:
            used = entry.use(transaction, github.ENTRY, token)
            return github.connection_form(
                github.record(transaction, used.tenant_id, used.subject_id, used.principal_id)
            )

        return await call.context.database.write(effect)

    def done(self, intent: Intent) -> list[str]:
        """What happened."""
        return [
            f"{intent.subject_id} is recorded as connected, unverified.",
            "Go back to the console: its list of GitHub connections shows it.",
        ]


ENTRIES: Final = {github.ENTRY: GithubEntry()}
"""The kind of entry that this page serves."""
