"""Own commands in the settings: read whole or not at all, and words that a record can never turn into others."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.base.errors import RunwatchError
from runwatch.settings.command_words import fill_words
from runwatch.settings.settings_file import load_settings_file
from tests.support.hostile import CORPUS

SECRET = f"ghp_{'a1B2' * 9}"
"""Of the form of a key to GitHub."""

GOOD = """\
[commands.ticket]
run = ["open-ticket", "--", "{id}"]
key = "ctrl+t"
kinds = ["runs", "problems"]
question = "Open a ticket?"
"""


def read(tmp_path: Path, content: str, mode: int = 0o600) -> tuple[dict[str, list[str]], list[tuple[int | None, str]]]:
    path = tmp_path / "settings.toml"
    path.write_text(content)
    path.chmod(mode)
    loaded = load_settings_file(path)
    told = [(problem.line, str(problem).partition(": ")[2]) for problem in loaded.problems]
    return {name: command.run for name, command in loaded.settings.commands.items()}, told


def test_a_command_is_read_whole(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD) == ({"ticket": ["open-ticket", "--", "{id}"]}, [])


@pytest.mark.parametrize("kind", ["runs", "run"])
def test_a_command_names_its_lists_in_the_singular_or_the_plural(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f'[commands.ticket]\nrun = ["x"]\nkinds = ["{kind}"]\n')
    command = load_settings_file(path).settings.commands["ticket"]
    assert [command.is_for(name) for name in ("runs", "problems")] == [True, False]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ('qestion = "Sure?"', "'commands.ticket.qestion' is not a setting; did you mean 'commands.ticket.question'?"),
        ('output = "popup"', "'commands.ticket.output' must be one of pane, notice, pager, nothing"),
        ("timeout_s = 0", "'commands.ticket.timeout_s' must be a whole number from 1 to 3600"),
        ('key = "ctrl + t"', "'commands.ticket.key' must be one key"),
        ('run = "echo hi"', '\'commands.ticket.run\' must be a list of words, such as run = ["echo", "hi"]'),
        ("run = []", "'commands.ticket.run' must be a program and its arguments, each a text of its own"),
        ('run = ["{id}"]', "'commands.ticket.run' begins with a placeholder; the program has a fixed name"),
        ('run = ["jq", "{ids}"]', "'commands.ticket.run' has an unknown placeholder; did you mean {id}?; there are"),
        ('run = ["x", "{profle}"]', "'commands.ticket.run' has an unknown placeholder; did you mean {profile}?; there"),
        (
            'run = ["awk", "{print}"]',
            "'commands.ticket.run' has an unknown placeholder; there are {id}, {kind}, {profile}, "
            "{service}, {record.MEMBER}; {{WORD}} stands for {WORD} itself",
        ),
        (f'run = ["curl", "{SECRET}"]', "'commands.ticket.run' holds a secret"),
        ("", "'commands.ticket' has no run, so it does nothing"),
    ],
)
def test_a_command_with_a_mistake_is_named_and_not_used(wrong: str, told: str, tmp_path: Path) -> None:
    run = "" if "run = " in wrong or not wrong else 'run = ["x"]\n'
    commands, problems = read(tmp_path, f"[commands.ticket]\n{run}{wrong}\n")
    assert commands == {}
    assert [problem.startswith(told) for _, problem in problems] == [True], problems
    assert SECRET not in str(problems)


def test_a_list_of_tables_is_told_how_a_command_is_written(tmp_path: Path) -> None:
    commands, problems = read(tmp_path, '[[commands]]\nrun = ["x"]\n')
    assert (commands, problems[0][1]) == (
        {}, "'commands' must be a table of commands, such as [commands.ticket]",
    )  # fmt: skip


def test_a_file_that_others_may_change_runs_no_command(tmp_path: Path) -> None:
    commands, problems = read(tmp_path, GOOD, mode=0o606)
    assert commands == {}
    assert (1, "'commands.ticket' is not used, because others may change this file") in problems


@pytest.mark.parametrize("value", [entry.text for entry in CORPUS], ids=[entry.name for entry in CORPUS])
def test_a_hostile_id_stays_one_word_and_becomes_no_option(value: str) -> None:
    words = ["program", "--", "{id}", "x={id}", "https://h.example/?q={id:url}"]
    filled = fill_words(words, lambda _: value)
    assert filled[:4] == ["program", "--", value, f"x={value}"]
    assert set(filled[4].removeprefix("https://h.example/?q=")).isdisjoint("&#/?=+ \n")
    if value.startswith("-"):
        with pytest.raises(RunwatchError, match="would be an option"):
            fill_words(["program", "{id}"], lambda _: value)


def test_braces_that_are_no_placeholder_stay() -> None:
    words = ["jq", "{id, status} | {a: {b: .c}}", "{{id}}", "{record.a.b}"]
    assert fill_words(words, str.upper) == ["jq", "{id, status} | {a: {b: .c}}", "{id}", "RECORD.A.B"]
