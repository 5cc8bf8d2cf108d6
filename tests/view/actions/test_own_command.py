"""What an own command gets of a hostile record: each value whole, in its own place, or nothing at all."""

from __future__ import annotations

import json

import pytest

from runwatch.base.errors import RunwatchError
from runwatch.settings.declarations import OwnCommand
from runwatch.view.actions.own_command import CommandPlace, build_program_call, last_output_line, output_text
from runwatch.view.resources.runs import RUNS
from tests.support.hostile import CORPUS

PLACE = CommandPlace("work", "https://h.example")
ENVIRONMENT = {"PATH": "/bin", "RUNWATCH_API_KEY": "rk_secret", "RUNWATCH_CONFIG": "/c.toml"}


@pytest.mark.parametrize("value", [entry.text for entry in CORPUS], ids=[entry.name for entry in CORPUS])
def test_a_hostile_value_is_whole_in_arguments_variables_and_json(value: str) -> None:
    command = OwnCommand("x", {"run": ["x", "--", "{id}", "{record.name}"], "input": "json"})
    raw = {"execution_id": value, "name": value}
    can_be_argument = "\0" not in value and not any("\ud800" <= it <= "\udfff" for it in value)
    if not can_be_argument:
        with pytest.raises(RunwatchError, match="no argument can hold"):
            build_program_call(command, RUNS, value, raw, PLACE, ENVIRONMENT)
        command = OwnCommand("x", {"run": ["x"], "input": "json"})
    call = build_program_call(command, RUNS, value, raw, PLACE, ENVIRONMENT)
    assert call.words[2:] == ((value, value) if can_be_argument else ())
    assert call.environment.get("RUNWATCH_ID") == (value if can_be_argument else None)
    assert call.input is not None
    assert call.input.isascii()
    assert json.loads(call.input) == raw
    assert "rk_secret" not in str(call)
    assert call.environment["RUNWATCH_CONFIG"] == "/c.toml"


@pytest.mark.parametrize("raw", [{}, {"a": None}, {"a": {"b": 1}}, {"a": [1]}])
def test_a_member_that_is_no_single_value_is_named(raw: dict[str, object]) -> None:
    command = OwnCommand("x", {"run": ["x", "{record.a}"]})
    with pytest.raises(RunwatchError, match="no single value a"):
        build_program_call(command, RUNS, "ex_1", raw, PLACE, {})


def test_output_is_cleaned_and_loses_its_colours_alone() -> None:
    output = b"\x1b[1;31mone\x1b[m\x1b[2J\r\n\ttwo\xff\n\n"
    assert output_text(output) == "one\u241b[2J\n        two\ufffd"
    assert last_output_line(output).strip() == "two\ufffd"
