"""Build the single message to a model: the objective, and the inputs as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from runwatch.base.json import dumps
from runwatch.service.models.providers.json_reading import storable_text

_ADDRESSES: Final = frozenset({"url", "url_list"})


def build_message(objective: str, inputs: Any) -> str:
    """Return the text of the message.

    Args:
        inputs: The task's ``inputs_ref`` as decoded JSON, or ``None``. Inline JSON follows the objective as JSON text
            with its exact numbers; for URLs only the addresses do, because nothing is fetched.
    """
    if inputs is None:
        return storable_text(objective)
    kind = inputs.get("kind") if isinstance(inputs, Mapping) else None
    addresses = list(_addresses(inputs)) if kind in _ADDRESSES else []
    if addresses:
        return storable_text("\n".join([f"{objective}\n\nInputs (addresses, not fetched):", *addresses]))
    value = inputs["json"] if kind == "inline_json" and "json" in inputs else inputs
    return storable_text(f"{objective}\n\nInputs (JSON):\n{dumps(value, readable=True)}")


def _addresses(value: Any) -> Iterator[str]:
    """Yield every absolute URL in a value, because the specification does not say where a ``url_list`` keeps them."""
    if isinstance(value, str):
        if value.lower().startswith(("https://", "http://")):
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _addresses(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _addresses(item)
