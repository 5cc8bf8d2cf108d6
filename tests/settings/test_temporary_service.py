"""The temporary paths of a demo, and the program that reaches its service from another shell."""

from __future__ import annotations

import os
import shlex
import subprocess

from runwatch.settings.temporary_service import temporary_paths, write_program


def test_its_program_uses_its_paths_in_every_shell() -> None:
    with temporary_paths() as paths:
        command = [*shlex.split(write_program(paths)), "config", "path"]
        others = {"RUNWATCH_CONFIG": "/elsewhere/settings.toml", "RUNWATCH_PROFILE": "gone"}
        done = subprocess.run(command, env=os.environ | others, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == str(paths.settings_file)
    assert not paths.data_dir.exists()
