"""Bodies for an organization (manual: interface, "Account and tenants"), its balance, and API keys (manual: interface,
"API keys"). Those of a top-up and of a mint are not in the specification.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from runwatch.records.api_key import MAX_KEY_S
from runwatch.records.requests.body import Label, OpenBody

TOP_UP_USD: Final = 1000
"""Maximum added to a balance at once, in US dollars. Not in the specification."""


class TenantName(OpenBody):
    """The body of ``POST /v1/tenants`` and of ``PATCH /v1/tenants/{tenant_id}``."""

    display_name: Label


class TopUpRequest(OpenBody):
    """The body of ``POST /v1/account/top-up-intents``."""

    amount_usd: Annotated[float, Field(gt=0, le=TOP_UP_USD)]


class KeyMint(OpenBody):
    """The body of ``POST /v1/api-keys``, which may be missing.

    Attributes:
        role: A ``reader`` reads, a ``runner`` also submits and cancels runs, an ``owner`` may do everything.
        expires_in_s: Seconds until it expires; ``None`` for never.
    """

    display_name: Label = "API key"
    role: Literal["owner", "runner", "reader"] = "owner"
    expires_in_s: Annotated[int, Field(ge=1, le=MAX_KEY_S)] | None = None


class KeyLabel(OpenBody):
    """The body of ``PATCH /v1/api-keys/{api_key_id}``."""

    display_name: Label
