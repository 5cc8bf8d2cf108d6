"""Every failure is a closed Problem, from the framework and from below it, and can be looked up."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from runwatch.base.json import dumps
from runwatch.records.problem import PROBLEM_TYPE
from runwatch.service.errors import RefusalError
from runwatch.service.http.endpoints import Endpoint, Router
from runwatch.service.http.problem_responder import problem_json
from runwatch.service.http.rate_limits import BODY_BYTES
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from tests.service.conftest import Json, Local, echo_body
from tests.support.problems import check, fields

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"Content-Type": "application/json"}
KEYED = {**JSON, "Idempotency-Key": "k"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "content", "code", "named"),
    [
        ("GET", "/", {}, b"", "not_found", []),
        ("GET", "/v1", {}, b"", "not_found", []),
        ("GET", "/executions", {}, b"", "not_found", []),
        ("GET", "/v1/executions/", {}, b"", "not_found", []),
        ("GET", "/v1/account%0A", {}, b"", "not_found", []),
        ("GET", "/v1/nothing", {}, b"", "not_found", []),
        ("GET", "/v1/executions/ex_unknown", {}, b"", "not_found", []),
        ("GET", "/v1/executions/%ED%A0%80%00%FF", {}, b"", "not_found", []),
        ("DELETE", "/v1/executions", {}, b"", "method_not_allowed", []),
        ("GET", "/v1/executions?limit=%C2%B2", {}, b"", "validation_failed", ["limit"]),
        ("GET", "/v1/executions?cursor=%FF", {}, b"", "validation_failed", ["cursor"]),
        ("GET", "/v1/executions?since=0001-01-01T00:00:00%2B14:00", {}, b"", "validation_failed", ["since"]),
        ("GET", "/v1/receipts?status=running", {}, b"", "validation_failed", ["status"]),
        ("POST", "/v1/executions", KEYED, b"", "validation_failed", ["body"]),
        ("POST", "/v1/executions", KEYED, b"{", "validation_failed", ["body"]),
        ("POST", "/v1/executions", KEYED, b"[" * 400 + b"]" * 400, "validation_failed", ["body"]),
        ("POST", "/v1/executions", KEYED, b'{"mode": "echo", "mode": "live"}', "validation_failed", ["body"]),
        ("POST", "/v1/executions", KEYED, b'{"a": [{"b": 1, "\\u0062": 1}]}', "validation_failed", ["body"]),
        ("POST", "/v1/executions", KEYED, b"{}", "validation_failed", ["task", "policy"]),
        ("POST", "/v1/executions", {"Idempotency-Key": "k"}, b"{}", "unsupported_media_type", []),
        ("POST", "/v1/executions", {**KEYED, "Content-Encoding": "gzip"}, gzip.compress(b"{}", mtime=0),
         "unsupported_media_type", []),
        ("POST", "/v1/executions/ex_1/cancel", JSON, b"{", "validation_failed", ["body"]),
        ("POST", "/v1/executions", KEYED, b" " * (BODY_BYTES + 1), "request_too_large", []),
    ],
)  # fmt: skip
async def test_a_request_that_is_wrong_is_answered_with_its_problem_and_kept(
    shared: Local, method: str, path: str, headers: dict[str, str], content: bytes, code: str, named: list[str]
) -> None:
    answer = await shared.http.request(method, path, headers=headers, content=content)
    problem = check(answer, code)
    assert fields(problem) == named
    kept = await shared.stored_problem(problem.instance or "")
    assert kept is not None
    assert (kept["code"], kept["body"], kept["method"]) == (code, answer.text, method)
    assert kept["principal_id"] == (await shared.get("/v1/account"))["authenticated_principal_id"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"mode": "fast"}, ["mode"]),
        ({"task": {}}, ["task.objective"]),
        ({"task": {"objective": "x" * 4001}}, ["task.objective"]),
        ({"task": {"objective": "\ud800"}}, ["task.objective"]),
        ({"policy": {"data_classes": [], "budget": {}}},
         ["policy.data_classes", "policy.budget.max_cost_usd", "policy.budget.max_runtime_s"]),
        ({"policy": {"data_classes": ["public"], "budget": {"max_cost_usd": 0, "max_runtime_s": "60"}}},
         ["policy.budget.max_cost_usd", "policy.budget.max_runtime_s"]),
        ({"routing": {"required_arm_id": "arm_1", "spare": 1}}, ["routing.spare"]),
    ],
)  # fmt: skip
async def test_a_submit_that_breaks_rules_names_each_field_once(shared: Local, change: Json, named: list[str]) -> None:
    before = (await shared.get("/v1/account"))["quota"]["executions"]["used"]
    content = dumps(echo_body(**change)).encode()
    answer = await shared.http.post("/v1/executions", content=content, headers=KEYED)
    problem = check(answer, "validation_failed")
    assert fields(problem) == named
    assert (await shared.get("/v1/account"))["quota"]["executions"]["used"] == before


async def test_a_test_run_with_an_output_check_is_refused(shared: Local) -> None:
    answer = await shared.http.post("/v1/executions", json=echo_body(verifier_id="vrf_1"), headers=KEYED)
    check(answer, "echo_mode_mismatch")


async def test_a_compressed_body_is_refused_with_the_encoding_that_is_taken(shared: Local) -> None:
    headers = {**KEYED, "Content-Encoding": "gzip"}
    answer = await shared.http.post("/v1/executions", content=gzip.compress(b"{}", mtime=0), headers=headers)
    assert answer.headers["accept-encoding"] == "identity"


async def test_a_wrong_method_says_which_are_offered(shared: Local) -> None:
    assert (await shared.http.put("/v1/executions")).headers["allow"] == "GET, HEAD, POST"
    assert (await shared.http.put("/v1/account")).headers["allow"] == "GET, HEAD"


async def test_head_is_answered_wherever_get_is(shared: Local) -> None:
    run = await shared.finished((await shared.submit())["execution_id"])
    for path in ("/v1/account", "/v1/executions", f"/v1/executions/{run['execution_id']}", "/v1/receipts"):
        got = await shared.http.get(path)
        head = await shared.http.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == got.headers["content-length"]
    missing = await shared.http.head("/v1/receipts/ex_unknown")
    assert (missing.status_code, missing.headers["content-type"]) == (404, PROBLEM_TYPE)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1:x", "[::1", ""]
)
async def test_a_host_of_elsewhere_is_refused(shared: Local, host: str) -> None:
    answer = await shared.http.get("/v1/account", headers={"Host": host})
    assert fields(check(answer, "validation_failed")) == ["Host"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.8.8.8:99", "[::1]:5"])
async def test_a_host_of_this_machine_is_taken(shared: Local, host: str) -> None:
    assert (await shared.http.get("/v1/account", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
async def test_a_page_of_another_origin_is_refused(shared: Local, origin: str) -> None:
    check(await shared.http.get("/v1/account", headers={"Origin": origin}), "permission_denied")


async def test_a_page_of_the_service_itself_is_taken(shared: Local) -> None:
    origin = "http://{}:{}".format(*shared.address)
    assert (await shared.http.get("/v1/account", headers={"Origin": origin})).status_code == 200


async def _broken(call: ServiceCall) -> ServiceResponse:
    raise RuntimeError(f"the secret part: {call.principal.key_id}")


async def test_what_nobody_foresaw_is_an_internal_problem_that_tells_nothing(
    shared: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = Router.find

    def found(self: Router, method: str, path: str) -> Any:
        endpoint, ids = find(self, method, path)
        return Endpoint(endpoint.method, endpoint.path, _broken), ids

    monkeypatch.setattr(Router, "find", found)
    answer = await shared.http.get("/v1/account")
    problem = check(answer, "internal")
    assert "detail" not in answer.json()
    assert "secret part" not in answer.text
    kept = await shared.stored_problem(problem.instance or "")
    assert kept is not None
    assert kept["cause"].startswith("RuntimeError: the secret part")


async def test_a_problem_that_cannot_be_stored_is_still_sent(shared: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(shared.context.problems._database, "write", full, raising=False)
    check(await shared.http.get("/v1/nothing"), "not_found")


async def test_a_problem_has_the_members_of_the_specification_and_no_other() -> None:
    refusal = RefusalError("quota_exceeded", "Used up.", retry_after_s=7, cause="internal")
    assert list(problem_json(refusal)) == ["type", "title", "status", "instance", "detail", "retry_after_s"]
    assert list(problem_json(RefusalError("internal"))) == ["type", "title", "status", "instance"]
