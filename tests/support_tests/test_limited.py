"""A narrow place is narrow, from the program's first line on, and wide again when a test says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.limited import full_disk, narrow

WRITE = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_bytes(b'x' * 1000)"

WRITE_ON_DEMAND = """
import pathlib, sys
for line in sys.stdin:
    try:
        pathlib.Path(line.strip()).write_bytes(b"x" * 1000)
        print("written", flush=True)
    except OSError as error:
        print(error.strerror, flush=True)
"""


def errors_of(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_a_file_grows_to_the_limit_and_no_further(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE, str(tmp_path / "file")]
    assert errors_of(narrow(command, file_bytes=1000)) == ""
    assert "File too large" in errors_of(narrow(command, file_bytes=999))


def test_what_may_not_be_written_is_kept_from_root_too(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    command = [sys.executable, "-c", WRITE, str(tmp_path / "file")]
    assert "Permission denied" in errors_of(narrow(command, owner_only=True))
    tmp_path.chmod(0o700)
    assert errors_of(narrow(command, owner_only=True)) == ""


def test_a_running_process_has_no_room_for_a_while(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITE_ON_DEMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def write() -> str:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{tmp_path / 'file'}\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        assert write() == "written"
        with full_disk(process.pid):
            assert write() == "File too large"
        assert write() == "written"
        process.stdin.close()
