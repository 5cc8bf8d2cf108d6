"""Bodies for repair proposals (manual: interface, "Proposals")."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from runwatch.records.requests.body import OpenBody

REASON_CHARACTERS: Final = 2000
"""Maximum length of a reason. Not in the specification."""


class ProposalRejection(OpenBody):
    """The body of ``POST /v1/proposals/{proposal_id}/reject``, which may be missing or empty."""

    reason: Annotated[str, Field(max_length=REASON_CHARACTERS)] | None = None
