"""A console for tests of the server: it says who it is, then repeats what it hears, and obeys some words."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from runwatch.base.console_packets import DATA, META, VIEW_VARIABLE, PacketReader, encode_packet


def say(kind: bytes, content: bytes) -> None:
    os.write(1, encode_packet(kind, content))


def main() -> None:
    size = f"{os.environ['COLUMNS']}x{os.environ['LINES']}"
    say(DATA, f"{os.getpid()} {size}".encode())
    reader = PacketReader()
    while data := os.read(0, 65536):
        for packet in reader.feed(data):
            match packet.content.split(b" ", 1):
                case [b"quit"]:
                    sys.exit("the last words")
                case [b"open", url]:
                    say(META, json.dumps({"type": "open", "url": url.decode()}).encode())
                case [b"leave", view]:
                    Path(os.environ[VIEW_VARIABLE]).write_bytes(view)
                    say(DATA, view)
                case [b"left"]:
                    file = Path(os.environ[VIEW_VARIABLE])
                    say(DATA, file.read_bytes() if file.exists() else b"nothing")
                case [b"download", path]:
                    Path(path.decode()).write_bytes(b"the file")
                    say(META, json.dumps({"type": "download", "path": path.decode()}).encode())
                case _:
                    say(DATA, packet.content)


if __name__ == "__main__":
    main()
