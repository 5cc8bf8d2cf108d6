"""Sources of a service's API key: environment, key command, keyring, key file.

Every key is bound to one address and registered for redaction in logs before any other code gets it. Errors and screens
name the source, never a part of the key or of a source's output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from runwatch.base.errors import SettingsError
from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.base.log import keep_secret
from runwatch.base.secrets.secret import Secret
from runwatch.base.shell_words import runwatch_command
from runwatch.settings.declarations import ENVIRONMENT_KEY, Profile

FROM_ENVIRONMENT: Final = f"environment {ENVIRONMENT_KEY}"
FROM_COMMAND: Final = "key command"
FROM_KEYRING: Final = "keyring"
FROM_FILE: Final = "key file"

_KEY: Final = lazy_pattern(r"[!-~]{1,4096}\Z")


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key and the name of its source, which may be shown."""

    key: Secret = field(repr=False)
    source: str


def validate_key(text: str, source: str) -> Secret:
    """Return a key fit for a header: one word of visible ASCII.

    Raises:
        SettingsError: The text is not a key; the message holds no part of it.
    """
    value = text.strip()
    if not _KEY.match(value):
        raise SettingsError(
            f"The {source} does not contain an API key",
            detail="nothing" if not value else "a key is one word of visible ASCII characters",
        )
    secret = Secret(value)
    keep_secret(secret)
    return secret


def environment_key(environment: Mapping[str, str]) -> FoundKey | None:
    """Return the key in the environment; an empty variable counts as none.

    Raises:
        SettingsError: The variable does not hold a key.
    """
    value = environment.get(ENVIRONMENT_KEY, "")
    return FoundKey(validate_key(value, FROM_ENVIRONMENT), FROM_ENVIRONMENT) if value.strip() else None


def profile_key(profile: Profile, key_file: Path) -> FoundKey | None:
    """Return the key for the profile's own address: from its command, else the keyring, else the key file.

    Raises:
        SettingsError: A source fails, gives no key, or has a key that was stored for another address.
    """
    if profile.key_command:
        from runwatch.settings.key_command import run_key_command

        return FoundKey(validate_key(run_key_command(profile.key_command), FROM_COMMAND), FROM_COMMAND)
    from runwatch.settings.key_store import KeyFile, SystemKeyring

    stored, source = SystemKeyring().get(profile.name), FROM_KEYRING
    if stored is None:
        stored, source = KeyFile(key_file).get(profile.name), FROM_FILE
    if stored is None:
        return None
    if stored.origin != profile.base_url:
        raise SettingsError(
            f"The key of the profile '{profile.name}' was stored for another address",
            detail=f"{source}: {stored.origin}; the profile: {profile.base_url}",
            hint=f"Store the key for this address: {runwatch_command('config key set', profile.name)}",
        )
    return FoundKey(validate_key(stored.key.reveal(), source), source)


def store_key(profile: Profile, key: Secret, key_file: Path) -> str:
    """Store a key for a profile's address, in the keyring if there is one, else in the key file; return which.

    Raises:
        SettingsError: It is not a key, the profile has no address or has a key command, or the write failed.
    """
    if not profile.base_url:
        raise SettingsError(
            f"The profile '{profile.name}' has no usable base_url, and a key is kept for one address",
            hint=f"Set it first: {runwatch_command('config set', f'profiles.{profile.name}.base_url')} https://HOST",
        )
    if profile.key_command:
        raise SettingsError(
            f"The profile '{profile.name}' gets its key from a command, so a stored one is never used",
            hint=f"Remove the command: {runwatch_command('config unset', f'profiles.{profile.name}.key_command')}",
        )
    from runwatch.settings.key_store import KeyFile, StoredKey, SystemKeyring

    stored = StoredKey(profile.base_url, validate_key(key.reveal(), "input"))
    if SystemKeyring().put(profile.name, stored):
        KeyFile(key_file).remove(profile.name)
        return FROM_KEYRING
    KeyFile(key_file).put(profile.name, stored)
    return FROM_FILE


def forget_key(profile_name: str, key_file: Path) -> tuple[str, ...]:
    """Remove the stored keys of a profile, which may no longer be in the settings; return the sources.

    Raises:
        SettingsError: The key file cannot be read or written.
    """
    from runwatch.settings.key_store import KeyFile, SystemKeyring

    removed = [FROM_KEYRING] if SystemKeyring().remove(profile_name) else []
    if KeyFile(key_file).remove(profile_name):
        removed.append(FROM_FILE)
    return tuple(removed)
