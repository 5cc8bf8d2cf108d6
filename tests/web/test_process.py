"""``runwatch web`` as a command: what it refuses before it listens, and what it gives to its consoles."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from runwatch.cli import run
from runwatch.web import process
from runwatch.web.console_process import console_environment
from runwatch.web.process import WebOptions
from runwatch.web.server import ConsoleCommand
from tests.support.web_console import settings_with_profile


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "it needs TLS"),
        (["--host", "console.localhost"], "it needs TLS"),
        (["--tls-cert", "chain.pem"], "go together"),
        (["--tls-cert", "missing.pem", "--tls-key", "missing.pem"], "cannot be used"),
        (["--max-consoles", "0"], "at least 1"),
        (["--profile", "nope"], "There is no profile 'nope'"),
        (["--local", "--base-url", "http://127.0.0.1:1"], "--local cannot be used with"),
    ],
)
def test_what_cannot_be_served_safely_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["web", *words]) == 2
    printed = capsys.readouterr()
    assert told in printed.err
    assert "consoles" not in printed.err.replace("--max-consoles", "")
    assert printed.out == ""


def test_without_the_extra_it_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert run(["web"]) == 2
    hint = capsys.readouterr().err
    assert f"{sys.executable} -m pip install" in hint
    assert "'textual-serve" in hint
    assert "'aiohttp" in hint
    assert "runwatch[" not in hint, "an index need not have it"


@pytest.mark.parametrize(("words", "is_read_only"), [([], True), (["--allow-writes"], False)])
def test_consoles_are_read_only_unless_writes_are_allowed(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    is_read_only: bool,
) -> None:
    monkeypatch.setenv("RUNWATCH_CONFIG", str(settings_with_profile(tmp_path, "prod")))
    started: list[tuple[WebOptions, ConsoleCommand]] = []

    def serve(options: WebOptions, command: ConsoleCommand, show_link: Any, _: Any) -> int:
        started.append((options, command))
        assert "consoles" not in capsys.readouterr().err
        show_link("one")
        show_link("two")
        return 0

    monkeypatch.setattr(process, "serve_consoles", serve)
    assert run(["web", "--profile", "prod", "--open", "problems", *words]) == 0
    printed = capsys.readouterr()
    assert printed.err.count(f"consoles show prod {'read-only' if is_read_only else 'with writes'};") == 1
    assert printed.out == "one\ntwo\n"
    [(options, command)] = started
    assert (options.host, options.max_consoles) == ("127.0.0.1", 4)
    assert ("--read-only" in command.words) is is_read_only
    assert command.words[-2:] == ["--profile=prod", "--open=problems"]


def test_without_a_configured_service_consoles_show_the_local_one_as_runwatch_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def serve(options: WebOptions, command: ConsoleCommand, show_link: Any, _: Any) -> int:
        show_link("link")
        return 0

    monkeypatch.setattr(process, "serve_consoles", serve)
    assert run(["web"]) == 0
    assert "consoles show local read-only" in capsys.readouterr().err


def test_a_console_gets_the_variables_of_the_server_and_the_browser_as_its_terminal() -> None:
    given = {"RUNWATCH_API_KEY": "key", "TMUX": "x", "TERM": "dumb", "LC_ALL": "C", "COLUMNS": "5"}
    made = console_environment(given, 100, 30)
    assert made["RUNWATCH_API_KEY"] == "key"
    assert "TMUX" not in made
    assert (made["TERM"], made["LC_ALL"], made["COLUMNS"], made["LINES"]) == ("xterm-256color", "C.UTF-8", "100", "30")
