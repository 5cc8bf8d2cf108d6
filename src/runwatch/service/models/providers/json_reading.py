"""Extract members from decoded responses of unreliable shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from runwatch.records.states import CUT, EMPTY, INCOMPLETE, TOOLS
from runwatch.service.amounts import amount_of
from runwatch.service.models.providers.prices import amount, is_amount
from runwatch.service.models.providers.types import ProviderError

NAME_CHARACTERS: Final = 512
"""Longest name or id accepted from a response."""

_WORDS: Final[Mapping[str, str]] = {
    "max_tokens": CUT,
    "max_output_tokens": CUT,
    "model_context_window_exceeded": CUT,
    "tool_use": TOOLS,
    "function_call": TOOLS,
}
"""One finish reason for the words of all protocols."""
_COUNT_LIMIT: Final = 10**12


def unusable() -> ProviderError:
    """Return the failure for a response that does not have its protocol's shape."""
    return ProviderError("invalid_response", was_sent=True)


def member(value: Any, name: str) -> Any:
    """Return a member of an object, or ``None`` if it is missing or the value is not an object."""
    return value.get(name) if isinstance(value, Mapping) else None


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list; nothing if the value is not a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def name(value: Any) -> str | None:
    """Return a name or an id, or ``None`` for anything but short, storable text."""
    if not isinstance(value, str) or not value.strip() or len(value) > NAME_CHARACTERS:
        return None
    return value if storable_text(value) == value else None


def finish(value: Any, text: str) -> str | None:
    """Return why an output ends, with one word for all protocols where it is not a whole answer.

    An output without text is ``empty`` unless the provider says why.
    """
    reason = name(value)
    reason = None if reason is None else _WORDS.get(reason, reason)
    return reason if text.strip() or reason in INCOMPLETE else EMPTY


def storable_text(text: str) -> str:
    """Return text that UTF-8 can encode: JSON can contain lone surrogates, which no database accepts."""
    return text.encode("utf-8", "replace").decode("utf-8")


def joined(parts: Iterable[Any]) -> str:
    """Join those parts that are text."""
    return storable_text("".join(part for part in parts if isinstance(part, str)))


def count(value: Any) -> int | None:
    """Return a token count, or ``None`` if the value is not one."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _COUNT_LIMIT:
        return None
    return value


def dollars(value: Any) -> Decimal | None:
    """Return an amount given as a number or text, or ``None`` as :func:`amount` does."""
    if isinstance(value, str):
        return amount(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    stated = amount_of(value)
    return stated if is_amount(stated) else None
