"""Signing in with a browser, on a private page (manual, Security: Private pages)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from runwatch.service.access import browser_sessions
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.endpoints import AuthenticatedRequest, Endpoint
from runwatch.service.http.html_pages import FormRefusalError, HtmlForm, PageInput, render_page, see_other
from runwatch.service.http.responses import ServiceResponse

_SIGN_OUT: Final = f"{browser_sessions.PATH}/sign-out"

_FORM: Final = HtmlForm(
    "Sign in",
    [
        "Enter an API key of your organization. This browser then has a session of twelve hours, which opens nothing "
        "but the start of a GitHub connection.",
        "The key itself is not kept. The session ends with its time, with the key, or when you sign out.",
    ],
    "Sign in",
    fields=[PageInput("key", "API key", "password")],
)

_SIGNED_IN: Final = HtmlForm(
    "Signed in",
    ["The session of this browser lasts twelve hours. You can close this page, or end the session now."],
    "Sign out",
    action=_SIGN_OUT,
)


async def show(call: AuthenticatedRequest) -> ServiceResponse:
    """The form, or what a sign-in leads on to."""
    return _SIGNED_IN.show() if call.query.get("done") else _FORM.show()


async def sign_in(call: AuthenticatedRequest) -> ServiceResponse:
    """Begin a session of the key that was typed.

    Raises:
        Refusal: ``validation_failed`` without a key, ``unauthenticated`` for an unknown one.
    """
    fields = call.content if isinstance(call.content, Mapping) else {}
    try:
        key = fields.get("key")
        if not isinstance(key, str) or not key.strip():
            raise make_validation_error(("key", "Required."))
        try:
            principal = call.context.keys.principal_of([f"Bearer {key.strip()}"])
        except RefusalError as refusal:
            raise RefusalError("unauthenticated", "This key is not known and active here.") from refusal
    except RefusalError as refusal:
        raise FormRefusalError(refusal, partial(_FORM.refuse, fields)) from refusal
    token = await call.context.database.write(lambda transaction: browser_sessions.begin(transaction, principal.key_id))
    cookie = (browser_sessions.cookie_header(token),)
    return see_other("/connect/sign-in?done=yes", headers=cookie) if call.is_form else _SIGNED_IN.show(headers=cookie)


async def sign_out(call: AuthenticatedRequest) -> ServiceResponse:
    """End the session whose cookie came along, and have the browser forget it."""
    token = call.cookie
    if token is not None:
        await call.context.database.write(lambda transaction: browser_sessions.end(transaction, token))
    return render_page("Signed out", ["You can close this page."], headers=(browser_sessions.cookie_header(None),))


ENDPOINTS: Final = (
    Endpoint("GET", "/connect/sign-in", show, is_open=True, is_page=True),
    Endpoint("POST", "/connect/sign-in", sign_in, takes_body=True, is_open=True, is_page=True),
    Endpoint("POST", _SIGN_OUT, sign_out, is_open=True, is_page=True),
)
