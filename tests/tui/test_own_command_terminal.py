"""The three own commands of the manual, as they are written there, on a real terminal with programs that tell."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from runwatch.view.manual.pages import DIRECTORY
from tests.support.builders import account
from tests.support.scripted import Said, running_service
from tests.support.terminal import Terminal
from tests.tui import noon
from tests.tui.console import KEY
from tests.tui.on_terminal import assert_whole, opened

PROGRAM: Final = f"""\
#!{sys.executable}
import json, os, pathlib, sys
told = {{"words": sys.argv[1:], "input": sys.stdin.read(), "terminal": sys.stdout.isatty()}}
told["variables"] = sorted(name for name in os.environ if "RUNWATCH" in name)
pathlib.Path(sys.argv[0] + ".told").write_text(json.dumps(told))
print("as jq prints it \\x1b[31m")
"""
"""Writes its arguments into a file next to itself."""

PAGER: Final = f"""\
#!{sys.executable}
import sys
print("the pager has", sys.stdin.read(), flush=True)
open("/dev/tty").readline()
"""

INSTANCE: Final = "urn:instance:7c1e&title=-x"


def examples() -> str:
    """The settings of the manual with commands in them."""
    blocks = (DIRECTORY / "settings.md").read_text("utf-8").split("```toml\n")[1:]
    return next(block.partition("```")[0] for block in blocks if block.startswith("[commands."))


def told(home: Path, program: str) -> dict[str, object]:
    return dict(json.loads((home / "bin" / f"{program}.told").read_text()))


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, content in {"xdg-open": PROGRAM, "wl-copy": PROGRAM, "jq": PROGRAM, "pager": PAGER}.items():
        (programs / name).write_text(content)
        (programs / name).chmod(0o700)
    made = noon.service(key=KEY, account=account())
    problem = {"type": "https://x.invalid/problems/internal", "title": "no", "status": 500, "instance": INSTANCE}
    made.say("GET", "/v1/arms", *[Said(500, problem)] * 9)
    variables = {"PATH": f"{programs}:{os.environ['PATH']}", "PAGER": str(programs / "pager"), "VISUAL": ""}
    with (
        running_service(made) as service,
        opened(tmp_path, service, settings=examples(), variables=variables) as running,
    ):
        yield running


@pytest.mark.exhaustive
def test_a_record_is_shown_in_the_pager_an_id_copied_and_a_ticket_opened_for_an_instance(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.press("f7", until="the pager has as jq prints it")
    assert not terminal.screen.is_alternate
    given = told(tmp_path, "jq")
    assert (given["words"], given["terminal"]) == (["--sort-keys", "."], False)
    assert json.loads(str(given["input"]))["execution_id"] == noon.QUEUED
    own = ["RUNWATCH_ID", "RUNWATCH_KIND", "RUNWATCH_PROFILE", "RUNWATCH_SERVICE"]
    assert given["variables"] == ["RUNWATCH_CONFIG", "RUNWATCH_DATA_DIR", *own]
    terminal.type("\n", until="jq: done")
    terminal.type("!", until="wl-copy -- '{id}'")
    terminal.type("\r", until="copy: done")
    assert told(tmp_path, "wl-copy")["words"] == ["--", noon.QUEUED]
    terminal.type("40", until="urn:instance")
    terminal.press("f6", until="Open a ticket with this instance id?")
    terminal.press("down", "enter", until="ticket: done")
    url = "https://tickets.example.com/new?title=runwatch&text=urn%3Ainstance%3A7c1e%26title%3D-x"
    assert told(tmp_path, "xdg-open")["words"] == [url]
    assert terminal.ends("ctrl+c", "ctrl+c") == 130
    assert_whole(terminal, tmp_path)
