"""Takes members out of decoded answers whose shape nobody guarantees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from runwatch.service.amounts import amount_of
from runwatch.service.models.providers.prices import amount, is_amount
from runwatch.service.models.providers.types import ProviderError

NAME_CHARACTERS: Final = 512
"""The longest name or id that is taken from an answer."""

CUT: Final = "length"
"""The finish reason of an output that was cut at a limit of tokens."""

_CUT_WORDS: Final = (CUT, "max_tokens", "max_output_tokens", "model_context_window_exceeded")
_COUNT_LIMIT: Final = 10**12


def unusable() -> ProviderError:
    """The failure of an answer that is not of the shape that its protocol promises."""
    return ProviderError("invalid_response", was_sent=True)


def member(value: Any, name: str) -> Any:
    """A member of an object; ``None`` when it has none of this name or is no object."""
    return value.get(name) if isinstance(value, Mapping) else None


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; nothing for what is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def name(value: Any) -> str | None:
    """A name or an id; ``None`` for anything that is no short text that can be stored."""
    if not isinstance(value, str) or not value.strip() or len(value) > NAME_CHARACTERS:
        return None
    return value if storable_text(value) == value else None


def finish(value: Any) -> str | None:
    """Why an output ends; ``length`` for the words of every protocol that say it was cut at a limit of tokens."""
    return CUT if value in _CUT_WORDS else name(value)


def storable_text(text: str) -> str:
    """A text that UTF-8 can hold: JSON can smuggle in half a surrogate pair, which no database takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def joined(parts: Iterable[Any]) -> str:
    """The texts among some parts as one text."""
    return storable_text("".join(part for part in parts if isinstance(part, str)))


def count(value: Any) -> int | None:
    """A number of tokens, or ``None`` for anything that is none."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _COUNT_LIMIT:
        return None
    return value


def dollars(value: Any) -> Decimal | None:
    """An amount that an answer states as a number or a text; ``None`` as for :func:`amount`."""
    if isinstance(value, str):
        return amount(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    stated = amount_of(value)
    return stated if is_amount(stated) else None
