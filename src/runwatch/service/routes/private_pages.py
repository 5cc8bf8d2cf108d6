"""Private pages: ``/connect/KIND?intent=TOKEN`` (manual: security, "Private pages").

``GET`` shows a form; ``POST`` accepts it, or ``{secret}`` as JSON from a command line. An accepted form redirects to
the same address with ``done=yes``, which can be reloaded without sending anything twice. Each kind of entry is an
:class:`EntryPage`; :mod:`runwatch.service.routes` lists them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from runwatch.base.secrets.secret import Secret
from runwatch.service.access import private_entry
from runwatch.service.access.authentication import ANONYMOUS
from runwatch.service.access.private_entry import EntryIntent
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.html_pages import HtmlForm, PageInput, render_page, see_other
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.http.service_call import ServiceCall

SECRET_CHARACTERS: Final = 4096


@dataclass(frozen=True, slots=True)
class EntryPage:
    """The content of one kind of page.

    Attributes:
        complete: Accepts the input by name for the token and its intent, uses the intent up
            (:func:`runwatch.service.access.private_entry.use`) and returns the result; or raises a
            :class:`RefusalError`, and the intent stays as it is.
        fields: The inputs; a secret one is named ``secret``.
    """

    title: str
    button: str
    facts: Callable[[EntryIntent], list[tuple[str, str]]]
    sentences: Callable[[EntryIntent], list[str]]
    complete: Callable[[ServiceCall, str, EntryIntent, Mapping[str, str]], Awaitable[dict[str, Any]]]
    done: Callable[[EntryIntent], list[str]]
    fields: Sequence[PageInput] = ()


Entries = Mapping[str, EntryPage]
"""Kinds of entry, by the word in their address."""


def read_secret(fields: Mapping[str, str]) -> Secret:
    """Return the secret among the inputs.

    Refuses with ``validation_failed`` when it is missing, too long, or contains white space or control characters.
    """
    value = fields.get("secret", "").strip()
    if not value:
        raise make_validation_error(("secret", "Required."))
    if len(value) > SECRET_CHARACTERS:
        raise make_validation_error(("secret", f"Must be at most {SECRET_CHARACTERS} characters."))
    if not value.isascii() or not value.isprintable() or " " in value:
        raise make_validation_error(("secret", "Must be visible ASCII characters without spaces."))
    return Secret(value)


async def show(entries: Entries, call: ServiceCall) -> ServiceResponse:
    kind, token = _entry_of(entries, call)
    if call.query.get("done"):
        used = await call.read(lambda transaction: private_entry.find_used(transaction, call.ids["kind"], token))
        if used is not None:
            return render_page("Done", [*kind.done(used), "You can close this page."])
    intent = await call.read(lambda transaction: private_entry.find(transaction, call.ids["kind"], token))
    return _form(kind, intent).show()


async def accept(entries: Entries, call: ServiceCall) -> ServiceResponse:
    """Accept the input; respond to JSON with JSON, and to a form with a redirect.

    Refuses with ``permission_denied`` when the request has a key other than the one that requested the intent.
    """
    kind, token = _entry_of(entries, call)
    intent = await call.read(lambda transaction: private_entry.find(transaction, call.ids["kind"], token))
    if call.principal is not ANONYMOUS and call.principal.key_id != intent.principal_id:
        raise RefusalError("permission_denied", "This address belongs to another API key.")
    content = call.content
    if not isinstance(content, Mapping) or not all(isinstance(value, str) for value in content.values()):
        raise make_validation_error(("body", "Must be an object of strings."))
    try:
        outcome = await kind.complete(call, token, intent, content)
    except RefusalError as refusal:
        if refusal.code == "validation_failed":
            refusal.page = partial(_form(kind, intent).refuse, content)
        raise
    if call.is_form:
        return see_other(f"/connect/{call.ids['kind']}?{urlencode({'intent': token, 'done': 'yes'})}")
    return make_json_response(outcome)


def _form(kind: EntryPage, intent: EntryIntent) -> HtmlForm:
    until = datetime.fromisoformat(intent.expires_at)
    facts = [*kind.facts(intent), ("This page works", f"once, until {until:%H:%M} UTC")]
    return HtmlForm(kind.title, kind.sentences(intent), kind.button, facts, kind.fields)


def _entry_of(entries: Entries, call: ServiceCall) -> tuple[EntryPage, str]:
    kind = entries.get(call.ids["kind"])
    if kind is None:
        raise RefusalError("not_found", "There is no such page.")
    return kind, call.query.get("intent", "")


def endpoints(entries: Entries) -> tuple[Endpoint, ...]:
    return (
        Endpoint("GET", "/connect/{kind}", partial(show, entries), is_open=True, is_page=True),
        Endpoint("POST", "/connect/{kind}", partial(accept, entries), takes_body=True, is_open=True, is_page=True),
    )
