"""The real local service in its own process: start it, kill it, bring it back on the same data and port."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.support.environment import clean_environment
from tests.support.listening import own_port

START_S: Final = 60.0
"""How long a start may take on a busy machine before it counts as failed."""


class ServiceProcess:
    """``runwatch serve --json`` on a data directory.

    ::

        with ServiceProcess(tmp_path / "service") as service:
            ...                                 # call service.base_url with service.api_key
            service.kill()
            service.start()                     # the same data, the same port

    Args:
        data_dir: Its data directory; made if it is not there.
        arguments: Further arguments of ``serve``.
        env: Further variables of its environment.
        program: What the interpreter runs, followed by the arguments of ``serve``.

    Attributes:
        port: Its port, at every start.
        base_url: Where it listens.
        api_key: The owner's key; empty for a worker.
        line: What it printed when it accepted connections.
    """

    def __init__(
        self,
        data_dir: Path,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] = ("-m", "runwatch", "serve"),
    ) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self.data_dir: Final = data_dir
        self.port: Final = own_port()
        self.base_url = ""
        self.api_key = ""
        self.line: dict[str, object] = {}
        self._arguments: Final[Sequence[str]] = arguments
        self._program: Final = program
        self._environment = clean_environment(data_dir, env)
        self._errors = data_dir / "stderr.txt"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process that runs now.

        Raises:
            AssertionError: none does.
        """
        assert self._process is not None
        return self._process.pid

    @property
    def target(self) -> Target:
        """The service as a client calls it."""
        key, socket = Secret(self.api_key), Path(str(self.line["socket"]))
        return Target(profile="local", origin=self.base_url, key=key, key_source="test", socket=socket)

    @property
    def errors(self) -> str:
        """What it has written to standard error, over all its starts."""
        return self._errors.read_text("utf-8", "replace") if self._errors.exists() else ""

    def start(self) -> Self:
        """Start it, on the same port each time, and wait until it accepts connections.

        Raises:
            AssertionError: it ended, said something else than its line, or took longer than a minute.
        """
        assert self._process is None, "it runs already"
        command = [sys.executable, *self._program, "--json", "--data-dir", str(self.data_dir)]
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port), *self._arguments], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=errors, env=self._environment, start_new_session=True,
            )  # fmt: skip
        self.line = json.loads(self._first_line())
        self.base_url, self.api_key = str(self.line["base_url"]), str(self.line.get("api_key", ""))
        return self

    def _first_line(self) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        descriptor, deadline, line = self._process.stdout.fileno(), time.monotonic() + START_S, b""
        while not line.endswith(b"\n"):
            readable, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            more = os.read(descriptor, 1 << 16) if readable else b""
            if not more:
                self.kill()
                raise AssertionError(f"the service did not start; it said {line!r} and on stderr:\n{self.errors}")
            line += more
        return line

    def kill(self) -> None:
        """End it without any warning, as a power cut does; harmless when it does not run."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to end in good order, and return its exit status."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.send_signal(number)
        try:
            return process.wait(START_S)
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def __enter__(self) -> Self:
        """Start it, for a block that ends it."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Kill it if it still runs."""
        self.kill()
