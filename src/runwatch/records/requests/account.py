"""Bodies for an organization's balance."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from runwatch.records.requests.body import OpenBody

TOP_UP_USD: Final = 1000
"""Maximum added to a balance at once, in US dollars. Not in the specification."""


class TopUpRequest(OpenBody):
    """The body of ``POST /v1/account/top-up-intents``. Not in the specification."""

    amount_usd: Annotated[float, Field(gt=0, le=TOP_UP_USD)]
