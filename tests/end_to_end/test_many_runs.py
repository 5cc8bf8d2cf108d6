"""Five hundred test runs submitted at once: all end, every receipt is right, no event is lost.

``python -m tests.performance local-service`` measures the same in several rounds.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

from runwatch.api.client import Client
from runwatch.records.receipt import Receipt
from tests.support.crowd import crowd
from tests.support.service import ServiceProcess

RUNS: Final = 500

STORY: Final = [
    (None, "accepted"),
    (None, "queued"),
    (None, "running"),
    ("slice", "running"),
    ("slice", "platform_test"),
    ("slice", "completed"),
    (None, "completed"),
]
"""The events of a test run: whether they are of its slice, and their state or that of the check."""


@pytest.mark.exhaustive
async def test_five_hundred_test_runs_at_once_all_end_with_their_receipts_and_events(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "service") as service:
        async with Client(service.target) as client:
            made = await crowd(client, RUNS)
            print(
                f"{RUNS} test runs at once: all acknowledged after {made.accepted_s:.2f} s"
                f" (the slowest after {made.slowest_s:.2f} s), all final after {made.final_s:.2f} s"
            )
            acknowledged = {run.id for run in made.runs}
            assert len(acknowledged) == RUNS
            listed = [run async for page in client.pages("getExecutions") for run in page.records]
            assert sorted(run.id for run in listed) == sorted(acknowledged)
            assert {run.status for run in listed} == {"completed"}
            receipts = [receipt async for page in client.pages("getReceipts") for receipt in page.records]
            assert sorted(receipt.id for receipt in receipts) == sorted(acknowledged)
            event_ids = set()
            for execution_id in acknowledged:
                check_receipt(await client.get_receipt(execution_id), execution_id)
                event_ids |= await _event_ids(client, execution_id)
            assert len(event_ids) == RUNS * len(STORY)
        assert await asyncio.to_thread(service.stop) == 0


async def _event_ids(client: Client, execution_id: str) -> set[str]:
    """The ids of a run's events, which tell its whole story."""
    events = [event.raw for event in (await client.list_events(execution_id)).records]
    told = [
        ("slice" if "slice_id" in event else None, event.get("state") or event["recorded_check"]["state"])
        for event in events
    ]
    assert told == STORY
    assert {event["execution_id"] for event in events} == {execution_id}
    return {event["event_id"] for event in events}


def check_receipt(receipt: Receipt, execution_id: str) -> None:
    """Every constant of a test run's receipt (manual: interface, "Receipt fields", "Examples")."""
    (part,) = receipt.raw["slices"]
    assert (receipt.execution_id, receipt.mode, receipt.status) == (execution_id, "echo", "completed")
    assert part["route"] == {"ranking": "skipped_platform_proof", "selected": None}
    assert (part["verifier"]["identity"], part["verifier"]["is_correct"]) == ("platform.echo", True)
    assert part["recorded_check"]["state"] == "platform_test"
    assert part["cost"] == {"usd": 0, "waiver": {"reason": "sandbox_echo_d9"}}
    assert receipt.totals is not None
    assert receipt.spend_usd == 0
    assert receipt.totals.runtime_s is not None
    assert receipt.totals.runtime_s > 0
