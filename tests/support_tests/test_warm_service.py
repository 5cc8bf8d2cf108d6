"""The quickly started service is the real one: another process every time, the same data and port, dead when killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.warm_service import WarmService


def test_a_killed_warm_service_is_gone_and_comes_back_as_another_process(tmp_path: Path) -> None:
    with WarmService(tmp_path / "service") as service:
        pid, line = service.pid, dict(service.line)
        service.kill()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        service.start()
        assert service.pid != pid
        assert {**service.line, "pid": pid} == line
        last = service.pid
    with pytest.raises(ProcessLookupError):
        os.kill(last, 0)


def test_a_warm_service_that_does_not_start_says_why(tmp_path: Path) -> None:
    service = WarmService(tmp_path / "service", "--host", "0.0.0.0")
    with pytest.raises(AssertionError, match=r"did not start(?s:.*)0\.0\.0\.0"):
        service.start()
    service.__exit__()
