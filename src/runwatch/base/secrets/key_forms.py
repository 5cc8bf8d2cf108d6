"""Remove the key that was sent with a call from what the provider said, in every form in which a server repeats it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, quote_plus

from runwatch.base.secrets.secret_patterns import REMOVED

_FORM_CHARACTERS: Final = 6
"""Shortest encoded form to remove: less could be a part of any word."""


def remove_key(text: str, key: str) -> str:
    """Replace a key in a text: as sent, with escapes of URLs or JSON, and in base64 or hexadecimal digits."""
    forms = {key, *(form for form in _encoded_forms(key) if len(form) >= _FORM_CHARACTERS)}
    longest_first = sorted(forms, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), REMOVED, text, flags=re.IGNORECASE)


def _encoded_forms(key: str) -> Iterator[str]:
    for escaped in (quote(key, safe=""), quote_plus(key)):
        yield from (escaped, quote(escaped, safe=""))
    in_json = json.dumps(key)[1:-1]
    for escaped in (in_json, in_json.replace("/", "\\/")):
        # The second one is JSON in a text of JSON.
        yield from (escaped, json.dumps(escaped)[1:-1])
    yield key.encode().hex()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            # The text before the key changes the first and the last characters of its encoded form.
            encoded = encode(bytes(before) + key.encode()).decode()
            yield encoded[-(-before * 8 // 6) : (before + len(key)) * 8 // 6]
