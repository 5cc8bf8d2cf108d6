"""Answered problems are found again with their cause, by the owner of the data directory alone."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from runwatch.base.clock import format_iso
from runwatch.service.errors import RefusalError
from tests.service.conftest import Json, Local
from tests.support.problems import check

PATH = "/v1/problem-lookups"


async def answered(local: Local, cause: str | None, **more: Any) -> str:
    """Have the service answer a problem, and give its instance."""
    refusal = RefusalError("upstream_unavailable", cause=cause)
    answer = await local.context.problems.respond(refusal, method="GET", path="/v1/x", **more)
    return str(httpx.Response(answer.status, content=answer.body).json()["instance"])


async def test_an_instance_is_found_with_what_the_problem_does_not_say(local: Local) -> None:
    instance = await answered(local, "the provider's name was not found")
    await answered(local, "another")
    found = await local.get(PATH, instance=instance)
    [problem] = found["problems"]
    assert (problem["instance"], problem["cause"]) == (instance, "the provider's name was not found")
    assert problem["problem"]["instance"] == instance
    assert "cause" not in problem["problem"]
    assert found["kept"] == 2


async def test_several_instances_are_found_at_once_and_unknown_ones_are_not(local: Local) -> None:
    instances = [await answered(local, None) for _ in range(3)]
    found = await local.get(PATH, instance=",".join([*instances[:2], "nobody"]))
    assert [each["instance"] for each in found["problems"]] == instances[1::-1]
    assert (await local.get(PATH, instance="nobody"))["problems"] == []


async def test_a_stretch_of_time_holds_both_its_ends(local: Local) -> None:
    moments = []
    for _ in range(4):
        moments.append(format_iso(local.clock.now()))
        await answered(local, None)
        local.clock.advance(60)  # type: ignore[attr-defined]
    found = await local.get(PATH, since=moments[1], until=moments[2])
    assert [each["at"] for each in found["problems"]] == [moments[2], moments[1]]
    assert (found["oldest_at"], found["newest_at"]) == (moments[0], moments[3])
    assert "before" not in found


async def test_where_nothing_is_found_the_neighbours_are_reported(local: Local) -> None:
    before = await answered(local, "first")
    local.clock.advance(3600)  # type: ignore[attr-defined]
    middle = format_iso(local.clock.now())
    local.clock.advance(3600)  # type: ignore[attr-defined]
    after = await answered(local, "second")
    found = await local.get(PATH, since=middle, until=middle)
    assert found["problems"] == []
    assert (found["before"]["instance"], found["after"]["instance"]) == (before, after)


async def test_an_empty_store_says_so(local: Local) -> None:
    found = await local.get(PATH, since="2026-11-22T03:10Z", until="2026-11-22T03:20Z")
    assert found == {
        "problems": [], "kept": 0, "oldest_at": None, "newest_at": None, "before": None, "after": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "field"),
    [({"since": "soon"}, "since"), ({"until": "late"}, "until"), ({"instance": "a," * 60}, "instance")],
)
async def test_what_cannot_be_read_is_refused_by_its_field(local: Local, query: Json, field: str) -> None:
    problem = check(await local.http.get(PATH, params=query), "validation_failed")
    assert [error.field for error in problem.errors or ()] == [field]


@pytest.mark.parametrize("role", ["owner", "runner", "reader"])
async def test_no_other_key_sees_a_cause(local: Local, role: str) -> None:
    instance = await answered(local, "secret inner life")
    key, _ = await local.add_key(role=role)
    answer = await local.http.get(PATH, params={"instance": instance}, headers={"Authorization": f"Bearer {key}"})
    check(answer, "permission_denied")
    assert "inner life" not in answer.text


async def test_another_machine_is_refused_even_with_the_owner_s_key(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The peer is 127.0.0.1, which is made to look like another machine; the host that is named is this one.
    monkeypatch.setattr("runwatch.service.http.app.is_loopback_address", lambda _: False)
    headers = {"Host": "localhost"}
    assert (await local.http.get("/v1/account", headers=headers)).status_code == 200
    check(await local.http.get(PATH, headers=headers), "permission_denied")
