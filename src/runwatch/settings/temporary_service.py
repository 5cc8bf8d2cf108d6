"""A place for settings and data that goes away again, with the local service that ran in it."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from runwatch.base.paths import Paths
from runwatch.settings import local_service

IDLE_EXIT_S: Final = 60.0
"""When the service ends by itself, should whoever started it be killed before it can stop it."""

_ENDINGS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))


@contextmanager
def temporary_paths() -> Iterator[Paths]:
    """An empty place while the block runs; afterwards its local service is stopped and everything in it deleted.

    Signals that end a process end the block in good order, because the service has to go too.

    Raises:
        LocalServiceError: the service could not be stopped.
    """
    previous = {number: signal.signal(number, _end) for number in _ENDINGS}
    try:
        directory = Path(tempfile.mkdtemp(prefix="runwatch-demo-"))
        paths = Paths(directory / "settings.toml", directory)
        try:
            yield paths
        finally:
            # A closing terminal sends its signal twice, and the second one must not end the cleaning.
            for number in (*_ENDINGS, signal.SIGINT):
                previous.setdefault(number, signal.signal(number, signal.SIG_IGN))
            remove_temporary(paths)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def remove_temporary(paths: Paths) -> None:
    """Stop the local service of a place made by :func:`temporary_paths` and delete everything in it.

    Raises:
        LocalServiceError: the service could not be stopped; its files are deleted all the same.
    """
    try:
        local_service.stop_running(paths.local_service_dir)
    finally:
        shutil.rmtree(paths.data_dir, ignore_errors=True)


def _end(number: int, _: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
