"""Commands that destroy several things at once: asked about together, done one by one, one outcome each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from runwatch.api.errors import ApiError
from runwatch.commands.cli.error_report import report_error
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.row_printer import print_rows
from runwatch.commands.shared.session import CommandSession
from runwatch.commands.shared.writes import run_write


def run_for_each_id(
    call: Invocation,
    operation: str,
    one: Callable[[CommandSession, str], Awaitable[str | None]],
    *,
    asks: str,
    singular: str,
    member: str,
    done: str,
) -> int:
    """Do something to every id of the call; the exit code is the worst of them.

    Args:
        call: The call; its ``ID`` argument holds the ids.
        operation: What is done.
        one: Does it to one id and answers the status that the service tells, if it tells one.
        asks: The beginning of the question: ``Disable``.
        singular: What one of them is called.
        member: The member that holds the id in what is printed.
        done: The outcome's word when it was done.
    """
    ids: list[str] = list(dict.fromkeys(call.options.id))
    named = f"{singular} {ids[0]}" if len(ids) == 1 else f"{len(ids)} {singular}s ({', '.join(ids)})"

    async def work(session: CommandSession) -> int:
        rows: list[dict[str, Any]] = []
        codes: list[int] = []
        try:
            for record_id in ids:
                try:
                    status = await one(session, record_id)
                except ApiError as error:
                    codes.append(report_error(error, call.output))
                    outcome = "refused" if error.outcome_known else "unknown"
                    rows.append({member: record_id, "outcome": outcome, "status": None})
                    continue
                codes.append(0)
                rows.append({member: record_id, "outcome": done, "status": status})
        finally:
            # Whoever interrupts this has to see what was done by then.
            print_rows(call.output, rows, (member, "outcome"))
        return max(codes)

    return run_write(call, operation, work, question=lambda _: f"{asks} {named}")
