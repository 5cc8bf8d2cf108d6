"""Bodies about credential references and GitHub connections (specification; wire reference 2.14)."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from runwatch.records.requests.body import ClosedBody, OpenBody
from runwatch.records.requests.labels import Label

REPOSITORY_CHARACTERS: Final = (3, 255)
"""The least and the most characters of a repository (specification, Limits)."""

Repository = Annotated[str, Field(min_length=REPOSITORY_CHARACTERS[0], max_length=REPOSITORY_CHARACTERS[1])]
"""A repository such as ``acme/widgets``."""

_SECRET_NAMES: Final = re.compile(r"secret|token|password|private|bearer|(?:^|_)key$|^value$", re.IGNORECASE)


class CredentialWrite(OpenBody):
    """The body of ``POST /v1/credentials``. The references show none; a label is ours.

    A member whose name says that it holds a secret is refused: secret material never appears in this API
    (specification, Credential reference).
    """

    display_name: Label

    @model_validator(mode="before")
    @classmethod
    def _holds_no_secret(cls, value: Any) -> Any:
        if isinstance(value, dict) and any(_SECRET_NAMES.search(str(name)) for name in value):
            raise ValueError("secret material is never sent in a request; send the display_name alone")
        return value


class GithubIntentRequest(ClosedBody):
    """The body of ``POST /v1/github-connections/intents``; it takes no other member (specification)."""

    repository: Repository
