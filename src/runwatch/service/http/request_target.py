"""Request targets in absolute form, ``GET http://HOST/PATH``, as sent to proxies (RFC 9112, 3.2.2)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from starlette.types import Scope

_ABSOLUTE: Final = re.compile(rb"http://([^/]*)(/.*)?", re.IGNORECASE)


def to_origin_form(scope: Scope) -> Scope:
    """Return the request with its target in origin form, or unchanged if it already is.

    As the standard requires, the target's host replaces the ``Host`` header, so the check of that header judges the
    host that the caller means.
    """
    match = _ABSOLUTE.fullmatch(scope["raw_path"])
    if match is None:
        return scope
    path = match[2] or b"/"
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {
        **scope,
        "path": unquote(path.decode("ascii")),
        "raw_path": path,
        "headers": [*headers, (b"host", match[1])],
    }
