"""Preview of a request body before it is sent."""

from __future__ import annotations

from typing import Any

from runwatch.view.text import json_paths
from runwatch.view.text.json_tree import walk_json
from runwatch.view.text.safe_text import SafeText, block, json_text


def render_request_body(body: Any) -> SafeText:
    r"""Render a body as indented JSON, followed by every multi-line text, line by line.

    JSON writes the end of a line as ``\n``, which is exact but hard to read in a long text.
    """
    parts = [json_text(body, 2)]
    for node in walk_json(body):
        if isinstance(node.value, str) and "\n" in node.value:
            count = node.value.count("\n") + 1
            parts.append(
                f"{json_paths.format_path(node.path)}, {count} lines, {len(node.value)} characters:\n\n{node.value}"
            )
    return block("\n\n".join(parts))
