"""Bytes of a terminal become text, and a terminal that is gone is noticed."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.tui.driver import InputDecoder, Output


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"abc", "abc"),
        ("naïve ✓".encode(), "naïve ✓"),
        (b"\x1b[A", "\x1b[A"),
        (b"\x1b[<0;10;5M", "\x1b[<0;10;5M"),
        (b"a\x1b[M !!b", "ab"),
        (b"\x1b[M\xff\xfe\xfdq", "q"),
        (b"\x1b[M \xc3\xb0\x1b[M \xc3\xb0q", "q"),
        (b"\xff", "\ufffd"),
    ],
)
def test_legacy_mouse_reports_are_left_out_and_everything_else_is_kept(data: bytes, text: str) -> None:
    assert InputDecoder().feed(data) == text


@given(st.lists(st.sampled_from([b"q", b"\x1b[A", "✓".encode(), b"\x1b[M \xf0\xb0", b"\x1b"]), max_size=8), st.data())
def test_where_the_bytes_are_cut_does_not_matter(parts: list[bytes], data: Any) -> None:
    whole = b"".join(parts)
    # ESC [ and M arrive together: a terminal writes a report at once.
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=4)))
    cuts = [cut for cut in cuts if whole[:cut][-1:] != b"\x1b" and whole[:cut][-2:] != b"\x1b["]
    decoder = InputDecoder()
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert "".join(decoder.feed(piece) for piece in pieces) == InputDecoder().feed(whole)


def test_a_failed_write_is_told_once_and_later_ones_are_dropped() -> None:
    reader, writer = os.pipe()
    lost: list[str] = []
    with os.fdopen(writer, "w") as stream:
        output = Output(stream, lambda: lost.append("lost"))
        output.write("first")
        assert os.read(reader, 10) == b"first"
        os.close(reader)
        output.write("second")
        output.write("third")
    assert lost == ["lost"]


def test_a_full_pipe_is_waited_for_and_nothing_is_lost() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    text = "0123456789" * 50_000
    received = bytearray()
    process = os.fork()
    if not process:
        os.close(reader)
        with os.fdopen(writer, "w") as stream:
            Output(stream, lambda: os._exit(1)).write(text)
        os._exit(0)
    os.close(writer)
    while data := os.read(reader, 65536):
        received += data
    os.close(reader)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert received.decode() == text


def test_what_the_terminals_encoding_lacks_is_replaced() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w", encoding="ascii") as stream:
        Output(stream, lambda: None).write("● \udc80 ok")
        assert os.read(reader, 20) == b"? ? ok"
    os.close(reader)
