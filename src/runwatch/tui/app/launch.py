"""Starting the console, for the command line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from runwatch.base.files import check_data_dir
from runwatch.base.paths import Paths
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.terminal.terminal_app import run_app

if TYPE_CHECKING:
    from runwatch.settings.local_service import LocalService

DEMO_PACE: Final = 60
"""Slow-down of the demo's test runs: each takes about eight seconds, slow enough to watch."""

DEMO_RUNS: Final = 60
"""Finished runs of the demo's sample organization: a month of them, created quickly."""

_SERVICE: Final = ("--sample", "--sample-runs", str(DEMO_RUNS), "--pace", str(DEMO_PACE))
_FOREIGN: Final = ("RUNWATCH_BASE_URL", "RUNWATCH_API_KEY", "RUNWATCH_PROFILE")


def run_console(paths: Paths, environment: Mapping[str, str], options: SettingOptions, *, open_at: str = "") -> int:
    """Run the console on this terminal, name the runs that go on afterwards, and return the exit code.

    Args:
        paths: Paths of settings and data.
        options: Settings given as command line options.
        open_at: The first screen and, after a slash, an id; empty for the one of the settings.

    Raises:
        SettingsError: a flag or a variable has an invalid value.
        DataError: other users own the data directory or may write to it.
    """
    check_data_dir(paths.data_dir)
    app = ConsoleApp(LaunchOptions(paths, environment, options, open_at))
    code = run_app(app, log_file=paths.log_file)
    # Standard error is gone when the terminal is.
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(app.left_runs)
        sys.stderr.flush()
    return code


def run_console_on_file(paths: Paths, environment: Mapping[str, str], file: Path) -> int:
    """Run the console on a file's records, without a service, and return the exit code.

    Raises:
        UsageError: the file cannot be opened.
        SettingsError: a variable has an invalid value.
        DataError: other users own the data directory or may write to it.
    """
    from runwatch.tui.app.file_opening import check_openable

    check_openable(file)
    check_data_dir(paths.data_dir)
    return run_app(ConsoleApp(LaunchOptions(paths, environment, SettingOptions(), file=file)), log_file=paths.log_file)


def run_demo(environment: Mapping[str, str]) -> int:
    """Run the console on a temporary local service with a sample organization, and delete its data afterwards.

    Raises:
        LocalServiceError: the service could not be stopped.
    """
    from runwatch.settings import local_service
    from runwatch.settings.temporary_service import (
        IDLE_EXIT_S,
        add_sample_profile,
        remove_temporary,
        temporary_paths,
    )

    own = {name: value for name, value in environment.items() if name not in _FOREIGN}
    with temporary_paths() as paths:

        def start_local(directory: Path) -> LocalService:
            service = local_service.ensure_running(
                directory, settings_file=paths.settings_file, idle_exit_s=IDLE_EXIT_S, more=_SERVICE
            )
            add_sample_profile(paths, service.base_url)
            return service

        opening = LaunchOptions(paths, own, SettingOptions(local=True), start_local=start_local, demo=True)
        return run_app(ConsoleApp(opening), at_forced_end=partial(remove_temporary, paths))
