"""No bytes of a terminal become a key that was not pressed, and none raise an exception."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import constants, events
from textual.message import Message

from runwatch.tui.terminal.input_parser import ESCAPE_TIMEOUT_S, MAX_SEQUENCE_CHARACTERS, PASTE_TIMEOUT_S, InputParser
from tests.support.hostile import CORPUS

OVER = b"\xff\xfe\xf0"
"""Coordinates of an old mouse report that are no UTF-8."""

PAUSE_S = max(ESCAPE_TIMEOUT_S, constants.ESCAPE_DELAY)

PIECES = [
    b"q", "✓".encode(), b"\x1b[A", b"\x1bOP", b"\x1b[M " + OVER, b"\x1b[<0;10;5M", b"\x1b[<35;99999;1M",
    b"\x1b]11;rgb:0/0/0\x07", b"\x1b]11;rgb:0/0/0\x1b\\", b"\x1bP>|xterm(379)\x1b\\", b"\x1b[?1;2c",
    b"\x1b[200~a\x1b[2Jb\x1b[201~", b"\x1b[I", b"\x1b[O", b"\x1b[1114112u", b"\x1b[97:65;2u", b"\x1b[[A", b"\x1b[3$",
    b"\xff",
]  # fmt: skip


def told(messages: Iterable[Message]) -> list[str]:
    """What was read, in short words."""
    return [_word(message) for message in messages]


def _word(message: Message) -> str:
    match message:
        case events.Key():
            return message.key
        case events.Paste():
            return f"pasted {message.text!r}"
        case events.MouseEvent():
            return f"{type(message).__name__} {message.x:g},{message.y:g}"
    return type(message).__name__


def read(data: bytes) -> list[str]:
    """What these bytes mean when nothing comes behind them."""
    reader = InputParser()
    return [*told(reader.feed(data)), *told(reader.resolve_after(PAUSE_S))]


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"aZ", ["a", "Z"]),
        ("é✓".encode(), ["é", "check_mark"]),
        (b"\r\t\x7f\x03", ["enter", "tab", "backspace", "ctrl+c"]),
        (b"\x1b", ["escape"]),
        (b"\x1b\x1b", ["escape", "escape"]),
        (b"\x1b\x1b[A", ["escape", "up"]),
        (b"\x1b[A\x1b[1;5C\x1b[Z\x1b[15~", ["up", "ctrl+right", "shift+tab", "f5"]),
        (b"\x1bOP\x1b[[B\x1b[3$", ["f1", "f2", "shift+delete"]),
        (b"\x1b[27u\x1b[97;5u", ["escape", "ctrl+a"]),
        (b"\x1b[13;5u\x1b[27;5;13~\x1b[27;5;97~", ["ctrl+enter", "ctrl+enter", "ctrl+a"]),
        (b"\x1bx", ["alt+x"]),
        (b"\x1b1", ["alt+1"]),
        ("\x1bé".encode(), ["alt+é"]),
        (b"\x1bf", ["ctrl+right"]),
        (b"\x1bO", ["alt+shift+o"]),
        (b"\x1b\x03", ["ctrl+c"]),
        (b"\x1b[I\x1b[O", ["AppFocus", "AppBlur"]),
        (b"\x1b[<0;10;5M\x1b[<0;10;5m", ["MouseDown 9,4", "MouseUp 9,4"]),
        (b"\x1b[<64;1;1M", ["MouseScrollUp 0,0"]),
        (b"\x1b[12;40R", ["CursorPosition"]),
        (b"\x1b[48;50;160;1000;1600t", ["Resize"]),
        (b"\x1b[?2026;2$y", ["TerminalSupportsSynchronizedOutput"]),
        (b"\x1b[200~a\nb\x1b[201~q", ["pasted 'a\\nb'", "q"]),
    ],
    ids=repr,
)  # fmt: skip
def test_keys_mouse_and_pastes_are_read(data: bytes, keys: list[str]) -> None:
    assert read(data) == keys


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[M !!", b"\x1b[M" + OVER, b"\x1b[M \xc3\xb0\x1b[M \xc3\xb0", b"\x1b[M#\x00\x00",
        b"\x1b[32;10;5M", b"\x1b[<0;-1;-1M", b"\x1b[<0;999999;1M", b"\x1b[<99999;1;1M", b"\x1b[<128;3;3M", b"\x1b[<;;M",
        b"\x1b]11;rgb:ffff/ffff/ffff\x07", b"\x1b]52;c;cm0gLXJmIH4=\x1b\\", b"\x1bP1$r0m\x1b\\", b"\x1b_Gi=1;OK\x1b\\",
        b"\x1b[?1;2c", b"\x1b[>41;379;0c", b"\x1b[0n", b"\x1b[4;50;160t", b"\x1b[?1004;1$y", b"\x1b[5[",
        b"\x1b[1114112u", b"\x1b[99999999999999999999u", b"\x1b[97:65;2u", b"\x1b[50~", b"\x1b[1;2T",
        b"\x1b[27;5;1114112~", b"\x1b[201~", b"\xff\xfe", b"\xe9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80",
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_key_is_left_out(data: bytes) -> None:
    assert read(data + b"q") == ["q"]


@pytest.mark.parametrize(
    "half",
    [
        b"\x1b[", b"\x1b[M", b"\x1b[M ", b"\x1b[M \xff", b"\x1b[<", b"\x1b[<0;10", b"\x1b[1;", b"\x1b[?2026;2$",
        b"\x1b[[", b"\x1b]11;rgb:0", b"\x1bP>|xt", b"\x1b]0;x\x1b", "\x1bé".encode()[:2], "é".encode()[:1],
    ],
    ids=repr,
)  # fmt: skip
def test_a_half_sequence_is_nothing_once_its_rest_does_not_come(half: bytes) -> None:
    reader = InputParser()
    assert told(reader.feed(half)) == []
    assert told(reader.resolve_after(PAUSE_S)) == []
    assert told(reader.feed(b"q")) == ["q"]


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"\x1b[M !\x1b[A", ["up"]),
        (b"\x1b[<0;1\x1b[A", ["up"]),
        (b"\x1b]11;rgb\x1b[A", ["up"]),
        (b"\x1b]11;rgb\x03", ["ctrl+c"]),
        (b"\x1b[5\x03", ["ctrl+c"]),
        (b"\x1b[\xffq", ["q"]),
    ],
    ids=repr,
)
def test_a_sequence_that_another_interrupts_is_nothing(data: bytes, keys: list[str]) -> None:
    assert read(data) == keys


@given(st.lists(st.sampled_from(PIECES), max_size=8), st.data())
def test_where_the_bytes_are_cut_does_not_matter(parts: list[bytes], data: Any) -> None:
    whole = b"".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=6)))
    reader = InputParser()
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert [word for piece in pieces for word in told(reader.feed(piece))] == told(InputParser().feed(whole))


@given(
    st.lists(
        st.one_of(st.binary(max_size=40), st.sampled_from([*PIECES, b"\x1b[", b"\x1b]", b"\x1b[200~"])), max_size=12
    )
)
def test_no_bytes_end_it(pieces: list[bytes]) -> None:
    reader = InputParser()
    for piece in pieces:
        told(reader.feed(piece))
    told(reader.resolve_after(PASTE_TIMEOUT_S))
    told(reader.feed(b"\x1b[201~"))
    told(reader.feed(b"\r\r\r"))
    assert told(reader.feed(b"q")) == ["q"]


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: str(entry.name))
def test_a_pasted_text_is_one_paste_and_no_key(entry: Any) -> None:
    # A terminal takes the mark of the end out of what it pastes.
    text = entry.text.replace("\x1b[201~", "").encode("utf-8", "replace")
    pasted = f"pasted {text.decode().replace(chr(0), '')!r}"
    assert read(b"\x1b[200~" + text + b"\x1b[201~") == [pasted]
    reader = InputParser()
    by_bytes = [word for byte in b"\x1b[200~" + text + b"\x1b[201~" for word in told(reader.feed(bytes([byte])))]
    assert by_bytes == [pasted]


def test_the_user_gets_out_of_a_paste_whose_end_was_lost() -> None:
    reader = InputParser()
    assert told(reader.feed(b"\x1b[200~half of it")) == []
    assert told(reader.resolve_after(PASTE_TIMEOUT_S / 2)) == []
    assert told(reader.feed(b"q")) == []
    assert told(reader.resolve_after(PASTE_TIMEOUT_S)) == []
    assert told(reader.feed(b"\x03")) == ["pasted 'half of itq'", "ctrl+c"]


def test_the_rest_of_a_paste_that_comes_late_is_no_key() -> None:
    reader = InputParser()
    assert told(reader.feed(b"\x1b[200~one ")) == []
    assert told(reader.resolve_after(PASTE_TIMEOUT_S)) == []
    assert told(reader.feed(b"two")) == []
    assert told(reader.feed(b" three\x1b[201~")) == ["pasted 'one two three'"]


def test_an_answer_without_an_end_is_not_kept_for_ever() -> None:
    reader = InputParser()
    for _ in range(10):
        assert told(reader.feed(b"\x1b]52;c;" + b"x" * MAX_SEQUENCE_CHARACTERS)) == []
    assert len(reader._unfinished) <= MAX_SEQUENCE_CHARACTERS
    assert told(reader.feed(b"\x07q")) == ["q"]
