"""Pins: numbered tabs that stay over restarts. They are local and belong to a scope, as labels do.

All pins of a scope are one note, so that two consoles change them one after the other and no change is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args

from runwatch.base.json import dumps, loads
from runwatch.store.repositories.notes import LocalNotes
from runwatch.store.repositories.scope import Scope

PinForm = Literal["record", "filter", "comparison"]

MAX_PINS: Final = 9
"""Maximum pins of a scope: each has a digit as its key."""

_KIND: Final = "console"
"""Kind of the note, which is about no record."""

_ID: Final = "pins"

_IDS: Final = {"record": 1, "filter": 0, "comparison": 2}


class PinTarget(NamedTuple):
    """What a pin leads to.

    Attributes:
        ids: The record, or the two that are compared.
        filter: The filter as typed; empty unless the pin is one.
    """

    form: PinForm
    screen: str
    ids: tuple[str, ...] = ()
    filter: str = ""


class Pin(NamedTuple):
    """One pin.

    Attributes:
        name: The user's own name; empty for a made one.
        seen: What the user saw last, as a digest; empty if unknown.
    """

    target: PinTarget
    name: str = ""
    seen: str = ""


PinChange = Callable[[list[Pin]], list[Pin]]
"""Returns the new pins; may be called again with the pins of another console."""


class Pins:
    """The pins of all scopes."""

    def __init__(self, notes: LocalNotes) -> None:
        self._notes = notes

    async def list(self, scope: Scope) -> list[Pin]:
        return _decode(await self._text(scope))

    async def change(self, scope: Scope, change: PinChange) -> Sequence[Pin]:
        """Change the pins, and return them as they are now."""
        seen = await self._text(scope)
        while True:
            pins = change(_decode(seen))[:MAX_PINS]
            other = await self._notes.write(scope, _KIND, _ID, "pins", _encode(pins), seen=seen)
            if other is None:
                return pins
            seen = other

    async def _text(self, scope: Scope) -> str:
        return next((note.text for note in await self._notes.list_for(scope, _KIND) if note.purpose == "pins"), "")


def _encode(pins: Sequence[Pin]) -> str:
    return dumps([{**pin.target._asdict(), "name": pin.name, "seen": pin.seen} for pin in pins]) if pins else ""


def _decode(text: str) -> list[Pin]:
    """Return the pins that can be read; one of a newer version may not be."""
    try:
        found = loads(text) if text else []
    except ValueError:
        return []
    pins = [pin for item in found if (pin := _pin(item)) is not None] if isinstance(found, list) else []
    return list({pin.target: pin for pin in pins}.values())[:MAX_PINS]


def _pin(item: Any) -> Pin | None:
    if not isinstance(item, dict):
        return None
    texts = {name: item.get(name, "") for name in ("form", "screen", "filter", "name", "seen")}
    ids = item.get("ids", [])
    if not all(isinstance(text, str) for text in texts.values()) or texts["form"] not in get_args(PinForm):
        return None
    if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids) or len(ids) != _IDS[texts["form"]]:
        return None
    target = PinTarget(texts["form"], texts["screen"], tuple(ids), texts["filter"])
    return Pin(target, texts["name"], texts["seen"])
