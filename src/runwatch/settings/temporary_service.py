"""Temporary settings and data, deleted together with the local service that ran on them."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from runwatch.base.files import write_atomic
from runwatch.base.network.service_file import SAMPLE_KEYS, SAMPLE_LABS
from runwatch.base.paths import Paths
from runwatch.base.secrets.secret import Secret
from runwatch.base.shell_words import quote_word
from runwatch.settings import local_service
from runwatch.settings.declarations import COMMANDS, PROFILES

IDLE_EXIT_S: Final = 60.0
"""Idle time after which the service ends by itself, if its starter is killed before it can stop it."""

SAMPLE_PROFILE: Final = "sample-labs"
"""The profile of the second sample organization."""

FOREIGN_VARIABLES: Final = ("RUNWATCH_BASE_URL", "RUNWATCH_API_KEY", "RUNWATCH_PROFILE")
"""Variables that choose another service."""

_PROGRAM: Final = "runwatch"

_ENDINGS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))


@contextmanager
def temporary_paths() -> Iterator[Paths]:
    """Provide an empty directory while the block runs; afterwards stop its local service and delete everything.

    Signals that end a process end the block in order, so that the service is stopped too.

    Raises:
        LocalServiceError: The service could not be stopped.
    """
    previous = {number: signal.signal(number, _end) for number in _ENDINGS}
    try:
        directory = Path(tempfile.mkdtemp(prefix="runwatch-demo-"))
        paths = Paths(directory / "settings.toml", directory)
        try:
            yield paths
        finally:
            # A closing terminal sends its signal twice, and the second one must not interrupt the cleanup.
            for number in (*_ENDINGS, signal.SIGINT):
                previous.setdefault(number, signal.signal(number, signal.SIG_IGN))
            remove_temporary(paths)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def add_sample_profile(paths: Paths, base_url: str) -> None:
    """Add the profile of the second sample organization to the temporary settings, with its key in the key file.

    Args:
        base_url: The address of the running service.

    Raises:
        SettingsError: A file cannot be written.
        OSError: The service's file of sample keys cannot be read.
    """
    from runwatch.settings.key_store import KeyFile, StoredKey
    from runwatch.settings.settings_file import write_setting

    keys = json.loads((paths.local_service_dir / SAMPLE_KEYS).read_text("ascii"))["keys"]
    key = next(Secret(each["api_key"]) for each in keys if each["organization"] == SAMPLE_LABS)
    # Not in the system's keyring, which outlives the demo.
    KeyFile(paths.key_file).put(SAMPLE_PROFILE, StoredKey(base_url, key))
    write_setting(paths.settings_file, f"{PROFILES}.{SAMPLE_PROFILE}.base_url", base_url)


def add_sample_commands(paths: Paths) -> None:
    """Write settings with three own commands, made of programs that every machine has.

    Raises:
        OSError: The file cannot be written.
    """
    import tomli_w

    program = (paths.data_dir / _PROGRAM).as_posix()
    ticket = "https://tickets.example.com/new?title=runwatch&text={record.instance:url}"
    commands: dict[str, dict[str, object]] = {
        "ticket": {
            "run": ["echo", ticket], "kinds": ["problems"], "key": "f6", "output": "notice",
            "question": "Print the address that opens a ticket with this instance id?",
        },
        "json": {"run": [sys.executable, "-m", "json.tool", "--sort-keys"], "key": "f7", "input": "json"},
        "show": {"run": ["sh", program, "runs", "show", "--local", "--", "{id}"], "kinds": ["runs", "receipts"]},
    }  # fmt: skip
    write_atomic(paths.settings_file, tomli_w.dumps({COMMANDS: commands}).encode())


def write_program(paths: Paths) -> str:
    """Write a script that starts runwatch with temporary paths, and return what runs it in a shell.

    Raises:
        OSError: The file cannot be written.
    """
    script = paths.data_dir / _PROGRAM
    words = [f"RUNWATCH_CONFIG={paths.settings_file}", f"RUNWATCH_DATA_DIR={paths.data_dir}", sys.executable]
    given = " ".join(f"-u {name}" for name in FOREIGN_VARIABLES)
    script.write_text(f'exec env {given} {shlex.join(words)} -P -m runwatch "$@"\n', "utf-8")
    # Named to a shell, because temporary files may not be executable.
    return f"sh {quote_word(str(script))}"


def remove_temporary(paths: Paths) -> None:
    """Stop the local service of :func:`temporary_paths` and delete everything.

    Raises:
        LocalServiceError: The service could not be stopped; its files are still deleted.
    """
    try:
        local_service.stop_running(paths.local_service_dir)
    finally:
        shutil.rmtree(paths.data_dir, ignore_errors=True)


def _end(number: int, _: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
