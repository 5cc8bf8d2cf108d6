"""A secret in a reference is refused, and nothing of it is kept (manual: security, "Misplaced secrets")."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from runwatch.service.routes import ENDPOINTS
from tests.service.conftest import Json, Local, Serving, echo_body
from tests.support.postgres import on_file
from tests.support.problems import check, fields

CANARY = "sk-ant-api03-canary-5f1e7c2b9d40"
KEYED = {"Idempotency-Key": "one"}


def endpoint(**more: str) -> Json:
    return {"url": "https://nowhere.invalid/x", **more}


def bodies() -> list[tuple[str, str, Json]]:
    """A write for each reference of the interface, with the field that is refused."""
    arm = {"display_name": "A", "capability_tags": [], "data_class_grants": ["public"]}
    check = {
        "display_name": "C", "version": "1", "kind": "endpoint", "input_data_classes": ["public"],
        "scoring": {"correctness": "boolean_anchors", "quality": "scalar_0_1"},
    }  # fmt: skip
    model = {"kind": "model", "provider": "p", "model_id": "m"}
    url = f"https://files.example/x?token={CANARY}"
    return [
        ("/v1/arms", "credential_ref", {**arm, **model, "credential_ref": CANARY}),
        ("/v1/arms", "endpoint.auth_ref", {**arm, "kind": "agent", "endpoint": endpoint(auth_ref=f"Bearer {CANARY}")}),
        ("/v1/verifiers", "endpoint.auth_ref", {**check, "endpoint": endpoint(auth_ref=CANARY)}),
        (
            "/v1/review-composer/agents", "endpoint.auth_ref",
            {"repository": "a/b", "display_name": "A", "endpoint": endpoint(auth_ref=CANARY), "max_runtime_s": 60},
        ),
        ("/v1/credentials", "vault_ref", {"display_name": "C", "vault_ref": CANARY}),
        (
            "/v1/executions", "task.inputs_ref.url",
            echo_body(task={"objective": "Say hello.", "inputs_ref": {"kind": "url", "url": url}}),
        ),
        ("/v1/executions", "review_composer.base_ref", echo_body(review_composer={"base_ref": CANARY})),
        ("/v1/executions", "routing.required_arm_id", echo_body(routing={"required_arm_id": CANARY})),
        ("/v1/credentials", "display_name", {"display_name": f"Lab {CANARY}"}),
    ]  # fmt: skip


@on_file
async def test_a_refused_secret_is_nowhere_in_the_data_directory(
    serving: Serving, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving() as local:
        for place, field, body in bodies():
            answer = await local.http.post(place, json=body, headers=KEYED)
            problem = check(answer, "validation_failed")
            assert fields(problem) == [field]
            assert CANARY not in answer.text
            stored = await local.stored_problem(problem.instance or "")
            assert stored is not None
            assert CANARY not in str(dict(stored))
        patched = await local.http.patch("/v1/verifiers/vrf_unknown", json={"endpoint": endpoint(auth_ref=CANARY)})
        assert fields(check(patched, "validation_failed")) == ["endpoint.auth_ref"]
        keyed = await local.http.post("/v1/executions", json=echo_body(), headers={"Idempotency-Key": CANARY})
        assert fields(check(keyed, "validation_failed")) == ["Idempotency-Key"]
        check(await local.http.get(f"/v1/executions/{CANARY}/events"), "not_found")
        check(await local.http.get(f"/v1/executions/https:%2F%2Fbob:{CANARY}@a.test"), "not_found")
        assert (await local.http.get(f"/v1/executions?{CANARY}")).status_code == 200
        check(await local.http.request(CANARY, "/v1/account"), "method_not_allowed")
        kept = [file for file in data_dir.rglob("*") if file.is_file()]
        assert any(file.name.endswith("-wal") for file in kept), "the newest part of the database is looked at"
        assert not [file for file in kept if CANARY.encode() in file.read_bytes()]
    assert not [file for file in data_dir.rglob("*") if file.is_file() and CANARY.encode() in file.read_bytes()]
    # The client of this test logs the addresses that it calls, too.
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("runwatch")]
    assert any("/v1/executions/[removed]/events" in line for line in logged)
    assert CANARY not in str(logged)


async def test_every_write_refuses_it_before_anything_else_is_looked_at(local: Local) -> None:
    writes = [one for one in ENDPOINTS if one.mutates and not one.is_page]
    assert len(writes) > 30
    for one in writes:
        path = one.path.replace("{", "").replace("}", "")
        answer = await local.http.request(one.method, path, json={"some_ref": CANARY}, headers=KEYED)
        assert fields(check(answer, "validation_failed")) == ["some_ref"], path


async def test_a_plain_reference_is_no_secret(serving: Serving) -> None:
    async with serving() as local:
        for reference in ("cred_v_0123456789abcdef0123456789abcdef", f"cred_{'0a' * 16}", "vault://team/openai-prod"):
            _, _, body = bodies()[2]
            body |= {"endpoint": endpoint(), "other_ref": reference}
            answer = await local.http.post("/v1/verifiers", json=body)
            assert answer.status_code == 200, answer.text
