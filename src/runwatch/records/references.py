"""Find secrets in the members of a body that may only name one (manual: security, "References that hold a secret")."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from runwatch.base.secrets.secret_patterns import find_secret

MAX_VISITED: Final = 10_000
"""Maximum values checked in one body, breadth first; references are at most three levels deep."""

_REFERENCE: Final = re.compile(r"(?:^|_)ref(?:erence)?s?$|[a-z]Ref(?:erence)?s?$")
_COMMIT_NAMES: Final = frozenset({"base_ref"})
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def find_secret_references(body: object) -> list[dict[str, str]]:
    """Return the references of a decoded body that hold a secret, as ``errors[]`` of a Problem, without any part of the
    value.

    A reference is a member whose name ends in ``ref``, ``refs`` or ``reference``, with everything in it. Only the
    inline JSON of a task is content, and is not checked.
    """
    found = []
    for path, name, text in _references(body):
        words = None if name in _COMMIT_NAMES and _COMMIT.fullmatch(text) else find_secret(text)
        if words is not None:
            message = (
                f"Looks like {words}. A reference only names a key: it is stored and shown. "
                "Enter the key itself on the private page of its connection, never here."
            )
            found.append({"field": path, "message": message})
    return found


def _references(body: object) -> Iterator[tuple[str, str, str]]:
    waiting: deque[tuple[str, str, Any, bool]] = deque([("", "", body, False)])
    for _ in range(MAX_VISITED):
        if not waiting:
            return
        path, name, value, is_reference = waiting.popleft()
        if isinstance(value, str):
            if is_reference:
                yield path, name, value
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                # The addresses of a url_list may be here.
                if is_reference and key == "json" and value.get("kind") != "url_list":
                    continue
                # A name comes from the sender, as a value does.
                shown = "…" if find_secret(key) else key
                is_named = is_reference or _REFERENCE.search(key) is not None
                waiting.append((f"{path}.{shown}" if path else shown, key, inner, is_named))
        elif isinstance(value, list):
            waiting.extend((f"{path}[{place}]", name, inner, is_reference) for place, inner in enumerate(value))
