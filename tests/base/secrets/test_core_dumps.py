"""A crash of runwatch writes no memory to a disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environment import clean_environment
from tests.support.service import ServiceProcess

PROGRAM = """
import os, resource, subprocess, sys
from runwatch.base.secrets.core_dumps import forbid_core_dumps
resource.setrlimit(resource.RLIMIT_CORE, (1000, resource.getrlimit(resource.RLIMIT_CORE)[1]))
forbid_core_dumps()
print(resource.getrlimit(resource.RLIMIT_CORE)[0])
if sys.platform == "linux":
    import ctypes
    print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))  # PR_GET_DUMPABLE
    print(open("/dev/fd/0").read(), len(os.listdir("/proc/self/fd")) > 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this mark")
def test_the_process_is_not_dumpable_and_still_reads_what_is_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], input="given", capture_output=True, text=True, check=True)
    assert done.stdout == "0\n0\ngiven True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the limits of another process where Linux shows them")
def test_a_service_has_the_limit(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        limits = Path(f"/proc/{service.pid}/limits").read_text().splitlines()
    (core,) = [line.split() for line in limits if line.startswith("Max core file size")]
    assert core[4] == "0"


def test_a_verb_has_the_limit_and_help_does_not_pay_for_it(tmp_path: Path) -> None:
    program = (
        "import sys, resource\nfrom runwatch.cli import run\nresource.setrlimit(resource.RLIMIT_CORE,"
        " (1000, resource.getrlimit(resource.RLIMIT_CORE)[1]))\nrun(sys.argv[1:])\n"
        "print(resource.getrlimit(resource.RLIMIT_CORE)[0], 'ctypes' in sys.modules)\n"
    )
    for words, found in ((["--help"], "1000 False"), (["config", "path"], f"0 {sys.platform == 'linux'}")):
        done = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True,
            env=clean_environment(tmp_path),
        )  # fmt: skip
        assert done.stdout.splitlines()[-1] == found
