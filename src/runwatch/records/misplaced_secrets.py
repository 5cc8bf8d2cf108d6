"""Find secrets in requests where only names and ids belong (manual: security, "Misplaced secrets")."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from runwatch.base.secrets.secret_patterns import find_known_key, find_secret

MAX_VISITED: Final = 10_000
"""Maximum values checked in one body, breadth first; references are at most three levels deep."""

_REFERENCE: Final = re.compile(r"(?:^|_)ref(?:erence)?s?$|[a-z]Ref(?:erence)?s?$")
_COMMIT_NAMES: Final = frozenset({"base_ref"})
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CONTENT: Final = frozenset({"objective", "content"})
"""Members whose text is content: the task of a run, and the artifact of a skill."""

_ENTER_IT: Final = "Enter the key itself on the private page of its connection, never here."


def find_secrets_in_body(body: object) -> list[dict[str, str]]:
    """Return the members of a decoded body that hold a misplaced secret, as ``errors[]`` of a Problem, without any part
    of the value.

    A reference is a member whose name ends in ``ref``, ``refs`` or ``reference``, with everything in it. It may hold no
    text that looks like a secret, every other member no well-known key. The objective of a task, its inline JSON and
    the artifact of a skill are content, and are not checked.
    """
    found = []
    for path, name, text, is_reference in _texts(body):
        if not is_reference:
            words = find_known_key(text)
            message = f"Looks like {words}. This member is stored and shown. {_ENTER_IT}"
        else:
            words = None if name in _COMMIT_NAMES and _COMMIT.fullmatch(text) else find_secret(text)
            message = f"Looks like {words}. A reference only names a key: it is stored and shown. {_ENTER_IT}"
        if words is not None:
            found.append({"field": path, "message": message})
    return found


def find_secrets_in_ids(ids: Mapping[str, str], key: str | None) -> list[dict[str, str]]:
    """Return the ids of a path, and the idempotency key, that hold a well-known key, as ``errors[]`` of a Problem."""
    named = [*ids.items(), *(() if key is None else (("Idempotency-Key", key),))]
    return [
        {"field": name, "message": f"Looks like {words}. Ids and idempotency keys are stored and shown. {_ENTER_IT}"}
        for name, text in named
        if (words := find_known_key(text)) is not None
    ]


def _texts(body: object) -> Iterator[tuple[str, str, str, bool]]:
    """Yield path, name and text of every text that is not content, and whether it belongs to a reference."""
    waiting: deque[tuple[str, str, Any, bool]] = deque([("", "", body, False)])
    for _ in range(MAX_VISITED):
        if not waiting:
            return
        path, name, value, is_reference = waiting.popleft()
        if isinstance(value, str):
            if is_reference or name not in _CONTENT:
                yield path, name, value, is_reference
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
            waiting.extend((f"{path}[{position}]", name, inner, is_reference) for position, inner in enumerate(value))
