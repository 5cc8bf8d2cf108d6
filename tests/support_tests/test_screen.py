"""The screen of the tests reads what a program wrote, and finds what a terminal should never get."""

from __future__ import annotations

import pytest

from tests.support.hostile import CORPUS, Hostile
from tests.support.hostile_sequences import SEQUENCES
from tests.support.screen import Screen, foreign_controls


def test_a_sequence_may_arrive_in_pieces() -> None:
    screen = Screen(20, 3)
    for byte in "\x1b]0;title\x1b\\\x1b[2;3Hä\x1b[31mred\x1b[?1049".encode():
        screen.feed(bytes([byte]))
    assert screen.lines == ["", "  äred", ""]
    screen.feed(b"h")
    assert screen.is_alternate


def test_questions_and_strange_sequences_leave_no_letters_on_the_screen() -> None:
    screen = Screen(40, 3)
    for number, text in enumerate(SEQUENCES.values()):
        if "never ended" not in list(SEQUENCES)[number]:
            screen.feed(text.encode())
    screen.feed(b"\x1b[?1049h\x1b[>1u\x1b[?2026$p\x1b[<u\x1b[H\x1b[2Jend")
    assert screen.text == "end"


@pytest.mark.parametrize(
    "hostile", [entry for entry in CORPUS if entry.name in SEQUENCES], ids=lambda entry: entry.name
)
def test_every_sequence_of_the_corpus_is_foreign_to_a_verb(hostile: Hostile) -> None:
    assert foreign_controls(f"before {hostile.text} after\n".encode())


@pytest.mark.parametrize(
    "text",
    [
        "\x1b]52;c;eA==\x07", "\x1b[?47h", "\x1b[6n", "\x1bPq\x1b\\", "\x9b2J", "\x9d0;x\x9c", "\x07", "\t", "a\rb",
        "\u202e",
    ],
)  # fmt: skip
def test_what_the_renderer_never_writes_is_foreign_to_it(text: str) -> None:
    assert foreign_controls(f"\x1b[1;1H\x1b[31m{text}\x1b[0m".encode(), renderer=True)


def test_bytes_that_are_no_text_are_foreign() -> None:
    assert foreign_controls(b"run \x9b2J\n") == ["\\udc9b"]


def test_plain_text_is_not_foreign_whatever_its_script() -> None:
    text = "run ex_1  実行中 ± ─│ مرحبا שלום café 🚀 é\u0301 ␛[2J \\u202e\n"
    assert foreign_controls(text.encode()) == []
    assert foreign_controls(text.replace("\n", "\r\n").encode(), terminal=True) == []
    assert foreign_controls(text.replace("\n", "\r\n").encode()) == ["\\r"]
