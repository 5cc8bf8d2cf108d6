"""Secrets in requests and responses: minted keys, private pages, entered secrets.

An operation names the secret members of its response. The caller gets them, and every later log and journal text has
them redacted. A private page accepts a secret, which no REST request ever carries (manual: security, "Private pages").
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
from runwatch.base.network.service_target import Target, is_loopback_host, normalise_base_url
from runwatch.base.secrets.secret import Secret

_ENTRY_PATHS: Final = "/connect/"
"""Path prefix of the service's private pages."""

_TOKEN: Final = 16
"""Fewer characters in an address are an ordinary word that logs need, not a token."""


def redact_response_secrets(operation: Operation, value: object) -> None:
    """Redact the secrets of a response in every log from now on."""
    for name in operation.secret_members:
        found = value
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if isinstance(found, str):
            _keep(found)


def strip_secrets(operation: Operation, value: Any) -> Any:
    """Return a decoded response without its secret members, for storage; the argument is not changed."""
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
    # The secret of an address is in its query, and a log may hold that part alone.
    for _, part in parse_qsl(urlsplit(text).query) if "://" in text else ():
        if len(part) >= _TOKEN:
            keep_secret(Secret(part))


def is_own_page(target: Target, address: str) -> bool:
    """Return whether a private page's address belongs to the service, so that a secret may be sent to it.

    A local service is called through its socket, whatever the address says, and its port may have changed since the
    socket was found: any loopback address counts as its own.
    """
    try:
        parts = urlsplit(address)
        origin = normalise_base_url(f"{parts.scheme}://{parts.netloc}")
    except (ValueError, SettingsError):
        return False
    is_own = origin == target.origin or (target.socket is not None and is_loopback_host(parts.hostname or ""))
    return is_own and parts.path.startswith(_ENTRY_PATHS) and not parts.fragment


def build_secret_request(target: Target, address: Secret, secret: Secret) -> HttpRequest:
    """Build the request that enters a secret on a private page.

    Raises:
        InvalidRequestError: The page is not the service's own, or the address cannot be sent; nothing was sent.
    """
    text = address.reveal()
    parts = urlsplit(text) if is_own_page(target, text) else None
    if parts is None or not f"{parts.path}{parts.query}".isascii():
        said = "It points to an address other than the service's own; a key is never sent there."
        raise InvalidRequestError(operation=PRIVATE_ENTRY.id, errors=[{"field": "continue_url", "message": said}])
    _keep(text)
    keep_secret(secret)
    return HttpRequest("POST", parts.path, parts.query, encode_body({"secret": secret.reveal()}))
