"""Resolution of settings and of the service to call: flag, environment, profile, file, default, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from runwatch.base.closest_word import closest_word
from runwatch.base.errors import NotConfigured, SettingsError, UsageError
from runwatch.base.network.service_target import Target, normalise_base_url
from runwatch.base.paths import Paths
from runwatch.base.shell_words import runwatch_command
from runwatch.settings.declarations import (
    COMMAND_SETTINGS,
    COMMANDS,
    ENVIRONMENT,
    ENVIRONMENT_KEY,
    LOCAL,
    PROFILE_SETTINGS,
    PROFILES,
    SETTINGS,
    Profile,
    Settings,
)
from runwatch.settings.setting import InvalidValueError, Setting
from runwatch.settings.settings_file import LoadedSettings

if TYPE_CHECKING:
    from runwatch.base.secrets.secret import Secret
    from runwatch.settings.key_sources import FoundKey
    from runwatch.settings.local_service import LocalService

ENVIRONMENT_URL: Final = "RUNWATCH_BASE_URL"

_ASCII_TERMINALS: Final = frozenset({"linux", "dumb"})
"""Terminal types whose fonts lack the symbols: the Linux console, and terminals of unknown abilities."""

_ASCII_LOCALES: Final = frozenset({"C", "POSIX"})
_COERCED: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
"""What Python itself sets ``LC_CTYPE`` to in the locale C (PEP 538)."""


def start_local_service(directory: Path) -> LocalService:
    """Find the local service of a data directory, or start it.

    Raises:
        LocalServiceError: It cannot be used.
    """
    # Imported here so that only a caller loads the modules that start processes.
    from runwatch.settings.local_service import ensure_running

    return ensure_running(directory)


class SettingSource(StrEnum):
    """Source of a value; the earlier wins."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    PROFILE = "profile"
    FILE = "file"
    DEFAULT = "default"


class SettingOptions(NamedTuple):
    """Settings from the command line; ``None`` and ``False`` where it has none."""

    profile: str | None = None
    base_url: str | None = None
    local: bool = False
    read_only: bool = False
    theme: str | None = None

    @classmethod
    def by(cls, given: Any) -> SettingOptions:
        """Return those among the options of a command."""
        return cls(given.profile, given.base_url, bool(given.local), bool(given.read_only), given.theme)


class ResolvedSetting(NamedTuple):
    """A value in effect.

    Attributes:
        where: The source itself: a flag, a variable, a file with its line; empty for a default.
    """

    key: str
    value: Any
    source: SettingSource
    where: str = ""


class SettingsResolver:
    """Settings in effect for one call of the program.

    Every method raises :class:`~runwatch.base.errors.SettingsError` if a flag or a variable that it needs has an
    invalid value, or the profile is unknown.
    """

    def __init__(
        self, options: SettingOptions, environment: Mapping[str, str], loaded: LoadedSettings, paths: Paths
    ) -> None:
        self._options = options
        self._environment = environment
        self._loaded = loaded
        self._paths = paths

    def settings(self) -> Settings:
        """Return every setting with its value in effect."""
        chosen = {setting.key: self.value(setting).value for setting in SETTINGS}
        return Settings(chosen, self._loaded.settings.profiles, self._loaded.settings.commands)

    def value(self, setting: Setting[Any]) -> ResolvedSetting:
        made = partial(ResolvedSetting, setting.key)
        given = getattr(self._options, setting.flag.lstrip("-").replace("-", "_"), None) if setting.flag else None
        if given:
            return made(_taken(setting, given, setting.flag), SettingSource.FLAG, setting.flag)
        variable = self._environment.get(setting.environment, "").strip() if setting.environment else ""
        if variable:
            value = _taken(setting, variable, setting.environment)
            return made(value, SettingSource.ENVIRONMENT, setting.environment)
        if setting.key in Profile.DECLARED:
            profile = self.profile()
            if profile is not None and setting.key in profile.chosen:
                place = (PROFILES, profile.name, setting.key)
                return made(profile.chosen[setting.key], SettingSource.PROFILE, self._loaded.place(place))
        if setting.key in self._loaded.settings.chosen:
            value = self._loaded.settings.chosen[setting.key]
            return made(value, SettingSource.FILE, self._loaded.place(tuple(setting.key.split("."))))
        variable = find_ascii_variable(self._environment) if setting is Settings.glyphs else ""
        if variable:
            return made("ascii", SettingSource.ENVIRONMENT, variable)
        return made(setting.default, SettingSource.DEFAULT)

    def values(self) -> Iterator[ResolvedSetting]:
        """Yield every setting, then the file's settings of each profile and own command, without API keys."""
        for setting in SETTINGS:
            resolved = self.value(setting)
            if not setting.is_table or not resolved.value:
                yield resolved
                continue
            for name, item in resolved.value.items():
                yield ResolvedSetting(
                    f"{setting.key}.{name}", item, resolved.source, self._loaded.place((setting.key, name))
                )
        known = self._loaded.settings
        for table, groups, declared in (
            (PROFILES, known.profiles, PROFILE_SETTINGS),
            (COMMANDS, known.commands, COMMAND_SETTINGS),
        ):
            for name, group in groups.items():
                for setting in declared:
                    if setting.key in group.chosen:
                        names = (table, name, setting.key)
                        yield ResolvedSetting(
                            ".".join(names), group.chosen[setting.key], SettingSource.FILE, self._loaded.place(names)
                        )

    def base_url(self) -> ResolvedSetting | None:
        """Return the address from a flag, a variable or the profile, or ``None``.

        Raises:
            SettingsError: It is not an address, or the profile is unknown.
        """
        given = self._given_address()
        if given is not None:
            return given
        profile = self.profile()
        if profile is None:
            return None
        place = self._loaded.place((PROFILES, profile.name, Profile.base_url.key))
        return ResolvedSetting("base_url", profile.base_url, SettingSource.PROFILE, place)

    def profile(self) -> Profile | None:
        """Return the profile in use: that of a flag or a variable, else the file's default, else the only one.

        The latter two do not apply if a flag or a variable gives another address than theirs.

        Raises:
            SettingsError: The profile is not in the file, or the given address is not valid.
        """
        if self._options.local:
            return None
        profiles = self._loaded.settings.profiles
        name = self.value(Settings.default_profile)
        if name.source in {SettingSource.FLAG, SettingSource.ENVIRONMENT}:
            if name.value not in profiles:
                raise self._unknown_profile(name.value, name.where)
            return profiles[name.value]
        profile = profiles.get(name.value) or (next(iter(profiles.values())) if len(profiles) == 1 else None)
        given = self._given_address()
        return None if profile is None or (given is not None and given.value != profile.base_url) else profile

    def target_name(self) -> str:
        """Return the name of the service that :meth:`target` returns, also if it cannot be used.

        Raises:
            SettingsError: The profile is not in the file, or the given address is not valid.
        """
        if self._options.local:
            return LOCAL
        profile = self.profile()
        if profile is not None:
            return profile.name
        return LOCAL if self._given_address() is None else ENVIRONMENT

    def target(self, *, start_local: Callable[[Path], LocalService] = start_local_service) -> Target:
        """Return the service to call, with the key that belongs to it.

        A key is never sent to an address that it was not given for: a profile's key serves the profile's address, the
        environment's key an address from the environment or a flag, the local service's key the local service.

        Raises:
            NotConfigured: No setting says which service to call.
            SettingsError: The settings contradict each other, or a key source fails.
            UsageError: The flags contradict each other.
            LocalServiceError: ``--local`` was given and the local service cannot be used.
        """
        if self._options.local:
            if self._options.base_url or self._options.profile:
                raise UsageError("--local cannot be used with --base-url or --profile", hint="Leave one of them out.")
            return start_local(self._paths.local_service_dir).target()
        # Imported here and below, because the console asks for the target after its first paint.
        from runwatch.settings.key_sources import environment_key, profile_key

        address, profile, given_key = self.base_url(), self.profile(), environment_key(self._environment)
        if address is None:
            raise self._not_configured(given_key)
        if profile is None:
            return Target(ENVIRONMENT, address.value, *_key_parts(given_key))
        if address.source is SettingSource.PROFILE:
            return self._profile_target(profile, given_key)
        if address.value != profile.base_url and given_key is None:
            raise SettingsError(
                f"The key of the profile '{profile.name}' serves only its own address",
                detail=f"{address.where} names {address.value}, the profile {profile.base_url or 'none'}",
                hint=f"Leave out {address.where} or the profile, or set {ENVIRONMENT_KEY} to a key for that address.",
            )
        return self._target(profile, address.value, given_key or profile_key(profile, self._paths.key_file))

    def _profile_target(self, profile: Profile, given_key: FoundKey | None) -> Target:
        if not profile.base_url:
            raise SettingsError(
                f"The profile '{profile.name}' has no usable base_url",
                detail=self._file_problem() or str(self._loaded.path),
                hint=f"Set it: {runwatch_command('config set', f'profiles.{profile.name}.base_url')} https://HOST",
            )
        if given_key is not None:
            raise _homeless_key(f"Set {ENVIRONMENT_URL} too, or unset {ENVIRONMENT_KEY} to use the profile's own key.")
        from runwatch.settings.key_sources import profile_key

        return self._target(profile, profile.base_url, profile_key(profile, self._paths.key_file))

    def _target(self, profile: Profile, origin: str, key: FoundKey | None) -> Target:
        ca_file = self._loaded.path.parent / Path(profile.ca_file).expanduser() if profile.ca_file else None
        return Target(profile.name, origin, *_key_parts(key), ca_file, profile.production)

    def _given_address(self) -> ResolvedSetting | None:
        for given, source, where in (
            (self._options.base_url, SettingSource.FLAG, "--base-url"),
            (self._environment.get(ENVIRONMENT_URL, "").strip(), SettingSource.ENVIRONMENT, ENVIRONMENT_URL),
        ):
            if given:
                return ResolvedSetting("base_url", normalise_base_url(given), source, where)
        return None

    def _file_problem(self) -> str | None:
        """Return the first error of the whole file or its profiles, which may be why a service is missing."""
        tables = {"", PROFILES, Settings.default_profile.key}
        problems = (problem for problem in self._loaded.problems if not problem.is_warning)
        return next((str(problem) for problem in problems if problem.key.partition(".")[0] in tables), None)

    def _unknown_profile(self, name: str, where: str) -> SettingsError:
        known = sorted(self._loaded.settings.profiles)
        if name == LOCAL:
            return SettingsError("The local service is not a profile", hint="Use --local for it.")
        near = closest_word(name, known)
        return SettingsError(
            f"There is no profile '{name}', set by {where}",
            detail=self._file_problem() or (f"known: {', '.join(known)}" if known else "the settings file has none"),
            hint=f"Did you mean '{near}'?"
            if near
            else f"Create it: {runwatch_command('config set', f'profiles.{name}.base_url')} https://HOST",
        )

    def _not_configured(self, given_key: FoundKey | None) -> SettingsError:
        if given_key is not None:
            return _homeless_key(f"Set {ENVIRONMENT_URL} to the address that the key is for.")
        known = sorted(self._loaded.settings.profiles)
        if known:
            return SettingsError(
                "The settings file has several profiles and no default",
                detail=", ".join(known),
                hint="Add --profile NAME, or 'runwatch config set default_profile NAME'.",
            )
        return NotConfigured(
            "No service is configured",
            detail=self._file_problem(),
            hint=(
                f"Set {ENVIRONMENT_URL} and {ENVIRONMENT_KEY}, or 'runwatch config set profiles.NAME.base_url https://HOST'"
                " and 'runwatch config key set NAME'; or add --local to use the local service."
            ),
        )


def find_ascii_variable(environment: Mapping[str, str]) -> str:
    """Return the variable that asks for plain ASCII symbols: ``TERM``, or that of the locale; empty for none."""
    if environment.get("TERM") in _ASCII_TERMINALS:
        return "TERM"
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        locale = environment.get(name, "")
        if locale and not (name == "LC_CTYPE" and locale in _COERCED):
            return name if locale in _ASCII_LOCALES else ""
    return ""


def _taken(setting: Setting[Any], given: object, where: str) -> Any:
    try:
        return setting.parse(given) if isinstance(given, str) else setting.read(given)
    except InvalidValueError as error:
        raise SettingsError(f"{where} {error}") from None


def _homeless_key(hint: str) -> SettingsError:
    return SettingsError(
        f"{ENVIRONMENT_KEY} is set without an address",
        detail="A key is sent only to the address that it belongs to.",
        hint=hint,
    )


def _key_parts(found: FoundKey | None) -> tuple[Secret | None, str]:
    return (None, "") if found is None else (found.key, found.source)
