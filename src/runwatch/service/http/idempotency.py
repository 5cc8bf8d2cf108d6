"""Idempotency: the same key and body give the first response again (manual: interface, "Idempotency"; manual:
decisions, "Error responses").

A key belongs to an organization and an endpoint, and to the principal that used it first. Only 2XX responses are
stored, for 24 hours, in the transaction of their effect, so neither exists without the other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.base.json import ExactNumber, dumps
from runwatch.records.misplaced_secrets import find_secrets_in_ids
from runwatch.service.access.authentication import Principal
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.tables import idempotency_table
from runwatch.service.transaction import Transaction

KEY_LIFETIME: Final = timedelta(hours=24)
KEY_CHARACTERS: Final = 255
HEADER: Final = "Idempotency-Key"

NESTING: Final = 400
"""Deepest nesting of a body. An accepted body is serialized again at places where the stack is deeper than here."""

_NUMBER: Final = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?\Z")


def read_key(values: Sequence[str], *, is_required: bool) -> str | None:
    """Return the key in a request's ``Idempotency-Key`` headers; a blank one counts as none.

    Refuses with ``validation_failed`` when the key is too long, ambiguous, a secret, or missing where required.
    """
    if len(values) > 1:
        raise make_validation_error((HEADER, "Send this header once."))
    key = values[0].strip() if values else ""
    if len(key) > KEY_CHARACTERS:
        raise make_validation_error((HEADER, f"Must be at most {KEY_CHARACTERS} characters."))
    found = find_secrets_in_ids({}, key)
    if found:
        raise make_validation_error(*((entry["field"], entry["message"]) for entry in found))
    if is_required and not key:
        raise make_validation_error((HEADER, "Required: this header makes a retry of the request safe."))
    return key or None


def hash_body(value: Any) -> str:
    """Return a digest that is equal for equal JSON values only.

    The order of members and the spelling of a number or character do not matter. Digests are stored in data
    directories, so the spelling of a value here must never change. Raises ValueError if the value nests deeper than
    :data:`NESTING`.
    """
    parts: list[str] = []
    _spell(value, parts, 0)
    return hashlib.sha256("".join(parts).encode("ascii")).hexdigest()


def _spell(value: Any, parts: list[str], depth: int) -> None:
    # Numbers and lists become differently tagged lists, so that neither can equal the other. Apart from the outermost
    # value this is called for containers only: a large body has a million scalars.
    if depth > NESTING:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        separator = "{"
        for name in sorted(value):
            item = value[name]
            parts.append(f"{separator}{_quote(name)}:")
            separator = ","
            if isinstance(item, (dict, list)):
                _spell(item, parts, depth + 1)
            else:
                parts.append(_scalar(item))
        parts.append("}" if value else "{}")
    elif isinstance(value, list):
        parts.append('["list"')
        for item in value:
            parts.append(",")
            if isinstance(item, (dict, list)):
                _spell(item, parts, depth + 1)
            else:
                parts.append(_scalar(item))
        parts.append("]")
    else:
        parts.append(_scalar(value))


def _scalar(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return _quote(value)
    if kind is int or kind is float:
        return _usual_number(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'["number","{_number(value)}"]'
    return dumps(value)


def _quote(text: str) -> str:
    # The encoder in C, plus what ``dumps`` adds to it.
    quoted = encode_basestring_ascii(text)
    return quoted.replace("\x7f", "\\u007f") if "\x7f" in quoted else quoted


@lru_cache(maxsize=1024, typed=True)
def _usual_number(value: float) -> str:
    return f'["number","{_number(value)}"]'


def _number(value: float) -> str:
    literal = value.literal if isinstance(value, ExactNumber) else repr(value)
    match = _NUMBER.match(literal)
    assert match is not None
    sign, whole, fraction, exponent = match.groups("")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0"
    shown = digits.rstrip("0")
    try:
        power = int(exponent or "0") - len(fraction) + len(digits) - len(shown)
    except ValueError:
        # An exponent of thousands of digits: equal only to itself.
        return literal
    return f"{sign}{shown}e{power}"


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A mutation with a key.

    Attributes:
        endpoint: Method and path, including the ids in the path.
    """

    principal: Principal
    endpoint: str
    key: str
    digest: str

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return the identity of requests that must not run at the same time."""
        return (self.principal.tenant_id, self.endpoint, self.key)

    def first_response(self, transaction: Transaction) -> ServiceResponse | None:
        """Return the earlier response to the same request, or ``None`` when this is the first.

        Refuses with ``permission_denied`` for a key of another principal, ``idempotency_conflict`` for another body.
        """
        row = transaction.one(idempotency_table, self._row)
        if row is None or row["recorded_at"] <= format_iso(transaction.now - KEY_LIFETIME):
            return None
        if row["principal_id"] != self.principal.key_id:
            raise RefusalError("permission_denied", "This idempotency key belongs to another API key.")
        if row["digest"] != self.digest:
            raise RefusalError("idempotency_conflict", "Send the same body with this key, or a new key with this body.")
        return ServiceResponse(row["status"], row["body"])

    def record(self, transaction: Transaction, response: ServiceResponse) -> None:
        """Store a 2XX response as the first one; remove expired ones."""
        if not 200 <= response.status < 300:
            return
        transaction.remove(idempotency_table, {}, until=("recorded_at", format_iso(transaction.now - KEY_LIFETIME)))
        transaction.add(
            idempotency_table,
            **self._row,
            principal_id=self.principal.key_id,
            digest=self.digest,
            status=response.status,
            body=response.body if response.kept is None else response.kept,
            recorded_at=format_iso(transaction.now),
        )

    @property
    def _row(self) -> dict[str, object]:
        return dict(zip(("tenant_id", "endpoint", "key"), self.identity, strict=True))
