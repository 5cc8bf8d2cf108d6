"""The local service with its event loop timed: the longest callback since the last question.

``python -m tests.performance.timed_service`` takes the arguments of ``runwatch serve``.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Final, NoReturn

from tests.performance.measure import longest_callback
from tests.support.service import ServiceProcess

PATIENCE_S: Final = 60.0
_ANSWER: Final = "RUNWATCH_LONGEST_CALLBACK"
"""The variable that names the file to which the service writes its answer."""


class TimedService(ServiceProcess):
    """The service, which reports its longest callback when asked.

    Args:
        data_dir: Its data directory.
    """

    def __init__(self, data_dir: Path) -> None:
        self._answer: Final = data_dir / "longest-callback"
        super().__init__(
            data_dir, env={_ANSWER: str(self._answer)}, program=("-m", "tests.performance.timed_service", "serve")
        )

    def longest_callback(self) -> float:
        """Return the longest callback since the last call, or since the start, in seconds.

        Raises:
            AssertionError: the service does not answer.
        """
        self._answer.unlink(missing_ok=True)
        os.kill(self.pid, signal.SIGUSR1)
        until = time.monotonic() + PATIENCE_S
        while not self._answer.exists():
            assert time.monotonic() < until, "the service does not say how long its event loop was held"
            time.sleep(0.01)
        return float(self._answer.read_text("ascii"))


def main() -> NoReturn:
    """Serve, and answer each SIGUSR1 in the file that the environment names."""
    from runwatch.cli import main as run

    answer = Path(os.environ[_ANSWER])
    with longest_callback() as times:

        def tell(*_: object) -> None:
            part = answer.with_suffix(".part")
            part.write_text(str(times.longest), "ascii")
            part.rename(answer)
            times.longest = 0.0

        signal.signal(signal.SIGUSR1, tell)
        run()


if __name__ == "__main__":
    main()
