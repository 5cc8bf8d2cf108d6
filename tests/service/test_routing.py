"""Which saved models may work on a run, and which comes first."""

from __future__ import annotations

from typing import Any

import pytest

from runwatch.service.execution.routing import candidates, count_verdict, score
from runwatch.service.tables import arm_verdicts_table, arms_table, connections_table, deployments_table
from runwatch.service.transaction import Transaction
from tests.service.live_work import (
    ACCEPTED,
    REJECTED,
    LiveWork,
    add_model,
    add_verifier,
    live_body,
    only_slice,
    scripted,
    work,
)

__all__ = ["scripted", "work"]


async def ranked(work: LiveWork, **named: Any) -> list[str]:
    """Upstream names of the options of a run over public data, best first."""
    tenant_id = await work.tenant()

    def read(transaction: Transaction) -> list[str]:
        options = candidates(transaction, tenant_id, **{"data_classes": ["public"], **named})
        return [option.selected["model_key"].removeprefix("northwind/") for option in options]

    return await work.service.context.database.read(read)


@pytest.mark.parametrize(
    ("cost_coefficient", "expected"),
    [
        (0.0, ["premium", "standard", "unknown", "economy"]),
        (None, ["economy", "standard", "unknown", "premium"]),
        (1.0, ["economy", "standard", "unknown", "premium"]),
    ],
)
async def test_the_cost_coefficient_weighs_cost_against_quality(
    work: LiveWork, cost_coefficient: float | None, expected: list[str]
) -> None:
    for cost_class in ("premium", "economy", "standard"):
        await work.having(add_model, cost_class, cost_class=cost_class)
    await work.having(add_model, "unknown", cost_class=None)
    assert await ranked(work, cost_coefficient=cost_coefficient) == expected


async def test_what_checks_said_moves_an_option(work: LiveWork) -> None:
    first, second = await work.having(add_model, "ember"), await work.having(add_model, "atlas")
    assert await ranked(work) == ["ember", "atlas"]
    tenant_id = await work.tenant()

    def judge(transaction: Transaction) -> None:
        count_verdict(transaction, tenant_id, first, accepts=False)
        count_verdict(transaction, tenant_id, second, accepts=True)
        count_verdict(transaction, tenant_id, second, accepts=True)

    await work.service.context.database.write(judge)
    assert await ranked(work) == ["atlas", "ember"]
    assert await ranked(work, cost_coefficient=1) == ["ember", "atlas"]


async def test_verdicts_of_customers_checks_are_counted_and_no_others(work: LiveWork) -> None:
    arm_id = await work.having(add_model, "ember")
    verifier_id = await work.having(add_verifier)
    work.judge.script(ACCEPTED, REJECTED)
    for _ in range(2):
        await work.done(live_body(verifier_id=verifier_id))
    await work.done(live_body())
    (row,) = await work.rows(arm_verdicts_table)
    assert (row["arm_id"], row["verdicts"], row["accepted"]) == (arm_id, 2, 1)


@pytest.mark.parametrize(
    ("table", "values"),
    [
        (arms_table, {"status": "degraded"}),
        (arms_table, {"status": "disabled"}),
        (arms_table, {"kind": "agent"}),
        (arms_table, {"data_class_grants": ["sandbox"]}),
        (arms_table, {"model_deployment_id": None}),
        (deployments_table, {"status": "disabled"}),
        (deployments_table, {"data_classes": []}),
        (connections_table, {"status": "disabled"}),
        (connections_table, {"test_state": "failed"}),
        (connections_table, {"binding_revision": 2}),
        (connections_table, {"revoked_at": "2026-11-21T00:00:00.000Z"}),
    ],
)
async def test_an_option_that_may_not_or_cannot_run_is_none(work: LiveWork, table: Any, values: dict[str, Any]) -> None:
    await work.having(add_model, "ember")
    assert await ranked(work) == ["ember"]
    await work.change(table, {}, **values)
    assert await ranked(work) == []


async def test_an_option_is_granted_every_data_class_of_the_run(work: LiveWork) -> None:
    await work.having(add_model, "narrow")
    await work.having(add_model, "wide", grants=("public", "tenant_internal"))
    assert await ranked(work, data_classes=["public", "tenant_internal"]) == ["wide"]


async def test_a_required_arm_is_the_only_option(work: LiveWork) -> None:
    await work.having(add_model, "ember")
    arm_id = await work.having(add_model, "atlas")
    assert await ranked(work, required_arm_id=arm_id) == ["atlas"]
    assert await ranked(work, required_arm_id="arm_none") == []


async def test_the_ranking_is_on_the_receipt(work: LiveWork) -> None:
    for cost_class in ("premium", "economy"):
        await work.having(add_model, cost_class, cost_class=cost_class)
    ranking = only_slice(await work.receipt(await work.done(live_body())))["route"]["ranking"]
    assert [(entry["rank"], entry["score"], entry["outcome"]) for entry in ranking] == [
        (1, 0.7, "selected"), (2, 0.3, "not_tried"),
    ]  # fmt: skip


def test_scores_stay_within_zero_and_one() -> None:
    assert score("economy", 1000, 1000, 1.0) == 1
    assert score("premium", 1000, 0, 1.0) == 0
    assert 0 < score("premium", 1000, 0, 0.0) < 0.01
    assert score("unheard of", 0, 0, 0.5) == score("standard", 0, 0, 0.5) == score(None, 0, 0, 0.5) == 0.5
