"""The only way to start a worker."""

from __future__ import annotations

import logging
import sys
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Final

from textual.app import App
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.worker import Worker

from runwatch.base.errors import RunwatchError
from runwatch.tui.core.messages import WorkerFailed

_log: Final = logging.getLogger(__name__)

SWITCH_INTERVAL_S: Final = 0.001
"""How long a computing thread may hold the interpreter, in seconds; Python's default is five times that.

Each read or write releases the interpreter and must get it back. A response takes dozens of those, which adds up while
an export is being written.
"""


def shorten_switch_interval() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL_S)


def start_worker(
    node: DOMNode, work: Coroutine[Any, Any, object], name: str, *, group: str = "default", exclusive: bool = False
) -> Worker[None]:
    """Run a coroutine as a worker that ends with its node; do not start it if the node is closing.

    A failure never ends the console: the node gets a :class:`~runwatch.tui.core.messages.WorkerFailed`. Unexpected
    errors are logged with a traceback. A node loses its children before its workers are cancelled, so failing to find
    one then is not a failure.

    Args:
        node: The screen or widget that owns the worker.
        name: Names the work in the message and the log.
        group: The worker group within the node.
        exclusive: Whether to cancel other workers of the group first.
    """

    async def guarded() -> None:
        await _guarded(node, work, name)

    # A coroutine cancelled before its first step is never awaited, and Python would warn. At process exit no loop runs
    # any more, so closing it is safe.
    weakref.finalize(guarded, work.close)
    worker: Worker[None] = node.run_worker(guarded, name=name, group=group, exclusive=exclusive, exit_on_error=False)
    if _is_leaving(node):
        worker.cancel()
    return worker


def run_in_app(app: App[Any], go: Callable[[], Coroutine[Any, Any, object]], name: str) -> None:
    """Let a worker navigate in the app's own message loop; a failure, which names the work, goes to the screen in
    front.
    """

    async def guarded() -> None:
        await _guarded(app.screen, go(), name)

    app.call_later(guarded)


async def _guarded(node: DOMNode, work: Coroutine[Any, Any, object], name: str) -> None:
    try:
        await work
    except RunwatchError as error:
        node.post_message(WorkerFailed(name, error))
    except Exception as error:
        if isinstance(error, NoMatches) and _is_leaving(node):
            return
        _log.exception("work failed: %s", name)
        node.post_message(WorkerFailed(name, error))


def _is_leaving(node: DOMNode) -> bool:
    """Return whether a node or one of its ancestors takes no more messages; after that its children go."""
    return not all(each.is_running for each in node.ancestors_with_self)
