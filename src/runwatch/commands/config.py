"""``config path|show|get|set|unset|validate|header`` and ``config key set|forget``."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.base.closest_word import did_you_mean
from runwatch.base.errors import RunwatchError, SettingsError, UsageError
from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.cli.exit_codes import SUCCESS, USAGE
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.row_printer import print_rows

if TYPE_CHECKING:
    from runwatch.settings.declarations import OwnCommand, Profile
    from runwatch.settings.resolver import ResolvedSetting


def path(call: Invocation) -> int:
    """``config path``: print the settings file alone, for use with an editor; in other formats all locations."""
    if call.output.form == "table":
        call.output.clean_block(clean_line(str(call.paths.settings_file)))
        return SUCCESS
    places = {
        "settings_file": str(call.paths.settings_file),
        "data_dir": str(call.paths.data_dir),
        "log_file": str(call.paths.log_file),
        "local_service_dir": str(call.paths.local_service_dir),
    }
    if call.output.form == "json":
        call.output.json(places)
    else:
        print_rows(call.output, [places])
    return SUCCESS


def show(call: Invocation) -> int:
    """``config show``: print every setting with its value and source, then the effective address."""
    from runwatch.commands.shared.session import load_settings, make_resolver

    chosen = make_resolver(call, load_settings(call, with_commands=True))
    rows = [_row(item) for item in chosen.values()]
    address = chosen.base_url()
    if address is not None:
        rows.append(_row(address))
    print_rows(call.output, rows)
    return SUCCESS


def _row(item: ResolvedSetting) -> dict[str, Any]:
    value = dict(item.value) if isinstance(item.value, Mapping) else item.value
    return {"key": item.key, "value": value, "source": str(item.source), "where": item.where}


def get(call: Invocation) -> int:
    """``config get``: print the effective value of one setting."""
    from runwatch.commands.shared.session import load_settings, make_resolver
    from runwatch.settings.declarations import find_closest_key, find_setting
    from runwatch.view.text.safe_text import line

    key = call.options.name
    found = [
        item
        for item in make_resolver(call, load_settings(call, with_commands=True)).values()
        if f"{item.key}.".startswith(f"{key}.")
    ]
    if not found:
        setting = find_setting(key)
        if setting is None:
            near = find_closest_key(key)
            raise UsageError(f"'{key}' is not a setting", hint=f"Did you mean '{near}'?" if near else None)
        raise RunwatchError(f"'{key}' is not set", detail=setting.doc)
    if call.output.form == "table" and found[0].key == key:
        call.output.text(f"{line(_row(found[0])['value'], None)}\n")
    else:
        print_rows(call.output, [_row(item) for item in found])
    return SUCCESS


FindKeyProblems = Callable[[Mapping[str, Any], Mapping[str, "OwnCommand"]], Mapping[str, str]]
"""Return what is wrong with the keys of actions and of own commands, by setting; loads the console."""


def set_value(call: Invocation, find_key_problems: FindKeyProblems) -> int:
    """``config set``: write one setting to the settings file. Comments are preserved.

    Raises:
        SettingsError: There is no such setting, it does not accept the value, or the value names nothing.
    """
    from runwatch.settings import settings_file

    key, value = call.options.name, call.options.value
    _check_name(call, key, value, find_key_problems)
    settings_file.write_setting(call.paths.settings_file, key, value)
    return SUCCESS


def _check_name(call: Invocation, key: str, value: str, find_key_problems: FindKeyProblems) -> None:
    """Refuse a value that names no theme, screen, profile, column, filter or key.

    Values that the setting itself refuses, and unknown settings, are left to the writer.
    """
    from runwatch.settings.declarations import COMMANDS, OwnCommand, Settings, find_setting, split_key
    from runwatch.settings.setting import InvalidValueError
    from runwatch.settings.settings_file import load_settings_file

    setting = find_setting(key)
    if setting is None:
        return
    try:
        typed = setting.parse(value)
    except InvalidValueError:
        return
    known = load_settings_file(call.paths.settings_file, clock=call.clock).settings
    table, *entry = split_key(key)
    if key == Settings.default_profile.key:
        if typed not in known.profiles:
            raise _no_profile(typed, known.profiles)
    elif table == Settings.keys.key and entry:
        wrong = find_key_problems({**known.keys, entry[0]: typed}, known.commands).get(key)
        if wrong is not None:
            raise SettingsError(f"'{key}' is not usable", detail=wrong, hint="'runwatch help keys' lists the actions.")
    else:
        from runwatch.view.settings.tables import find_value_problems

        chosen = {**known.chosen, key: typed}
        if entry and table in {Settings.filters.key, Settings.columns.key}:
            chosen[table] = {**known.chosen.get(table, {}), entry[0]: typed}
        commands = dict(known.commands)
        if table == COMMANDS and len(entry) == 2:
            earlier = commands[entry[0]].chosen if entry[0] in commands else {}
            commands[entry[0]] = OwnCommand(entry[0], {**earlier, entry[1]: typed})
            wrong = find_key_problems(known.keys, commands).get(key)
            if wrong is not None:
                raise SettingsError(f"'{key}' is not usable", detail=wrong)
        for problem in find_value_problems(Settings(chosen, known.profiles, commands), _themes(call)):
            if problem.key == key:
                guess = problem.nearest
                step = (
                    runwatch_command("config set", key, guess)
                    if guess
                    else "Use one of the known names; 'runwatch help settings' describes the setting."
                )
                raise SettingsError(
                    f"'{key}' {problem.message}", detail=f"did you mean '{guess}'?" if guess else None, hint=step
                )


def _themes(call: Invocation) -> Sequence[str]:
    from runwatch.settings.theme_files import theme_directories, theme_names

    return theme_names(theme_directories(call.paths.settings_file.parent / "themes"))


def unset(call: Invocation) -> int:
    """``config unset``: remove one setting from the settings file."""
    from runwatch.settings import settings_file

    if not settings_file.remove_setting(call.paths.settings_file, call.options.name):
        raise UsageError(
            f"'{call.options.name}' is not in the settings file", hint="'runwatch config show' lists the settings."
        )
    return SUCCESS


def validate(call: Invocation, find_key_problems: FindKeyProblems) -> int:
    """``config validate``: print all problems of the settings file; exit 2 if a setting is invalid."""
    from runwatch.settings.declarations import split_key
    from runwatch.settings.settings_file import load_settings_file
    from runwatch.view.settings.tables import ValueProblem, find_value_problems

    loaded = load_settings_file(call.paths.settings_file, clock=call.clock)
    rows = [
        {
            "place": problem.place,
            "level": "warning" if problem.is_warning else "error",
            "key": problem.key,
            "message": problem.message,
            "nearest": problem.nearest,
        }
        for problem in loaded.problems
    ]
    found = list(find_value_problems(loaded.settings, _themes(call)))
    commands = {**loaded.settings.commands, **loaded.refused_commands}
    if loaded.settings.keys or commands:
        wrong = find_key_problems(loaded.settings.keys, commands)
        found += [ValueProblem(key, message) for key, message in wrong.items()]
    for key, message, nearest in found:
        place = loaded.place(split_key(key))
        rows.append({"place": place, "level": "warning", "key": key, "message": message, "nearest": nearest})
    print_rows(call.output, rows)
    if not rows:
        exists = call.paths.settings_file.exists()
        call.output.note("valid" if exists else "there is no settings file; defaults apply")
    return USAGE if any(not problem.is_warning for problem in loaded.problems) else SUCCESS


def header(call: Invocation) -> int:
    """``config header``: print the Authorization header of the selected service, for ``curl -H @-``.

    Raises:
        UsageError: Standard output is a terminal and ``--show`` is not given.
        SettingsError: No source has a key, or the key belongs to another address.
    """
    from runwatch.commands.shared.session import choose_service
    from runwatch.settings.declarations import RESERVED_NAMES

    if _is_terminal() and not call.options.show:
        raise UsageError(
            "The header contains the API key, and standard output is a terminal",
            hint="Pipe it: runwatch config header | curl -sS -H @- URL. --show prints it anyway.",
        )
    target = choose_service(call).target
    if target.key is None:
        is_profile = target.profile not in RESERVED_NAMES
        store = f", or store one: {runwatch_command('config key set', target.profile)}" if is_profile else "."
        raise SettingsError(f"No source gives a key for {target.origin}", hint=f"Set RUNWATCH_API_KEY{store}")
    call.output.line(f"Authorization: Bearer {target.key.reveal()}")
    return SUCCESS


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def key_set(call: Invocation) -> int:
    """``config key set``: store a profile's API key, bound to the profile's address."""
    from runwatch.base.secrets.secret import Secret
    from runwatch.settings.key_sources import store_key

    profile = _profile(call)
    if call.stdin.isatty():
        try:
            typed = getpass.getpass(f"API key of the profile '{profile.name}' (not shown): ", stream=sys.stderr)
        except EOFError:
            raise UsageError("No key was typed") from None
    else:
        typed = call.read_input("-").decode("utf-8", "replace")
    where = store_key(profile, Secret(typed.strip()), call.paths.key_file)
    call.output.note(f"kept in the {where}, for {profile.base_url} alone")
    return SUCCESS


def key_forget(call: Invocation) -> int:
    """``config key forget``: remove a profile's stored key from every location."""
    from runwatch.settings.key_sources import forget_key

    removed = forget_key(call.options.profile, call.paths.key_file)
    call.output.note(f"removed from the {' and the '.join(removed)}" if removed else "no key was stored")
    return SUCCESS


def _profile(call: Invocation) -> Profile:
    from runwatch.settings.settings_file import load_settings_file

    name = call.options.profile
    profiles = load_settings_file(call.paths.settings_file, clock=call.clock).settings.profiles
    if name in profiles:
        return profiles[name]
    raise _no_profile(name, profiles)


def _no_profile(name: str, profiles: Iterable[str]) -> SettingsError:
    return SettingsError(
        f"There is no profile '{name}'",
        detail=did_you_mean(name, profiles),
        hint=f"Create it: {runwatch_command('config set', f'profiles.{name}.base_url')} https://HOST",
    )
