"""The command line in this very process: streams and clock of the test, so that hundreds of calls take seconds."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.cli import run
from tests.support.cli import Outcome
from tests.support.clock import FakeClock


class Here:
    """Runs words as ``runwatch`` would, on a clock that never waits.

    Attributes:
        clock: The clock of every call.
        settings_file: The settings file.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self.clock: Final = FakeClock()
        self.settings_file: Final = home / "settings.toml"
        self._monkeypatch = monkeypatch
        monkeypatch.setattr("runwatch.commands.cli.dispatch.SystemClock", lambda: self.clock)

    def use(self, base_url: str, key: str = "k") -> Here:
        """Call this service from now on, by the environment."""
        self._monkeypatch.setenv("RUNWATCH_BASE_URL", base_url)
        self._monkeypatch.setenv("RUNWATCH_API_KEY", key)
        return self

    def __call__(self, *words: str, stdin: bytes = b"", code: int | None = None) -> Outcome:
        """Run one command line to its end, which has to have this exit code if one is named."""
        streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            ended = run(list(words))
        written: dict[str, Any] = {}
        for name, stream in streams.items():
            stream.flush()
            written[name] = stream.buffer.getvalue()
        outcome = Outcome(ended, written["stdout"], written["stderr"])
        assert code in {None, ended}, outcome.errors
        return outcome
