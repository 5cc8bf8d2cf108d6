"""Build requests from operations and parameters (manual: interface, "Headers")."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Final, TypeAlias
from urllib.parse import quote, urlencode

from runwatch.api.errors import InvalidRequestError
from runwatch.api.http.exchange import HttpRequest
from runwatch.api.operations import Operation
from runwatch.base.json import loads
from runwatch.records.misplaced_secrets import find_secrets_in_body, find_secrets_in_ids

QueryValue: TypeAlias = str | int | bool | None
_PARAMETER: Final = re.compile(r"\{([a-z_]+)\}")
_KEY: Final = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")


def build_request(
    operation: Operation,
    *,
    path: Mapping[str, str],
    query: Mapping[str, QueryValue],
    body: bytes | None,
    key: str | None,
) -> HttpRequest:
    """Build the request, with everything encoded.

    Ids are opaque and are sent back exactly as received, with every reserved character percent-encoded. Only ids that
    could not come back as one path segment are refused: empty, ``.`` and ``..``. A blank idempotency key counts as none
    (manual: interface, "Idempotency").

    Raises:
        InvalidRequestError: A parameter is missing, unknown or cannot be sent, the key cannot be sent, or the
            request holds a misplaced secret.
    """
    # A cursor comes from the service and has any form.
    filters = {name: value for name, value in query.items() if isinstance(value, str) and name != "cursor"}
    errors = _find_secrets({**path, **filters}, body, key)
    is_secret_key = any(error["field"] == "Idempotency-Key" for error in errors)
    names = _PARAMETER.findall(operation.path)
    errors.extend(_wrong(name, "Required.") for name in names if name not in path)
    errors.extend(_wrong(name, "The path has no such parameter.") for name in path if name not in names)
    encoded: dict[str, str] = {}
    for name in names:
        if name in path:
            encoded[name] = _quoted(name, path[name], errors)
    pairs = [(name, _text(value)) for name, value in query.items() if value is not None]
    try:
        asked = urlencode(pairs, quote_via=quote, safe="")
    except UnicodeEncodeError:
        asked = ""
        errors.append(_wrong("query", "Contains half of a surrogate pair, which cannot be sent."))
    key = key if key is not None and key.strip() else None
    if key is not None and not _KEY.fullmatch(key):
        errors.append(_wrong("Idempotency-Key", "Must be printable ASCII without white space at its ends."))
    if errors:
        raise InvalidRequestError(operation=operation.id, errors=errors, key=None if is_secret_key else key)
    filled = _PARAMETER.sub(lambda match: encoded[match[1]], operation.path)
    return HttpRequest(operation.method, filled, asked, body, key)


def refuse_secrets(operation: str, path: Mapping[str, str], body: bytes | None, key: str | None) -> None:
    """Refuse a request that holds a misplaced secret, before it is stored or sent.

    Raises:
        InvalidRequestError: It holds one.
    """
    errors = _find_secrets(path, body, key)
    if errors:
        raise InvalidRequestError(operation=operation, errors=errors)


def _find_secrets(path: Mapping[str, str], body: bytes | None, key: str | None) -> list[dict[str, str]]:
    errors = find_secrets_in_ids(path, key)
    if body is not None:
        with contextlib.suppress(ValueError):
            errors += find_secrets_in_body(loads(body))
    return errors


def _quoted(name: str, value: str, errors: list[dict[str, str]]) -> str:
    if value in {"", ".", ".."}:
        errors.append(_wrong(name, f"Must be an id, not {value!r}."))
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        errors.append(_wrong(name, "Contains half of a surrogate pair, which cannot be sent."))
        return ""


def _text(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _wrong(field: str, message: str) -> dict[str, str]:
    return {"field": field, "message": message}
