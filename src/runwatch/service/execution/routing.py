"""Rank the saved models that may work on a run, best first (manual: interface, "What the service does"; manual:
interface, "Runs").

Eligible is a model arm that is ready, is granted every data class of the run, and whose deployment is listed on a
usable connection. The ranking formula is this service's choice (the specification shows only a score): with the
request's ``cost_coefficient`` *c*, 0 for quality and 1 for cost, the score is ``(1 - c) x quality + c x cheapness``.
Cheapness is 1, 0.5 or 0 for the cost classes economy, standard and premium; an arm without a class counts as standard.
Quality is the share of the organization's own output checks that accepted the arm's output. Two prior verdicts with
0.4, 0.5 or 0.6 for the classes are added, so that an arm without any verdict has a score too. Equal scores are ordered
by age, older arm first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from runwatch.service.execution.live.state import RankedArm, Skill
from runwatch.service.models.availability import READY, find_status, is_named_by
from runwatch.service.models.catalog import lane_json, provenance, provider_name
from runwatch.service.tables import arm_verdicts_table, arms_table, connections_table, deployments_table
from runwatch.service.transaction import Row, Transaction

COST_COEFFICIENT: Final = 0.5
"""Weight of cost when a request names none."""

CHEAPNESS: Final[Mapping[str, float]] = {"economy": 1.0, "standard": 0.5, "premium": 0.0}
PRIOR_QUALITY: Final[Mapping[str, float]] = {"economy": 0.4, "standard": 0.5, "premium": 0.6}
PRIOR_VERDICTS: Final = 2
DEFAULT_CLASS: Final = "standard"

_DIGITS: Final = 4


def candidates(
    transaction: Transaction,
    tenant_id: str,
    *,
    data_classes: Collection[str],
    required_arm_id: str | None = None,
    cost_coefficient: float | None = None,
) -> list[RankedArm]:
    """Return the options of a run, best first.

    Args:
        required_arm_id: The only arm that may run; the list then holds it or is empty.
        cost_coefficient: Weight of cost against quality, 0 to 1.
    """
    where: dict[str, object] = {"tenant_id": tenant_id, "kind": "model", "status": "ready"}
    if required_arm_id is not None:
        where["arm_id"] = required_arm_id
    weight = COST_COEFFICIENT if cost_coefficient is None else cost_coefficient
    judged = {
        row["arm_id"]: (row["verdicts"], row["accepted"])
        for row in transaction.list_all(arm_verdicts_table, {"tenant_id": tenant_id})
    }
    options = []
    covering = _covering(transaction.oldest(arms_table, where), data_classes)
    # A few queries for all arms instead of two per arm.
    ids = tuple({arm["model_deployment_id"] for arm in covering} - {None})
    rows = transaction.list_all(deployments_table, {"model_deployment_id": ids})
    served = {row["model_deployment_id"]: row for row in rows}
    rows = transaction.list_all(connections_table, {"connection_id": tuple({row["connection_id"] for row in rows})})
    reached = {row["connection_id"]: row for row in rows}
    for arm in covering:
        deployment = served.get(arm["model_deployment_id"])
        route = None if deployment is None else _route(arm, deployment, reached[deployment["connection_id"]])
        if route is not None:
            ranked_by = score(arm["cost_class"], *judged.get(arm["arm_id"], (0, 0)), weight)
            options.append(_option(arm, *route, ranked_by))
    return sorted(options, key=lambda option: -option.score)


def build_route(transaction: Transaction, arm: Row) -> tuple[Row, Row] | None:
    """Return deployment and connection of a model arm, or ``None`` when it cannot be called now."""
    if arm["status"] != "ready" or arm["model_deployment_id"] is None:
        return None
    deployment = transaction.get(deployments_table, {"model_deployment_id": arm["model_deployment_id"]})
    connection = transaction.get(connections_table, {"connection_id": deployment["connection_id"]})
    return _route(arm, deployment, connection)


def _route(arm: Row, deployment: Row, connection: Row) -> tuple[Row, Row] | None:
    if not is_named_by(arm["credential_ref"], connection):
        return None
    return (deployment, connection) if find_status(arm["data_class_grants"], deployment, connection) == READY else None


def score(cost_class: str | None, verdicts: int, accepted: int, cost_coefficient: float) -> float:
    """Score an option from 0 to 1; higher is better."""
    known = cost_class if cost_class is not None and cost_class in CHEAPNESS else DEFAULT_CLASS
    quality = (accepted + PRIOR_VERDICTS * PRIOR_QUALITY[known]) / (verdicts + PRIOR_VERDICTS)
    return round((1 - cost_coefficient) * quality + cost_coefficient * CHEAPNESS[known], _DIGITS)


def count_verdict(transaction: Transaction, tenant_id: str, arm_id: str, *, accepts: bool) -> None:
    """Count the verdict of an organization's own check on an arm's output."""
    known = transaction.one(arm_verdicts_table, {"arm_id": arm_id})
    if known is None:
        transaction.add(arm_verdicts_table, arm_id=arm_id, tenant_id=tenant_id, verdicts=1, accepted=int(accepts))
        return
    transaction.change(
        arm_verdicts_table, {"arm_id": arm_id}, verdicts=known["verdicts"] + 1, accepted=known["accepted"] + accepts
    )


def has_grants(transaction: Transaction, tenant_id: str) -> set[str]:
    """Return every data class granted to some registered arm of an organization, except disabled arms."""
    rows = transaction.list_all(arms_table, {"tenant_id": tenant_id, "status": ("ready", "degraded")})
    return {data_class for row in rows for data_class in row["data_class_grants"]}


def find_skill(transaction: Transaction, tenant_id: str, data_classes: Collection[str]) -> Skill | None:
    """Return the oldest ready skill arm that is granted every data class, for ``repair_retry``."""
    where = {"tenant_id": tenant_id, "kind": "skill", "status": "ready"}
    for arm in _covering(transaction.oldest(arms_table, where), data_classes):
        return Skill(
            arm_id=arm["arm_id"],
            artifact_hash=arm["artifact_hash"],
            content=arm["artifact"]["content"],
            editable_regions=list(arm["artifact"]["editable_regions"]),
        )
    return None


def _covering(rows: Sequence[Row], data_classes: Collection[str]) -> list[Row]:
    return [row for row in rows if set(data_classes) <= set(row["data_class_grants"])]


def _option(arm: Row, deployment: Row, connection: Row, ranked_by: float) -> RankedArm:
    known = provenance(connection, deployment)
    lane = lane_json(connection)
    del lane["commercial_owner"]
    return RankedArm(
        arm_id=arm["arm_id"],
        score=ranked_by,
        selected={
            "arm_id": arm["arm_id"],
            "provider": provider_name(connection),
            "model_key": deployment["model_key"],
            "model_deployment_id": deployment["model_deployment_id"],
            **lane,
        },
        provenance=known,
        connection_id=connection["connection_id"],
    )
