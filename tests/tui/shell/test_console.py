"""A command that the console shows calls the same service as the console."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from runwatch.base.network.service_target import Target
from runwatch.tui.shell.console import Console


@pytest.mark.parametrize(
    ("profile", "base_url", "command"),
    [
        ("local", "", "runwatch runs cancel --local ex_1"),
        ("work", "", "runwatch runs cancel --profile work ex_1"),
        ("environment", "", "runwatch runs cancel ex_1"),
        ("environment", "https://runs.test", "runwatch runs cancel --base-url https://runs.test ex_1"),
        (None, "", "runwatch runs cancel ex_1"),
    ],
)
def test_a_shown_command_chooses_the_same_service(profile: str | None, base_url: str, command: str) -> None:
    session = None if profile is None else SimpleNamespace(target=Target(profile, "https://runs.test", None))
    launch = SimpleNamespace(options=SimpleNamespace(base_url=base_url), program="runwatch")
    console = object.__new__(Console)
    vars(console).update(session=session, launch=launch)
    assert console.command("runs cancel", "ex_1") == command
