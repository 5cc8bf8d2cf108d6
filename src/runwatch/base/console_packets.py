"""Packets between a console in a browser and the server that started it, over the console's standard streams.

A packet is one byte for its kind, four bytes for the length of its content, big-endian, and the content. Kind ``D`` is
terminal data. Kind ``M`` is a JSON object whose ``type`` says what it means:

==============  ======================  ===================================================================
Type            Sent by                 Other members
==============  ======================  ===================================================================
``resize``      server                  ``width`` and ``height`` of the window in cells
``focus``       server                  none; the window has got the focus
``blur``        server                  none; the window has lost the focus
``open``        console                 ``url`` to open in another tab
``download``    console                 ``path`` of a file to give to the browser; the server removes it
==============  ======================  ===================================================================

The end of the stream is the end of the other side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

CONSOLE_DRIVER: Final = "runwatch.tui.terminal.browser_driver:BrowserDriver"
"""Value of ``TEXTUAL_DRIVER`` for a console in a browser."""

VIEW_VARIABLE: Final = "RUNWATCH_WEB_VIEW"
"""Variable with the file where a console in a browser leaves its view for the next one of the same tab."""

DATA: Final = b"D"
META: Final = b"M"

MAX_PACKET_BYTES: Final = 16 * 1024 * 1024
"""More than a full repaint of the largest window."""

_HEAD_BYTES: Final = 5


class ConsolePacket(NamedTuple):
    """One packet.

    Attributes:
        kind: :data:`DATA` or :data:`META`.
    """

    kind: bytes
    content: bytes


def encode_packet(kind: bytes, content: bytes) -> bytes:
    return b"%s%s%s" % (kind, len(content).to_bytes(4, "big"), content)


class PacketReader:
    """Turns a stream of bytes into packets."""

    def __init__(self) -> None:
        self._held: Final = bytearray()

    def feed(self, data: bytes) -> Iterator[ConsolePacket]:
        """Yield the packets that these bytes complete.

        Raises:
            ValueError: A packet is larger than :data:`MAX_PACKET_BYTES` or of another kind; the stream is no use then.
        """
        held = self._held
        held += data
        while len(held) >= _HEAD_BYTES:
            kind, size = bytes(held[:1]), int.from_bytes(held[1:_HEAD_BYTES], "big")
            if kind not in {DATA, META} or size > MAX_PACKET_BYTES:
                raise ValueError("the stream holds something other than packets")
            if len(held) < _HEAD_BYTES + size:
                return
            content = bytes(held[_HEAD_BYTES : _HEAD_BYTES + size])
            del held[: _HEAD_BYTES + size]
            yield ConsolePacket(kind, content)
