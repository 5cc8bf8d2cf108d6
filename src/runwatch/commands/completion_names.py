"""``runwatch __complete WORDS``: candidates for the last word, for the completion scripts.

The scripts know the grammar and request only other names: ids, profiles, themes and screens. These come from the
settings file and the console's database; nothing is written, started or called.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from runwatch.base.errors import RunwatchError
from runwatch.base.paths import Paths, find_paths
from runwatch.commands.cli.command_spec import CONSOLE, CommandSpec
from runwatch.commands.cli.grammar import command_at, find_option
from runwatch.settings.declarations import ENVIRONMENT, LOCAL
from runwatch.settings.settings_file import LoadedSettings, load_settings_file

_SAFE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}", re.ASCII)
"""Names that are safe in every shell without quotes. Others, which may come from a service, are not offered."""

_SEVERAL: Final = "profiles"
_ALL: Final = "all"


@dataclass(slots=True)
class _Typed:
    """The words before the one to complete.

    Attributes:
        flags: Options with their values; empty values for switches.
        pending: The option whose value comes next; empty for none.
    """

    path: tuple[str, ...] = ()
    arguments: list[str] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)
    pending: str = ""

    @property
    def verb(self) -> CommandSpec | None:
        """The command, once all its words are there."""
        return command_at(self.path)


def print_names(words: Sequence[str]) -> int:
    """Print one candidate per line. On errors print nothing, because a message would end up in the command line."""
    sys.stdout.write("".join(f"{name}\n" for name in find_names(words, os.environ, find_paths())))
    return 0


def find_names(words: Sequence[str], environment: Mapping[str, str], paths: Paths) -> list[str]:
    """Return the names that may replace the last word and begin with it.

    Args:
        words: The command line after the program's name, up to the word to complete.
    """
    *before, begun = words or ("",)
    typed = _read(before)
    if begun.startswith("--"):
        typed.pending, _, begun = begun.partition("=")
    names = _named(typed)
    head = ""
    if names == _SEVERAL and "," in begun:
        head = begun.rpartition(",")[0] + ","
    elif names == "screen" and "/" in begun:
        head = begun.partition("/")[0] + "/"
    try:
        found = _names(
            names, head, typed, load_settings_file(paths.settings_file, keeps_copy=False), environment, paths
        )
    except RunwatchError:
        return []
    whole = (head + name for name in found if name not in typed.arguments and _SAFE.fullmatch(name))
    return [name for name in dict.fromkeys(whole) if name.startswith(begun)]


def _read(words: Sequence[str]) -> _Typed:
    typed = _Typed()
    for word in words:
        if typed.pending:
            typed.flags[typed.pending], typed.pending = word, ""
        elif word.startswith("--"):
            name, _, value = word.partition("=")
            option = find_option(name, typed.verb)
            if option is not None and option.metavar and not value:
                typed.pending = name
            else:
                typed.flags[name] = value
        elif typed.verb is None:
            typed.path += (word,)
        else:
            typed.arguments.append(word)
    return typed


def _named(typed: _Typed) -> str:
    """Return what the word to complete names, as declared in the grammar; empty for nothing known."""
    verb = typed.verb
    if typed.pending:
        flags = CONSOLE if verb is None else verb.flags
        return next((flag.names for flag in flags if flag.name == typed.pending), "")
    arguments = verb.arguments if verb is not None else ()
    if not arguments:
        return ""
    if len(typed.arguments) < len(arguments):
        return arguments[len(typed.arguments)].names
    return arguments[-1].names if arguments[-1].takes in "+*" else ""


def _names(
    names: str, head: str, typed: _Typed, loaded: LoadedSettings, environment: Mapping[str, str], paths: Paths
) -> Iterable[str]:
    """Return all candidates, most likely first."""
    if names in {"profile", _SEVERAL}:
        several = (_ALL,) if names == _SEVERAL and not head else ()
        return (*loaded.settings.profiles, *several)
    if names == "theme":
        from runwatch.settings.theme_files import theme_directories, theme_names

        return theme_names(theme_directories(paths.settings_file.parent / "themes"))
    if names == "topic":
        from runwatch.view.manual.pages import TOPICS

        return TOPICS
    if names == "screen":
        from runwatch.view.resources.registry import screen_names

        if not head:
            return screen_names()
        from runwatch.view.resources.resource_index import RESOURCE_INDEX

        names = next((entry.load().kind for entry in RESOURCE_INDEX if f"{entry.name}/" == head), "")
    if not names:
        return ()
    from runwatch.commands.schema import record_of_kind
    from runwatch.store.repositories.seen_ids import find_seen_ids

    record = record_of_kind(names)
    assert record is not None, f"there is no kind {names}"
    return find_seen_ids(paths.database, record, _profiles(typed, loaded, environment, paths))


def _profiles(
    typed: _Typed, loaded: LoadedSettings, environment: Mapping[str, str], paths: Paths
) -> Sequence[str] | None:
    """Return the profiles that the command would use; ``None`` for all, or if unknown."""
    from runwatch.settings.resolver import SettingOptions, SettingsResolver

    given = typed.flags.get("--profile")
    if given == _ALL:
        return None
    if given:
        return given.split(",")
    if "--local" in typed.flags:
        return (LOCAL,)
    resolver = SettingsResolver(SettingOptions(base_url=typed.flags.get("--base-url")), environment, loaded, paths)
    profile = resolver.profile()
    if profile is not None:
        return (profile.name,)
    return None if resolver.base_url() is None else (ENVIRONMENT,)
