"""What is pasted at the prompt of an interactive shell, where ``!`` repeats commands and tab completes names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from runwatch.base.json import encode_body
from runwatch.base.shell_words import quote_word
from runwatch.commands.completion import SCRIPTS
from runwatch.view.problems.copy_options import build_curl_command
from runwatch.view.problems.journal_entries import RequestEntry
from tests.support.shells import SHELL_PARAMETERS, ShellBox, interactive
from tests.support.terminal import Terminal

LAST: Final = ["curl", "last"]

TYPED: Final = ("!!", "!touch", "a!!b'!!'", "!-1", "^touch^rm^", "$(touch pwned)", "\\!!", "a'b\\", "!$")

NAMES: Final = ("$(touch pwned)", "`touch pwned`", "; touch pwned", "it's", 'a "b', "!!", "*", "> owned", "a & reboot")
"""The rest of a name that a hostile program offers to the completion scripts."""

_OFFER: Final = """#!/bin/sh
if [ "$1" = __complete ]; then
    for begun; do :; done
    while IFS= read -r name; do case $name in "$begun"*) printf '%s\\n' "$name";; esac; done <"$RECORDS/../names"
else
    { printf '%s\\0' "${0##*/}" "$@"; } >"$RECORDS/$CASE.$$"
fi
"""


def type_lines(shell: str, box: ShellBox, lines: list[str]) -> list[list[str]]:
    """Type lines at the prompt, and return the calls of stand-ins that they made."""
    with Terminal(interactive(shell), env=box.environment, columns=200, cwd=box.work) as terminal:
        for line in (*lines, " ".join(LAST)):
            terminal.type(f"{line}\r")
        terminal.wait_until(lambda: LAST in box.calls("typed"), "the last command")
    return [call for call in box.calls("typed") if call != LAST]


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_nothing_is_expanded_from_the_history_of_an_interactive_shell(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    calls = type_lines(shell, box, ["touch first", *(f"curl {quote_word(text)}" for text in TYPED)])
    assert calls == sorted([["touch", "first"], *(["curl", text] for text in TYPED)])
    assert box.made() == []


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_a_request_with_a_hostile_body_is_one_call_at_the_prompt(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    entry = RequestEntry(
        {"method": "POST", "origin": "https://api.example.test", "path": "/v1/executions", "key": "k", "sent_bytes": 9}
    )
    body = encode_body({"objective": " ".join(TYPED)})
    (call,) = type_lines(shell, box, [build_curl_command(entry, body, is_foreign=True)])
    assert call[-2:] == ["--data-raw", body.decode()]
    assert box.made() == []


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_a_hostile_name_is_completed_as_one_quoted_word(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    box.stand_in("runwatch", _OFFER)
    names = [f"ex{number}_{text}" for number, text in enumerate(NAMES)]
    (box.home / "names").write_text("".join(f"{name}\n" for name in names))
    (box.home / "script").write_text(SCRIPTS[shell]())
    begin = ["autoload -U compinit; compinit -u -D"] if shell == "zsh" else []
    lines = [*begin, f"source {box.home / 'script'}"]
    lines += [f"runwatch runs show ex{number}_\t" for number in range(len(names))]
    assert type_lines(shell, box, lines) == sorted(["runwatch", "runs", "show", name] for name in names)
    assert box.made() == []


def test_bash_quotes_the_names_of_files(tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    (box.home / "script").write_text(SCRIPTS["bash"]())
    (box.work / "export$(touch pwned).json").touch()
    assert type_lines("bash", box, [f"source {box.home / 'script'}", "runwatch open ex\t"]) == [
        ["runwatch", "open", "export$(touch pwned).json"]
    ]
