"""Bodies for credential references and GitHub connections (manual: interface, "Credentials, GitHub connections and
webhooks").
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from runwatch.records.requests.body import ClosedBody, Label, OpenBody

REPOSITORY_CHARACTERS: Final = (3, 255)
"""Minimum and maximum length of a repository name (manual: interface, "Limits")."""

Repository = Annotated[str, Field(min_length=REPOSITORY_CHARACTERS[0], max_length=REPOSITORY_CHARACTERS[1])]
"""A repository such as ``acme/widgets``."""

_SECRET_NAMES: Final = re.compile(r"secret|token|password|private|bearer|(?:^|_)key$|^value$", re.IGNORECASE)


class CredentialWrite(OpenBody):
    """The body of ``POST /v1/credentials``. Its label is not in the specification.

    A member whose name suggests a secret is refused: secrets never appear in this API.
    """

    display_name: Label

    @model_validator(mode="before")
    @classmethod
    def _holds_no_secret(cls, value: Any) -> Any:
        if isinstance(value, dict) and any(_SECRET_NAMES.search(str(name)) for name in value):
            raise ValueError("secret material is never sent in a request; send the display_name alone")
        return value


class GithubIntentRequest(ClosedBody):
    """The body of ``POST /v1/github-connections/intents``, without other members."""

    repository: Repository
