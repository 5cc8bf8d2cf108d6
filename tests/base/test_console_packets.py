"""Packets between a server and its consoles survive every cut of the stream, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from runwatch.base.console_packets import DATA, MAX_PACKET_BYTES, META, PacketReader, encode_packet


@pytest.mark.parametrize("step", [1, 4, 1000])
def test_packets_arrive_whatever_the_pieces(step: int) -> None:
    sent = [(DATA, b""), (META, b'{"type": "focus"}'), (DATA, "\x1b[31m●".encode())]
    stream = b"".join(encode_packet(*packet) for packet in sent)
    reader = PacketReader()
    assert [
        packet for start in range(0, len(stream), step) for packet in reader.feed(stream[start : start + step])
    ] == sent


@pytest.mark.parametrize("stream", [b"Traceback", DATA + (MAX_PACKET_BYTES + 1).to_bytes(4, "big")])
def test_a_stream_of_something_else_is_refused_before_it_is_kept(stream: bytes) -> None:
    with pytest.raises(ValueError, match="something other than packets"):
        list(PacketReader().feed(stream))
