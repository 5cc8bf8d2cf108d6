"""``demo``: a complete test run on a temporary local service."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from typing import Final

from runwatch.base.json import encode_body
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.session import open_session
from runwatch.commands.submit import submit_run
from runwatch.commands.watch import Watcher
from runwatch.settings import local_service
from runwatch.settings.declarations import Settings
from runwatch.settings.temporary_service import IDLE_EXIT_S, temporary_paths
from runwatch.view.resources.receipts import RECEIPTS

REQUEST: Final = {
    "mode": "echo",
    "task": {"objective": "Show a run from start to finish"},
    "policy": {"data_classes": ["public"], "budget": {"max_cost_usd": 1, "max_runtime_s": 60}},
}
"""The run of the demo: a test run, which calls no model and costs nothing."""


def demo(call: Invocation) -> int:
    """``demo``: submit a test run, print its events and its receipt, and leave nothing behind."""
    with temporary_paths() as paths:
        return asyncio.run(_demo(replace(call, paths=paths)))


async def _demo(call: Invocation) -> int:
    service = await asyncio.to_thread(
        local_service.ensure_running,
        call.paths.local_service_dir,
        settings_file=call.paths.settings_file,
        idle_exit_s=IDLE_EXIT_S,
    )
    call.output.note(f"A temporary local service listens on {service.base_url}.")
    async with open_session(call, service.target(), Settings()) as session:
        run = await submit_run(session, encode_body(REQUEST), str(uuid.uuid4()))
        # The service ends with the demo, so no later command can follow the run.
        call.accepted_run = None
        call.output.note(f"The test run {run.id} was accepted. Its events:")
        code = await Watcher(session, [run.id]).watch()
        call.output.note("The run has ended. Its receipt:")
        receipt = await session.client.get_receipt(run.id)
        RecordPrinter(call, session.settings, RECEIPTS).record(receipt, receipt.raw)
    call.output.note("'runwatch --local runs submit --help' shows how to submit your own.")
    return code
