"""Stores for keys: the system's keyring, and a private file."""

from __future__ import annotations

import importlib
import json
import logging
import queue
import threading
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from runwatch.base.errors import SettingsError
from runwatch.base.files import UnsafePlaceError, check_place, hold_lock, read_private, write_atomic
from runwatch.base.secrets.secret import Secret

KEYRING_TIMEOUT_S: Final = 3.0
"""How long the keyring may take; a locked one waits for the user, who may not see its prompt."""

_SERVICE: Final = "runwatch"
_MAX_FILE_BYTES: Final = 1_000_000
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key with the one address that it may be sent to."""

    origin: str
    key: Secret = field(repr=False)


class SystemKeyring:
    """The system's keyring, through the optional package ``keyring``.

    If the package is missing, fails, or does not respond in time, the keyring reads as empty and stores nothing.
    """

    def __init__(self, *, patience_s: float = KEYRING_TIMEOUT_S) -> None:
        self._patience_s = patience_s

    def get(self, name: str) -> StoredKey | None:
        value = self._call(lambda keyring: keyring.get_password(_SERVICE, name))
        if value is None:
            return None
        try:
            content = json.loads(value)
            return _kept(content["origin"], content["key"])
        except (ValueError, KeyError, TypeError):
            _log.warning("the keyring's entry for %s was not written by runwatch and is not used", name)
            return None

    def put(self, name: str, kept: StoredKey) -> bool:
        """Store a key under a name; return whether the keyring now has it."""
        value = json.dumps({"origin": kept.origin, "key": kept.key.reveal()})

        def write(keyring: Any) -> bool:
            keyring.set_password(_SERVICE, name, value)
            # One keyring backend accepts everything and stores nothing.
            return bool(keyring.get_password(_SERVICE, name) == value)

        return self._call(write) is True

    def keep_text(self, name: str, replacement: Callable[[str | None], str]) -> str | None:
        """Replace the text stored under a name by ``replacement`` of it, in one operation.

        A keyring that responds late has done all of it or nothing, and never loses its text.

        Returns:
            The text in the keyring afterwards; ``None`` if it did not respond or did not store it.
        """

        def exchange(keyring: Any) -> str | None:
            before = keyring.get_password(_SERVICE, name)
            after = replacement(before)
            if after != before:
                keyring.set_password(_SERVICE, name, after)
            # One keyring backend accepts everything and stores nothing.
            return after if keyring.get_password(_SERVICE, name) == after else None

        found: str | None = self._call(exchange)
        return found

    def remove(self, name: str) -> bool:
        """Remove the key stored under a name; return whether there was one."""

        def delete(keyring: Any) -> bool:
            if keyring.get_password(_SERVICE, name) is None:
                return False
            keyring.delete_password(_SERVICE, name)
            return True

        return self._call(delete) is True

    def _call(self, work: Callable[[Any], Any]) -> Any:
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def run() -> None:
            try:
                answers.put(work(importlib.import_module("keyring")))
            except ImportError:
                answers.put(None)
            except Exception as error:  # a keyring backend may raise anything; its text may hold the key
                _log.warning("the keyring is not used: %s", type(error).__name__)
                answers.put(None)

        threading.Thread(target=run, name="keyring", daemon=True).start()
        try:
            return answers.get(timeout=self._patience_s)
        except queue.Empty:
            _log.warning("the keyring did not answer within %g seconds", self._patience_s)
            return None


class KeyFile:
    """TOML file of mode 0600 with one table for each profile; refused if other users could read or change it.

    Every method raises :class:`~runwatch.base.errors.SettingsError` if the file is not private, or cannot be read or
    written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, name: str) -> StoredKey | None:
        return self._read().get(name)

    def put(self, name: str, kept: StoredKey) -> None:
        self._change(lambda entries: entries.update({name: kept}))

    def remove(self, name: str) -> bool:
        """Remove the key stored under a name; return whether there was one."""
        if self.get(name) is None:
            return False
        self._change(lambda entries: entries.pop(name, None))
        return True

    def _change(self, change: Callable[[dict[str, StoredKey]], object]) -> None:
        import tomli_w

        try:
            with hold_lock(self._path.with_name(f".{self._path.name}.lock")):
                entries = self._read()
                change(entries)
                tables = {name: {"origin": kept.origin, "key": kept.key.reveal()} for name, kept in entries.items()}
                write_atomic(self._path, b"# Keys to services; written by runwatch.\n" + tomli_w.dumps(tables).encode())
        except OSError as error:
            raise SettingsError("The key file cannot be written", detail=f"{self._path}: {error.strerror}") from None

    def _read(self) -> dict[str, StoredKey]:
        try:
            content = read_private(self._path, max_bytes=_MAX_FILE_BYTES, follows_links=True)
            check_place(self._path)
        except FileNotFoundError:
            return {}
        except UnsafePlaceError as error:
            raise SettingsError(
                "The key file is not used, because it is not private",
                detail=str(error),
                hint=f"Run {error.mend} and replace the keys if others may have read them." if error.mend else None,
            ) from None
        except OSError as error:
            raise SettingsError("The key file cannot be read", detail=f"{self._path}: {error.strerror}") from None
        try:
            tables = tomllib.loads(content.decode("utf-8"))
            return {name: _kept(table["origin"], table["key"]) for name, table in tables.items()}
        except (ValueError, KeyError, TypeError, RecursionError):
            # The parser's message may repeat content of the file.
            raise SettingsError(
                "The key file is damaged",
                detail=str(self._path),
                hint="Remove it and store the keys again with 'runwatch config key set PROFILE'.",
            ) from None


def _kept(origin: object, key: object) -> StoredKey:
    if not isinstance(origin, str) or not isinstance(key, str):
        raise TypeError
    return StoredKey(origin, Secret(key))
