"""Five hundred test runs submitted at once to the real local service, over its real network and disk."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

from runwatch.api.client import Client
from tests.performance.measure import Figure
from tests.support.crowd import Crowd, crowd
from tests.support.service import ServiceProcess

RUNS = 500
ROUNDS = 3


async def _round(directory: Path) -> Crowd:
    """One round on a service of its own."""
    with ServiceProcess(directory) as service:
        async with Client(service.target) as client:
            made = await crowd(client, RUNS)
            receipts = [receipt.id async for page in client.pages("getReceipts") for receipt in page.records]
    assert sorted(receipts) == sorted(run.id for run in made.runs)
    return made


def figures() -> list[Figure]:
    """Measure a few rounds, and judge that every run has its receipt, which a round without fails on."""
    with tempfile.TemporaryDirectory() as directory:
        rounds = [asyncio.run(_round(Path(directory) / f"round-{number}")) for number in range(ROUNDS)]
    accepted = statistics.median(made.accepted_s for made in rounds)
    final = statistics.median(made.final_s for made in rounds)
    return [
        Figure(f"{RUNS} test runs at once, all acknowledged", f"{accepted:.2f} s"),
        Figure("… all final with receipts", f"{final:.2f} s", target="all", holds=True),
        Figure("… runs brought to their receipt a second", f"{RUNS / final:.0f}"),
    ]
