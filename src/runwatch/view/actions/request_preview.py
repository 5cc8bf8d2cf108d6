"""The body of a request as the user reads it before it is sent."""

from __future__ import annotations

from typing import Any

from runwatch.view.text import json_paths
from runwatch.view.text.json_tree import walk_json
from runwatch.view.text.safe_text import SafeText, block, json_text


def render_request_body(body: Any) -> SafeText:
    """A body as indented JSON; below it every text of several lines once more, line by line as it arrives.

    JSON writes the end of a line as ``\\\\n``, which is exact and hard to read in a long text.
    """
    parts = [json_text(body, 2)]
    for node in walk_json(body):
        if isinstance(node.value, str) and "\n" in node.value:
            count = node.value.count("\n") + 1
            parts.append(
                f"{json_paths.format_path(node.path)}, {count} lines, {len(node.value)} characters:\n\n{node.value}"
            )
    return block("\n\n".join(parts))
