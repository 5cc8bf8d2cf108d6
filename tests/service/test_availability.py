"""Pure judgments: what can be used now, and why not."""

from __future__ import annotations

from typing import Any, cast

import pytest

from runwatch.service.models.availability import READY, find_status, is_usable, route_availability
from runwatch.service.transaction import Row

GRANTS = ["public"]


def row(**columns: Any) -> Row:
    return cast(Row, columns)


def connection(**over: Any) -> Row:
    usable = {
        "revoked_at": None, "status": "active", "test_state": "passed", "binding_revision": 2,
        "tested_binding_revision": 2, "updated_at": "t1", "connection_id": "conn_1",
        "endpoint": {"failed": {"broken": "the source failed"}, "removed": ["away"]},
    }  # fmt: skip
    return row(**{**usable, **over})


def deployment(lifecycle: str = "active", **over: Any) -> Row:
    listed = {"status": "listed", "data_classes": ["public"], "updated_at": "t2", "upstream_ref": "tiny"}
    return row(**{**listed, "definition": {"lifecycle": lifecycle, "lifecycle_since": "t0"}, **over})


UNUSABLE: tuple[dict[str, Any], ...] = (
    {"revoked_at": "t3"},
    {"status": "disabled"},
    {"test_state": "failed"},
    {"test_state": "untested"},
    {"tested_binding_revision": 1},
    {"tested_binding_revision": None},
)


def test_a_connection_that_was_tested_as_it_is_now_is_usable() -> None:
    assert is_usable(connection())


@pytest.mark.parametrize("over", UNUSABLE)
def test_every_other_connection_is_not_and_its_options_are_degraded(over: dict[str, Any]) -> None:
    assert not is_usable(connection(**over))
    status, reason = find_status(GRANTS, deployment(), connection(**over))
    assert status == "degraded"
    assert reason is not None
    assert over.get("revoked_at") or "runwatch sources test conn_1" in reason
    route = route_availability(GRANTS, deployment(), connection(**over))
    assert route is not None
    assert route["status"] == "suspended"
    assert route["since"] == ("t3" if over.get("revoked_at") else "t1")


def test_a_plainly_available_model_says_nothing_of_its_route() -> None:
    assert find_status(GRANTS, deployment(), connection()) == READY
    assert route_availability(GRANTS, deployment(), connection()) is None


@pytest.mark.parametrize(
    ("served", "grants", "status", "route"),
    [
        (deployment("preview"), ["public"], "ready", None),
        (deployment("deprecated"), ["public"], "ready", ("deprecated", "provider_deprecated", "t0")),
        (deployment("retired", status="disabled"), ["public"], "degraded", ("retired", "provider_deprecated", "t0")),
        (deployment(status="disabled"), ["public"], "degraded", ("retired", "absent_from_feed", "t2")),
        (deployment(), ["public", "sandbox"], "degraded", ("quarantined", "drift", "t2")),
        (deployment(), [], "ready", None),
        (
            deployment(status="disabled", upstream_ref="away"),
            ["public"],
            "degraded",
            ("suspended", "operator_suspended", "t2"),
        ),
        (deployment(upstream_ref="broken"), ["public"], "degraded", ("suspended", "not_ready", "t1")),
    ],
)
def test_the_route_says_why_and_since_when(
    served: Row, grants: list[str], status: str, route: tuple[str, str, str] | None
) -> None:
    assert find_status(grants, served, connection())[0] == status
    told = route_availability(grants, served, connection())
    if route is None:
        assert told is None
    else:
        assert told == {"status": route[0], "reason": route[1], "since": route[2], "until": None}
