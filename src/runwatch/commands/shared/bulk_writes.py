"""Writes on several records: one confirmation, then one request and one outcome for each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.session import CommandSession
from runwatch.commands.shared.writes import run_write

Outcome = dict[str, Any]
"""A printed row: the id, the outcome in a word, and the status that the record has now, if it is known."""


def run_for_each_id(
    call: Invocation,
    operation: str,
    write: Callable[[CommandSession, str], Awaitable[tuple[Outcome, int]]],
    show: Callable[[Sequence[Outcome]], None],
    *,
    first_word: str,
    singular: str,
) -> int:
    """Write on every id of the invocation, and return the highest exit code.

    Args:
        write: Writes on one id, and returns its outcome and exit code.
        first_word: First word of the question: ``Disable``.
    """
    ids: list[str] = list(dict.fromkeys(call.options.id))
    named = f"{singular} {ids[0]}" if len(ids) == 1 else f"{len(ids)} {singular}s ({', '.join(ids)})"

    async def work(session: CommandSession) -> int:
        done: list[tuple[Outcome, int]] = []
        try:
            for record_id in ids:
                done.append(await write(session, record_id))  # noqa: PERF401 - what is done is shown if the next fails
        finally:
            # After an interruption the user has to see what was done.
            show([outcome for outcome, _ in done])
        return max(code for _, code in done)

    return run_write(call, operation, work, question=f"{first_word} {named}")
