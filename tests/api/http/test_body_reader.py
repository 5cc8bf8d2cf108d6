"""Bodies are unpacked in pieces, never beyond the limit (manual: decisions, "Client and retries")."""

from __future__ import annotations

import contextlib
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.api.http.body_reader import MAX_MEMBERS, BodyDamagedError, BodyReader, BodyTooLargeError


def read(wire: bytes, encoding: str = "gzip", limit: int = 1000, piece: int = 7) -> bytes:
    """The content of these bytes, fed in pieces."""
    content = BodyReader(encoding, limit)
    for start in range(0, len(wire), piece):
        content.add(wire[start : start + piece])
    content.check_end()
    return content.body


@given(body=st.binary(max_size=200), piece=st.integers(1, 50))
def test_any_body_comes_back_packed_or_not_in_pieces_of_any_size(body: bytes, piece: int) -> None:
    assert read(body, "", piece=piece) == body
    assert read(gzip.compress(body), piece=piece) == body


@given(bodies=st.lists(st.binary(max_size=50), min_size=1, max_size=4), piece=st.integers(1, 200))
def test_several_gzip_members_are_one_body(bodies: list[bytes], piece: int) -> None:
    assert read(b"".join(gzip.compress(body) for body in bodies), piece=piece) == b"".join(bodies)


@pytest.mark.parametrize("encoding", ["", "identity", "gzip"])
def test_the_limit_itself_fits_and_one_byte_more_does_not(encoding: str) -> None:
    def wire(size: int) -> bytes:
        return gzip.compress(b"x" * size) if encoding == "gzip" else b"x" * size

    assert len(read(wire(1000), encoding)) == 1000
    with pytest.raises(BodyTooLargeError):
        read(wire(1001), encoding)


def test_a_bomb_is_stopped_with_no_more_than_the_limit_in_memory() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    content = BodyReader("gzip", 1000)
    with pytest.raises(BodyTooLargeError):
        content.add(bomb)
    assert content.body == b"\0" * 1000


def test_packed_content_that_stops_early_is_damaged() -> None:
    wire = gzip.compress(b"some content that is long enough" * 10)
    for size in (5, len(wire) // 2, len(wire) - 1):
        with pytest.raises(BodyDamagedError, match="is cut off"):
            read(wire[:size])


# The ids of the cases hold their bytes, and no moment.
@pytest.mark.parametrize(
    "wire", [b"<html>", b"\x1f\x8b\x08\x00garbage-garbage", gzip.compress(b"x", mtime=0) + b"tail"]
)
def test_content_that_is_not_packed_as_announced_is_damaged(wire: bytes) -> None:
    with pytest.raises(BodyDamagedError, match="damaged"):
        read(wire)


@pytest.mark.parametrize("encoding", ["br", "zstd", "deflate", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(BodyDamagedError, match="not asked for"):
        BodyReader(encoding, 1000)


def test_the_name_of_an_encoding_is_read_without_case() -> None:
    assert read(gzip.compress(b"x"), " GZIP ") == b"x"


def test_an_empty_body_is_whole() -> None:
    assert read(b"") == b""


EMPTY = gzip.compress(b"", mtime=0)
NAMED = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff"
"""The beginning of a member whose file name follows, up to a zero byte."""

BLOCKS = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""The beginning of a member whose blocks follow."""


@pytest.mark.parametrize(
    ("start", "piece"),
    [(b"", EMPTY * 3000), (NAMED, b"n" * 65536), (BLOCKS, b"\0\0\0\xff\xff" * 13000)],
    ids=["empty members", "an endless file name", "empty blocks"],
)
def test_an_endless_stream_that_unpacks_to_nothing_is_stopped_by_its_bytes_on_the_wire(
    start: bytes, piece: bytes
) -> None:
    limit = 1_000_000
    content = BodyReader("gzip", limit)
    content.add(start)
    taken = 0
    with contextlib.suppress(BodyTooLargeError, BodyDamagedError):
        while taken < 4 * limit:
            content.add(piece)
            taken += len(piece)
    assert taken < limit + 200_000
    assert content.body == b""


def test_members_are_counted_because_each_costs_a_decoder() -> None:
    assert read(EMPTY * (MAX_MEMBERS - 1) + gzip.compress(b"x"), piece=1000) == b"x"
    for piece in (20, 1000):
        with pytest.raises(BodyDamagedError, match="more than 1,000 members"):
            read(EMPTY * MAX_MEMBERS + gzip.compress(b"x"), piece=piece)


@given(body=st.binary(max_size=2000), piece=st.integers(1, 300))
def test_a_body_that_packing_makes_longer_still_fits(body: bytes, piece: int) -> None:
    packer = zlib.compressobj(0, wbits=31)
    wire = packer.compress(body) + packer.flush()
    assert len(wire) > len(body)
    assert read(wire, limit=max(1, len(body)), piece=piece) == body
