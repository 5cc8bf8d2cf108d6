"""Master key with which the local service seals its secrets: from a command, the keyring, or a private file.

Console and service find it in the same way from the same settings file, so each opens what the other has sealed. It is
never in a command line or an environment.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from runwatch.base.errors import SettingsError
from runwatch.base.files import UnsafePlaceError, check_place, hold_lock, read_private, write_atomic
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.base.shell_words import install_command
from runwatch.settings.declarations import LOCAL_SERVICE, Settings
from runwatch.settings.key_command import run_key_command
from runwatch.settings.key_store import SystemKeyring
from runwatch.settings.settings_file import load_settings_file

KEYRING_NAME: Final = "master key of the local service"
"""Entry in the keyring. It has spaces, so no profile can have this name."""

_MAX_BYTES: Final = 65_536
_HEAD: Final = "# The master key of runwatch's local service. Without it the secrets of its data directory are lost.\n"
_FORM: Final = "It is 32 random bytes in base64, one key a line, the newest first; 'openssl rand -base64 32' makes one."


def find_master_keys(settings_file: Path) -> MasterKeys:
    """Return the master keys of the installation with this settings file; the first call makes one.

    Raises:
        SettingsError: They are not available, or the settings file does not say reliably where they are.
    """
    settings = _certain_settings(settings_file)
    if settings.master_key_command:
        return _parse(
            run_key_command(settings.master_key_command), "The master key command does not print a master key"
        )
    return _kept(settings, settings_file, lambda keys: keys or MasterKeys.new())


def is_from_command(settings_file: Path) -> bool:
    """Return whether the master key comes from a command.

    Raises:
        SettingsError: The settings file does not say it reliably.
    """
    return bool(_certain_settings(settings_file).master_key_command)


def add_master_key(settings_file: Path) -> MasterKeys:
    """Add a new master key before the others, which stay to open what they have sealed.

    Raises:
        SettingsError: As for :func:`find_master_keys`, or the keys come from a command, which runwatch cannot change.
    """
    settings = _certain_settings(settings_file)
    if settings.master_key_command:
        raise SettingsError(
            "The master key comes from a command, which runwatch does not change",
            hint="Have the command print a new key on its first line and the old one below, then start the service.",
        )
    return _kept(settings, settings_file, lambda keys: keys.with_new_key() if keys else MasterKeys.new())


def master_key_file(settings_file: Path) -> Path:
    """Return the private file for the master key, used without a command and without the keyring."""
    return settings_file.with_name("master.key")


def _certain_settings(settings_file: Path) -> Settings:
    """Return the settings if they reliably locate the master key.

    With another master key the service would make its owner a new key and could not open its secrets.
    """
    loaded = load_settings_file(settings_file, keeps_copy=False)
    doubts = [
        problem
        for problem in loaded.problems
        if not problem.is_warning and (loaded.is_broken or problem.key.partition(".")[0] == LOCAL_SERVICE)
    ]
    if doubts:
        raise SettingsError(
            "The settings file does not say where the local service's master key is",
            detail=str(doubts[0]),
            hint="Correct the file; 'runwatch config validate' checks it.",
        )
    return loaded.settings


def _kept(settings: Settings, settings_file: Path, change: Callable[[MasterKeys | None], MasterKeys]) -> MasterKeys:
    """Return the keys in the keyring or the file, after applying a change."""
    path = master_key_file(settings_file)
    if settings.master_key_store == "file" and (found := _read(path)) is not None and (same := change(found)) is found:
        return same
    try:
        # Two processes that make a key at the same time must end with the same one.
        with hold_lock(path.with_name(f".{path.name}.lock")):
            return _in_keyring(change) if settings.master_key_store == "keyring" else _in_file(path, change)
    except OSError as error:
        raise SettingsError(
            "The local service's master key cannot be written",
            detail=f"{path}: {error.strerror}",
            hint="Make its directory writable, or name another one in RUNWATCH_CONFIG.",
        ) from None


def _in_keyring(change: Callable[[MasterKeys | None], MasterKeys]) -> MasterKeys:
    def exchange(before: str | None) -> str:
        # An invalid entry is kept, and reported below.
        try:
            return change(None if before is None else MasterKeys.parse(before)).text
        except ValueError:
            return before or ""

    text = SystemKeyring().keep_text(KEYRING_NAME, exchange)
    if text is None:
        raise SettingsError(
            "The keyring does not give the local service's master key",
            detail="it is locked, missing, or did not answer",
            hint=f"Unlock it, or set {Settings.master_key_store.key} to 'file'. To install its package:"
            f" {install_command('keyring')}",
            retryable=True,
        )
    return _parse(text, "The keyring's entry is not a master key")


def _in_file(path: Path, change: Callable[[MasterKeys | None], MasterKeys]) -> MasterKeys:
    found = _read(path)
    keys = change(found)
    if keys is not found:
        write_atomic(path, (_HEAD + keys.text).encode("ascii"))
    return keys


def _read(path: Path) -> MasterKeys | None:
    try:
        content = read_private(path, max_bytes=_MAX_BYTES, follows_links=True)
        check_place(path)
    except FileNotFoundError:
        return None
    except UnsafePlaceError as error:
        raise SettingsError(
            "The local service's master key is not used, because its file is not private",
            detail=str(error),
            hint=f"Run {error.mend} and, if others may have read it, 'runwatch serve --rotate-master-key'."
            if error.mend
            else "Put it into a directory of your own, and name its settings file in RUNWATCH_CONFIG.",
        ) from None
    except OSError as error:
        raise SettingsError(
            "The local service's master key cannot be read", detail=f"{path}: {error.strerror}"
        ) from None
    return _parse(content.decode("utf-8", "replace"), f"{path} does not hold a master key")


def _parse(text: str, title: str) -> MasterKeys:
    try:
        return MasterKeys.parse(text)
    except ValueError as error:
        raise SettingsError(title, detail=str(error), hint=_FORM) from None
