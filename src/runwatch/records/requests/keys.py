"""Bodies for API keys (manual: interface, "API keys"). The body of a mint is not in the specification."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from runwatch.records.api_key import MAX_KEY_S
from runwatch.records.requests.body import OpenBody
from runwatch.records.requests.labels import Label


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
