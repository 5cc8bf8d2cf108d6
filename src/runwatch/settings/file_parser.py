"""Parser of settings files, which names every problem by key and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from runwatch.base.closest_word import closest_word
from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.base.log import REDACTED, keep_secret
from runwatch.base.secrets.secret import Secret
from runwatch.settings.declarations import (
    COMMANDS,
    ENVIRONMENT,
    PROFILES,
    RENAMED_PROFILE,
    RESERVED_NAMES,
    OwnCommand,
    Profile,
    Settings,
    find_closest_key,
    is_command_name,
    is_profile_name,
    is_secret_key,
)
from runwatch.settings.setting import InvalidValueError, Setting, SettingsGroup

_POSITION: Final = lazy_pattern(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


class SettingsProblem(NamedTuple):
    """A problem of the settings file.

    Attributes:
        message: What is wrong and what applies instead; never a value of the file.
        key: The dotted key, or an empty text for the whole file.
        line: The line from 1, if known.
        column: The column from 1, if known.
        nearest: The declared key most similar to an unknown one.
        is_warning: Whether every setting could still be read.
        copy: The copy of a file that cannot be read.
    """

    path: Path
    message: str
    key: str = ""
    line: int | None = None
    column: int | None = None
    nearest: str = ""
    is_warning: bool = False
    copy: Path | None = None

    @property
    def place(self) -> str:
        """The file with line and column, as editors accept it."""
        return ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)

    def __str__(self) -> str:
        """Return place, key and message in one line; not safe text."""
        named = f"'{self.key}' {self.message}" if self.key else self.message
        return f"{self.place}: {named}" + (f"; did you mean '{self.nearest}'?" if self.nearest else "")


class InvalidTomlError(Exception):
    """A settings file cannot be read; the message gives the reason and never a value."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def decode_toml(content: bytes) -> tuple[str, dict[str, Any]]:
    """Return the text of a settings file without a byte order mark, and its content.

    Raises:
        InvalidTomlError: It is not UTF-8 or not TOML.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidTomlError("is not UTF-8", content.count(b"\n", 0, error.start) + 1) from None
    # Imported here, because a first start has no file.
    import tomllib

    try:
        return text, tomllib.loads(text)
    except RecursionError:
        raise InvalidTomlError("nests too deeply") from None
    except ValueError as error:
        message = str(error)
        position = _POSITION.search(message)
        if position is None:
            raise InvalidTomlError("is not valid TOML") from None
        reason = message[: position.start()]
        if position[1] is None:
            raise InvalidTomlError(
                f"is not valid TOML: {reason} at its end", text.rstrip("\n").count("\n") + 1
            ) from None
        raise InvalidTomlError(f"is not valid TOML: {reason}", int(position[1]), int(position[2])) from None


class SettingsParser:
    """Single-use parser of a decoded file. Removes API keys from it and collects problems.

    Attributes:
        problems: Each problem with its path of names; the caller adds lines.
        refused_commands: What could be read of own commands with a mistake, by name.
    """

    def __init__(self, path: Path, raw: dict[str, Any]) -> None:
        self._path = path
        self._raw = raw
        self.problems: list[tuple[tuple[str, ...], SettingsProblem]] = []
        self.refused_commands: dict[str, OwnCommand] = {}

    def settings(self) -> Settings:
        """Return every setting that could be read; the others keep their defaults."""
        self._take_out_secrets(self._raw, ())
        chosen = self._read(Settings, self._named(), ())
        profiles = dict(self._profiles())
        default = chosen.get(Settings.default_profile.key, "")
        if default and default not in profiles:
            del chosen[Settings.default_profile.key]
            self._report(
                (Settings.default_profile.key,),
                "names a profile that is not in the file",
                near=closest_word(default, profiles) or "",
            )
        return Settings(chosen, profiles, dict(self._commands()))

    def _named(self) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """Yield everything but profiles and commands as dotted key, path of names and value; declared tables are
        flattened.
        """
        tables = {key.partition(".")[0] for key in Settings.DECLARED if "." in key}
        for name, value in self._raw.items():
            if name in tables and isinstance(value, dict):
                for inner, item in value.items():
                    yield f"{name}.{inner}", (name, inner), item
            elif name in tables:
                self._report((name,), "must be a table")
            elif name not in {PROFILES, COMMANDS}:
                yield name, (name,), value

    def _profiles(self) -> Iterator[tuple[str, Profile]]:
        for name, members in self._tables(PROFILES, "a table of profiles, such as [profiles.work]"):
            key_path = (PROFILES, name)
            if name == ENVIRONMENT:
                self._report(
                    key_path,
                    f"is the name of a service that the environment gives; rename the profile to {RENAMED_PROFILE},"
                    " which has its labels and notes, and store its key again",
                )
            elif name in RESERVED_NAMES:
                self._report(key_path, "is a name that runwatch uses itself; give the profile another one")
            elif not is_profile_name(name):
                self._report(key_path, "is not a valid profile name: use letters, digits, - and _, at most 64")
            else:
                chosen = self._read_group(Profile, members, key_path)
                if Profile.base_url.key not in members:
                    self._report(key_path, "has no base_url, so it cannot be used")
                yield name, Profile(name, chosen)

    def _commands(self) -> Iterator[tuple[str, OwnCommand]]:
        """Yield the commands without any problem: one that lost its question or its limit must not run."""
        for name, members in self._tables(COMMANDS, "a table of commands, such as [commands.ticket]"):
            key_path = (COMMANDS, name)
            if not is_command_name(name):
                self._report(key_path, "is not a valid name of a command: use letters, digits, - and _, at most 64")
                continue
            before = len(self.problems)
            command = OwnCommand(name, self._read_group(OwnCommand, members, key_path))
            if OwnCommand.run.key not in members:
                self._report(key_path, "has no run, so it does nothing")
            else:
                # A warning too costs the command.
                self.problems[before:] = [
                    (names, problem._replace(is_warning=False)) for names, problem in self.problems[before:]
                ]
            if len(self.problems) > before:
                self.refused_commands[name] = command
            else:
                yield name, command

    def _tables(self, table: str, what: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the named tables in a table; ``what`` says what it must be."""
        raw = self._raw.get(table, {})
        if not isinstance(raw, dict):
            self._report((table,), f"must be {what}")
            return
        for name, members in raw.items():
            if isinstance(members, dict):
                yield name, members
            else:
                self._report((table, name), "must be a table")

    def _read_group(
        self, group: type[SettingsGroup], members: Mapping[str, Any], key_path: tuple[str, ...]
    ) -> dict[str, Any]:
        return self._read(group, ((key, (*key_path, key), value) for key, value in members.items()), key_path)

    def _read(
        self, group: type[SettingsGroup], members: Iterable[tuple[str, tuple[str, ...], Any]], key_path: tuple[str, ...]
    ) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for key, names, value in members:
            # The dot of a declared key means a table; a name that itself holds a dot is another key.
            setting = group.DECLARED.get(key) if len(names) > len(key_path) + key.count(".") else None
            if setting is None:
                if not is_secret_key(names[-1]):
                    self._report(names, "is not a setting", near=find_closest_key(".".join(names)), is_warning=True)
            elif setting.is_table and isinstance(value, dict):
                chosen[key] = dict(self._entries(setting, value, names))
            else:
                self._read_one(setting, value, names, chosen)
        return chosen

    def _read_one(self, setting: Setting[Any], value: object, names: tuple[str, ...], chosen: dict[str, Any]) -> None:
        if setting is OwnCommand.run and isinstance(value, str):
            # Only a line that the user types in the settings page or a shell is divided into words.
            self._report(names, 'must be a list of words, such as run = ["echo", "hi"]')
            return
        try:
            chosen[setting.key] = setting.read(value)
        except InvalidValueError as error:
            if setting.protects:
                chosen[setting.key] = True
                self._report(names, f"{error}; it counts as true until then")
            else:
                self._report(names, str(error))

    def _entries(
        self, setting: Setting[Any], table: Mapping[str, Any], key_path: tuple[str, ...]
    ) -> Iterator[tuple[str, Any]]:
        assert setting.entry is not None
        for name, value in table.items():
            entry = setting.entry(name)
            if type(value) is not type(entry.default):
                self._report((*key_path, name), f"must be {'a text' if entry.default == '' else 'a list of names'}")
                continue
            try:
                yield name, entry.read(value)
            except InvalidValueError as error:
                self._report((*key_path, name), str(error))

    def _take_out_secrets(self, table: dict[str, Any], key_path: tuple[str, ...]) -> None:
        for name, value in table.items():
            names = (*key_path, name)
            if is_secret_key(".".join(names)):
                _remember(value)
                table[name] = REDACTED
                self._report(
                    names,
                    "is not used: an API key does not belong in this file. Remove the line, make a new key if others"
                    " may have seen it, and store it with 'runwatch config key set PROFILE'",
                )
            elif isinstance(value, dict) and not (
                names[0] in Settings.DECLARED and Settings.DECLARED[names[0]].is_table
            ):
                self._take_out_secrets(value, names)

    def _report(self, names: tuple[str, ...], message: str, *, near: str = "", is_warning: bool = False) -> None:
        problem = SettingsProblem(self._path, message, ".".join(names), nearest=near, is_warning=is_warning)
        self.problems.append((names, problem))


def _remember(value: object) -> None:
    """Redact every text in a value from the log."""
    if isinstance(value, str):
        keep_secret(Secret(value))
    elif isinstance(value, dict):
        for item in value.values():
            _remember(item)
    elif isinstance(value, list):
        for item in value:
            _remember(item)
