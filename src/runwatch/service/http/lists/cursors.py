"""List cursors: opaque to callers, and valid for one list of one organization.

A cursor holds the sequence number before which the next page starts. The number counts the rows of all organizations,
so it is encrypted: a caller learns nothing from it, and a cursor of another list or organization does not decrypt. The
key is stored in the database, so cursors survive a restart.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from runwatch.service.tables import service_keys_table
from runwatch.service.transaction import Transaction

_KEY_NAME: Final = "cursor"
_KEY_BITS: Final = 256
_NUMBER_BYTES: Final = 8


class Cursors:
    def __init__(self, key: bytes) -> None:
        self._cipher = AESSIV(key)

    @classmethod
    def load(cls, transaction: Transaction) -> Cursors:
        """Load the cursors of a database, creating the key if it has none."""
        row = transaction.one(service_keys_table, {"name": _KEY_NAME})
        if row is not None:
            return cls(row["key"])
        key = AESSIV.generate_key(_KEY_BITS)
        transaction.add(service_keys_table, name=_KEY_NAME, key=key)
        return cls(key)

    def seal(self, scope: tuple[str, ...], sequence: int) -> str:
        """Return the cursor of the page before a sequence number; the scope is the organization and the list."""
        sealed = self._cipher.encrypt(sequence.to_bytes(_NUMBER_BYTES), _associated(scope))
        return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode("ascii")

    def open(self, scope: tuple[str, ...], cursor: str) -> int:
        """Return the position in a cursor of this scope.

        Raises:
            ValueError: It is not a cursor of this scope.
        """
        try:
            sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            return int.from_bytes(self._cipher.decrypt(sealed, _associated(scope)))
        except (binascii.Error, ValueError, InvalidTag):
            raise ValueError("not a cursor of this list") from None


def _associated(scope: tuple[str, ...]) -> list[bytes]:
    return [part.encode("utf-8") for part in scope]
