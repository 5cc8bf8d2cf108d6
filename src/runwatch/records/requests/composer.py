"""The ``review_composer`` member of a submit (manual: interface, "Review agents")."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator

from runwatch.records.requests.body import OpenBody, unique
from runwatch.records.requests.review import Repository

SOURCES: Final = ("coderabbit", "github")
"""Known sources of observations."""

_SHA: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

Word = Annotated[str, Field(min_length=1, max_length=255)]


class WorkflowJob(OpenBody):
    """A workflow job that has to pass."""

    workflow_id: Annotated[int, Field(ge=1)]
    job_name: Word


class ComposerSource(OpenBody):
    """A source of observations.

    Attributes:
        checks: Jobs that have to pass; only for ``github``.
        minimum_approvals: Required approvals; only for ``github``.
    """

    id: Literal["coderabbit", "github"]
    checks: Annotated[list[WorkflowJob], Field(max_length=100)] | None = None
    minimum_approvals: Annotated[int, Field(ge=0, le=100)] | None = None

    @field_validator("checks", "minimum_approvals")
    @classmethod
    def _belong_to_github(cls, value: Any, info: Any) -> Any:
        if value is not None and info.data.get("id") != "github":
            raise ValueError("only the source github takes this")
        return value


class ReviewComposerRequest(OpenBody):
    """Work of a coding agent, and the sources that decide on it."""

    version: Literal["v1"]
    repository: Repository
    base_ref: Word
    base_sha: str
    agent_arm_id: Word
    sources: Annotated[
        list[ComposerSource],
        Field(min_length=1, max_length=len(SOURCES)),
        unique("each source may be named once", lambda source: source.id),
    ]
    combine: Literal["all", "any"]
    veto_sources: Annotated[list[Word], Field(default_factory=list)]

    @field_validator("base_sha")
    @classmethod
    def _sha_is_whole(cls, value: str) -> str:
        if not _SHA.fullmatch(value):
            raise ValueError("must be a whole commit SHA in lower case")
        return value

    @field_validator("veto_sources")
    @classmethod
    def _vetoes_are_sources(cls, value: list[str], info: Any) -> list[str]:
        if not set(value) <= {source.id for source in info.data.get("sources", [])} or len(set(value)) != len(value):
            raise ValueError("each must be one of the sources, named once")
        return value
