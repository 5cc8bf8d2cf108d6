"""Temporary settings and data, deleted together with the local service that ran on them."""

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
"""Idle time after which the service ends by itself, if its starter is killed before it can stop it."""

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
