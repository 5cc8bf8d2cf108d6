"""The console with a witness: it writes down which modules were imported when its first screen was drawn, and ends.

The first screen waits for the lists of the last session, however slow the machine is.

``python -m tests.tui.painted FILE``
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from runwatch.base.paths import find_paths
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app import console_app
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.terminal.terminal_app import run_app


class Painted(ConsoleApp):
    def post_display_hook(self) -> None:
        """Write down what is imported, as soon as a screen of the console has been drawn."""
        if self.screen_stack and isinstance(self.screen, ConsoleScreen):
            Path(sys.argv[1]).write_text("\n".join(sorted(sys.modules)))
            self.exit()


if __name__ == "__main__":
    console_app.LAST_LISTS_WAIT_S = 60.0  # type: ignore[misc]
    sys.exit(run_app(Painted(LaunchOptions(find_paths(), os.environ, SettingOptions()))))
