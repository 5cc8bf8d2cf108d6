"""Keys of the user's own commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runwatch.tui.core.key_bindings import KeyMap

if TYPE_CHECKING:
    from runwatch.settings.declarations import OwnCommand


class CommandKeys:
    """The keys that start an own command on a list.

    A key of an action is refused, with an error text by command; that command is in the menu without a key.
    """

    def __init__(self, keys: KeyMap, commands: Mapping[str, OwnCommand]) -> None:
        self.refused: dict[str, str] = {}
        self._commands: dict[str, list[OwnCommand]] = {}
        for name, command in commands.items():
            if not command.key:
                continue
            key, problem = keys.find_record_key(command.key)
            others = self._commands.setdefault(key, [])
            other = next((other for other in others if _meet(other, command)), None)
            if other is not None:
                problem = f"{command.key} belongs to the command {other.name}"
            if problem:
                self.refused[name] = problem
            else:
                others.append(command)

    @property
    def problems(self) -> list[str]:
        """Error texts of unusable keys."""
        return [f"the command {name}: {problem}" for name, problem in self.refused.items()]

    def find(self, key: str, list_name: str) -> OwnCommand | None:
        return next((command for command in self._commands.get(key, ()) if command.is_for(list_name)), None)

    def find_all(self, key: str) -> Sequence[OwnCommand]:
        return self._commands.get(key, ())


def _meet(one: OwnCommand, other: OwnCommand) -> bool:
    return not one.kinds or not other.kinds or not one.list_stems.isdisjoint(other.list_stems)
