"""Bodies for review agents (manual: interface, "Review agents")."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from runwatch.records.requests.arm import EndpointReference
from runwatch.records.requests.body import Label, OpenBody
from runwatch.records.requests.review import Repository


class AgentRequest(OpenBody):
    """The body of ``POST /v1/review-composer/agents``.

    Attributes:
        repository: The only repository that the agent works on.
        endpoint: Its key is entered on a private page.
        max_runtime_s: Maximum duration of one of its jobs, in seconds.
    """

    repository: Repository
    display_name: Label
    endpoint: EndpointReference
    max_runtime_s: Annotated[int, Field(ge=1, le=10**9)]
