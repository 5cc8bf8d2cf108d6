"""Every sum shown is the sum of the receipts, and names the calls of unknown cost."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.base.json import dumps, loads
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run as RunRecord
from runwatch.records.usage import Usage
from runwatch.service.access.authentication import local_tenant
from runwatch.service.execution import receipts, run_owners
from runwatch.service.execution.live.state import (
    ANSWERED,
    CANCELLED_IN_FLIGHT,
    CANDIDATE,
    EXPIRED_IN_FLIGHT,
    FAILED,
    INTERRUPTED,
    Attempt,
    LiveRun,
    RankedArm,
    to_json_value,
)
from runwatch.service.execution.state_machine import CAPABILITY, RunState, SliceState
from runwatch.service.tables import receipts_table, runs_table
from runwatch.service.transaction import Transaction
from runwatch.view.export import text_output
from runwatch.view.export.file_formats import export_records
from runwatch.view.overview.run_counts import count_runs
from runwatch.view.overview.run_lines import live_lines
from runwatch.view.receipts.totals import FEE, NO_CALL, NO_MODEL, ReceiptTotals, reconcile_with_usage
from runwatch.view.resources.organization import USAGE
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.runs.run_facts import RunFacts
from tests.service.conftest import Local
from tests.support.clock import START
from tests.view.strategies import CONTEXT

EXACT = Context(prec=200)
ARMS = ("arm_a", "arm_b", "arm_c")
MARKERS = ("unknown_calls", "unknown_token_calls", "estimated_calls")
LOST = (FAILED, INTERRUPTED, CANCELLED_IN_FLIGHT, EXPIRED_IN_FLIGHT)


@dataclass(slots=True)
class Sums:
    """What some receipts add up to, computed here from their text alone."""

    executions: int = 0
    usd: Decimal = Decimal(0)
    fees: Decimal = Decimal(0)
    unknown_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    by_arm: defaultdict[str, list[Any]] = field(default_factory=lambda: defaultdict(lambda: [Decimal(0), 0, 0, 0]))
    unknown_token_calls: int = 0
    estimated_calls: int = 0

    def add(self, raw: dict[str, Any]) -> None:
        """Count a receipt that was decoded with decimals."""
        self.executions += 1
        self.usd = EXACT.add(self.usd, Decimal(raw["totals"]["usd"]))
        self.fees = EXACT.add(self.fees, Decimal(raw["totals"]["platform_fee_usd"]))
        for part in raw["slices"]:
            self.calls += part["cost"].get("calls", 0)
            for attempt in part.get("attempts", ()):
                self.input_tokens += attempt["input_tokens"] or 0
                self.output_tokens += attempt["output_tokens"] or 0
                self.unknown_calls += attempt["usd"] is None
                arm = self.by_arm[attempt["arm_id"]]
                arm[0] = EXACT.add(arm[0], Decimal(attempt["usd"] or 0))
                arm[1] += attempt["usd"] is None
                is_untold = attempt["usage"] == "unknown"
                is_estimated = attempt["pricing_basis"] == "estimated"
                arm[2] += is_untold
                arm[3] += is_estimated
                self.unknown_token_calls += is_untold
                self.estimated_calls += is_estimated

    @property
    def whole(self) -> Decimal:
        return EXACT.add(self.usd, self.fees)


def generated(chance: random.Random, number: int) -> tuple[RunState, LiveRun | None]:
    """A final run: a test run, one that called nothing, or one with calls of known and of unknown cost."""
    ended = START - timedelta(hours=chance.randrange(24 * 20))
    is_live = chance.random() < 0.8
    attempts = [attempt(chance, position) for position in range(1, chance.randrange(5) + 1)] if is_live else []
    options = tuple(
        RankedArm(arm_id, 0.5, {"arm_id": arm_id, "model_key": f"northwind/{arm_id}"}, {"source": {}})
        for arm_id in ARMS
    )
    live = LiveRun(None, None, (), Decimal(1), options, None, tuple(attempts)) if is_live else None
    counts = (live.unknown_calls, live.estimated_calls) if live else (0, 0)
    part = SliceState(f"sl_{number}", CAPABILITY, "completed", unknown_calls=counts[0], estimated_calls=counts[1])
    run = RunState(
        execution_id=f"ex_{number:06}", tenant_id="", mode="live" if is_live else "echo",
        status=chance.choice(("completed", "failed", "cancelled", "expired")),
        policy='{"data_classes":["public"],"budget":{"max_cost_usd":1,"max_runtime_s":60}}', max_runtime_s=60.0,
        created_at=ended - timedelta(seconds=5), slices=(part,), spend_usd=to_json_value(live.spend) if live else "0",
        completed_at=ended,
    )  # fmt: skip
    return run, live


def attempt(chance: random.Random, number: int) -> Attempt:
    """One call: answered or lost, sent or not, with a cost of up to twenty decimals or without a known one."""
    is_answered = chance.random() < 0.6
    was_sent = is_answered or chance.random() < 0.9
    is_known = was_sent and chance.random() < (0.9 if is_answered else 0.2)
    digits = chance.choice((2, 4, 7, 20))
    return Attempt(
        number=number, arm_id=chance.choice(ARMS), skill_arm_id=None, phase=CANDIDATE,
        state=ANSWERED if is_answered else chance.choice(LOST), started_at=format_iso(START), was_sent=was_sent,
        input_tokens=chance.randrange(10_000) if is_known else None,
        output_tokens=chance.randrange(10_000) if is_known else None,
        usd=to_json_value(Decimal(chance.randrange(10**digits)).scaleb(-digits)) if is_known else "0",
        pricing_basis=chance.choice(("source_reported", "estimated")) if is_known else None,
    )  # fmt: skip


async def keep(local: Local, count: int, seed: int) -> None:
    """Store generated runs with the receipts that the service writes for them, and the keys that submitted them."""
    chance = random.Random(seed)
    keys = [(await local.add_key())[1] for _ in range(3)]
    found = [generated(chance, number) for number in range(count)]

    def effect(transaction: Transaction) -> None:
        tenant = local_tenant(transaction)
        for run, live in found:
            assert run.completed_at is not None
            mine = {"execution_id": run.execution_id, "tenant_id": tenant, "status": run.status}
            transaction.add(
                runs_table, **mine, mode=run.mode, policy=run.policy, max_runtime_s=run.max_runtime_s,
                slices=[asdict(part) for part in run.slices], spend_usd=run.spend_usd,
                created_at=format_iso(run.created_at), completed_at=format_iso(run.completed_at),
            )  # fmt: skip
            body = dumps(receipts.build_receipt(run, live))
            transaction.add(receipts_table, **mine, completed_at=format_iso(run.completed_at), body=body)
            if chance.random() < 0.9:
                run_owners.record_owner(transaction, run.execution_id, chance.choice(keys))

    await local.context.database.write(effect)


async def paged(local: Local, path: str, name: str) -> list[dict[str, Any]]:
    """Every record of a list, decoded as the console decodes it."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        query = {"limit": "100", **({} if cursor is None else {"cursor": cursor})}
        page = loads((await local.http.get(path, params=query)).content)
        found += page[name]
        cursor = page.get("next_cursor")
        if cursor is None:
            return found


def decimals(text: str) -> Any:
    """Decoded JSON whose numbers with a fraction are decimals."""
    return json.loads(text, parse_float=Decimal)


def checked(report: dict[str, Any], sums: Sums) -> None:
    assert Decimal(report["usd"]) == sums.whole
    assert Decimal(report["passthrough_usd"]) == sums.usd
    assert Decimal(report["platform_usd"]) == sums.fees
    for name in ("executions", *MARKERS, "input_tokens", "output_tokens", "calls"):
        assert report[name] == getattr(sums, name), name


def grouped(raws: Sequence[dict[str, Any]], owners: dict[str, str] | None = None) -> dict[str, Sums]:
    """Sums by day, or by the key that submitted the run."""
    found: defaultdict[str, Sums] = defaultdict(Sums)
    for raw in raws:
        name = raw["completed_at"][:10] if owners is None else owners.get(raw["execution_id"])
        if name is not None:
            found[name].add(raw)
    return found


def added(records: Sequence[Receipt]) -> ReceiptTotals:
    """What the console adds up of a list of receipts."""
    sums = ReceiptTotals()
    for record in records:
        sums.add(record)
    return sums


async def check_everything(local: Local, count: int, seed: int) -> None:
    """Store runs and compare every sum with what their receipts say."""
    await keep(local, count, seed)
    period = {"from": "2026-11-01", "to": "2026-11-30"}
    exported = decimals((await local.http.get("/v1/compliance-export", params=period)).text)
    raws = [decimals(line) for line in exported["receipts_ndjson"].splitlines()]
    assert len(raws) == count
    whole = Sums()
    for raw in raws:
        whole.add(raw)
    assert whole.unknown_calls > 0
    checked(exported["usage_totals"], whole)

    answer = await local.http.get("/v1/usage", params=period)
    usage = decimals(answer.text)
    checked(usage["totals"], whole)
    days = grouped(raws)
    assert [row["date"] for row in usage["by_day"]] == sorted(days)
    for row in usage["by_day"]:
        day = days[row["date"]]
        assert (Decimal(row["usd"]), row["unknown_calls"]) == (day.whole, day.unknown_calls)
    arms = {row["arm_id"]: [Decimal(row["usd"]), *(row[name] for name in MARKERS)] for row in usage["by_arm"]}
    assert arms == whole.by_arm
    owners = await local.context.database.read(
        lambda transaction: run_owners.find_owners(transaction, [raw["execution_id"] for raw in raws])
    )
    keys = grouped(raws, owners)
    assert {row["api_key_id"] for row in usage["by_key"]} == set(keys)
    for row in usage["by_key"]:
        key = keys[row["api_key_id"]]
        assert (Decimal(row["usd"]), row["unknown_calls"]) == (key.whole, key.unknown_calls)
        own = grouped([raw for raw in raws if owners.get(raw["execution_id"]) == row["api_key_id"]])
        assert [
            (day["date"], Decimal(day["usd"]), day["unknown_calls"], day["estimated_calls"]) for day in row["by_day"]
        ] == [(name, own[name].whole, own[name].unknown_calls, own[name].estimated_calls) for name in sorted(own)]
    # Every sum in the report that lacks a call says so in print, at any depth.
    printed = "\n".join(map(str, text_output.detail_lines(USAGE, Usage(loads(answer.content)), CONTEXT)))
    for amount in lacking_amounts(usage):
        assert f"at least {amount}" in printed

    # The console's own sums: of the list of receipts, of the list of runs, and next to the usage report.
    records = [Receipt(raw) for raw in await paged(local, "/v1/receipts", "receipts")]
    sums = added(records)
    assert (sums.total.usd, sums.total.count, sums.total.unknown_calls) == (whole.whole, count, whole.unknown_calls)
    assert (sums.fees, sums.without_cost, sums.is_exact) == (whole.fees, 0, False)
    assert {name: (one.usd, one.unknown_calls) for name, one in sums.days.items()} == {
        name: (one.whole, one.unknown_calls) for name, one in days.items()
    }
    # By model as by arm in the usage report: every model is the one of an arm here.
    assert {
        name.removeprefix("northwind/"): [one.usd, one.unknown_calls, one.estimated_calls]
        for name, one in sums.models.items()
        if name != NO_CALL
        if name != FEE
    } == {
        name: [usd, lacking, guessed] for name, (usd, lacking, _, guessed) in arms.items() if usd or lacking or guessed
    }
    assert EXACT.add(Decimal(0), sum((one.usd for one in sums.models.values()), Decimal(0))) == whole.whole
    assert not {FEE, NO_MODEL} & {name for name, one in sums.models.items() if one.unknown_calls}
    compared = reconcile_with_usage(sums.days, Usage(loads(answer.content)), "2026-11-01", "2026-11-30")
    assert compared.whole.agrees
    assert not compared.differing

    facts = [RunFacts(RunRecord(raw)) for raw in await paged(local, "/v1/executions", "executions")]
    assert exact(run.known_cost_usd.value for run in facts) == whole.usd
    assert sum(run.unknown_calls for run in facts) == whole.unknown_calls
    assert sum(run.run.estimated_calls or 0 for run in facts) == whole.estimated_calls
    guessed = {record.id for record in records if record.is_estimated}
    assert {run.id for run in facts if run.is_estimated} == guessed
    for run in facts:
        assert (run.cost_usd.value is None) is (run.unknown_calls > 0)

    # A table for users: the word for what is not known, and the known part in its own column.
    rows = list(csv.DictReader("".join(export_records("csv", RECEIPTS, records, CONTEXT)).splitlines()))
    lacking = [row for row in rows if row["totals.usd"] == "unknown"]
    assert len(lacking) == sum(bool(record.unknown_calls) for record in records)
    told = [row["totals.known_usd"] if row in lacking else row["totals.usd"] for row in rows]
    assert exact(map(Decimal, told)) == whole.usd

    # The overview adds up what runs have spent that are under way.
    under_way = [RunFacts(RunRecord({**run.raw, "status": "running", "mode": "live"})) for run in facts]
    text = " ".join(spot.text for line in live_lines(count_runs(under_way), CONTEXT, 60) for spot in line)
    assert f"≥~{whole.usd.quantize(Decimal('0.0001'), ROUND_FLOOR)} of {count}.0000" in text


def lacking_amounts(value: Any) -> Iterator[str]:
    """The digits of every amount above 0 whose object counts calls of unknown cost."""
    if isinstance(value, dict):
        if value.get("unknown_calls") and value["usd"]:
            yield f"{Decimal(value['usd']):f}"
        for inner in value.values():
            yield from lacking_amounts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from lacking_amounts(inner)


def exact(amounts: Iterator[Decimal | None] | Any) -> Decimal:
    """A sum with every digit."""
    found = Decimal(0)
    for usd in amounts:
        found = EXACT.add(found, usd or Decimal(0))
    return found


async def test_every_sum_is_the_sum_of_the_receipts(held: Local) -> None:
    await check_everything(held, 200, seed=1)


@pytest.mark.exhaustive
async def test_every_sum_of_ten_thousand_runs_is_the_sum_of_the_receipts(held: Local) -> None:
    await check_everything(held, 10_000, seed=2)
