"""Labels that users choose."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

LABEL_CHARACTERS: Final = 200
"""Maximum length of a label. Not in the specification."""


def _is_not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


Label = Annotated[str, Field(min_length=1, max_length=LABEL_CHARACTERS), AfterValidator(_is_not_blank)]
"""A label that is not blank."""
