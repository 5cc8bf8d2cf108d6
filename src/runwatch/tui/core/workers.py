"""Work beside the screen: the one way to start a worker."""

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
"""How long a thread that computes may keep the screen waiting each time, in seconds; Python's own is five times that.

Whatever reads or writes gives the interpreter away and has to get it back: an answer of the service needs that dozens
of times, which adds up while an export is written.
"""


def shorten_switch_interval() -> None:
    """Let what works in threads hand the interpreter over soon."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)


def start_worker(
    node: DOMNode, work: Coroutine[Any, Any, object], name: str, *, group: str = "default", exclusive: bool = False
) -> Worker[None]:
    """Run a coroutine beside the screen; it ends with the node at the latest, and one that is leaving begins none.

    A failure never ends the console: it becomes a :class:`~runwatch.tui.core.messages.WorkerFailed` to the node. An
        error that
    was not raised on purpose is logged with its trace. A node loses its parts before its work is ended, so work that
    looks for one of them then has failed in nothing.

    Args:
        node: The screen or widget that the work is for.
        work: What to do.
        name: Names the work in the message and the log.
        group: Work of the same group of a node belongs together.
        exclusive: Whether this work ends the other work of its group first.
    """

    async def guarded() -> None:
        await _guarded(node, work, name)

    # Work that is cancelled before its first step is never awaited, which is no mistake here; at the process's end no
    # loop runs any more, and closing harms none that was.
    weakref.finalize(guarded, work.close)
    worker: Worker[None] = node.run_worker(guarded, name=name, group=group, exclusive=exclusive, exit_on_error=False)
    if _is_leaving(node):
        worker.cancel()
    return worker


def run_in_app(app: App[Any], go: Callable[[], Coroutine[Any, Any, object]], name: str) -> None:
    """Have work beside a screen go somewhere in a turn of the app; a failure is that of the screen in front.

    Args:
        app: The app.
        go: Goes there.
        name: Names it in the message and the log.
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
    """Whether a node, or what it stands in, takes no messages any more: from then on its parts go."""
    return not all(each.is_running for each in node.ancestors_with_self)
