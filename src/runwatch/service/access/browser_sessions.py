"""Browser sessions created by a sign-in on a private page (manual: interface, "Authentication and keys").

The cookie is for the one operation that the specification allows it to open, the start of a GitHub connection. Its path
keeps the browser from sending it anywhere else. A session ends with its lifetime, a sign-out, or its key.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Final

from runwatch.base.clock import format_iso
from runwatch.base.log import keep_secret
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.authentication import hash_secret
from runwatch.service.tables import sessions_table
from runwatch.service.transaction import Transaction

COOKIE: Final = "runwatch_session"
"""Name of the cookie: the specification's, with this service's own prefix."""

PATH: Final = "/v1/github-connections"
"""Path to which browsers send the cookie."""

PAGE: Final = "/connect/sign-in"
"""The page that says whether the browser has a session."""

PAGE_COOKIE: Final = "runwatch_signed_in"
"""The cookie that browsers send to that page; it opens nothing."""

VALID_FOR: Final = timedelta(hours=12)

_TOKEN_BYTES: Final = 32


def begin(transaction: Transaction, api_key_id: str) -> Secret:
    """Start a session for a key and return the cookie's value. Expired sessions are removed."""
    token = Secret(secrets.token_urlsafe(_TOKEN_BYTES))
    keep_secret(token)
    transaction.remove(sessions_table, {}, until=("expires_at", format_iso(transaction.now)))
    transaction.add(
        sessions_table,
        token_hash=hash_secret(token.reveal()),
        api_key_id=api_key_id,
        expires_at=format_iso(transaction.now + VALID_FOR),
    )
    return token


def find_key(transaction: Transaction, token: str) -> str | None:
    """Return the id of the key behind a session, or ``None`` if it does not exist or has expired."""
    row = transaction.one(sessions_table, {"token_hash": hash_secret(token)})
    return None if row is None or row["expires_at"] <= format_iso(transaction.now) else str(row["api_key_id"])


def end(transaction: Transaction, token: str) -> None:
    """End a session; do nothing if it does not exist."""
    transaction.remove(sessions_table, {"token_hash": hash_secret(token)})


def end_all(transaction: Transaction, api_key_id: str) -> None:
    transaction.remove(sessions_table, {"api_key_id": api_key_id})


def cookie_headers(token: Secret | None, *, is_secure: bool) -> tuple[tuple[str, str], ...]:
    """Return the headers that set the cookies, or clear them."""
    age = 0 if token is None else int(VALID_FOR.total_seconds())
    value = "" if token is None else token.reveal()
    suffix = f"Max-Age={age}; HttpOnly; SameSite=Strict{'; Secure' * is_secure}"
    return tuple(
        ("Set-Cookie", f"{name}={value}; Path={path}; {suffix}") for name, path in ((COOKIE, PATH), (PAGE_COOKIE, PAGE))
    )
