"""Secrets at rest: sealed with AES-256-GCM under a master key, and bound to the handle that names them.

``cryptography`` is imported only to seal or open, to keep it out of the console's first paint and ``--help``. A sealed
secret is :data:`MAGIC`, the id of the master key, the nonce, and the ciphertext with its tag. Magic, key id and handle
are authenticated too, so a sealed secret opens under its own handle only (manual: security, "Secrets at rest").
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Self

from runwatch.base.log import keep_secret
from runwatch.base.secrets.secret import Secret

MAGIC: Final = b"\xffrunwatch-1\x00"
"""Start of a sealed secret. The byte FF never occurs in UTF-8, so no text is mistaken for a sealed secret."""

KEY_BYTES: Final = 32
ID_BYTES: Final = 8
NONCE_BYTES: Final = 12
"""96 random bits for each secret: the probability of a repeat stays below 2^-32 up to 2^32 secrets of one key."""

_STANDARD: Final = str.maketrans("-_", "+/")
_TAG_BYTES: Final = 16
_HEAD_BYTES: Final = len(MAGIC) + ID_BYTES


class UnsealError(Exception):
    """A sealed secret cannot be opened with any available master key; the message gives the reason and no part of the
    secret.
    """


@dataclass(frozen=True)
class MasterKey:
    """One master key: 32 random bytes."""

    key: bytes = field(repr=False)

    @cached_property
    def id(self) -> bytes:
        """Id of the key in sealed secrets; it is derived from the key and does not reveal it."""
        return hashlib.sha256(b"runwatch master key id\x00" + self.key).digest()[:ID_BYTES]

    @property
    def text(self) -> str:
        """The key in base64, as files, keyrings and commands hold it."""
        return base64.b64encode(self.key).decode("ascii")


@dataclass(frozen=True)
class MasterKeys:
    """The available master keys; the first one seals, every one opens.

    Attributes:
        keys: At least one. Newest first, but see :meth:`sealing_with`.
    """

    keys: tuple[MasterKey, ...] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse keys from a text with one key a line in base64; empty lines and those that begin with ``#`` are
        skipped.

        Raises:
            ValueError: There is no key, or a line is not a key; the message holds no part of the text.
        """
        found: dict[bytes, MasterKey] = {}
        for number, written in enumerate(text.splitlines(), 1):
            line = written.strip()
            if not line or line.startswith("#"):
                continue
            try:
                # Accept both base64 alphabets, because tools differ in the one they print.
                key = base64.b64decode(line.translate(_STANDARD).encode("ascii"), validate=True)
            except (UnicodeEncodeError, binascii.Error):
                key = b""
            if len(key) != KEY_BYTES:
                raise ValueError(f"line {number} is not {KEY_BYTES} bytes in base64")
            keep_secret(Secret(line))
            found.setdefault(key, MasterKey(key))
        if not found:
            raise ValueError("it holds no key")
        return cls(tuple(found.values()))

    @classmethod
    def new(cls) -> Self:
        return cls(()).with_new_key()

    def with_new_key(self) -> Self:
        """Return the same keys after a new random one."""
        made = MasterKey(os.urandom(KEY_BYTES))
        keep_secret(Secret(made.text))
        return type(self)((made, *self.keys))

    def sealing_with(self, key: MasterKey) -> Self:
        """Return the same keys with one of them first."""
        return type(self)((key, *(other for other in self.keys if other is not key)))

    @property
    def text(self) -> str:
        """The keys as text for :meth:`parse`."""
        return "".join(f"{key.text}\n" for key in self.keys)

    def seal(self, plain: bytes, handle: str) -> bytes:
        """Seal a secret under the newest key."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        newest = self.keys[0]
        nonce = os.urandom(NONCE_BYTES)
        head = MAGIC + newest.id
        return head + nonce + AESGCM(newest.key).encrypt(nonce, plain, head + handle.encode())

    def open(self, sealed: bytes, handle: str) -> bytes:
        """Open the secret sealed for a handle.

        Raises:
            UnsealError: The key is not available, or the bytes are not those that were sealed for this handle.
        """
        if not is_sealed(sealed) or len(sealed) < _HEAD_BYTES + NONCE_BYTES + _TAG_BYTES:
            raise UnsealError("it is not a sealed secret")
        head, nonce = sealed[:_HEAD_BYTES], sealed[_HEAD_BYTES : _HEAD_BYTES + NONCE_BYTES]
        key = next((key for key in self.keys if key.id == head[len(MAGIC) :]), None)
        if key is None:
            raise UnsealError(f"its master key, {head[len(MAGIC) :].hex()}, is missing")
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(key.key).decrypt(nonce, sealed[len(head) + NONCE_BYTES :], head + handle.encode())
        except InvalidTag:
            raise UnsealError("it was changed, or sealed for something else") from None

    def has_key_of(self, sealed: bytes) -> bool:
        """Return whether the key of a sealed secret is available."""
        return sealed.startswith(tuple(MAGIC + key.id for key in self.keys))

    def is_newest(self, sealed: bytes) -> bool:
        """Return whether a secret is sealed under the newest key."""
        return sealed.startswith(MAGIC + self.keys[0].id)


def is_sealed(content: bytes) -> bool:
    """Return whether bytes begin like a sealed secret; any others are plain text."""
    return content.startswith(MAGIC)
