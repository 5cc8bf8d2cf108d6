"""``runwatch serve``: the service as a process (manual: decisions, "Local service process").

Imports nothing heavy at module level, so that refusing a second service is quick.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TextIO

from runwatch.base.clock import Clock, SystemClock
from runwatch.base.errors import LocalServiceError, RunwatchError
from runwatch.base.memory import pause_collection
from runwatch.base.network.service_file import SAMPLE_KEYS, service_line
from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_block
from runwatch.service.options import ServeOptions

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from runwatch.base.secrets.secret import Secret
    from runwatch.service.backends.team_status import TeamStatus
    from runwatch.service.data_copy import DataCopy
    from runwatch.service.server import RunningServer

REFUSED: Final = 2
"""Exit code of a service that could not be started with what it was given."""

HELD: Final = 3
"""Exit code where another process holds its data directory, its address or its database, or the master key is another
one; as of every other command (manual: commands, "Exit codes").
"""

INTERRUPTED: Final = 130
"""Exit code after Ctrl+C (manual: decisions, "Command line")."""

HANDOVER_S: Final = 0.001
"""Seconds that a thread may keep the interpreter while another one waits. A request alternates between the event loop
and a database reader, and waits this long at every turn while another reader computes a long report; the interpreter's
default is 5 ms.
"""


MAX_LISTED: Final = 100
"""Most unreadable secrets to list at a start."""

_log: Final = logging.getLogger("runwatch.service")


def serve(options: ServeOptions) -> int:
    """Run the service until it is stopped, and return the exit code.

    With ``json``, standard output gets exactly one line, once connections are accepted; everything else goes to
    standard error. SIGTERM and the idle exit return 0, Ctrl+C returns 130 after the same orderly stop. A service that
    cannot be started returns :data:`REFUSED` or :data:`HELD`, with the reason on standard error.
    """
    try:
        return asyncio.run(_serve(replace(options, data_dir=options.data_dir.absolute()), SystemClock()))
    except RunwatchError as error:
        _say(sys.stderr, error.title, error.detail, error.hint)
        return HELD if isinstance(error, LocalServiceError) else REFUSED


def reseal_secrets(options: ServeOptions) -> int:
    """Seal every secret with the newest master key; return how many no master key opens.

    Raises as :func:`runwatch.service.server.reseal_data_dir` does.
    """
    from runwatch.service import server

    return asyncio.run(server.reseal_data_dir(replace(options, data_dir=options.data_dir.absolute()), SystemClock()))


def copy_data(source_dir: Path, options: ServeOptions) -> DataCopy:
    """Copy an embedded service's data into the PostgreSQL database of these options.

    Raises as :func:`runwatch.service.data_copy.copy_data` does.
    """
    from runwatch.service import data_copy

    options = replace(options, data_dir=options.data_dir.absolute())
    return asyncio.run(data_copy.copy_data(source_dir.absolute(), options, SystemClock()))


def read_team_status(database: Secret) -> TeamStatus:
    """Return what happens in the database of a service of several processes.

    Raises:
        RunwatchError: See :func:`runwatch.service.backends.team_status.read_status`; or a package is not installed.
    """
    status: TeamStatus = _team_status().read_status(database)
    return status


def find_processes(database: Secret) -> tuple[str, ...]:
    """Return the names of the processes that use a database; raises as :func:`read_team_status` does."""
    return tuple(f"{other.role}: {other.name}" for other in _team_status().list_processes(database))


def _team_status() -> ModuleType:
    from runwatch.service.errors import make_package_error

    try:
        from runwatch.service.backends import team_status
    except ImportError as error:
        raise make_package_error(error) from error
    return team_status


async def _serve(options: ServeOptions, clock: Clock) -> int:
    with pause_collection():
        from runwatch.service.server import open_log, run_server

        # Modules are not garbage.
        gc.freeze()

    loop = asyncio.get_running_loop()
    received: list[int] = []
    async with run_server(options, clock) as service:
        open_log(options.data_dir)
        sys.setswitchinterval(HANDOVER_S)
        # Current objects live until the end. Scanning them in every garbage collection would block the event loop.
        gc.freeze()

        def end(number: int) -> None:
            received.append(number)
            service.stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        _announce(options, service)
        _report_closed(service.context.closed_secrets)
        idle = asyncio.create_task(stop_when_idle(service, options.idle_exit_s, clock))
        await service.stop.wait()
        idle.cancel()
        if service.failure is not None:
            raise service.failure
    return INTERRUPTED if signal.SIGINT in received else 0


def _announce(options: ServeOptions, service: RunningServer) -> None:
    if options.json:
        _say(sys.stdout, service_line(service.file, has_interface=options.has_interface))
        return
    stop = "runwatch serve --stop and the same data directory"
    if options.is_shared:
        stop = runwatch_command("serve --stop", data_dir=str(options.data_dir))
    if not options.has_interface:
        _say(
            sys.stderr,
            f"The worker drives {options.max_runs} runs at once, and answers /healthz on {service.file.base_url}",
            f"Data: {options.data_dir}",
            f"Stop it with Ctrl+C, or with {stop}",
        )
        return
    _say(
        sys.stderr,
        f"The service listens on {service.file.base_url}",
        f"Data: {options.data_dir}; the owner's key is sealed in {options.data_dir / 'service.json'}",
        f"{options.key_command} prints it as a header for other clients"
        if options.key_command
        else "Start it with --json to have it printed for other clients",
        f"Stop it with Ctrl+C, or with {stop}",
        sample_note(options),
    )


def _report_closed(lines: Sequence[str]) -> None:
    """List unreadable secrets on standard error, which the console's own service redirects, and in the log."""
    if not lines:
        return
    title = f"{len(lines)} secrets cannot be opened, because their master key is missing; they are kept:"
    _say(sys.stderr, title, *lines[:MAX_LISTED], "..." if len(lines) > MAX_LISTED else None)
    for line in lines[:MAX_LISTED]:
        _log.warning("cannot be opened: %s", line)


def sample_note(options: ServeOptions) -> str | None:
    """Return a note on the sample organization, if one was requested."""
    if options.sample_runs is None:
        return None
    keys = options.data_dir / SAMPLE_KEYS
    if keys.exists():
        return f"Keys of the sample organizations are in {keys}"
    return "The data directory is not new, so no sample organization was created in it"


def _say(stream: TextIO, *lines: str | None) -> None:
    try:
        stream.write("".join(f"{clean_block(line)}\n" for line in lines if line))
        stream.flush()
    except OSError:
        # The process that started the service is gone. Keep running, and avoid failing at exit over the same bytes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


async def stop_when_idle(service: RunningServer, idle_exit_s: float | None, clock: Clock) -> None:
    """Stop the service after this long without a caller, unless a run is live."""
    if idle_exit_s is None:
        return
    context = service.context
    while (left := context.last_request + idle_exit_s - clock.monotonic()) > 0 or context.engine.unfinished:
        await clock.sleep(max(0.0, left))
        await context.engine.settled()
    service.stop.set()
