"""Bodies about an organization's balance."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from runwatch.records.requests.body import OpenBody

TOP_UP_USD: Final = 1000
"""The most that is added to a balance at once, in US dollars; ours."""


class TopUpRequest(OpenBody):
    """The body of ``POST /v1/account/top-up-intents``; ours, the references show none."""

    amount_usd: Annotated[float, Field(gt=0, le=TOP_UP_USD)]
