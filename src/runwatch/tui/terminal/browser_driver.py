"""Driver of a console that a browser shows: packets on the standard streams in place of a terminal.

``runwatch web`` starts the console with this driver (:mod:`runwatch.base.console_packets`). Unlike Textual's driver for
the web, it leaves the signals to :mod:`runwatch.tui.terminal.terminal_app`, ends the console when the server is gone,
writes outside of the event loop, and parses keys with :mod:`runwatch.tui.terminal.input_parser`.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from textual.drivers._writer_thread import WriterThread
from textual.events import AppBlur, AppFocus, Resize
from textual.geometry import Size

from runwatch.base.console_packets import DATA, META, PacketReader, encode_packet
from runwatch.tui.terminal.driver import LOOK_UP_S, OutputDriver, TerminalWriter
from runwatch.tui.terminal.input_parser import InputParser

if TYPE_CHECKING:
    from textual.app import App

READ_BYTES: Final = 64 * 1024
DEFAULT_SIZE: Final = (80, 24)

_START: Final = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?2026$p"
"""The alternate screen, no cursor, bracketed paste, and the question for synchronized output."""

_MOUSE_ON: Final = "\x1b[?1000h\x1b[?1003h\x1b[?1006h"


class PacketWriter(TerminalWriter):
    """Output stream of packets; the first character of a text is its kind."""

    def _encode(self, text: str) -> bytes:
        return encode_packet(text[:1].encode("ascii"), text[1:].encode("utf-8", "replace"))


class BrowserDriver(OutputDriver):
    """Driver of one console in a browser.

    Textual has no public writing thread (checked on Textual 8.2.8).
    """

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size or _first_size(os.environ))
        # Standard output is for packets alone: what else is printed goes to standard error.
        stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._output = PacketWriter(stream, self._hang_up)
        # It keeps the descriptor open.
        self._stream: Final = stream
        self._writer: WriterThread | None = None
        self._reader: Thread | None = None
        # A write to this pipe wakes the reading thread.
        self._woken, self._wakes = os.pipe()

    @property
    def is_web(self) -> bool:
        return True

    def write(self, data: str) -> None:
        translation = getattr(self._app, "translation", None)
        self._put(DATA, data if translation is None else data.translate(translation))

    def open_url(self, url: str, new_tab: bool = True) -> None:
        """Have the browser open an address in another tab."""
        self._send("open", url=url)

    def download(self, file: Path) -> None:
        """Give a file to the browser, which saves it; the server removes it here."""
        self._send("download", path=str(file))

    def start_application_mode(self) -> None:
        """Start writing and reading, and switch on the modes that the console needs."""
        self._writer = WriterThread(self._output)  # type: ignore[arg-type]
        self._writer.start()
        self.write(_START)
        if self._mouse:
            self.write(_MOUSE_ON)
        assert self._size is not None
        self._resize(*self._size)
        self._reader = Thread(target=self._run_input_thread, name="browser-input", daemon=True)
        self._reader.start()

    def disable_input(self) -> None:
        if self._reader is not None:
            os.write(self._wakes, b"\0")
            self._reader.join()
            self._reader = None

    def stop_application_mode(self) -> None:
        """Stop reading; the page in the browser covers the last picture."""
        self.disable_input()

    def close(self) -> None:
        """Wait until all output is written; safe to call twice."""
        if self._writer is not None:
            self._writer.stop()
            self._writer = None

    def _put(self, kind: bytes, text: str) -> None:
        if self._writer is not None:
            self._given += 1
            self._writer.write(kind.decode("ascii") + text)

    def _send(self, kind: str, **members: object) -> None:
        self._put(META, json.dumps({"type": kind, **members}))

    def run_input_thread(self) -> None:
        """Read keys, mouse and sizes until the console ends or the server is gone."""
        packets, parser = PacketReader(), InputParser()
        while True:
            patience = LOOK_UP_S if parser.is_undecided else None
            readable, _, _ = select.select([0, self._woken], [], [], patience)
            if self._woken in readable:
                return
            if not readable:
                self._send_messages(parser.resolve_after(LOOK_UP_S))
                continue
            data = os.read(0, READ_BYTES)
            if not data:
                self._hang_up()
                return
            for packet in packets.feed(data):
                if packet.kind == DATA:
                    self._send_messages(parser.feed(packet.content))
                else:
                    self._hear(json.loads(packet.content))

    def _hear(self, packet: Mapping[str, Any]) -> None:
        match packet["type"]:
            case "resize":
                self._resize(packet["width"], packet["height"])
            case "focus":
                self.process_message(AppFocus())
            case "blur":
                self.process_message(AppBlur())

    def _resize(self, width: int, height: int) -> None:
        self._size = (width, height)
        self.process_message(Resize(Size(width, height), Size(width, height)))


def _first_size(environment: Mapping[str, str]) -> tuple[int, int]:
    """Return the size of the window when the console was started, from ``COLUMNS`` and ``LINES``."""
    columns, lines = environment.get("COLUMNS", ""), environment.get("LINES", "")
    return (int(columns), int(lines)) if columns.isdigit() and lines.isdigit() else DEFAULT_SIZE
