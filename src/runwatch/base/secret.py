"""A value that must not be seen: keys and private-entry addresses."""

from __future__ import annotations

from typing import Final, NoReturn


class Secret:
    """Holds a secret so that printing, formatting, logging, comparing or pickling it gives nothing away.

    Only :meth:`reveal` hands the value out; its callers are few and greppable.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value: Final = value

    def reveal(self) -> str:
        """The secret itself, for the one place that sends or stores it."""
        return self._value

    def __bool__(self) -> bool:
        """Whether there is anything but white space."""
        return bool(self._value.strip())

    def __repr__(self) -> str:
        """A text without any part of the value."""
        return "Secret(•••)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """The same text whatever the format asks for."""
        return repr(self)

    def __eq__(self, other: object) -> bool:
        """Equality in constant time."""
        if not isinstance(other, Secret):
            return NotImplemented
        # It loads a cryptographic library, which nothing else needs at the start.
        import hmac

        # Variables of the environment may hold bytes that are no UTF-8; those read as lone surrogates.
        return hmac.compare_digest(*(secret._value.encode("utf-8", "surrogatepass") for secret in (self, other)))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied into a dump.

        Raises:
            TypeError: always.
        """
        raise TypeError("a Secret is never pickled")
