"""Secret values: keys and addresses of private pages."""

from __future__ import annotations

from typing import Final, NoReturn


class Secret:
    """Holds a secret that printing, formatting, logging, comparing or pickling does not reveal.

    Only :meth:`reveal` returns the value; its callers are few and easy to find with grep.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value: Final = value

    def reveal(self) -> str:
        """Return the secret itself, for the code that sends or stores it."""
        return self._value

    def __bool__(self) -> bool:
        """Return whether there is more than white space."""
        return bool(self._value.strip())

    def __repr__(self) -> str:
        """Return a text without any part of the value."""
        return "Secret(•••)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """Return the same text for every format."""
        return repr(self)

    def __eq__(self, other: object) -> bool:
        """Compare in constant time."""
        if not isinstance(other, Secret):
            return NotImplemented
        # Imported here because hmac loads a cryptographic library, which the start does not need.
        import hmac

        # Environment variables that are not UTF-8 are read with lone surrogates.
        return hmac.compare_digest(*(secret._value.encode("utf-8", "surrogatepass") for secret in (self, other)))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied into a dump.

        Raises:
            TypeError: Always.
        """
        raise TypeError("a Secret is never pickled")
