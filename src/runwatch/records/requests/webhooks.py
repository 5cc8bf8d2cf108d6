"""Bodies for webhooks. The specification has their paths and no bodies."""

from __future__ import annotations

from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from runwatch.records.requests.body import OpenBody, unique

URL_CHARACTERS: Final = 2000
"""Maximum length of an address."""

EventType = Literal["execution.completed", "execution.failed", "execution.cancelled", "execution.expired"]
"""Events of a webhook: a run became final."""


class WebhookRequest(OpenBody):
    """The body of ``POST /v1/webhooks``.

    Attributes:
        url: Where deliveries go; https, or plain http if the service allows its own machine.
    """

    url: Annotated[str, Field(max_length=URL_CHARACTERS)]
    event_types: Annotated[list[EventType], Field(min_length=1), unique("each event type may be named once")]

    @field_validator("url")
    @classmethod
    def _url_is_absolute(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            has_port = parts.port is None or parts.port > 0
        except ValueError:
            raise ValueError("must be an absolute URL") from None
        if parts.scheme not in {"https", "http"} or not parts.hostname or not has_port:
            raise ValueError("must be an absolute URL")
        if not value.isascii() or not value.isprintable() or " " in value:
            raise ValueError("must be written in ASCII without spaces")
        if "@" in parts.netloc or parts.fragment:
            raise ValueError("must have neither user info nor a fragment")
        return value
