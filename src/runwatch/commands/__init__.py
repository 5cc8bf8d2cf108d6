"""The verbs: the console's work without a screen, for pipes, scripts and screen readers.

:mod:`runwatch.commands.cli.grammar` declares every verb and flag in one table; each verb's module is imported when it
runs.
"""

from __future__ import annotations

from typing import Final

COMPLETE: Final = "__complete"
"""The word by which completion scripts ask for names; no verb, so that help and completion do not offer it."""
