"""``runwatch web`` as a command: what it refuses before it listens, and what it gives to its consoles."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from runwatch.cli import run
from runwatch.web import process
from runwatch.web.console_process import console_environment
from runwatch.web.process import WebOptions
from runwatch.web.server import ConsoleCommand


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "it needs TLS"),
        (["--host", "console.localhost"], "it needs TLS"),
        (["--tls-cert", "chain.pem"], "go together"),
        (["--tls-cert", "missing.pem", "--tls-key", "missing.pem"], "cannot be used"),
        (["--max-consoles", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_served_safely_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["web", *words]) == 2
    printed = capsys.readouterr()
    assert told in printed.err
    assert printed.out == ""


def test_without_the_extra_it_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert run(["web"]) == 2
    assert "pip install 'runwatch[web]'" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "is_read_only"), [([], True), (["--allow-writes"], False)])
def test_consoles_are_read_only_unless_writes_are_allowed(
    words: list[str], monkeypatch: pytest.MonkeyPatch, *, is_read_only: bool
) -> None:
    started: list[tuple[WebOptions, ConsoleCommand]] = []

    def serve(options: WebOptions, command: ConsoleCommand, show_link: Any) -> int:
        started.append((options, command))
        return 0

    monkeypatch.setattr(process, "serve_consoles", serve)
    assert run(["web", "--profile", "prod", "--open", "problems", *words]) == 0
    [(options, command)] = started
    assert (options.host, options.max_consoles) == ("127.0.0.1", 4)
    assert ("--read-only" in command.words) is is_read_only
    assert command.words[-2:] == ["--profile=prod", "--open=problems"]


def test_a_console_gets_the_variables_of_the_server_and_the_browser_as_its_terminal() -> None:
    given = {"RUNWATCH_API_KEY": "key", "TMUX": "x", "TERM": "dumb", "LC_ALL": "C", "COLUMNS": "5"}
    made = console_environment(given, 100, 30)
    assert made["RUNWATCH_API_KEY"] == "key"
    assert "TMUX" not in made
    assert (made["TERM"], made["LC_ALL"], made["COLUMNS"], made["LINES"]) == ("xterm-256color", "C.UTF-8", "100", "30")
