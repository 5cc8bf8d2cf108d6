"""What is said of a model server that was found, and the command that connects it."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from runwatch.base.text import clean_line, is_clean
from runwatch.commands.cli.parser import parse_command_line
from runwatch.records.model_server import ModelServer
from runwatch.tui.flows.model_servers import connect_command, server_label
from runwatch.view.text.glyphs import ASCII
from tests.support.hostile import ALL_AT_ONCE

URL = "http://127.0.0.1:11434/v1"


def server(**over: Any) -> ModelServer:
    return ModelServer({"base_url": URL, "name": "Ollama", "models": ["a", "b"], "needs_key": False, **over})


def test_the_command_is_exact() -> None:
    assert connect_command(server()) == f"runwatch sources connect --local --openai-compatible {URL}"
    assert connect_command(server(needs_key=True)) == (
        f"runwatch sources connect --local --openai-compatible {URL} --auth-scheme api_key"
    )


def test_the_command_line_takes_the_command() -> None:
    for needs_key in (False, True):
        options = parse_command_line(shlex.split(connect_command(server(needs_key=needs_key)))[1:]).options
        assert (options.local, options.openai_compatible) == (True, URL)
        assert options.auth_scheme == ("api_key" if needs_key else None)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/; rm -rf ~", "$(reboot)", "`reboot`", "it's", "a\nb", ""])
def test_an_address_is_one_word_of_the_command_whatever_is_in_it(url: str) -> None:
    assert shlex.split(connect_command(server(base_url=url)))[5:] == [clean_line(url)]


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({}, "port 11434 (Ollama?) · 2 models"),
        ({"models": ["a"]}, "port 11434 (Ollama?) · 1 model"),
        ({"models": []}, "port 11434 (Ollama?) · 0 models"),
        ({"models": [], "needs_key": True}, "port 11434 (Ollama?) · wants a key"),
        ({"models": [], "is_slow": True}, "port 11434 answers slowly"),
        ({"models": 7, "name": None}, "port 11434 · ?"),
        ({"base_url": "http://127.0.0.1:1234"}, "port 1234 (Ollama?) · 2 models"),
    ],
)
def test_a_server_is_told_by_name_port_and_number_of_models(over: dict[str, Any], said: str) -> None:
    assert server_label(server(**over)) == said


def test_what_a_service_makes_up_is_cleaned_and_ascii_glyphs_are_kept_to() -> None:
    assert is_clean(server_label(server(name=ALL_AT_ONCE.text, base_url=ALL_AT_ONCE.text)))
    assert server_label(server(), ASCII).isascii()
