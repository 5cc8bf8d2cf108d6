"""What is copied executes nothing where it is pasted into a shell, as a whole and line by line."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import pytest

import runwatch as package
from runwatch.base.json import loads
from runwatch.base.text import is_clean
from runwatch.view.problems.explanations import support_block
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.text.copied_text import copied_fields, copied_json, copied_word
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.shells import SHELL_PARAMETERS, ShellBox, interactive
from tests.support.terminal import Terminal

PARTS = (
    "The service's answer", "'; touch pwned; #", "reboot", "a\\", "\\'; touch pwned; \\'", "$(touch pwned)",
    "`touch pwned`", '"; touch pwned; "', "x | touch pwned", "> owned", "a\nreboot\n", "!touch", "!!", "", "-", "#",
    "touch pwned",
)  # fmt: skip
"""Fields that are harmless alone and hostile side by side, and the other way round."""

FIELDS = ("title", "detail", "instance", "profile", "host", "method", "path", "type")


def blocks(parts: Sequence[str]) -> Iterator[str]:
    """Support blocks and comparisons with each pair of parts in fields that follow each other."""
    for first, second in permutations(parts, 2):
        yield support_block(ProblemEntry({"title": first, "instance": "it's", "detail": second, "origin": first}))
        yield copied_fields({"path": first, "left": second, "right": first})
    for shift in range(len(parts)):
        yield support_block(ProblemEntry({name: parts[(shift + at) % len(parts)] for at, name in enumerate(FIELDS)}))


def test_an_id_that_a_shell_acts_on_is_copied_in_quotes() -> None:
    assert copied_word("ex_01HX") == "ex_01HX"
    assert copied_word("$(touch pwned)") == "'$(touch pwned)'"
    assert copied_word("touch pwned") == "'touch pwned'"
    assert copied_word("a\nb") == "'a\nb'"
    assert copied_word("") == ""


def test_a_line_for_each_field_can_still_be_read() -> None:
    found = copied_fields({"title": "The service's answer", "code": "not_found", "reason": None})
    assert found.splitlines() == ["title:  'The service'\\''s answer'", "code:   not_found", "reason: -"]


def test_a_field_never_becomes_two_lines() -> None:
    for hostile in CORPUS:
        found = copied_fields({"left": hostile.text, "right": hostile.text})
        assert is_clean(found)
        assert found.count("\n") == 1


@pytest.mark.parametrize(
    "value", [ALL_AT_ONCE.text, ["reboot", "$(reboot)"], [{"a": ["reboot"]}, {}], [[{"a": 1}]], {}]
)
def test_json_for_a_paste_is_the_same_value(value: object) -> None:
    text = copied_json({"a": value, "b": {"c": value}})
    assert loads(text) == {"a": value, "b": {"c": value}}
    assert is_clean(text)
    assert not set("$`!") & set(text)


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_a_block_with_several_hostile_fields_executes_nothing_as_a_whole(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    texts = [*blocks(PARTS)]
    assert box.run(shell, texts) == [[]] * len(texts)
    assert box.made() == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_the_whole_corpus_executes_nothing_beside_plain_apostrophes(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    texts = []
    for hostile in CORPUS:
        values = {"title": "The service's answer", "detail": hostile.text, "instance": hostile.text, "method": "it's"}
        texts.append(support_block(ProblemEntry(values)))
        texts.append(copied_fields({"path": "it's", "left": hostile.text, "right": hostile.text}))
    assert box.run(shell, texts) == [[]] * len(texts)
    assert box.made() == []


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_a_block_that_is_typed_at_the_prompt_executes_nothing(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    texts = [
        support_block(ProblemEntry(dict(zip(FIELDS, PARTS, strict=False)))),
        copied_fields({"path": "it's", "left": "'; touch pwned; #", "right": "!touch"}),
        copied_word("it's\nreboot\n'; touch pwned; '\n!touch\n"),
        copied_json({"a": {"reboot": "'; touch pwned", "b": ["reboot", "!!"]}}),
    ]
    last = ["curl", "last"]
    with Terminal(interactive(shell), env=box.environment, columns=200, cwd=box.work) as terminal:
        for text in ("touch first", *texts, " ".join(last)):
            for line in text.split("\n"):
                terminal.type(f"{line}\r")
        terminal.wait_until(lambda: last in box.calls("typed"), "the last command")
    assert box.calls("typed") == [last, ["touch", "first"]]
    assert box.made() == []


def test_only_what_the_user_selected_and_secrets_are_copied_unchanged() -> None:
    """The exceptions of the manual (Security: Copied text), and the one module that makes what the clipboard takes."""
    calls: dict[str, set[str]] = {"copied_unchanged": set(), "CopiedText": set()}
    for path in sorted(Path(package.__path__[0]).rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in calls) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in calls:
                calls[node.func.id].add(path.name)
    assert calls["copied_unchanged"] == {"widget_app.py", "confirm_dialog.py", "private_page.py"}
    assert calls["CopiedText"] == {"copied_text.py"}
