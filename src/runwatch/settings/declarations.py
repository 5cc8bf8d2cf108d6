"""Declarations of every setting, the source of help, manual, ``config show`` and the settings screen."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from runwatch.base.closest_word import closest_word
from runwatch.base.errors import SettingsError
from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.base.network.service_target import normalise_base_url
from runwatch.settings.setting import (
    Setting,
    SettingsGroup,
    bool_setting,
    choice_setting,
    command_words_setting,
    float_setting,
    int_setting,
    name_list_setting,
    name_table_setting,
    text_setting,
    text_table_setting,
)

LOCAL: Final = "local"
"""Profile name of the local service, on screen and for its data."""

ENVIRONMENT: Final = "environment"
"""Profile name of a service whose address came without a profile, from the environment or a flag."""

ENVIRONMENT_KEY: Final = "RUNWATCH_API_KEY"
"""The variable with the key of an address from the environment or a flag."""

FORMER_ENVIRONMENT: Final = "unnamed"
"""The name of :data:`ENVIRONMENT` in version 0.1.0, still found in its files and in filters."""

RENAMED_PROFILE: Final = "environment-profile"
"""Name under which the local data of a user's profile ``environment``, allowed in 0.1.0, goes on."""

RESERVED_NAMES: Final = (LOCAL, ENVIRONMENT, FORMER_ENVIRONMENT)
"""Names that a profile of the settings file may not have (manual: decisions, "Names of profiles")."""

PROFILES: Final = "profiles"
"""Table of the settings file that holds the profiles."""

COMMANDS: Final = "commands"
"""Table of the settings file that holds the user's own commands."""

LOCAL_SERVICE: Final = "local_service"
"""Table of the settings file for the local service."""

SECRET_KEYS: Final = frozenset(
    {
        "api_key", "apikey", "key", "token", "api_token", "access_token", "auth_token",
        "secret", "password", "passphrase", "bearer", "authorization", "credential", "credentials",
    }
)  # fmt: skip
"""Keys under which users write an API key into a file; a value there is refused and never shown."""

_FORMER_TERM: Final = lazy_pattern(rf'((?<![\w.])profile(?::|!?=)"?){FORMER_ENVIRONMENT}("?(?![\w-]))')
_NAME: Final = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_KEY: Final = lazy_pattern(r"(?:(?:ctrl|shift|alt|super|meta|hyper)\+)*(?:[^\s\w]|\w{1,32})\Z")


def _address(value: str) -> str:
    try:
        return normalise_base_url(value)
    except SettingsError as error:
        raise ValueError from error


def _command(value: str) -> str:
    if not shlex.split(value):
        raise ValueError
    return value


def update_filter(expression: str) -> str:
    """Return a stored filter with the profile name of version 0.1.0 replaced by today's."""
    return _FORMER_TERM.sub(rf"\1{ENVIRONMENT}\2", expression)


def update_action_id(id: str) -> str:
    """Return the id of a key action in place of its former one: a dialog was a sheet."""
    return f"dialog.{id.removeprefix('sheet.')}" if id.startswith("sheet.") else id


def _fits(pattern: re.Pattern[str], value: str) -> str:
    if not pattern.match(value):
        raise ValueError
    return value


_word: Final = partial(_fits, _NAME)
_key_name: Final = partial(_fits, _KEY)


class Settings(SettingsGroup):
    """Settings of one user on one machine.

    Attributes:
        profiles: The user's services, by name.
        commands: The user's own commands, by name.
    """

    __slots__ = ("commands", "profiles")

    default_profile = text_setting(
        "default_profile",
        "",
        "The default profile.",
        takes="the name of a profile",
        check=_word,
        environment="RUNWATCH_PROFILE",
        flag="--profile",
    )
    read_only = bool_setting(
        "read_only",
        "Refuse every change on the service.",
        flag="--read-only",
        protects=True,
    )
    theme = text_setting(
        "theme",
        "runwatch-dark",
        "The console's theme.",
        takes="the name of a theme",
        check=_word,
        flag="--theme",
    )
    glyphs = choice_setting("glyphs", ("unicode", "ascii"), "The symbols for states and frames.")
    mouse = bool_setting("mouse", "Use the mouse.", default=True)
    home_screen = text_setting("home_screen", "runs", "The first screen.", takes="the name of a screen", check=_word)
    restore = bool_setting("restore", "Start where the last session ended, unless --open names a screen.")
    time = choice_setting("time", ("relative", "local", "utc"), "How times are shown: relative, local or UTC.")
    bell = bool_setting(
        "bell",
        "Ring the terminal's bell when a run fails or expires that you follow, pinned, submitted or added,"
        " and when an error is shown.",
    )
    notice = bool_setting("notice", "Show a notice when a run that you follow, pinned, submitted or added ends.")
    desktop_notice = choice_setting(
        "desktop_notice",
        ("auto", "osc9", "osc777", "osc99", "off"),
        "Show a notice on the desktop, while the window has no focus, when a run that you follow, pinned, submitted or"
        " added ends: as the terminal can, by one of its sequences, or not at all.",
    )
    clipboard = choice_setting(
        "clipboard",
        ("auto", "native", "tmux", "osc52"),
        "How text is copied: automatic, the system's tool, tmux, or a terminal sequence.",
    )
    retries = int_setting("retries", 2, "Retries of a read, or of a write with an idempotency key.", least=0, most=5)
    keep_events_days = int_setting(
        "keep_events_days", 30, "Days after which stored events of a final run are deleted.", least=1, most=3650
    )
    keep_events_mb = int_setting(
        "keep_events_mb",
        1000,
        "Megabytes of stored events; above that, events of the runs that ended first are deleted.",
        least=10,
        most=1_000_000,
    )
    log_level = choice_setting("log_level", ("info", "debug", "warning", "error"), "How much is logged.")
    refresh_runs_s = float_setting(
        "refresh.runs_s", 2.0, "Seconds between reads of the list of runs, if the rate limit allows.", least=1, most=15
    )
    refresh_lists_s = float_setting(
        "refresh.lists_s", 30.0, "Seconds between reads of any other list on screen.", least=5, most=3600
    )
    refresh_tail_s = float_setting(
        "refresh.tail_s",
        1.0,
        "Seconds between reads of a followed run's events while it is busy.",
        least=0.5,
        most=60,
    )
    master_key_store = choice_setting(
        f"{LOCAL_SERVICE}.master_key_store",
        ("file", "keyring"),
        "Where the local service's master key is kept: master.key beside this file, or the system's keyring.",
    )
    master_key_command = text_setting(
        f"{LOCAL_SERVICE}.master_key_command",
        "",
        "A command, run without a shell, that prints the local service's master key.",
        takes="a command line with matching quotes",
        check=_command,
    )
    keys = text_table_setting("keys", "Keys by action id, replacing the defaults.")
    filters = text_table_setting("filters", "Named filters; each is a filter expression.", check=update_filter)
    columns = name_table_setting("columns", "The columns of a list, in order, by the name of its screen or command.")

    def __init__(
        self,
        chosen: Mapping[str, Any] | None = None,
        profiles: Mapping[str, Profile] | None = None,
        commands: Mapping[str, OwnCommand] | None = None,
    ) -> None:
        super().__init__(chosen)
        self.profiles: Mapping[str, Profile] = dict(profiles or {})
        self.commands: Mapping[str, OwnCommand] = dict(commands or {})


class NamedGroup(SettingsGroup):
    """A group of which the file may hold several."""

    __slots__ = ("name",)

    def __init__(self, name: str, chosen: Mapping[str, Any] | None = None) -> None:
        super().__init__(chosen)
        self.name: Final = name


class Profile(NamedGroup):
    """Settings of one service."""

    __slots__ = ()

    base_url = text_setting(
        "base_url",
        "",
        "The address of the service.",
        takes="an https address, with or without /v1, without user name or query (http for this machine only)",
        check=_address,
    )
    key_command = text_setting(
        "key_command",
        "",
        "A command, run without a shell, that prints the API key.",
        takes="a command line with matching quotes",
        check=_command,
    )
    ca_file = text_setting(
        "ca_file", "", "A file of certificates to trust instead of the system's.", takes="a file name"
    )
    production = bool_setting(
        "production",
        "Mark this as a production service: the console asks for part of the id before destructive actions.",
        protects=True,
    )
    read_only = bool_setting("read_only", "Refuse every change on this service.", protects=True)
    colour = choice_setting(
        "colour",
        ("auto", "red", "yellow", "green", "cyan", "blue", "magenta"),
        "The colour of the profile's name; auto is red for a production profile.",
    )


class OwnCommand(NamedGroup):
    """A program of the user that runs with a record."""

    __slots__ = ()

    run = command_words_setting(
        "run",
        "The program and its arguments, without a shell. {id}, {kind}, {profile}, {service} and {record.MEMBER} stand"
        " for values, {id:url} for a value as a part of an address.",
    )
    key = text_setting("key", "", "A key of its own, which no other action has.", takes="one key", check=_key_name)
    kinds = name_list_setting("kinds", "The lists whose rows it is for, such as runs or run; without it, all.")
    question = text_setting("question", "", "What to ask before it runs.")
    input = choice_setting(
        "input", ("none", "json"), "What it reads from standard input: nothing, or the record as JSON."
    )
    output = choice_setting(
        "output",
        ("pane", "notice", "pager", "nothing"),
        "Where its output goes: a pane, the status bar (its last line), the program that PAGER names, or nowhere.",
    )
    timeout_s = int_setting("timeout_s", 30, "Seconds after which it is stopped.", least=1, most=3600)

    def is_for(self, list_name: str) -> bool:
        return not self.kinds or list_name.removesuffix("s") in self.list_stems

    @property
    def list_stems(self) -> frozenset[str]:
        """The lists it is for, without the ``s`` of the plural."""
        return frozenset(kind.removesuffix("s") for kind in self.kinds)


SETTINGS: Final[tuple[Setting[Any], ...]] = tuple(Settings.DECLARED.values())
"""Every setting outside the profiles, in display order."""

PROFILE_SETTINGS: Final[tuple[Setting[Any], ...]] = tuple(Profile.DECLARED.values())
"""Every setting of a profile; in the file under ``[profiles.NAME]``."""


COMMAND_SETTINGS: Final[tuple[Setting[Any], ...]] = tuple(OwnCommand.DECLARED.values())
"""Every setting of an own command; in the file under ``[commands.NAME]``."""

_GROUPS: Final[Mapping[str, type[SettingsGroup]]] = {PROFILES: Profile, COMMANDS: OwnCommand}
"""Tables whose entries have settings of their own."""


def is_command_name(name: str) -> bool:
    """Return whether an own command may have this name: letters, digits, ``-`` and ``_``, at most 64."""
    return _NAME.match(name) is not None


def is_profile_name(name: str) -> bool:
    """Return whether a profile may have this name: letters, digits, ``-`` and ``_``, at most 64, and not reserved."""
    return _NAME.match(name) is not None and name not in RESERVED_NAMES


def is_secret_key(key: str) -> bool:
    """Return whether users write an API key under this key; a value there is never shown."""
    if key.startswith(f"{COMMANDS}.") and key.count(".") == 2 and key.endswith(f".{OwnCommand.key.key}"):
        return False  # a key of the keyboard
    return key.rpartition(".")[2].lower().replace("-", "_") in SECRET_KEYS


def split_key(key: str) -> tuple[str, ...]:
    """Split a dotted key into tables and name; names in ``keys`` and ``filters`` may hold dots."""
    table, dot, rest = key.partition(".")
    if dot and table in Settings.DECLARED and Settings.DECLARED[table].is_table:
        return (table, rest)
    return tuple(key.split("."))


def find_setting(key: str) -> Setting[Any] | None:
    """Return the setting of a dotted key; for an entry of a table, a setting for that entry."""
    parts = split_key(key)
    if len(parts) == 3 and parts[0] == PROFILES and is_profile_name(parts[1]):
        return Profile.DECLARED.get(parts[2])
    if len(parts) == 3 and parts[0] == COMMANDS and is_command_name(parts[1]):
        return OwnCommand.DECLARED.get(parts[2])
    if len(parts) == 2 and parts[1] and parts[0] in Settings.DECLARED and Settings.DECLARED[parts[0]].is_table:
        entry = Settings.DECLARED[parts[0]].entry
        return entry(key) if entry is not None else None
    return Settings.DECLARED.get(key)


def find_closest_key(key: str) -> str:
    """Return the declared key most similar to an undeclared one, or an empty text."""
    parts = split_key(key)
    if len(parts) == 3 and parts[0] in _GROUPS:
        near = closest_word(parts[2], _GROUPS[parts[0]].DECLARED)
        return f"{parts[0]}.{parts[1]}.{near}" if near else ""
    members = (f"{table}.NAME.{name}" for table, group in _GROUPS.items() for name in group.DECLARED)
    known = [*Settings.DECLARED, *_GROUPS, *members]
    return closest_word(key, known) or ""
