"""The private page on which an owner records a GitHub repository as connected. Not in the specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.service.access import private_entry
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.http.endpoints import AuthenticatedRequest
from runwatch.service.http.html_pages import PageInput
from runwatch.service.models import github
from runwatch.service.transaction import Transaction


class GithubPage:
    """The page on which an owner records a repository as connected."""

    title = "Connect a GitHub repository"
    button = "Record as connected"

    def facts(self, intent: EntryIntent) -> list[tuple[str, str]]:
        """Return the repository."""
        return [("Repository", intent.subject_id)]

    def sentences(self, intent: EntryIntent) -> list[str]:
        """Return what the user must know before recording it."""
        return [
            "No GitHub App is installed on this service, so it cannot ask GitHub whether this repository is yours.",
            "You can record it as connected. It will be labelled unverified, and nothing is sent to GitHub.",
        ]

    def fields(self, intent: EntryIntent) -> list[PageInput]:
        """Return no inputs."""
        return []

    async def complete(
        self, call: AuthenticatedRequest, token: str, intent: EntryIntent, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """Record the repository."""

        def effect(transaction: Transaction) -> dict[str, Any]:
            used = private_entry.use(transaction, github.ENTRY, token)
            return github.connection_json(
                github.record(transaction, used.tenant_id, used.subject_id, used.principal_id)
            )

        return await call.context.database.write(effect)

    def done(self, intent: EntryIntent) -> list[str]:
        """Return what happened."""
        return [
            f"{intent.subject_id} is recorded as connected, unverified.",
            "Go back to the console: its list of GitHub connections shows it.",
        ]


ENTRIES: Final = {github.ENTRY: GithubPage()}
