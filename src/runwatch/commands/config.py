"""``config path|show|get|set|unset|validate|header`` and ``config key set|forget``."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runwatch.base.closest import closest_word
from runwatch.base.errors import RunwatchError, SettingsError, UsageError
from runwatch.base.shell import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.call import Call
from runwatch.commands.exits import DONE, USAGE
from runwatch.commands.rows import print_rows

if TYPE_CHECKING:
    from runwatch.settings.model import Profile
    from runwatch.settings.resolve import Resolved


def path(call: Call) -> int:
    """``config path``: the settings file alone, so that an editor can take it; in the other forms every place."""
    if call.output.form == "table":
        call.output.clean_block(clean_line(str(call.paths.settings_file)))
        return DONE
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
    return DONE


def show(call: Call) -> int:
    """``config show``: every setting with its value and the place that won; the address in use comes last."""
    from runwatch.commands.session import load_settings, resolver

    chosen = resolver(call, load_settings(call))
    rows = [_row(item) for item in chosen.values()]
    address = chosen.base_url()
    if address is not None:
        rows.append(_row(address))
    print_rows(call.output, rows)
    return DONE


def _row(item: Resolved) -> dict[str, Any]:
    value = dict(item.value) if isinstance(item.value, Mapping) else item.value
    return {"key": item.key, "value": value, "source": str(item.source), "where": item.where}


def get(call: Call) -> int:
    """``config get``: the value of one setting, whatever place it comes from."""
    from runwatch.commands.session import load_settings, resolver
    from runwatch.settings.model import find_setting, nearest_key
    from runwatch.view.drawn import line

    key = call.options.name
    found = [item for item in resolver(call, load_settings(call)).values() if f"{item.key}.".startswith(f"{key}.")]
    if not found:
        setting = find_setting(key)
        if setting is None:
            near = nearest_key(key)
            raise UsageError(f"'{key}' is no setting", hint=f"Did you mean '{near}'?" if near else None)
        raise RunwatchError(f"'{key}' is not set", detail=setting.doc)
    if call.output.form == "table" and found[0].key == key:
        call.output.text(f"{line(_row(found[0])['value'], None)}\n")
    else:
        print_rows(call.output, [_row(item) for item in found])
    return DONE


def set_value(call: Call) -> int:
    """``config set``: write one setting into the settings file; comments in it stay."""
    from runwatch.settings import file

    file.set_value(call.paths.settings_file, call.options.name, call.options.value)
    return DONE


def unset(call: Call) -> int:
    """``config unset``: remove one setting from the settings file."""
    from runwatch.settings import file

    if not file.unset(call.paths.settings_file, call.options.name):
        raise UsageError(f"'{call.options.name}' does not stand in the settings file")
    return DONE


def validate(call: Call) -> int:
    """``config validate``: name everything that is wrong with the settings file; exit 2 when a setting is."""
    from runwatch.settings.file import load
    from runwatch.settings.model import split_key
    from runwatch.view.settings_tables import table_faults

    loaded = load(call.paths.settings_file, clock=call.clock)
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
    for key, message in table_faults(loaded.settings):
        number = loaded.lines.get(split_key(key))
        place = f"{loaded.path}:{number}" if number else str(loaded.path)
        rows.append({"place": place, "level": "warning", "key": key, "message": message, "nearest": ""})
    print_rows(call.output, rows)
    if not rows:
        exists = call.paths.settings_file.exists()
        call.output.note("nothing is wrong with it" if exists else "there is no settings file; the defaults hold")
    return USAGE if any(not problem.is_warning for problem in loaded.problems) else DONE


def header(call: Call) -> int:
    """``config header``: the Authorization header of the service that the options choose, for ``curl -H @-``.

    Raises:
        UsageError: standard output is a terminal, and ``--show`` does not ask for the key there.
        SettingsError: no source gives a key, or the key serves another address.
    """
    from runwatch.commands.session import choose
    from runwatch.settings.model import RESERVED_NAMES

    if _is_terminal() and not call.options.show:
        raise UsageError(
            "The header holds the API key, and standard output is a terminal",
            hint="Pipe it: runwatch config header | curl -sS -H @- URL. --show prints it all the same.",
        )
    target = choose(call).target
    if target.key is None:
        is_profile = target.profile not in RESERVED_NAMES
        store = f", or store one: {runwatch_command('config key set', target.profile)}" if is_profile else "."
        raise SettingsError(f"No source gives a key for {target.origin}", hint=f"Set RUNWATCH_API_KEY{store}")
    call.output.line(f"Authorization: Bearer {target.key.reveal()}")
    return DONE


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def key_set(call: Call) -> int:
    """``config key set``: store a profile's API key for the profile's address."""
    from runwatch.base.secret import Secret
    from runwatch.settings.keys import store_key

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
    return DONE


def key_forget(call: Call) -> int:
    """``config key forget``: remove a profile's stored key from every place."""
    from runwatch.settings.keys import forget_key

    removed = forget_key(call.options.profile, call.paths.key_file)
    call.output.note(f"removed from the {' and the '.join(removed)}" if removed else "no key was stored")
    return DONE


def _profile(call: Call) -> Profile:
    from runwatch.settings.file import load

    name = call.options.profile
    profiles = load(call.paths.settings_file, clock=call.clock).settings.profiles
    if name in profiles:
        return profiles[name]
    guess = closest_word(name, profiles)
    raise SettingsError(
        f"There is no profile '{name}'",
        detail=f"the nearest is '{guess}'" if guess else None,
        hint=f"Make it: {runwatch_command('config set', f'profiles.{name}.base_url')} https://…",
    )
