"""What the service tells only once, and what is told to it alone: minted keys, private pages, entered secrets.

An operation names the members of its answer that are secrets. They go to whoever called, and every text that is
logged or journalled from then on has them redacted. A private page is where a secret is entered that no REST request
carries (specification, What the service does; wire reference 2.4).
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from runwatch.api.errors import InvalidRequestError
from runwatch.api.http.exchange import HttpRequest
from runwatch.api.operations import PRIVATE_ENTRY, Operation
from runwatch.base.errors import SettingsError
from runwatch.base.json import encode_body
from runwatch.base.log import keep_secret
from runwatch.base.secret import Secret
from runwatch.base.service_target import Target, is_loopback_host, normalise_base_url

_ENTRY_PATHS: Final = "/connect/"
"""Where the private pages of a service are (wire reference 2.4)."""

_TOKEN: Final = 16
"""Fewer characters in an address are no token, but a word that logs need."""


def redact_answer_secrets(operation: Operation, value: object) -> None:
    """Have the secrets of an answer redacted from every log from now on."""
    for name in operation.secret_members:
        found = value
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if isinstance(found, str):
            _keep(found)


def strip_secrets(operation: Operation, value: Any) -> Any:
    """A decoded answer without the members that are secrets, for what is kept; the answer itself stays as it is."""
    for name in operation.secret_members:
        value = _without(value, name.split("."))
    return value


def _without(value: Any, path: list[str]) -> Any:
    name, *rest = path
    if not isinstance(value, dict) or name not in value:
        return value
    if not rest:
        return {key: member for key, member in value.items() if key != name}
    return {**value, name: _without(value[name], rest)}


def _keep(text: str) -> None:
    keep_secret(Secret(text))
    # Of an address, what makes it a secret is in its query; a log may hold that alone.
    for _, part in parse_qsl(urlsplit(text).query) if "://" in text else ():
        if len(part) >= _TOKEN:
            keep_secret(Secret(part))


def is_own_page(target: Target, address: str) -> bool:
    """Whether the address of a private page is the service's own, and a secret may be sent to it.

    A local service is called through its socket, whatever the address says, and its port may have changed since the
    socket was found: each address of this machine is its own.
    """
    try:
        parts = urlsplit(address)
        origin = normalise_base_url(f"{parts.scheme}://{parts.netloc}")
    except (ValueError, SettingsError):
        return False
    is_own = origin == target.origin or (target.socket is not None and is_loopback_host(parts.hostname or ""))
    return is_own and parts.path.startswith(_ENTRY_PATHS) and not parts.fragment


def build_secret_request(target: Target, address: Secret, secret: Secret) -> HttpRequest:
    """The request that enters a secret on a private page.

    Raises:
        InvalidRequest: the page is not the service's own, or the address cannot be sent; nothing was sent.
    """
    text = address.reveal()
    parts = urlsplit(text) if is_own_page(target, text) else None
    if parts is None or not f"{parts.path}{parts.query}".isascii():
        said = "It leads to another address than the service's own; a key is never sent there."
        raise InvalidRequestError(operation=PRIVATE_ENTRY.id, errors=[{"field": "continue_url", "message": said}])
    _keep(text)
    keep_secret(secret)
    return HttpRequest("POST", parts.path, parts.query, encode_body({"secret": secret.reveal()}))
