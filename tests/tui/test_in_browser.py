"""A console in a browser leaves the machine on which it runs alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.base.console_packets import CONSOLE_DRIVER
from runwatch.tui.app.console_app import ConsoleApp
from tests.tui import noon
from tests.tui.console import console

SETTINGS = """\
[commands.mark]
run = ["touch", "{file}"]
kinds = ["runs"]
key = "f6"
"""


@pytest.fixture(autouse=True)
def is_web(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make consoles of a test those of a browser."""
    monkeypatch.setattr(ConsoleApp, "is_web", True)


@pytest.mark.parametrize("key", ["f6", "exclamation_mark"])
async def test_own_commands_do_not_run(tmp_path: Path, key: str) -> None:
    file = tmp_path / "made"
    settings = SETTINGS.replace("{file}", str(file))
    async with console(noon.service(), tmp_path, size=(160, 40), settings=settings) as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("a browser runs none", key)
    assert not file.exists()


@pytest.mark.parametrize("key", ["X", "enter"])
async def test_settings_are_not_written(tmp_path: Path, key: str) -> None:
    async with console(noon.service(), tmp_path, size=(160, 40), settings="bell = true\n") as driven:
        await driven.reaches("Settings", "comma")
        await driven.filter("bell")
        await driven.press("down")
        assert not {"X", "enter"} & set(driven.lines[-1].split())
        await driven.reaches("A browser changes no settings", key)
        await driven.press("down", "enter")
    assert (tmp_path / "settings.toml").read_text() == "bell = true\n"


async def test_mistakes_in_own_commands_are_not_reported_where_none_runs(tmp_path: Path) -> None:
    taken = (
        SETTINGS.replace("{file}", "file").replace("f6", "$")
        + '[commands.wrong]\nrun = []\n[keys]\n"screen.nope" = "f9"\n'
    )
    here = {"TEXTUAL_DRIVER": CONSOLE_DRIVER}
    async with console(noon.service(), tmp_path, size=(160, 40), settings=taken, environment=here) as driven:
        assert driven.app.command_keys.refused
        assert [warning.partition(";")[0] for warning in driven.app.warnings] == ["screen.nope is not an action"]
