"""Bodies about repair proposals (wire reference 2.8)."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from runwatch.records.requests.body import OpenBody

REASON_CHARACTERS: Final = 2000
"""The longest reason; the references name no bound, so this one is ours."""


class ProposalRejection(OpenBody):
    """The body of ``POST /v1/proposals/{proposal_id}/reject``, which may be missing or empty."""

    reason: Annotated[str, Field(max_length=REASON_CHARACTERS)] | None = None
