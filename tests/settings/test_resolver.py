"""Flag, environment, profile, file, default: which value wins, and which key goes to which address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from runwatch.base.errors import NotConfigured, RunwatchError, SettingsError, UsageError
from runwatch.base.network.service_target import Target
from runwatch.base.paths import Paths
from runwatch.base.secrets.secret import Secret
from runwatch.settings.declarations import Settings
from runwatch.settings.key_sources import store_key
from runwatch.settings.local_service import LocalService
from runwatch.settings.resolver import ResolvedSetting, SettingOptions, SettingSource, SettingsResolver
from runwatch.settings.settings_file import load_settings_file

WORK = "https://work.example"
OTHER = "https://other.example"
KEY = {"RUNWATCH_API_KEY": "rw_environment_key"}
URL = {"RUNWATCH_BASE_URL": OTHER + "/v1"}

ONE = f'[profiles.work]\nbase_url = "{WORK}"\nca_file = "ca.pem"\nproduction = true\n'
TWO = ONE + f'[profiles.eu]\nbase_url = "{OTHER}"\n'


class Machine:
    """An installation with a settings file and stored keys."""

    def __init__(self, home: Path) -> None:
        self.paths = Paths(home / "config" / "settings.toml", home / "data")
        self.started: list[Path] = []

    def settings(self, text: str) -> None:
        self.paths.settings_file.parent.mkdir(exist_ok=True)
        self.paths.settings_file.write_text(text)
        self.paths.settings_file.chmod(0o600)

    def keep_key(self, profile: str, key: str) -> None:
        store_key(
            load_settings_file(self.paths.settings_file).settings.profiles[profile], Secret(key), self.paths.key_file
        )

    def resolver(self, options: SettingOptions, environment: Mapping[str, str]) -> SettingsResolver:
        return SettingsResolver(options, environment, load_settings_file(self.paths.settings_file), self.paths)

    def target(self, options: SettingOptions | None = None, environment: Mapping[str, str] | None = None) -> Target:
        return self.resolver(options or SettingOptions(), environment or {}).target(start_local=self.start_local)

    def start_local(self, data_dir: Path) -> LocalService:
        self.started.append(data_dir)
        return LocalService("http://127.0.0.1:4021", Secret("rw_local_key"), 4711, data_dir / "run" / "service.sock")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def shown(target: Target) -> tuple[str, str, str | None, str]:
    return (target.profile, target.origin, target.key.reveal() if target.key else None, target.key_source)


def refused(
    machine: Machine, options: SettingOptions | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """The words with which a combination is refused; never with a key among them."""
    with pytest.raises(RunwatchError) as caught:
        machine.target(options, environment)
    said = f"{caught.value} · {caught.value.hint}"
    assert "rw_" not in said
    return said


def test_nothing_configured_says_what_to_set(machine: Machine) -> None:
    with pytest.raises(NotConfigured) as caught:
        machine.target()
    hint = caught.value.hint or ""
    assert all(word in hint for word in ("RUNWATCH_BASE_URL", "RUNWATCH_API_KEY", "config set", "key set", "--local"))
    assert machine.started == [], "nobody starts a local service unasked"


def test_nothing_configured_because_the_file_is_broken_says_where(machine: Machine) -> None:
    machine.settings("[profiles.work]\nbase_url = \n")
    with pytest.raises(NotConfigured) as caught:
        machine.target()
    assert "settings.toml:2:12" in str(caught.value)


def test_address_and_key_of_the_environment_belong_together(machine: Machine) -> None:
    target = machine.target(environment={**URL, **KEY})
    assert shown(target) == ("environment", OTHER, "rw_environment_key", "environment RUNWATCH_API_KEY")


def test_a_flag_gives_the_environments_key_an_address(machine: Machine) -> None:
    target = machine.target(SettingOptions(base_url=WORK), {**URL, **KEY})
    assert shown(target) == ("environment", WORK, "rw_environment_key", "environment RUNWATCH_API_KEY")


def test_an_address_without_a_key_is_called_without_one(machine: Machine) -> None:
    assert shown(machine.target(environment=URL)) == ("environment", OTHER, None, "")


def test_a_key_without_an_address_is_refused_and_starts_nothing(machine: Machine) -> None:
    said = refused(machine, environment=KEY)
    assert "RUNWATCH_API_KEY is set without an address" in said
    assert "Set RUNWATCH_BASE_URL" in said
    with pytest.raises(SettingsError) as caught:
        machine.target(environment=KEY)
    assert not isinstance(caught.value, NotConfigured)


@pytest.mark.parametrize("options", [SettingOptions(), SettingOptions(profile="work")])
def test_the_environments_key_never_goes_to_a_profiles_address(options: SettingOptions, machine: Machine) -> None:
    machine.settings(ONE)
    machine.keep_key("work", "rw_work_key")
    said = refused(machine, options, KEY)
    assert "unset RUNWATCH_API_KEY" in said


def test_an_empty_variable_is_one_that_is_not_set(machine: Machine) -> None:
    machine.settings(ONE)
    target = machine.target(environment={"RUNWATCH_API_KEY": " ", "RUNWATCH_BASE_URL": "", "RUNWATCH_PROFILE": ""})
    assert target.profile == "work"


def test_a_profile_is_called_with_its_own_key_and_certificates(machine: Machine) -> None:
    machine.settings(TWO)
    machine.keep_key("work", "rw_work_key")
    target = machine.target(SettingOptions(profile="work"))
    assert shown(target) == ("work", WORK, "rw_work_key", "key file")
    assert target.ca_file == machine.paths.settings_file.parent / "ca.pem"
    assert target.production is True
    other = machine.target(SettingOptions(profile="eu"))
    assert shown(other) == ("eu", OTHER, None, "")
    assert (other.ca_file, other.production) == (None, False)


@pytest.mark.parametrize(
    ("options", "environment", "default", "name"),
    [
        (SettingOptions(profile="eu"), {"RUNWATCH_PROFILE": "work"}, "work", "eu"),
        (SettingOptions(), {"RUNWATCH_PROFILE": "eu"}, "work", "eu"),
        (SettingOptions(), {}, "eu", "eu"),
    ],
)
def test_flag_then_variable_then_file_names_the_profile(
    options: SettingOptions, environment: dict[str, str], default: str, name: str, machine: Machine
) -> None:
    machine.settings(f'default_profile = "{default}"\n{TWO}')
    assert machine.target(options, environment).profile == name
    assert machine.resolver(options, {**environment, **KEY}).target_name() == name, "also if it cannot be used"


def test_a_service_without_a_profile_is_named_by_where_it_comes_from(machine: Machine) -> None:
    for options, environment, name in (
        (SettingOptions(), {}, "local"),
        (SettingOptions(local=True), URL, "local"),
        (SettingOptions(), URL, "environment"),
        (SettingOptions(base_url=OTHER), {}, "environment"),
    ):
        assert machine.resolver(options, environment).target_name() == name


def test_the_only_profile_needs_no_naming(machine: Machine) -> None:
    machine.settings(ONE)
    assert machine.target().profile == "work"


def test_several_profiles_and_none_chosen_is_refused_with_their_names(machine: Machine) -> None:
    machine.settings(TWO)
    said = refused(machine)
    assert "eu, work" in said
    assert "--profile" in said
    with pytest.raises(SettingsError) as caught:
        machine.target()
    assert not isinstance(caught.value, NotConfigured), "the console must not start a local service instead"


@pytest.mark.parametrize(
    ("options", "environment", "where"),
    [
        (SettingOptions(profile="wrok"), {}, "--profile"),
        (SettingOptions(), {"RUNWATCH_PROFILE": "wrok"}, "RUNWATCH_PROFILE"),
    ],
)
def test_an_unknown_profile_is_refused_with_the_known_ones_and_the_nearest(
    options: SettingOptions, environment: dict[str, str], where: str, machine: Machine
) -> None:
    machine.settings(TWO)
    said = refused(machine, options, environment)
    assert f"There is no profile 'wrok', set by {where}" in said
    assert "eu, work" in said
    assert "Did you mean 'work'?" in said
    assert refused(machine, options, {**environment, **URL, **KEY}) == said, "an address and a key change nothing"


def test_an_unknown_profile_in_a_broken_file_says_where_it_is_broken(machine: Machine) -> None:
    machine.settings("[profiles.work]\nbase_url = \n")
    assert "settings.toml:2:12" in refused(machine, SettingOptions(profile="work"))


def test_the_name_of_the_local_service_is_no_profile(machine: Machine) -> None:
    assert "Use --local" in refused(machine, SettingOptions(profile="local"))


@pytest.mark.parametrize(
    ("options", "environment", "where"),
    [
        (SettingOptions(profile="work", base_url=OTHER), {}, "--base-url"),
        (SettingOptions(profile="work"), URL, "RUNWATCH_BASE_URL"),
        (SettingOptions(base_url=OTHER), {"RUNWATCH_PROFILE": "work"}, "--base-url"),
    ],
)
def test_a_profiles_key_never_goes_to_another_address(
    options: SettingOptions, environment: dict[str, str], where: str, machine: Machine
) -> None:
    machine.settings(TWO)
    machine.keep_key("work", "rw_work_key")
    said = refused(machine, options, environment)
    assert "serves only its own address" in said
    assert f"{where} names {OTHER}, the profile {WORK}" in said


def test_a_profiles_key_goes_to_its_address_however_that_is_written(machine: Machine) -> None:
    machine.settings(TWO)
    machine.keep_key("work", "rw_work_key")
    target = machine.target(SettingOptions(profile="work", base_url="https://WORK.example:443/v1/"))
    assert shown(target) == ("work", WORK, "rw_work_key", "key file")


def test_a_named_profile_moves_with_an_address_and_a_key_from_outside(machine: Machine) -> None:
    machine.settings(TWO)
    target = machine.target(SettingOptions(profile="work"), {**URL, **KEY})
    assert shown(target) == ("work", OTHER, "rw_environment_key", "environment RUNWATCH_API_KEY")
    assert target.production is True


@pytest.mark.parametrize("text", [ONE, f'default_profile = "work"\n{TWO}'])
def test_a_profile_that_nobody_named_stands_aside_for_another_address(text: str, machine: Machine) -> None:
    machine.settings(text)
    machine.keep_key("work", "rw_work_key")
    target = machine.target(environment=URL)
    assert shown(target) == ("environment", OTHER, None, "")
    assert (target.ca_file, target.production) == (None, False)
    assert machine.target(environment={"RUNWATCH_BASE_URL": WORK}).profile == "work"


def test_a_profile_without_an_address_says_how_to_set_it(machine: Machine) -> None:
    machine.settings("[profiles.work]\nproduction = true\n")
    assert "config set profiles.work.base_url" in refused(machine)


def test_an_address_that_is_none_is_refused(machine: Machine) -> None:
    assert "not an http or https address" in refused(machine, SettingOptions(base_url="work"))
    assert "Plain http" in refused(machine, environment={"RUNWATCH_BASE_URL": "http://work.example"})


def test_the_local_service_is_called_with_its_own_key_whatever_is_set(machine: Machine) -> None:
    machine.settings(ONE)
    target = machine.target(SettingOptions(local=True), {**URL, **KEY})
    assert shown(target) == ("local", "http://127.0.0.1:4021", "rw_local_key", "local service")
    assert machine.started == [machine.paths.local_service_dir]


@pytest.mark.parametrize(
    "options", [SettingOptions(local=True, base_url=WORK), SettingOptions(local=True, profile="work")]
)
def test_local_goes_with_no_other_address(options: SettingOptions, machine: Machine) -> None:
    with pytest.raises(UsageError):
        machine.target(options)


def test_every_value_says_where_it_comes_from(machine: Machine) -> None:
    machine.settings('default_profile = "work"\nretries = 1\n[filters]\nmine = "is:live"\n' + TWO)
    resolver = machine.resolver(SettingOptions(theme="dark-blue"), {"RUNWATCH_PROFILE": "eu"})
    path = machine.paths.settings_file
    found = {resolved.key: resolved for resolved in resolver.values()}
    assert found["theme"] == ResolvedSetting("theme", "dark-blue", SettingSource.FLAG, "--theme")
    assert found["default_profile"] == ResolvedSetting(
        "default_profile", "eu", SettingSource.ENVIRONMENT, "RUNWATCH_PROFILE"
    )
    assert found["retries"] == ResolvedSetting("retries", 1, SettingSource.FILE, f"{path}:2")
    assert found["mouse"] == ResolvedSetting("mouse", value=True, source=SettingSource.DEFAULT)
    assert found["filters.mine"] == ResolvedSetting("filters.mine", "is:live", SettingSource.FILE, f"{path}:4")
    assert found["keys"] == ResolvedSetting("keys", {}, SettingSource.DEFAULT)
    assert found["profiles.work.production"] == ResolvedSetting(
        "profiles.work.production", value=True, source=SettingSource.FILE, where=f"{path}:8"
    )
    assert resolver.base_url() == ResolvedSetting("base_url", OTHER, SettingSource.PROFILE, f"{path}:10")
    assert resolver.settings().theme == "dark-blue"
    assert set(resolver.settings().profiles) == {"work", "eu"}


def test_the_address_says_where_it_comes_from(machine: Machine) -> None:
    machine.settings(ONE)
    assert machine.resolver(SettingOptions(base_url=OTHER), {}).base_url() == ResolvedSetting(
        "base_url", OTHER, SettingSource.FLAG, "--base-url"
    )
    assert machine.resolver(SettingOptions(), URL).base_url() == ResolvedSetting(
        "base_url", OTHER, SettingSource.ENVIRONMENT, "RUNWATCH_BASE_URL"
    )
    assert machine.resolver(SettingOptions(local=True), {}).profile() is None


@pytest.mark.parametrize(
    ("options", "file", "profile", "value", "source"),
    [
        (SettingOptions(read_only=True), "false", "false", True, SettingSource.FLAG),
        (SettingOptions(), "false", "true", True, SettingSource.PROFILE),
        (SettingOptions(), "true", "false", False, SettingSource.PROFILE),
        (SettingOptions(), "true", None, True, SettingSource.FILE),
        (SettingOptions(), None, None, False, SettingSource.DEFAULT),
    ],
)
def test_read_only_by_flag_then_profile_then_file(
    options: SettingOptions,
    file: str | None,
    profile: str | None,
    value: object,
    source: SettingSource,
    machine: Machine,
) -> None:
    text = f"read_only = {file}\n" if file else ""
    machine.settings(text + ONE + (f"read_only = {profile}\n" if profile else ""))
    resolved = machine.resolver(options, {}).value(Settings.read_only)
    assert (resolved.value, resolved.source) == (value, source)


def test_a_profile_that_stands_aside_does_not_open_a_read_only_console(machine: Machine) -> None:
    machine.settings("read_only = true\n" + ONE + "read_only = false\n")
    assert machine.resolver(SettingOptions(), URL).settings().read_only is True


def test_a_flag_that_its_setting_does_not_take_is_refused(machine: Machine) -> None:
    with pytest.raises(SettingsError, match="--theme must be the name of a theme"):
        machine.resolver(SettingOptions(theme="../x"), {}).settings()


def test_a_default_profile_that_is_not_there_does_not_stop_a_start(machine: Machine) -> None:
    machine.settings('default_profile = "gone"\n')
    assert machine.resolver(SettingOptions(), {}).settings().default_profile == ""
    with pytest.raises(NotConfigured, match="names a profile that is not in the file"):
        machine.target()


@pytest.mark.parametrize(
    ("environment", "variable"),
    [
        ({"TERM": "linux", "LANG": "de_DE.UTF-8"}, "TERM"),
        ({"TERM": "dumb"}, "TERM"),
        ({"LANG": "C"}, "LANG"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "LANG"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, "LC_ALL"),
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, ""),
        ({"LANG": "C", "LC_ALL": "C.UTF-8", "TERM": "xterm"}, ""),
        ({"LANG": "de_DE.UTF-8", "TERM": "xterm-256color"}, ""),
        ({}, ""),
    ],
    ids=str,
)
def test_a_terminal_or_locale_of_few_symbols_gets_ascii(
    environment: Mapping[str, str], variable: str, machine: Machine
) -> None:
    found = machine.resolver(SettingOptions(), environment).value(Settings.glyphs)
    where = ("ascii", SettingSource.ENVIRONMENT, variable) if variable else ("unicode", SettingSource.DEFAULT, "")
    assert (found.value, found.source, found.where) == where


def test_glyphs_of_the_settings_file_come_before_the_terminals(machine: Machine) -> None:
    machine.settings('glyphs = "unicode"\n')
    assert machine.resolver(SettingOptions(), {"TERM": "linux"}).settings().glyphs == "unicode"
