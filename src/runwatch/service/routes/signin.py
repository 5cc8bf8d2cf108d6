"""Signing in with a browser, on a private page (specification, Authentication; the page is ours)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch.service.access import sessions
from runwatch.service.http.answer import Answer, Refusal, invalid
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.http.pages import Field, page

_TITLE: Final = "Sign in"


async def show(call: Call) -> Answer:
    """The form."""
    return page(
        _TITLE,
        [
            "Type an API key of your organization.",
            "The session lasts twelve hours and opens nothing but the start of a GitHub connection.",
        ],
        fields=[Field("key", "API key", "password")],
        button=_TITLE,
    )


async def sign_in(call: Call) -> Answer:
    """Begin a session of the key that was typed.

    Raises:
        Refusal: ``validation_failed`` without a key, ``unauthenticated`` for one that nobody knows.
    """
    key = call.content.get("key") if isinstance(call.content, Mapping) else None
    if not isinstance(key, str) or not key.strip():
        raise invalid(("key", "Required."))
    try:
        principal = call.context.keys.principal_of([f"Bearer {key.strip()}"])
    except Refusal as refusal:
        raise Refusal("unauthenticated", "This key is not known and active here.") from refusal
    token = await call.context.database.write(lambda transaction: sessions.begin(transaction, principal.key_id))
    return page("Signed in", ["You can close this page."], headers=(sessions.cookie_header(token),))


async def sign_out(call: Call) -> Answer:
    """End the session whose cookie came along, and have the browser forget it."""
    token = call.cookie
    if token is not None:
        await call.context.database.write(lambda transaction: sessions.end(transaction, token))
    return page("Signed out", ["You can close this page."], headers=(sessions.cookie_header(None),))


ENDPOINTS: Final = (
    Endpoint("GET", "/connect/sign-in", show, is_open=True, is_page=True),
    Endpoint("POST", "/connect/sign-in", sign_in, takes_body=True, is_open=True, is_page=True),
    Endpoint("POST", f"{sessions.PATH}/sign-out", sign_out, is_open=True, is_page=True),
)
