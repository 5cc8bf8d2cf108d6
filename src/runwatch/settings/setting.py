"""A declared setting: its key, accepted values, default and description."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar, overload

from runwatch.settings.command_words import find_wrong_placeholder

T = TypeVar("T")


class InvalidValueError(Exception):
    """A value that a setting does not accept. The message says what it accepts and never holds the value.

    The user may have written a key into the wrong line, and the message goes to screens and logs.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Setting(Generic[T]):
    """One declared setting; reading it on a group gives the chosen value, or the default.

    Attributes:
        key: The key in the file, with a dot after the table's name.
        doc: One sentence for help, manual and the settings screen.
        takes: The accepted values, in words that follow "must be".
        accepts: Whether a TOML value is one of them.
        convert: Converts such a value to the typed one; raises :class:`ValueError` for one that is not accepted.
        choices: The accepted texts; empty accepts any.
        environment: The variable that sets it; empty for none.
        flag: The flag that sets it; empty for none.
        protects: Whether the setting guards against harm, so that an invalid value counts as ``true``.
        entry: For a table, makes the setting of an entry from its dotted key.
    """

    key: str
    default: T
    doc: str
    takes: str
    accepts: Callable[[Any], bool] = lambda _: True
    convert: Callable[[Any], T] = lambda value: value
    choices: tuple[str, ...] = ()
    environment: str = ""
    flag: str = ""
    protects: bool = False
    entry: Callable[[str], Setting[Any]] | None = None

    @property
    def is_table(self) -> bool:
        """Whether the setting is a table with names chosen by the user."""
        return isinstance(self.default, Mapping)

    @overload
    def __get__(self, group: None, owner: type[SettingsGroup]) -> Self: ...
    @overload
    def __get__(self, group: SettingsGroup, owner: type[SettingsGroup]) -> T: ...
    def __get__(self, group: SettingsGroup | None, owner: type[SettingsGroup]) -> Self | T:
        if group is None:
            return self
        return group.chosen.get(self.key, self.default)  # type: ignore[no-any-return]  # read() made it a T

    def __set__(self, group: SettingsGroup, value: object) -> None:
        raise AttributeError(f"settings are frozen: {self.key}")

    def read(self, value: object) -> T:
        """Return the typed value of one in TOML.

        Raises:
            InvalidValueError: The setting does not accept it.
        """
        try:
            if self.accepts(value):
                return self.convert(value)
        except ValueError:
            pass
        raise InvalidValueError(f"must be {self.takes}")

    def parse(self, value: str) -> T:
        """Return the value of a text that the user typed, for example on a command line.

        Raises:
            InvalidValueError: The setting does not accept it.
        """
        if isinstance(self.default, bool):
            return self.read({"true": True, "false": False}.get(value.strip().lower(), value))
        if isinstance(self.default, (int, float)):
            try:
                return self.read(float(value) if isinstance(self.default, float) else int(value))
            except ValueError:
                raise InvalidValueError(f"must be {self.takes}") from None
        return self.read(value)


class SettingsGroup:
    """Group of settings; subclasses declare them.

    Attributes:
        chosen: The typed values chosen by the user, by key.
    """

    __slots__ = ("chosen",)

    DECLARED: Mapping[str, Setting[Any]] = {}
    """Every declared setting by key, in the order of declaration."""

    def __init_subclass__(cls) -> None:
        """Collect the declared settings."""
        own = {value.key: value for value in vars(cls).values() if isinstance(value, Setting)}
        cls.DECLARED = {**cls.DECLARED, **own}

    def __init__(self, chosen: Mapping[str, Any] | None = None) -> None:
        self.chosen: Mapping[str, Any] = dict(chosen or {})


def text_setting(
    key: str,
    default: str,
    doc: str,
    *,
    takes: str = "a text of one line",
    check: Callable[[str], str] = str,
    environment: str = "",
    flag: str = "",
) -> Setting[str]:
    """Declare a setting for a text of one line; ``check`` returns its final form or raises :class:`ValueError`."""

    def convert(value: object) -> str:
        if not isinstance(value, str) or not value.isprintable():
            raise ValueError
        return check(value.strip())

    return Setting(key, default, doc, takes=takes, convert=convert, environment=environment, flag=flag)


def choice_setting(key: str, choices: tuple[str, ...], doc: str) -> Setting[str]:
    """Declare a setting for one of a few words; the first is the default."""
    takes = "one of " + ", ".join(choices)
    return Setting(key, choices[0], doc, takes=takes, accepts=lambda value: value in choices, choices=choices)


def bool_setting(key: str, doc: str, *, default: bool = False, flag: str = "", protects: bool = False) -> Setting[bool]:
    """Declare a setting for ``true`` or ``false``."""

    def accepts(value: object) -> bool:
        return isinstance(value, bool)

    return Setting(key, default, doc, takes="true or false", accepts=accepts, flag=flag, protects=protects)


def int_setting(key: str, default: int, doc: str, *, least: int, most: int) -> Setting[int]:
    """Declare a setting for a whole number between two bounds, both included."""
    takes = f"a whole number from {least} to {most}"
    return Setting(key, default, doc, takes=takes, accepts=lambda value: type(value) is int and least <= value <= most)


def float_setting(key: str, default: float, doc: str, *, least: float, most: float) -> Setting[float]:
    """Declare a setting for a number between two bounds, both included."""

    def accepts(value: object) -> bool:
        return not isinstance(value, bool) and isinstance(value, (int, float)) and least <= value <= most

    return Setting(key, default, doc, takes=f"a number from {least:g} to {most:g}", accepts=accepts, convert=float)


def text_table_setting(key: str, doc: str, *, check: Callable[[str], str] = str) -> Setting[Mapping[str, str]]:
    """Declare a table of texts, under names chosen by the user; ``check`` is as in :func:`text_setting`."""

    def accepts(value: object) -> bool:
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())

    def entry(name: str) -> Setting[Any]:
        return text_setting(name, "", doc, check=check)

    return Setting(key, {}, doc, takes="a table of texts", accepts=accepts, convert=dict, entry=entry)


def name_list_setting(key: str, doc: str) -> Setting[list[str]]:
    """Declare a setting for a list of names, which the user may type separated by spaces or commas."""

    def convert(value: object) -> list[str]:
        found = re.findall(r"[^\s,]+", value) if isinstance(value, str) else value
        if not isinstance(found, list) or not found or not all(map(_is_name, found)) or len(set(found)) < len(found):
            raise ValueError
        return list(found)

    takes = "names with spaces or commas between them, each of them once"
    return Setting(key, [], doc, takes=takes, convert=convert)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and value.strip() == value != ""


def command_words_setting(key: str, doc: str) -> Setting[list[str]]:
    """Declare a setting for a program and its arguments, which the user may type as a command line with quotes."""

    def convert(value: object) -> list[str]:
        found = shlex.split(value) if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(word, str) and "\0" not in word for word in found):
            raise ValueError
        if not found or not found[0].strip():
            raise ValueError
        from runwatch.base.secrets.secret_patterns import find_known_key

        if any(find_known_key(word) for word in found):
            raise InvalidValueError("holds a secret; let the program read it from a place of its own")
        wrong = find_wrong_placeholder(found)
        if wrong:
            raise InvalidValueError(wrong)
        return list(found)

    return Setting(key, [], doc, takes="a program and its arguments, each a text of its own", convert=convert)


def name_table_setting(key: str, doc: str) -> Setting[Mapping[str, list[str]]]:
    """Declare a table of lists of names, under names chosen by the user."""

    def convert(value: object) -> Mapping[str, list[str]]:
        if not isinstance(value, dict):
            raise ValueError
        return {name: name_list_setting(key, doc).read(item) for name, item in value.items()}

    takes = "a table of lists of names"
    return Setting(key, {}, doc, takes=takes, convert=convert, entry=lambda name: name_list_setting(name, doc))
