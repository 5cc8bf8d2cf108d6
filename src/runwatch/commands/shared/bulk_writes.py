"""Destructive commands on several records: one confirmation, then one request and one outcome for each."""

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
    """Run an action on every id of the invocation, and return the highest exit code.

    Args:
        one: Runs the action on one id and returns the resulting status, if any.
        asks: First word of the question: ``Disable``.
        done: Outcome word for success.
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
            # After an interruption the user has to see what was done.
            print_rows(call.output, rows, (member, "outcome"))
        return max(codes)

    return run_write(call, operation, work, question=f"{asks} {named}")
