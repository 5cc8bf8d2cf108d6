"""Reader that unpacks a body as it arrives, within limits.

A few kilobytes of gzip can unpack to gigabytes, so the limit counts unpacked bytes while they come. Gigabytes of gzip
can unpack to nothing (empty members, empty blocks, an endless file name), so the bytes on the wire are bounded too, and
the number of members: each costs a new decoder (manual: security, "Outbound calls").
"""

from __future__ import annotations

import io
import zlib
from typing import Final

ACCEPTED: Final = "gzip"
"""The value of ``Accept-Encoding``."""

_GZIP: Final = 31
"""The window setting with which zlib reads the gzip format."""


_PACKING_BYTES: Final = 64 * 1024
"""What packing may add to a body of any size, besides 1/1,024 of the content: headers with a file name."""

MAX_MEMBERS: Final = 1000
"""Maximum gzip members of one body."""


class BodyTooLargeError(Exception):
    """The content, or its packed form on the wire, is larger than the limit."""


class BodyDamagedError(Exception):
    """The content cannot be unpacked."""


class BodyReader:
    """Collects the pieces of one body.

    Args:
        encoding: The value of ``Content-Encoding``; an empty text for none.
        limit: Maximum bytes of unpacked content.

    Raises:
        BodyDamagedError: The encoding was not requested.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        encoding = encoding.strip().lower()
        if encoding not in {"", "identity", "gzip", "x-gzip"}:
            raise BodyDamagedError(f"its content encoding {encoding[:40]!r} was not asked for")
        self._inflater = zlib.decompressobj(_GZIP) if encoding.endswith("gzip") else None
        self._is_inside_member = False
        self._members = 0
        self._limit = limit
        self._wire_left = limit + limit // 1024 + _PACKING_BYTES
        # It grows in place and returns its bytes without a copy: joining pieces of sixty megabytes freezes the screen.
        self._content = io.BytesIO()

    def add(self, piece: bytes) -> None:
        """Add the next piece from the wire.

        Raises:
            BodyTooLargeError: The limit is passed; the content up to it is kept.
            BodyDamagedError: The piece is not in the announced encoding, or has more than :data:`MAX_MEMBERS` members.
        """
        if self._inflater is None:
            self._keep(piece)
            return
        self._wire_left -= len(piece)
        if self._wire_left < 0:
            raise BodyTooLargeError
        while piece:
            self._members += not self._is_inside_member
            if self._members > MAX_MEMBERS:
                raise BodyDamagedError(f"its gzip content has more than {MAX_MEMBERS:,} members")
            try:
                # One byte over the limit is enough to detect it.
                unpacked = self._inflater.decompress(piece, self._limit - self._content.tell() + 1)
            except zlib.error as error:
                raise BodyDamagedError(f"its gzip content is damaged ({error})") from None
            self._keep(unpacked)
            piece = self._inflater.unused_data
            self._is_inside_member = not self._inflater.eof
            if self._inflater.eof:
                # A gzip body may consist of several members in a row.
                self._inflater = zlib.decompressobj(_GZIP)

    def _keep(self, piece: bytes) -> None:
        room = self._limit - self._content.tell()
        self._content.write(piece[:room])
        if len(piece) > room:
            raise BodyTooLargeError

    def check_end(self) -> None:
        """Check that the content may end here.

        Raises:
            BodyDamagedError: The packed content stops in the middle.
        """
        if self._is_inside_member:
            raise BodyDamagedError("its gzip content is cut off")

    @property
    def body(self) -> bytes:
        """The content so far."""
        return self._content.getvalue()
