"""The command that repeats a request of the local service, run as a user runs it: in a shell, with the real curl."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runwatch.base.json import encode_body
from runwatch.base.network.service_file import read_service_file
from runwatch.settings import local_service
from runwatch.view.problems.copy_options import build_curl_command
from runwatch.view.problems.journal_entries import RequestEntry
from tests.support.builders import request_body
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
        environment = {**cli.environment, "PATH": places}
        done = subprocess.run(["/bin/sh", "-c", command], env=environment, capture_output=True, check=True)
        assert json.loads(done.stdout)["tenant_id"].startswith("ten_")
        written = read_service_file(directory)
        assert written is not None
        body = encode_body(request_body())
        submit = RequestEntry(
            {"method": "POST", "profile": "local", "path": "/v1/executions", "key": "one", "sent_bytes": len(body)}
        )
        command = build_curl_command(submit, body, socket=written.socket)
        runs = [
            json.loads(
                subprocess.run(["/bin/sh", "-c", command], env=environment, capture_output=True, check=True).stdout
            )
            for _ in range(2)
        ]
        assert runs[0]["execution_id"] == runs[1]["execution_id"], "the same key with the same body is the same run"
    finally:
        local_service.stop_running(directory)
