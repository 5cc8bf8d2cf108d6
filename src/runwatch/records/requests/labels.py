"""Labels that people give to things."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

LABEL_CHARACTERS: Final = 200
"""The longest label; the references name no bound, so this one is ours."""


def _is_not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


Label = Annotated[str, Field(min_length=1, max_length=LABEL_CHARACTERS), AfterValidator(_is_not_blank)]
"""A label with something to read in it."""
