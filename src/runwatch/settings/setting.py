"""A declared setting: its key, accepted values, default and description."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, Self, TypeVar, overload

from runwatch.settings.command_words import find_wrong_placeholder

T = TypeVar("T")


class InvalidValueError(Exception):
    """A value that a setting does not accept. The message says what it accepts and never holds the value.

    The user may have written a key into the wrong line, and the message goes to screens and logs.
    """


class Setting(Generic[T]):
    """One declared setting; reading it on a group gives the chosen value, or the default.

    Args:
        key: The key in the file, with a dot after the table's name.
        doc: One sentence for help, manual and the settings screen.
        read: Converts a TOML value to the typed one, or raises :class:`InvalidValueError`.
        takes: The accepted values, in words that follow "must be".
        choices: The accepted texts; empty accepts any.
        environment: The variable that sets it; empty for none.
        flag: The flag that sets it; empty for none.
        protects: Whether the setting guards against harm, so that an invalid value counts as ``true``.
        entry: For a table, makes the setting of an entry from its dotted key.
    """

    __slots__ = ("choices", "default", "doc", "entry", "environment", "flag", "key", "protects", "read", "takes")

    def __init__(
        self,
        key: str,
        default: T,
        doc: str,
        *,
        read: Callable[[object], T],
        takes: str,
        choices: tuple[str, ...] = (),
        environment: str = "",
        flag: str = "",
        protects: bool = False,
        entry: Callable[[str], Setting[Any]] | None = None,
    ) -> None:
        self.key: Final = key
        self.default: Final = default
        self.doc: Final = doc
        self.read: Final = read
        self.takes: Final = takes
        self.choices: Final = choices
        self.environment: Final = environment
        self.flag: Final = flag
        self.protects: Final = protects
        self.entry: Final = entry

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

    def read(value: object) -> str:
        if not isinstance(value, str) or not value.isprintable():
            raise InvalidValueError(f"must be {takes}")
        try:
            return check(value.strip())
        except ValueError:
            raise InvalidValueError(f"must be {takes}") from None

    return Setting(key, default, doc, read=read, takes=takes, environment=environment, flag=flag)


def choice_setting(key: str, choices: tuple[str, ...], doc: str) -> Setting[str]:
    """Declare a setting for one of a few words; the first is the default."""
    takes = "one of " + ", ".join(choices)

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise InvalidValueError(f"must be {takes}")
        return value

    return Setting(key, choices[0], doc, read=read, takes=takes, choices=choices)


def bool_setting(key: str, doc: str, *, default: bool = False, flag: str = "", protects: bool = False) -> Setting[bool]:
    """Declare a setting for ``true`` or ``false``."""

    def read(value: object) -> bool:
        if not isinstance(value, bool):
            raise InvalidValueError("must be true or false")
        return value

    return Setting(key, default, doc, read=read, takes="true or false", flag=flag, protects=protects)


def int_setting(key: str, default: int, doc: str, *, least: int, most: int) -> Setting[int]:
    """Declare a setting for a whole number between two bounds, both included."""
    takes = f"a whole number from {least} to {most}"

    def read(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            raise InvalidValueError(f"must be {takes}")
        return value

    return Setting(key, default, doc, read=read, takes=takes)


def float_setting(key: str, default: float, doc: str, *, least: float, most: float) -> Setting[float]:
    """Declare a setting for a number between two bounds, both included."""
    takes = f"a number from {least:g} to {most:g}"

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise InvalidValueError(f"must be {takes}")
        return float(value)

    return Setting(key, default, doc, read=read, takes=takes)


def text_table_setting(key: str, doc: str, *, check: Callable[[str], str] = str) -> Setting[Mapping[str, str]]:
    """Declare a table of texts, under names chosen by the user; ``check`` is as in :func:`text_setting`."""
    takes = "a table of texts"

    def read(value: object) -> Mapping[str, str]:
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise InvalidValueError(f"must be {takes}")
        return dict(value)

    return Setting(key, {}, doc, read=read, takes=takes, entry=lambda name: text_setting(name, "", doc, check=check))


def name_list_setting(key: str, doc: str) -> Setting[list[str]]:
    """Declare a setting for a list of names, which the user may type separated by spaces or commas."""
    takes = "names with spaces or commas between them, each of them once"

    def read(value: object) -> list[str]:
        found = re.findall(r"[^\s,]+", value) if isinstance(value, str) else value
        if not isinstance(found, list) or not found or not all(_is_name(name) for name in found):
            raise InvalidValueError(f"must be {takes}")
        if len(set(found)) < len(found):
            raise InvalidValueError(f"must be {takes}")
        return list(found)

    return Setting(key, [], doc, read=read, takes=takes)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and value.strip() == value != ""


def command_words_setting(key: str, doc: str) -> Setting[list[str]]:
    """Declare a setting for a program and its arguments, which the user may type as a command line with quotes."""
    takes = "a program and its arguments, each a text of its own"

    def read(value: object) -> list[str]:
        try:
            found = shlex.split(value) if isinstance(value, str) else value
        except ValueError:
            raise InvalidValueError(f"must be {takes}") from None
        if not isinstance(found, list) or not all(isinstance(word, str) and "\0" not in word for word in found):
            raise InvalidValueError(f"must be {takes}")
        if not found or not found[0].strip():
            raise InvalidValueError(f"must be {takes}")
        from runwatch.base.secrets.secret_patterns import find_known_key

        if any(find_known_key(word) for word in found):
            raise InvalidValueError("holds a secret; let the program read it from a place of its own")
        wrong = find_wrong_placeholder(found)
        if wrong:
            raise InvalidValueError(wrong)
        return list(found)

    return Setting(key, [], doc, read=read, takes=takes)


def name_table_setting(key: str, doc: str) -> Setting[Mapping[str, list[str]]]:
    """Declare a table of lists of names, under names chosen by the user."""
    takes = "a table of lists of names"

    def read(value: object) -> Mapping[str, list[str]]:
        if not isinstance(value, dict):
            raise InvalidValueError(f"must be {takes}")
        return {name: name_list_setting(key, doc).read(item) for name, item in value.items()}

    return Setting(key, {}, doc, read=read, takes=takes, entry=lambda name: name_list_setting(name, doc))
