"""Settings file: no content of it prevents a start, and changes keep the user's comments (manual: decisions, "Settings
file").
"""

from __future__ import annotations

import copy
import functools
import stat
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from runwatch.base.clock import Clock, SystemClock
from runwatch.base.errors import SettingsError
from runwatch.base.files import (
    UnsafePlaceError,
    check_place,
    copy_aside,
    hold_lock,
    is_readable_by_others,
    write_atomic,
)
from runwatch.base.secrets.secret_patterns import find_known_key
from runwatch.settings.declarations import (
    COMMANDS,
    PROFILES,
    RESERVED_NAMES,
    OwnCommand,
    Profile,
    Settings,
    find_closest_key,
    find_setting,
    is_profile_name,
    is_secret_key,
    split_key,
)
from runwatch.settings.file_parser import InvalidTomlError, SettingsParser, SettingsProblem, decode_toml
from runwatch.settings.setting import InvalidValueError, Setting

MAX_SETTINGS_BYTES: Final = 1_000_000
"""A larger settings file is a mistake and is not read."""

_NEED_AN_OWNER: Final = frozenset({Profile.base_url.key, Profile.key_command.key, Profile.ca_file.key})
"""Profile settings that run a program or decide where a key goes; ignored in a file that other users may change."""

_KEYS_ELSEWHERE: Final = (
    "'runwatch config key set PROFILE' stores a key; it is typed hidden or read from standard input. 'key_command'"
    " names a program that prints one."
)

Table = MutableMapping[str, Any]


@dataclass(frozen=True)
class LoadedSettings:
    """Content of the settings file.

    Attributes:
        settings: Every setting that could be read; the others keep their defaults.
        problems: What could not be read, in the order of the file.
        raw: The decoded file, unknown keys included, API keys redacted.
        is_broken: Whether the file exists and nothing of it could be read.
        text: The file's text, to find lines.
        refused_commands: What could be read of own commands with a mistake, by name.
    """

    path: Path
    settings: Settings
    problems: tuple[SettingsProblem, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)
    is_broken: bool = False
    text: str = field(default="", repr=False)
    refused_commands: Mapping[str, OwnCommand] = field(default_factory=dict)

    @functools.cached_property
    def lines(self) -> Mapping[tuple[str, ...], int]:
        """The line of every key, by its path of names."""
        from runwatch.settings.toml_lines import key_lines

        return {} if self.is_broken else key_lines(self.text)

    def place(self, names: tuple[str, ...]) -> str:
        """Return the file, with the line of a key if it has one."""
        number = self.lines.get(names)
        return f"{self.path}:{number}" if number else str(self.path)


def load_settings_file(path: Path, *, clock: Clock | None = None, keeps_copy: bool = True) -> LoadedSettings:
    """Read the settings file; a missing one means defaults. No content of the file raises an exception.

    A file that cannot be read also means defaults, and is copied beside itself, once for each content. In a file that
    other users own or may change, settings that run a program or decide where a key goes are ignored and reported as
    problems (manual: security, "Files and directories").

    Args:
        clock: Gives the time in the copy's name.
        keeps_copy: Whether to make that copy; without it nothing is ever written.
    """
    try:
        information = path.stat()
        if not stat.S_ISREG(information.st_mode):
            return _broken(path, "is not a file")
        if information.st_size > MAX_SETTINGS_BYTES:
            return _broken(path, f"is larger than {MAX_SETTINGS_BYTES:,} bytes; the defaults are used")
        content = path.read_bytes()
    except FileNotFoundError:
        return LoadedSettings(path, Settings())
    except OSError as error:
        return _broken(path, f"cannot be read ({error.strerror}); the defaults are used")
    try:
        text, raw = decode_toml(content)
    except InvalidTomlError as error:
        copy = _set_aside_once(path, content, (clock or SystemClock()).now()) if keeps_copy else None
        return _broken(path, f"{error}; the defaults are used", line=error.line, column=error.column, copy=copy)
    reading = SettingsParser(path, raw)
    settings = reading.settings()
    loaded = LoadedSettings(path, settings, raw=raw, text=text, refused_commands=reading.refused_commands)
    if reading.problems:
        located = [problem._replace(line=loaded.lines.get(names)) for names, problem in reading.problems]
        loaded = replace(loaded, problems=tuple(sorted(located, key=lambda problem: problem.line or 0)))
    try:
        check_place(path)
    except UnsafePlaceError as error:
        return _restricted(loaded, error)
    except OSError as error:
        return _broken(path, f"cannot be read ({error.strerror}); the defaults are used")
    if is_readable_by_others(information):
        mode = stat.S_IMODE(information.st_mode)
        warning = SettingsProblem(
            path, f"others on this machine may read it (mode {mode:04o}); run chmod 600 on it", is_warning=True
        )
        loaded = replace(loaded, problems=(*loaded.problems, warning))
    return loaded


def _restricted(loaded: LoadedSettings, error: UnsafePlaceError) -> LoadedSettings:
    """Drop the settings that run a program or decide where a key goes, for a file that other users may change."""
    command = Settings.master_key_command.key
    chosen = {key: value for key, value in loaded.settings.chosen.items() if key != command}
    lost = [split_key(command)] if command in loaded.settings.chosen else []
    lost.extend((COMMANDS, name) for name in loaded.settings.commands)
    profiles = {}
    for name, profile in loaded.settings.profiles.items():
        lost.extend((PROFILES, name, key) for key in profile.chosen if key in _NEED_AN_OWNER)
        profiles[name] = Profile(name, {key: it for key, it in profile.chosen.items() if key not in _NEED_AN_OWNER})
    mend = f"run {error.mend}" if error.mend else "use a file of your own"
    unused = "is not used, because others may change this file"
    problems = [
        SettingsProblem(loaded.path, f"others own or may change it: {error}; {mend}"),
        *(SettingsProblem(loaded.path, unused, ".".join(names), line=loaded.lines.get(names)) for names in lost),
    ]
    return replace(loaded, settings=Settings(chosen, profiles), problems=(*problems, *loaded.problems))


def _broken(
    path: Path, message: str, *, line: int | None = None, column: int | None = None, copy: Path | None = None
) -> LoadedSettings:
    problem = SettingsProblem(path, message, line=line, column=column, copy=copy)
    return LoadedSettings(path, Settings(), (problem,), is_broken=True)


def _set_aside_once(path: Path, content: bytes, now: datetime) -> Path | None:
    """Copy a broken file beside itself unless this content was copied before; return ``None`` if that fails."""
    prefix = f"{path.name}.bad-"
    try:
        for earlier in path.parent.iterdir():
            if earlier.name.startswith(prefix) and earlier.read_bytes() == content:
                return earlier
        return copy_aside(path, f"bad-{now:%Y%m%dT%H%M%S.%fZ}")
    except OSError:
        return None


def write_setting(path: Path, key: str, value: object) -> None:
    """Write one setting into the file, and create the file if needed.

    A text for a setting of another type is parsed as typed by the user: ``"false"``, ``"30"``.

    Raises:
        SettingsError: There is no such setting, it does not accept the value, the value holds a well-known key, or the
            file cannot be read or written. The file is unchanged then.
    """
    setting = _find(key)
    try:
        chosen = setting.parse(value) if isinstance(value, str) else setting.read(value)
    except InvalidValueError as error:
        raise SettingsError(f"'{key}' {error}", hint=setting.doc) from None
    for text in (key, *(chosen if isinstance(chosen, (list, tuple)) else (chosen,))):
        words = find_known_key(text) if isinstance(text, str) else None
        if words is not None:
            raise SettingsError(f"This would put {words} into the settings file", hint=_KEYS_ELSEWHERE)
    *tables, name = split_key(key)

    def put(document: Table) -> bool:
        table = document
        for depth, part in enumerate(tables):
            if part not in table:
                # Added in one piece, so that no header of an empty table comes between.
                missing: Any = {name: chosen}
                for inner in reversed(tables[depth + 1 :]):
                    missing = {inner: missing}
                table[part] = missing
                return True
            table = _inner(table, part, key)
        table[name] = chosen
        return True

    _change(path, put)


def remove_setting(path: Path, key: str) -> bool:
    """Remove one key, known or unknown, or a whole table such as ``profiles.work``; return whether it was there.

    Raises:
        SettingsError: The file cannot be read or written.
    """
    *tables, name = split_key(key)

    def remove(document: Table) -> bool:
        table = document
        for part in tables:
            if part not in table:
                return False
            table = _inner(table, part, key)
        if name not in table:
            return False
        del table[name]
        return True

    return _change(path, remove)


def _find(key: str) -> Setting[Any]:
    parts = split_key(key)
    if is_secret_key(key) and find_setting(key) is None:
        raise SettingsError(
            "An API key does not belong in the settings file",
            hint=_KEYS_ELSEWHERE,
        )
    if parts[0] == PROFILES and len(parts) == 3 and not is_profile_name(parts[1]):
        raise SettingsError(
            f"'{parts[1]}' is not a valid profile name",
            hint=f"Use letters, digits, - and _, at most 64; {', '.join(RESERVED_NAMES)} are taken.",
        )
    setting = find_setting(key)
    if setting is None:
        near = find_closest_key(key)
        raise SettingsError(
            f"'{key}' is not a setting",
            hint=f"Did you mean '{near}'?" if near else "'runwatch config show' lists all of them.",
        )
    return setting


def _inner(table: Table, part: str, key: str) -> Table:
    inner = table[part]
    if not isinstance(inner, MutableMapping):
        raise SettingsError(
            f"'{key}' cannot be reached",
            detail=f"'{part}' is not a table in the settings file",
            hint="Correct that line first.",
        )
    return inner


def _change(path: Path, change: Callable[[Table], bool]) -> bool:
    """Apply a change to the file's current content, under its lock; return the result of the change."""
    try:
        with hold_lock(path.with_name(f".{path.name}.lock")):
            try:
                content = path.read_bytes()
            except FileNotFoundError:
                content = b""
            try:
                text, current = decode_toml(content)
            except InvalidTomlError as error:
                problem = SettingsProblem(path, str(error), line=error.line, column=error.column)
                raise SettingsError(
                    "The settings file is not changed, because it cannot be read",
                    detail=str(problem),
                    hint="Correct that line first; 'runwatch config validate' shows it.",
                ) from None
            wanted = copy.deepcopy(current)
            if not change(wanted):
                return False
            write_atomic(path, _edited(path, text, change, wanted).encode())
            return True
    except OSError as error:
        raise SettingsError(
            "The settings file cannot be written",
            detail=f"{path}: {error.strerror}",
            hint="Check the owner and the mode of the file and its directory, and that its disk has room.",
        ) from None


def _edited(path: Path, text: str, change: Callable[[Table], bool], wanted: dict[str, Any]) -> str:
    if not text.strip():
        import tomli_w

        return tomli_w.dumps(wanted)
    import tomllib

    import tomlkit
    import tomlkit.exceptions

    try:
        document = tomlkit.parse(text)
        change(document)
        edited = tomlkit.dumps(document)
        is_right = _filled(tomllib.loads(edited)) == _filled(wanted)
    except (tomlkit.exceptions.TOMLKitError, ValueError):
        is_right = False
    if not is_right:
        raise SettingsError(
            "The settings file is not changed, because the change would touch more than the one setting",
            detail=str(path),
            hint="Make the change in an editor; 'runwatch config validate' checks it.",
        )
    return edited


def _filled(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table without empty tables: they have no meaning, and an edit may add or drop implicit ones."""
    filled = {name: _filled(item) if isinstance(item, dict) else item for name, item in table.items()}
    return {name: item for name, item in filled.items() if item != {}}
