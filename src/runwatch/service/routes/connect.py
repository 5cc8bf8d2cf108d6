"""The private pages: ``/connect/KIND?intent=TOKEN`` (manual, Security: Private pages).

``GET`` shows a form, ``POST`` takes it, or ``{secret}`` as JSON from a command line. A form that was taken leads on to
the same address with ``done=yes``, which can be loaded again without sending anything twice. A kind of entry is one
:class:`Entry`; :mod:`runwatch.service.routes` names them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import urlencode

from runwatch.base.secret import Secret
from runwatch.service.access import entry
from runwatch.service.access.auth import ANYONE
from runwatch.service.access.entry import Intent
from runwatch.service.errors import Refusal, invalid
from runwatch.service.http.answer import Answer, answer_json
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.http.pages import Field, Form, FormRefusal, page, see_other

SECRET_CHARACTERS: Final = 4096
"""The longest secret."""


class Entry(Protocol):
    """What is entered on one kind of page."""

    title: str
    button: str

    def facts(self, intent: Intent) -> list[tuple[str, str]]:
        """What the page is about, by name."""
        ...

    def sentences(self, intent: Intent) -> list[str]:
        """What happens with what is entered."""
        ...

    def fields(self, intent: Intent) -> list[Field]:
        """The inputs; a secret one is called ``secret``."""
        ...

    async def complete(self, call: Call, token: str, intent: Intent, fields: Mapping[str, str]) -> dict[str, Any]:
        """Take what was entered, use the intent up (:func:`runwatch.service.access.entry.use`) and say what came of it.

        Raises:
            Refusal: it is not taken; the intent stays as it is.
        """
        ...

    def done(self, intent: Intent) -> list[str]:
        """What happened, and what to do next."""
        ...


Entries = Mapping[str, Entry]
"""Kinds of entry, by the word in their address."""


def read_secret(fields: Mapping[str, str], *, is_required: bool = True) -> Secret | None:
    """The secret among what was entered.

    Raises:
        Refusal: ``validation_failed``: it is missing, too long, or has white space or control characters in it.
    """
    value = fields.get("secret", "").strip()
    if not value:
        if is_required:
            raise invalid(("secret", "Required."))
        return None
    if len(value) > SECRET_CHARACTERS:
        raise invalid(("secret", f"Must be at most {SECRET_CHARACTERS} characters."))
    if not value.isascii() or not value.isprintable() or " " in value:
        raise invalid(("secret", "Must be visible ASCII characters without spaces."))
    return Secret(value)


async def show(entries: Entries, call: Call) -> Answer:
    """The form, or what came of it."""
    kind, token = _entry_of(entries, call)
    if call.query.get("done"):
        used = await call.read(lambda transaction: entry.find_used(transaction, call.ids["kind"], token))
        if used is not None:
            return page("Done", [*kind.done(used), "You can close this page."])
    intent = await call.read(lambda transaction: entry.find(transaction, call.ids["kind"], token))
    return _form(kind, intent).show()


async def take(entries: Entries, call: Call) -> Answer:
    """Take what was entered; JSON is answered with JSON, a form by leading on to a page.

    Raises:
        Refusal: ``permission_denied``, when a key is shown and is another one than the intent was asked for with.
    """
    kind, token = _entry_of(entries, call)
    intent = await call.read(lambda transaction: entry.find(transaction, call.ids["kind"], token))
    if call.principal is not ANYONE and call.principal.key_id != intent.principal_id:
        raise Refusal("permission_denied", "This address belongs to another API key.")
    content = call.content
    if not isinstance(content, Mapping) or not all(isinstance(value, str) for value in content.values()):
        raise invalid(("body", "Must be an object of texts."))
    try:
        outcome = await kind.complete(call, token, intent, content)
    except Refusal as refusal:
        if refusal.code == "validation_failed":
            raise FormRefusal(refusal, partial(_form(kind, intent).refuse, content)) from refusal
        raise
    if call.is_form:
        return see_other(f"/connect/{call.ids['kind']}?{urlencode({'intent': token, 'done': 'yes'})}")
    return answer_json(outcome)


def _form(kind: Entry, intent: Intent) -> Form:
    until = datetime.fromisoformat(intent.expires_at)
    facts = [*kind.facts(intent), ("This page works", f"once, until {until:%H:%M} UTC")]
    return Form(kind.title, kind.sentences(intent), kind.button, facts, kind.fields(intent))


def _entry_of(entries: Entries, call: Call) -> tuple[Entry, str]:
    kind = entries.get(call.ids["kind"])
    if kind is None:
        raise Refusal("not_found", "There is no such page.")
    return kind, call.query.get("intent", "")


def endpoints(entries: Entries) -> tuple[Endpoint, ...]:
    """The endpoints that serve these kinds of entry."""
    return (
        Endpoint("GET", "/connect/{kind}", partial(show, entries), is_open=True, is_page=True),
        Endpoint("POST", "/connect/{kind}", partial(take, entries), takes_body=True, is_open=True, is_page=True),
    )
