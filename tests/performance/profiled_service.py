"""The local service under a profiler: which of its parts take the processor's time.

``python -m tests.performance.profiled_service`` takes the arguments of ``runwatch serve``. The time is that of the
processor, by function, in the event loop and in every thread of the database; the profiler's own time is in it, so that
parts with many short functions look a little larger than they are. A SIGUSR1 begins, a second one has it written.
"""

from __future__ import annotations

import cProfile
import json
import os
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Final

from tests.support.service import ServiceProcess

PATIENCE_S: Final = 60.0
_ANSWER: Final = "RUNWATCH_PROFILE_PARTS"
"""The variable that names the file which the service answers in."""

_PARTS: Final = (
    ("SQLAlchemy", ("/sqlalchemy/",)),
    ("SQLite", ("sqlite3.",)),
    ("waits and turns of the loop and its threads", ("/asyncio/", "/concurrent/", "/threading.py", "_thread", "epoll")),
    ("validation", ("/pydantic", "pydantic_core", "/records/requests/")),
    ("HTTP", ("/uvicorn/", "/h11/", "/starlette/", "/service/http/", "socket")),
    ("calls of models", ("/httpx/", "/httpcore/", "/anyio/", "/service/models/")),
    ("JSON", ("/json/", "/base/json.py", "_json")),
    ("rules of runs", ("/runwatch/service/",)),
)
"""The parts, with pieces of the names or paths by which a function is known; the first that fits counts."""


class ProfiledService(ServiceProcess):
    """The service, which can be asked what its time went to.

    Args:
        data_dir: Its data directory.
    """

    def __init__(self, data_dir: Path) -> None:
        self._answer: Final = data_dir / "profile"
        super().__init__(
            data_dir, env={_ANSWER: str(self._answer)}, program=("-m", "tests.performance.profiled_service", "serve")
        )

    def begin(self) -> None:
        """Count from now on."""
        os.kill(self.pid, signal.SIGUSR1)

    def shares(self) -> Mapping[str, float]:
        """The share of each part in the processor's time, the largest first.

        Raises:
            AssertionError: the service does not answer.
        """
        os.kill(self.pid, signal.SIGUSR1)
        until = time.monotonic() + PATIENCE_S
        while not self._answer.exists():
            assert time.monotonic() < until, "the service does not say what its time went to"
            time.sleep(0.01)
        seconds = Counter(json.loads(self._answer.read_text("ascii")))
        whole = sum(seconds.values()) or 1.0
        return {name: part / whole for name, part in seconds.most_common()}


def main() -> None:
    """Serve under a profiler."""
    profiles: list[cProfile.Profile] = []
    run_thread = threading.Thread.run

    def profiled(thread: threading.Thread) -> None:
        enable()
        run_thread(thread)

    def enable() -> None:
        profiles.append(cProfile.Profile(time.thread_time))
        profiles[-1].enable()

    def turn(*_: object) -> None:
        if not began:
            began.append(True)
            enable()
            return
        part = answer.with_suffix(".part")
        part.write_text(json.dumps(_seconds_by_part(profiles)), "ascii")
        part.rename(answer)

    began: list[bool] = []
    answer = Path(os.environ[_ANSWER])
    threading.Thread.run = profiled  # type: ignore[method-assign, assignment]
    signal.signal(signal.SIGUSR1, turn)
    from runwatch.cli import main as run

    run()


def _seconds_by_part(profiles: list[cProfile.Profile]) -> Mapping[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for profile in list(profiles):
        for entry in profile.getstats():
            part = _part_of(entry.code)
            if part is not None or not isinstance(entry.code, str):
                found[part or "other"] += entry.inlinetime
            # What is built into the interpreter belongs to who calls it.
            for called in entry.calls or ():
                if isinstance(called.code, str) and _part_of(called.code) is None:
                    found[part or "other"] += called.inlinetime
    return found


def _part_of(code: CodeType | str) -> str | None:
    name = code if isinstance(code, str) else code.co_filename
    return next((part for part, signs in _PARTS if any(sign in name for sign in signs)), None)


if __name__ == "__main__":
    main()
