"""All that is drawn reaches the terminal, and a terminal that is gone is noticed."""

from __future__ import annotations

import os

from runwatch.tui.terminal.driver import TerminalWriter


def test_what_the_terminal_has_not_taken_yet_is_known() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        output = TerminalWriter(stream, lambda: None)
        assert output.taken == 0
        output.write("one")
        assert output.taken == 1
        os.close(reader)
        output.write("nobody takes this any more")
        output.write("nor this")
    assert output.taken == 3


def test_a_failed_write_is_reported_once_and_later_ones_are_dropped() -> None:
    reader, writer = os.pipe()
    lost: list[str] = []
    with os.fdopen(writer, "w") as stream:
        output = TerminalWriter(stream, lambda: lost.append("lost"))
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
            TerminalWriter(stream, lambda: os._exit(1)).write(text)
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
        TerminalWriter(stream, lambda: None).write("● \udc80 ok")
        assert os.read(reader, 20) == b"? ? ok"
    os.close(reader)
