"""The command ``runwatch`` as the user types it: its own process, pipes, a clean environment."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.support.environment import clean_environment
from tests.support.screen import foreign_controls

TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did.

    Attributes:
        code: Its exit status.
        stdout: The bytes of its standard output.
        stderr: The bytes of its standard error.
    """

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "surrogateescape")

    @property
    def errors(self) -> str:
        return self.stderr.decode("utf-8", "surrogateescape")

    @property
    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.stdout)

    @property
    def json_lines(self) -> list[Any]:
        """Standard output as one JSON value a line."""
        return [json.loads(line) for line in self.stdout.splitlines()]


def assert_plain(outcome: Outcome) -> None:
    """Prove that nothing but text came out, and that nothing broke on the way."""
    assert foreign_controls(outcome.stdout) == []
    assert foreign_controls(outcome.stderr) == []
    assert "Traceback" not in outcome.errors
    assert "Unexpected error" not in outcome.errors


class Cli:
    """Runs ``python -m runwatch`` with its own home, settings and data.

    ::

        cli = Cli(tmp_path, base_url=service.base_url, api_key=service.api_key)
        assert cli("runs", "list", "--json").json == []

    Args:
        home: The directory for everything it keeps.
        base_url: The service it calls; ``None`` when nothing is configured.
        api_key: The key it calls with.
        env: Further variables.
    """

    def __init__(
        self,
        home: Path,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        named = {"RUNWATCH_BASE_URL": base_url, "RUNWATCH_API_KEY": api_key}
        given = {name: value for name, value in named.items() if value is not None}
        self.environment: Final = clean_environment(home, {**given, **(env or {})})
        self._home = home

    def __call__(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        timeout: float = TIMEOUT_S,
        env: Mapping[str, str] | None = None,
        code: int | None = None,
    ) -> Outcome:
        """Run the command to its end, which has to have this exit code if one is named.

        Without ``stdin`` its standard input is empty.

        Raises:
            subprocess.TimeoutExpired: it took longer than ``timeout`` seconds.
        """
        done = subprocess.run(
            self.command(*arguments), input=stdin if stdin is not None else b"", capture_output=True,
            env={**self.environment, **(env or {})}, cwd=self._home, timeout=timeout, check=False,
        )  # fmt: skip
        outcome = Outcome(done.returncode, done.stdout, done.stderr)
        assert code in {None, outcome.code}, outcome.errors
        return outcome

    def command(self, *arguments: str) -> list[str]:
        """The command line, for a terminal or another process."""
        return [sys.executable, "-m", "runwatch", *arguments]

    @contextlib.contextmanager
    def running(self, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """The command while it runs, in pipes; killed at the end of the block if it still runs."""
        with subprocess.Popen(
            self.command(*arguments),
            # Without a buffer, so that a line that was read and the rest that communicate() reads are all there is.
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.environment, **(env or {})},
            cwd=self._home,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()
