"""A process that dies at any line of any write leaves the old file or the new one, and the next write goes through."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from runwatch.base.files import write_atomic
from tests.base.cutter import JOBS

ROOT = Path(__file__).resolve().parents[2]
STEP = 1 if os.environ.get("RUNWATCH_LONG") or sys.version_info >= (3, 12) else 5
"""One line of this many is a cut; there are about 3,000 lines, fewer where more of the library is in C."""


@pytest.mark.exhaustive
def test_a_write_that_is_cut_at_any_line_leaves_the_old_content_or_the_new(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.base.cutter", str(tmp_path), str(STEP)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert set(told) == set(JOBS)
    assert {name: job["wrong"] for name, job in told.items() if job["wrong"]} == {}
    cuts = {name: job["cuts"] for name, job in told.items()}
    print(f"{sum(cuts.values())} cuts {cuts}: the old content or the new after each")
    assert sum(cuts.values()) >= 500
    assert all(count > 20 for count in cuts.values())


def test_the_content_is_on_the_disk_before_the_file_has_its_name_and_the_name_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    flush, replace = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        mode = os.fstat(descriptor).st_mode
        steps.append("directory flushed" if stat.S_ISDIR(mode) else f"{os.fstat(descriptor).st_size} bytes flushed")
        flush(descriptor)

    def named(path: Path, target: Path) -> Path:
        steps.append("named")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", named)
    write_atomic(tmp_path / "file", b"whole")
    assert steps == ["5 bytes flushed", "named", "directory flushed"]


FULL = """
import errno, resource, sys
from pathlib import Path
from runwatch.base.files import write_atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomic(Path(sys.argv[1]), b"new" * 1000)
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def test_a_disk_that_takes_no_more_leaves_the_old_content_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    write_atomic(file, b"old")
    done = subprocess.run([sys.executable, "-c", FULL, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout == "EFBIG\n"
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["settings.toml"]
