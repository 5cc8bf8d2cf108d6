"""A request of the journal as a command that sends it again."""

from __future__ import annotations

import shlex

from runwatch.base.text import clean_line
from runwatch.view.entries import RequestEntry


def curl(entry: RequestEntry) -> str:
    """The command; the key stands in a variable, and a body, which is not kept, comes from stdin."""
    query = f"?{entry.query}" if entry.query else ""
    url = f"{entry.origin or ''}{entry.path or ''}{query}"
    words = ["curl", "-sS", "-X", entry.method or "GET", shlex.quote(url)]
    words += ["-H", '"Authorization: Bearer $RUNWATCH_API_KEY"']
    if entry.key is not None:
        words += ["-H", shlex.quote(f"Idempotency-Key: {entry.key}")]
    if entry.sent_bytes:
        words += ["-H", "'Content-Type: application/json'", "--data-binary", "@-"]
    return clean_line(" ".join(words))
