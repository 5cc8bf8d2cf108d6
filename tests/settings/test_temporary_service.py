"""The temporary paths of a demo, and the program that reaches its service from another shell."""

from __future__ import annotations

import os
import shlex
import subprocess

from runwatch.settings.settings_file import load_settings_file
from runwatch.settings.temporary_service import add_sample_commands, temporary_paths, write_program


def test_its_program_uses_its_paths_in_every_shell() -> None:
    with temporary_paths() as paths:
        command = [*shlex.split(write_program(paths)), "config", "path"]
        others = {"RUNWATCH_CONFIG": "/elsewhere/settings.toml", "RUNWATCH_PROFILE": "gone"}
        done = subprocess.run(command, env=os.environ | others, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == str(paths.settings_file)
    assert not paths.data_dir.exists()


def test_its_settings_have_own_commands_without_a_mistake() -> None:
    with temporary_paths() as paths:
        add_sample_commands(paths)
        loaded = load_settings_file(paths.settings_file)
        assert not loaded.problems
        assert {name: command.key for name, command in loaded.settings.commands.items()} == {
            "ticket": "f6", "json": "f7", "show": "",
        }  # fmt: skip
