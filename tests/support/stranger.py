"""A model server of others: ``llmock`` from PyPI, in its own process on loopback.

It answers every message with an echo, counts the tokens itself, and keeps a journal of what it was asked.
"""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from tests.support.environment import clean_environment

START_S: Final = 60.0
_LISTENS: Final = re.compile(rb"running on (http://127\.0\.0\.1:\d+)")
_CHAT: Final = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Stranger:
    """The server.

    Attributes:
        base_url: Where it listens.
    """

    base_url: str

    def calls(self) -> list[dict[str, Any]]:
        """The bodies of all calls of models that it got, in order."""
        listed = self._ask("/_llmock/requests")["requests"]
        return [entry["body"] for entry in listed if entry["path"] == _CHAT]

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Repeat a call that it got; it is deterministic, so the answer is the same."""
        return self._ask(_CHAT, body)

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body).encode()
        request = Request(self.base_url + path, data=content, headers={"Content-Type": "application/json"})
        with urlopen(request, timeout=START_S) as answer:
            value: dict[str, Any] = json.load(answer)
            return value


@contextmanager
def stranger(home: Path) -> Iterator[Stranger]:
    """The server while the block runs, on a free port that it chooses.

    Args:
        home: Where its home is.
    """
    command = [str(Path(sys.executable).with_name("llmock")), "serve", "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(
        [*command, "--response-style", "echo"],
        bufsize=0,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=clean_environment(home),
    ) as process:
        try:
            yield Stranger(_address(process))
        finally:
            process.kill()


def _address(process: subprocess.Popen[bytes]) -> str:
    """Where it listens, from its log; what it says later fits into the pipe.

    Raises:
        AssertionError: it ended, or did not say in a minute.
    """
    assert process.stderr is not None
    deadline, said = time.monotonic() + START_S, b""
    while (found := _LISTENS.search(said)) is None:
        readable, _, _ = select.select([process.stderr], [], [], max(0.0, deadline - time.monotonic()))
        more = process.stderr.read(1 << 16) if readable else b""
        assert more, f"the model server did not start; it said {said!r}"
        said += more
    return found[1].decode()
