"""A command that the console shows calls the same service as the console."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from runwatch.base.network.service_target import Target
from runwatch.settings.declarations import Profile, Settings
from runwatch.tui.shell.console import Console
from runwatch.view.text.shell_commands import service_command

URL = "https://runs.test"


@pytest.mark.parametrize(
    ("profile", "base_url", "command"),
    [
        ("local", None, "runwatch runs cancel --local ex_1"),
        ("work", None, "runwatch runs cancel --profile work ex_1"),
        ("work", f"{URL}/", f"runwatch runs cancel --profile work --base-url {URL}/ ex_1"),
        ("environment", None, "runwatch runs cancel ex_1"),
        (None, None, "runwatch runs cancel ex_1"),
        (None, URL, "runwatch runs cancel ex_1"),
    ],
)
def test_a_shown_command_chooses_the_same_service(profile: str | None, base_url: str | None, command: str) -> None:
    launch = SimpleNamespace(options=SimpleNamespace(base_url=base_url), program="runwatch")
    session = None if profile is None else SimpleNamespace(target=Target(profile, URL, None))
    console: Any = SimpleNamespace(session=session, launch=launch, settings=Settings())
    assert service_command(Console.find_shell_service(console, profile), "runs cancel", "ex_1") == command


def test_a_command_that_changes_something_does_not_choose_a_read_only_profile() -> None:
    launch = SimpleNamespace(options=SimpleNamespace(base_url=None), program="runwatch")
    settings = Settings(profiles={"ro": Profile("ro", {"read_only": True})})
    console: Any = SimpleNamespace(session=None, launch=launch, settings=settings)
    service = Console.find_shell_service(console, "ro")
    assert service_command(service, "runs cancel", "ex_1") == "runwatch runs cancel --profile PROFILE ex_1"
    assert service_command(service, "runs show", "ex_1") == "runwatch runs show --profile ro ex_1"
