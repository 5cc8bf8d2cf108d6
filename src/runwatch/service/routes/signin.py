"""Sign-in with a browser, on a private page (manual: security, "Private pages")."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from runwatch.service.access import browser_sessions
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.html_pages import HtmlForm, PageInput, render_page, see_other
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall

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


async def show(call: ServiceCall) -> ServiceResponse:
    """Show the form, or the result of a sign-in while the browser's session lasts."""
    token = call.cookie
    if not call.query.get("done") or token is None:
        return _FORM.show()
    key_id = await call.context.database.read(lambda transaction: browser_sessions.find_key(transaction, token))
    return _FORM.show() if key_id is None else _SIGNED_IN.show()


async def sign_in(call: ServiceCall) -> ServiceResponse:
    """Start a session of the entered key.

    Refuses with ``validation_failed`` without a key, ``unauthenticated`` for an unknown one.
    """
    fields = call.content if isinstance(call.content, Mapping) else {}
    try:
        key = fields.get("key")
        if not isinstance(key, str) or not key.strip():
            raise make_validation_error(("key", "Required."))
        try:
            shown = [f"Bearer {key.strip()}"]
            await call.context.refresh_keys(shown)
            principal = call.context.keys.principal_of(shown)
        except RefusalError as refusal:
            raise RefusalError("unauthenticated", "This key is not known and active here.") from refusal
    except RefusalError as refusal:
        refusal.page = partial(_FORM.refuse, fields)
        raise
    token = await call.context.database.write(lambda transaction: browser_sessions.begin(transaction, principal.key_id))
    cookie = browser_sessions.cookie_headers(token, is_secure=call.context.has_secure_pages)
    if not call.is_form:
        return _SIGNED_IN.show(headers=cookie)
    return see_other(f"{browser_sessions.PAGE}?done=yes", headers=cookie)


async def sign_out(call: ServiceCall) -> ServiceResponse:
    """End the session of the request's cookie, and clear the cookie."""
    token = call.cookie
    if token is not None:
        await call.context.database.write(lambda transaction: browser_sessions.end(transaction, token))
    cleared = browser_sessions.cookie_headers(None, is_secure=call.context.has_secure_pages)
    return render_page("Signed out", ["You can close this page."], headers=cleared)


ENDPOINTS: Final = (
    Endpoint("GET", browser_sessions.PAGE, show, is_open=True, is_page=True),
    Endpoint("POST", browser_sessions.PAGE, sign_in, takes_body=True, is_open=True, is_page=True),
    Endpoint("POST", _SIGN_OUT, sign_out, is_open=True, is_page=True),
)
