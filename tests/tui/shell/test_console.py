"""A command that the console shows calls the same service as the console."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from runwatch.base.network.service_target import Target
from runwatch.tui.shell.console import Console


@pytest.mark.parametrize(
    ("profile", "demo", "command"),
    [
        ("local", False, "runwatch runs cancel --local ex_1"),
        ("work", False, "runwatch runs cancel --profile work ex_1"),
        ("environment", False, "runwatch runs cancel ex_1"),
        ("local", True, "runwatch runs cancel ex_1"),
        (None, False, "runwatch runs cancel ex_1"),
    ],
)
def test_a_shown_command_chooses_the_same_service(profile: str | None, demo: bool, command: str) -> None:
    session = None if profile is None else SimpleNamespace(target=Target(profile, "https://runs.test", None))
    console: Any = SimpleNamespace(session=session, launch=SimpleNamespace(demo=demo))
    assert Console.command(cast("Console", console), "runs cancel", "ex_1") == command
