"""The real local service for tests that kill it often: a start costs a tenth, because its modules are loaded already.

One process imports what ``runwatch serve`` imports and forks a process for every start. The fork goes through the
command line's own entry and is killed like any other process; only loading its modules is left out.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final, Self

from tests.support.service import ServiceProcess

# It reads one port a line. The service that it forks prints its own line on the output that both share, and once that
# service is no more, this process says so.
_NURSERY: Final = """
import os, sys
import runwatch.commands.cli.dispatch, runwatch.service.server
from runwatch.cli import main

command = sys.argv[1:]
for port in sys.stdin:
    child = os.fork()
    if not child:
        sys.argv = ["runwatch", *command, "--port", port.strip()]
        main()
    os.waitpid(child, 0)
    print("gone", flush=True)
"""
_GONE: Final = b"gone\n"


class WarmService(ServiceProcess):
    """``runwatch serve --json`` like :class:`ServiceProcess`, quickly started again.

    Args:
        data_dir: Its data directory; made if it is not there.
        arguments: Further arguments of ``serve``.
    """

    def __init__(self, data_dir: Path, *arguments: str) -> None:
        super().__init__(data_dir, *arguments)
        self._is_up = False

    @property
    def pid(self) -> int:
        """The process that runs now."""
        assert self._is_up
        return int(str(self.line["pid"]))

    def start(self) -> Self:
        """Start it, on the port it had before if there was one, and wait until it accepts connections.

        Raises:
            AssertionError: it ended, said something else than its line, or took longer than a minute.
        """
        assert not self._is_up, "it runs already"
        nursery = self._process or self._open()
        assert nursery.stdin is not None
        nursery.stdin.write(f"{self.port}\n".encode())
        said = self._first_line()
        assert said != _GONE, f"the service did not start; it said on stderr:\n{self.errors}"
        self.line = json.loads(said)
        self.base_url, self.api_key = str(self.line["base_url"]), str(self.line["api_key"])
        self._is_up = True
        return self

    def _open(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", _NURSERY, "serve", "--json", "--data-dir", str(self.data_dir)]
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [*command, *self._arguments], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env=self._environment, start_new_session=True,
            )  # fmt: skip
        return self._process

    def _end(self, number: signal.Signals) -> int:
        """End the service and wait until the system has taken it away; its exit status is not known here."""
        if self._is_up:
            pid, self._is_up = self.pid, False
            os.kill(pid, number)
            assert self._first_line() == _GONE
        return 0

    def __exit__(self, *_: object) -> None:
        """Kill it if it still runs, and end what starts it."""
        self.kill()
        nursery, self._process = self._process, None
        if nursery is not None:
            # Its group: also a service that never said its line.
            os.killpg(nursery.pid, signal.SIGKILL)
            nursery.communicate()
