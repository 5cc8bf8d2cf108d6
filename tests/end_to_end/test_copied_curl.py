"""The command that repeats a request of the local service, run as a user runs it: in a shell, with the real curl."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runwatch.settings import local_service
from tests.support.cli import Cli


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_a_copied_command_reaches_the_local_service_through_its_socket(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    directory = tmp_path / "runwatch-data" / "local-service"
    try:
        assert cli("account", "--local").code == 0
        command = cli("requests", "list", "--curl").text.splitlines()[-1]
        assert "--unix-socket" in command
        places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["/bin/sh", "-c", command], env={**cli.environment, "PATH": places}, capture_output=True, check=True
        )
        assert json.loads(done.stdout)["tenant_id"].startswith("ten_")
    finally:
        local_service.stop_running(directory)
