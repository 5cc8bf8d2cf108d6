"""Starting the console, for the command line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path

from runwatch.base.files import check_data_dir
from runwatch.base.paths import Paths
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.terminal.terminal_app import run_app


def run_console(paths: Paths, environment: Mapping[str, str], options: SettingOptions, *, open_at: str = "") -> int:
    """Run the console on this terminal, name what goes on afterwards, and return the exit code.

    Args:
        open_at: The first screen and, after a slash, an id; empty for the one of the settings.

    Raises:
        SettingsError: A flag or a variable has an invalid value.
        DataError: Other users own the data directory or may write to it.
    """
    check_data_dir(paths.data_dir)
    app = ConsoleApp(LaunchOptions(paths, environment, options, open_at))
    code = run_app(app, log_file=paths.log_file)
    # Standard error is gone when the terminal is.
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(app.farewell)
        sys.stderr.flush()
    return code


def run_console_on_file(paths: Paths, environment: Mapping[str, str], file: Path) -> int:
    """Run the console on a file's records, without a service, and return the exit code.

    Raises:
        UsageError: The file cannot be opened.
        SettingsError: A variable has an invalid value.
        DataError: Other users own the data directory or may write to it.
    """
    from runwatch.tui.app.file_opening import check_openable

    check_openable(file)
    check_data_dir(paths.data_dir)
    return run_app(ConsoleApp(LaunchOptions(paths, environment, SettingOptions(), file=file)), log_file=paths.log_file)
