"""Receipts as a busy account has them: of every kind, with scores of three decimals, no two with the same ids, times,
amounts or digests.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from runwatch.base.clock import format_iso
from tests.support.receipts import baseline_receipt, echo_receipt, live_receipt

SEED: Final = 7
STATUSES: Final = ("completed", "completed", "completed", "failed", "cancelled", "expired")


def varied_receipts(count: int, newest: datetime, *, are_short: bool = False, **over: Any) -> Iterator[dict[str, Any]]:
    """Yield so many decoded receipts, the newest first, the same ones each time.

    Args:
        are_short: Whether a hundred thousand of them have to fit into one answer: only kinds of a few members, and
            neither the time of the end nor what the input was.
        over: Members that all of them have.
    """
    draw = random.Random(SEED)
    for number in range(count):
        begun = newest - timedelta(seconds=number, milliseconds=draw.randrange(1_000))
        runtime_s = draw.randrange(100, 100_000) / 1_000
        totals = {
            "usd": draw.randrange(1_000_000) / 1_000_000, "platform_fee_usd": 0.05, "runtime_s": runtime_s,
        }  # fmt: skip
        kind = draw.choice(
            (echo_receipt, baseline_receipt) if are_short else (echo_receipt, baseline_receipt, live_receipt)
        )
        raw = dict(
            kind(
                f"ex_{draw.randbytes(8).hex()}",
                status=draw.choice(STATUSES),
                created_at=format_iso(begun),
                completed_at=format_iso(begun + timedelta(seconds=runtime_s)),
                totals=totals,
                **over,
            ).raw
        )
        ended = raw["completed_at"]
        if are_short:
            del raw["completed_at"]
        for part in raw["slices"]:
            part["slice_id"] = f"sl_{draw.randbytes(4).hex()}"
            check = part["recorded_check"]
            if check["state"] == "baseline" and draw.randrange(2):
                check = {"state": "customer_verdict", "verifier_id": "vrf_7c1e"}
            if check["state"] == "customer_verdict":
                score = draw.randrange(1_001) / 1_000
                check = check | {"is_correct": score > 0.5, "quality_score": score}
            part["recorded_check"] = check | {"recorded_at": ended}
            part["cost"] = part["cost"] | {"usd": totals["usd"]}
            if not are_short:
                part["cost"]["input_tokens"] = draw.randrange(10_000)
                part["input_digest"] = f"sha256:{draw.randbytes(32).hex()}"
        yield raw
