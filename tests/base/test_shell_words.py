"""A quoted word arrives as one argument in every shell, and nothing else runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.base.shell_words import quote_exactly, quote_word, runwatch_command
from runwatch.base.text import clean_line, is_clean
from tests.support.hostile import CORPUS
from tests.support.shells import SHELL_PARAMETERS, ShellBox

TRICKS = (
    "GET;touch pwned;#", "a'b", "a\\'b", "\\", "\\\\'", "''", "'", "it's !! $(touch x)", "!touch", "a\nb", "~", "=ls",
    "%self", "{a,b}", "*", "-x", "--", "", "é",
    "$'\\n'", "a\\", "'; touch pwned; '", "*(e:'touch pwned':)", "(touch pwned)",
)  # fmt: skip
"""What one of the shells reads in its own way."""

SHORT = [hostile.text for hostile in CORPUS if hostile.is_unicode and len(hostile.text) < 200]


def test_plain_words_stay_as_they_are() -> None:
    assert quote_word("ex_01HX-9.a/b:c@d,e+f") == "ex_01HX-9.a/b:c@d,e+f"
    assert quote_word("") == "''"


def test_what_a_terminal_acts_on_becomes_visible_and_the_quotes_stay_whole() -> None:
    for hostile in CORPUS:
        word = quote_word(hostile.text)
        assert is_clean(word)
        assert clean_line(word) == word


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_every_text_arrives_as_one_argument_and_runs_nothing(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    texts = [*TRICKS, *(text for text in SHORT if "$" in text or "'" in text or "`" in text)]
    found = box.run(shell, [f"curl {quote_word(text)}" for text in texts])
    assert found == [[["curl", clean_line(text)]] for text in texts]
    assert box.made() == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_the_whole_corpus_arrives_as_it_is(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    texts = [hostile.text for hostile in CORPUS if hostile.is_unicode and "\0" not in hostile.text]
    found = box.run(shell, [f"curl {quote_exactly(text)}" for text in texts])
    assert found == [[["curl", text]] for text in texts]
    found = box.run(shell, [f"curl {quote_word(hostile.text)}" for hostile in CORPUS])
    assert found == [[["curl", clean_line(hostile.text)]] for hostile in CORPUS]
    assert box.made() == []


def test_a_value_never_becomes_an_option() -> None:
    assert runwatch_command("runs watch", "-x", "ex_1") == "runwatch runs watch -- -x ex_1"
    assert runwatch_command("runs submit", resend="--yes") == "runwatch runs submit --resend=--yes"
    assert runwatch_command("config header", local=True, profile=None) == "runwatch config header --local"


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_a_command_of_ours_arrives_word_by_word(shell: str, tmp_path: Path) -> None:
    box = ShellBox(tmp_path)
    texts = ["$(touch pwned)", "`touch pwned`", "; touch pwned", "--yes", "a'b\\", "!!"]
    commands = [runwatch_command("runs submit", text, resend=text) for text in texts]
    found = box.run(shell, commands)
    for text, calls in zip(texts, found, strict=True):
        (call,) = calls
        assert call[:3] == ["runwatch", "runs", "submit"]
        assert call[-1] == text
        assert f"--resend={text}" in call or call[call.index("--resend") + 1] == text
    assert box.made() == []
