"""The real service answers hostile requests with closed Problems or in full, and never fails by them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from runwatch.base.json import dumps
from runwatch.records.problem import PROBLEM_TYPE, Problem
from tests.support.builders import request_body
from tests.support.hostile import CORPUS
from tests.support.problems import is_closed
from tests.support.service import ServiceProcess

ENTRIES = [(entry.name, entry.text) for entry in CORPUS]
SHORT = [(name, text) for name, text in ENTRIES if len(text) <= 2000]
# What no client can put into a header is left out: it would end the header.
HEADERS = [(name, text) for name, text in SHORT if not set(text) & set("\r\n\0")]


@dataclass
class Caller:
    """Asks over one connection, without a client that would refuse or repair anything."""

    service: ServiceProcess
    connection: http.client.HTTPConnection

    def ask(
        self, method: str, target: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send one request and check that the answer has the form that every answer has."""
        fixed = {"Authorization": f"Bearer {self.service.api_key}", "Content-Type": "application/json"}
        self.connection.request(method, target, body, fixed | (headers or {}))
        answer = self.connection.getresponse()
        content = json.loads(answer.read())
        if answer.status >= 400:
            assert answer.headers["Content-Type"].partition(";")[0] == PROBLEM_TYPE
            problem = Problem(content)
            assert is_closed(problem)
            assert problem.status == answer.status < 500, problem.code
        return answer.status, content


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with ServiceProcess(tmp_path_factory.mktemp("service")) as service:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        yield Caller(service, connection)
        connection.close()


def encoded(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@pytest.mark.parametrize(("name", "text"), SHORT, ids=[name for name, _ in SHORT])
def test_a_hostile_id_is_not_found_and_hostile_parameters_fail_nothing(caller: Caller, name: str, text: str) -> None:
    del name
    if text:
        for path in ("/v1/executions/{}", "/v1/executions/{}/events", "/v1/executions/{}/result", "/v1/receipts/{}"):
            assert caller.ask("GET", path.format(encoded(text)))[0] == 404
        assert caller.ask("POST", f"/v1/executions/{encoded(text)}/cancel")[0] == 404
    for query in ("cursor", "status", "since", "limit"):
        assert caller.ask("GET", f"/v1/executions?{query}={encoded(text)}")[0] in {200, 400}
    assert caller.ask("GET", f"/v1/receipts?arm_id={encoded(text)}")[0] in {200, 400}


@pytest.mark.parametrize(("name", "text"), ENTRIES, ids=[name for name, _ in ENTRIES])
def test_a_hostile_body_is_accepted_or_refused_and_its_repeat_is_the_same_run(
    caller: Caller, name: str, text: str
) -> None:
    body = request_body(
        task={"objective": text[:4000] or "x", "inputs_ref": {"kind": "inline_json", "json": {text: text}}},
        policy={"data_classes": [text or "public"], "budget": {"max_cost_usd": 1, "max_runtime_s": 60}},
    )
    wire = dumps(body | {f"x_{text}": text}).encode()
    headers = {"Idempotency-Key": encoded(name)}
    status, answer = caller.ask("POST", "/v1/executions", wire, headers)
    assert status < 300 or status in {400, 403}
    if status < 300:
        again = caller.ask("POST", "/v1/executions", wire, headers)
        assert again == (status, answer)
        events = caller.ask("GET", f"/v1/executions/{answer['execution_id']}/events?after={encoded(text)}")[1]["events"]
        assert events[0]["state"] == "accepted"
        assert caller.ask("GET", f"/v1/executions/{answer['execution_id']}")[1]["policy"] == body["policy"]


@pytest.mark.parametrize(("name", "text"), HEADERS, ids=[name for name, _ in HEADERS])
def test_a_hostile_key_or_token_is_taken_or_refused(caller: Caller, name: str, text: str) -> None:
    del name
    value = text.encode("utf-8", "surrogatepass").decode("latin-1")
    wire = json.dumps(request_body()).encode()
    assert caller.ask("POST", "/v1/executions", wire, {"Idempotency-Key": value})[0] in {200, 201, 202, 400, 409}
    # With this many bad keys in a minute, the last ones meet the limit.
    assert caller.ask("GET", "/v1/account", None, {"Authorization": f"Bearer {value}"})[0] in {400, 401, 429}
