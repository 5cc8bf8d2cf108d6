"""Starting the demo, for the command line.

Its service needs longer to start than the console, so it starts first, and the console is imported meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from runwatch.base.errors import RunwatchError
from runwatch.settings import local_service
from runwatch.settings.resolver import SettingOptions
from runwatch.settings.temporary_service import (
    FOREIGN_VARIABLES,
    IDLE_EXIT_S,
    add_sample_commands,
    add_sample_profile,
    remove_temporary,
    temporary_paths,
    write_program,
)

DEMO_PACE: Final = 60
"""Slow-down of the demo's test runs: each takes about eight seconds, slow enough to watch."""

DEMO_RUNS: Final = 60
"""Finished runs of the demo's sample organization: a month of them, created quickly."""

_SERVICE: Final = ("--sample", "--sample-runs", str(DEMO_RUNS), "--pace", str(DEMO_PACE))


_START_HINT: Final = "Quit, and start `runwatch demo` again."
"""What the user does once the temporary service has died; any other way starts the service of the user's own data."""


def run_demo(environment: Mapping[str, str]) -> int:
    """Run the console on a temporary local service with a sample organization, and delete its data afterwards.

    Raises:
        LocalServiceError: The service could not be stopped.
    """
    own = {name: value for name, value in environment.items() if name not in FOREIGN_VARIABLES}
    with temporary_paths() as paths:
        ensure_running = partial(
            local_service.ensure_running, settings_file=paths.settings_file, idle_exit_s=IDLE_EXIT_S, more=_SERVICE
        )

        def start_early() -> None:
            # The console asks for the same service again, waits for it, and reports a failure.
            with contextlib.suppress(RunwatchError):
                ensure_running(paths.local_service_dir)

        def start_local(directory: Path) -> local_service.LocalService:
            _make_database(paths.database)
            service = ensure_running(directory)
            add_sample_profile(paths, service.base_url)
            return replace(service, start_hint=_START_HINT)

        add_sample_commands(paths)
        starting = threading.Thread(target=start_early, name="runwatch-demo")
        starting.start()
        try:
            from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
            from runwatch.tui.terminal.terminal_app import run_app

            launch = LaunchOptions(
                paths,
                own,
                SettingOptions(local=True),
                start_local=start_local,
                demo=True,
                program=write_program(paths),
            )
            return run_app(ConsoleApp(launch), at_forced_end=partial(remove_temporary, paths))
        finally:
            # A service that is still starting could not be stopped.
            starting.join()


def _make_database(file: Path) -> None:
    """Create the console's database while the service starts; the console reports a failure when it opens it."""
    from runwatch.store.db.database import Database

    with contextlib.suppress(RunwatchError):
        Database.open(file).close()
