"""A body as it arrives: unpacked piece by piece, never larger than was agreed.

A few kilobytes of gzip can unpack to gigabytes, so the limit counts what comes out and is kept while it comes.
Gigabytes of gzip can unpack to nothing (empty members, empty blocks, an endless file name), so the bytes on the wire
are bounded too, and the number of members: each costs a new decoder (manual, Security: Outbound calls).
"""

from __future__ import annotations

import io
import zlib
from typing import Final

ACCEPTED: Final = "gzip"
"""What ``Accept-Encoding`` asks for."""

_GZIP: Final = 31
"""The window setting with which zlib reads the gzip format."""


_PACKING_BYTES: Final = 64 * 1024
"""What packing may add to a body of any size: headers with a file name, and one 1,024th of the content beside it."""

MAX_MEMBERS: Final = 1000
"""The most gzip members of one body."""


class BodyTooLargeError(Exception):
    """The content, or what is on the wire of it, is larger than the limit."""


class BodyDamagedError(Exception):
    """The content cannot be unpacked."""


class BodyReader:
    """Collects the pieces of one body.

    Args:
        encoding: The value of ``Content-Encoding``; an empty text for none.
        limit: The most bytes of content.

    Raises:
        Damaged: the encoding is not one that was asked for.
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
        # It grows in place, and gives its bytes without a copy: joining pieces of sixty megabytes holds a screen up.
        self._content = io.BytesIO()

    def add(self, piece: bytes) -> None:
        """Take the next piece from the wire.

        Raises:
            TooLarge: the limit is passed; what came before it is kept.
            Damaged: the piece is not of the announced encoding, or has more than :data:`MAX_MEMBERS` members.
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
                # One byte beyond the limit is enough to know that it is passed.
                unpacked = self._inflater.decompress(piece, self._limit - self._content.tell() + 1)
            except zlib.error as error:
                raise BodyDamagedError(f"its gzip content is damaged ({error})") from None
            self._keep(unpacked)
            piece = self._inflater.unused_data
            self._is_inside_member = not self._inflater.eof
            if self._inflater.eof:
                # A gzip body may consist of several members, one after the other.
                self._inflater = zlib.decompressobj(_GZIP)

    def _keep(self, piece: bytes) -> None:
        room = self._limit - self._content.tell()
        self._content.write(piece[:room])
        if len(piece) > room:
            raise BodyTooLargeError

    def check_end(self) -> None:
        """Say whether the content may end here.

        Raises:
            Damaged: the packed content stops in the middle.
        """
        if self._is_inside_member:
            raise BodyDamagedError("its gzip content stops in the middle")

    @property
    def body(self) -> bytes:
        """The content so far."""
        return self._content.getvalue()
