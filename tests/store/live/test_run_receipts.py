"""Receipts of listed runs: read unasked, in one request where the service lists them, and never beyond the limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.live.run_receipts import MAX_SEARCHES
from tests.store.live_service import LimitedService, watching
from tests.support.builders import account, echo_receipt, problem, run
from tests.support.scripted import Said

LIST = "/v1/receipts"
ENDED = [f"ex_{number}" for number in range(20)]


def service(*, receipts: bool = True, limit: int | None = None) -> LimitedService:
    return LimitedService(
        limit, runs=[run("ex_live"), *(run(run_id, "completed") for run_id in ENDED)],
        receipts=[echo_receipt(run_id) for run_id in ENDED] if receipts else [],
        account=account(quota={"rate_limit_rpm": limit}),
    )  # fmt: skip


async def test_one_request_reads_the_receipts_of_all_listed_runs_that_have_ended(tmp_path: Path) -> None:
    async with watching(service(), tmp_path) as watch:
        await watch.let_pass(5)
        assert watch.service.requests("GET", LIST) == []
        watch.session.live.start_list(Run)
        await watch.let_pass(30)
        assert watch.session.store.collection("work", Receipt.KIND).by_id.keys() == set(ENDED)
        assert len(watch.service.requests("GET", LIST)) == 1


async def test_a_receipt_that_is_not_there_is_looked_for_a_few_times_and_again_when_the_user_asks(
    tmp_path: Path,
) -> None:
    async with watching(service(receipts=False), tmp_path) as watch:
        watch.session.live.start_list(Run)
        await watch.let_pass(120)
        assert len(watch.service.requests("GET", LIST)) == MAX_SEARCHES
        watch.session.live.refresh(Run)
        await watch.let_pass(5)
        assert len(watch.service.requests("GET", LIST)) == MAX_SEARCHES + 1


async def test_without_a_list_each_receipt_is_read_once_within_the_limit(tmp_path: Path) -> None:
    script = service(limit=30)
    script.say("GET", LIST, Said(404, problem("not_found")))
    async with watching(script, tmp_path) as watch:
        watch.session.live.start_list(Run)
        await watch.let_pass(240)
        assert script.refused == 0
        assert watch.session.store.collection("work", Receipt.KIND).by_id.keys() == set(ENDED)
        assert all(len(script.requests("GET", f"{LIST}/{run_id}")) == 1 for run_id in ENDED)


@pytest.mark.parametrize("is_stopped", [True, False])
async def test_receipts_are_read_only_while_runs_are_listed(tmp_path: Path, is_stopped: bool) -> None:
    async with watching(service(), tmp_path) as watch:
        watch.session.live.start_list(Run)
        await watch.let_pass(5)
        if is_stopped:
            watch.session.live.stop_list(Run)
        watch.service.runs[0]["status"] = "completed"
        watch.service.receipts.append(dict(echo_receipt("ex_live").raw))
        await watch.let_pass(10)
        known = watch.session.store.collection("work", Receipt.KIND).by_id
        assert ("ex_live" in known) is not is_stopped
