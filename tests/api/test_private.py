"""Private pages: a secret goes to the service's own page and to no log, journal or error."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.api.client import Client
from runwatch.api.errors import ApiError, ApiProblem, InvalidRequestError, NoResponseError, ReadOnlyError
from runwatch.api.operations import OPERATIONS
from runwatch.api.secrets import is_own_page, redact_response_secrets
from runwatch.base.json import loads
from runwatch.base.log import redact
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.api.conftest import RawServer, json_answer, then_reset
from tests.support.builders import problem
from tests.support.http1 import answer_bytes

Connect = Callable[..., Client]
TOKEN: Final = "token-canary-ee11ff22aa33"
ADDRESS: Final = "https://x.test/connect/v?intent=canary-a1-long-enough"
ENTERED: Final = Secret("sk-canary-001122ddee")


def page(server: RawServer) -> Secret:
    return Secret(f"{server.base_url}/connect/verifier?intent={TOKEN}")


async def test_a_secret_is_entered_once_with_the_key_and_told_to_nobody(server: RawServer, connect: Connect) -> None:
    told: list[RequestAttempt] = []
    client = connect(observe=told.append)
    server.script(json_answer({"handle": "h"}))
    assert await client.enter_secret(page(server), ENTERED) == {"handle": "h"}
    (heard,) = server.heard
    assert loads(heard.body) == {"secret": ENTERED.reveal()}
    assert heard.head.start[1] == f"/connect/verifier?intent={TOKEN}"
    assert (heard.head.header("authorization") or "").startswith("Bearer ")
    assert heard.head.header("idempotency-key") is None
    assert [(it.operation, it.path, it.query, it.status) for it in told] == [("postPrivateEntry", "/", "", 200)]
    assert TOKEN not in redact(f"log {TOKEN} {ENTERED.reveal()}")
    assert ENTERED.reveal() not in redact(ENTERED.reveal())


@pytest.mark.parametrize(
    "step",
    [then_reset(), answer_bytes(503, problem("internal").json().encode(), content_type="application/problem+json")],
)  # fmt: skip
async def test_it_is_never_sent_a_second_time(server: RawServer, connect: Connect, step: Any) -> None:
    server.script(step)
    with pytest.raises(ApiError) as caught:
        await connect().enter_secret(page(server), ENTERED)
    assert isinstance(caught.value, (NoResponseError, ApiProblem))
    assert len(server.heard) == 1
    assert not caught.value.outcome_known
    assert not any(word in f"{caught.value} {vars(caught.value)}" for word in (TOKEN, ENTERED.reveal()))


@pytest.mark.parametrize(
    "address",
    [
        "https://elsewhere.test/connect/verifier?intent=x", "http://127.0.0.1:1/connect/verifier?intent=x",
        "{base}/v1/verifiers", "{base}/connect/verifier#fragment", "{base}/connect/é?intent=x", "http://[/connect/", "",
    ],
)  # fmt: skip
async def test_a_page_of_anybody_else_gets_nothing(server: RawServer, connect: Connect, address: str) -> None:
    server.script(json_answer({}))
    with pytest.raises(InvalidRequestError):
        await connect().enter_secret(Secret(address.replace("{base}", server.base_url)), ENTERED)
    assert server.heard == []


async def test_a_read_only_client_enters_nothing(server: RawServer, connect: Connect) -> None:
    server.script(json_answer({}))
    with pytest.raises(ReadOnlyError):
        await connect(read_only=True).enter_secret(page(server), ENTERED)
    assert server.heard == []


def test_an_address_is_the_service_s_own_with_port_and_scheme() -> None:
    target = Target("prod", "https://api.test", None)
    assert is_own_page(target, "https://api.test:443/connect/source?intent=x")
    assert not is_own_page(target, "https://api.test:444/connect/source?intent=x")
    assert not is_own_page(target, "https://user@api.test/connect/source?intent=x")


def test_the_page_of_a_service_behind_a_socket_may_have_moved_to_another_port() -> None:
    local = Target("local", "http://127.0.0.1:8000", None, socket=Path("/run/service.sock"))
    assert is_own_page(local, "http://127.0.0.1:9000/connect/source?intent=x")
    assert not is_own_page(local, "http://127.0.0.1:9000/v1/verifiers")
    assert not is_own_page(local, "https://api.test/connect/source?intent=x")
    assert not is_own_page(local._replace(socket=None), "http://127.0.0.1:9000/connect/source?intent=x")


@pytest.mark.parametrize(
    ("operation", "value"),
    [
        ("postApiKeys", {"key": "solverapi_live_canary-a1"}),
        ("postWebhooks", {"secret": "whsec_canary-a1"}),
        ("postTenants", {"api_key": {"key": "solverapi_live_canary-a1"}}),
        ("postVerifiersByVerifierIdConnectionIntents", {"continue_url": ADDRESS}),
        ("postTenantTemplateApplications", {"consent": {"continue_url": ADDRESS}}),
    ],
)
async def test_what_is_shown_once_is_redacted_from_every_log_from_then_on(
    server: RawServer, client: Client, caplog: pytest.LogCaptureFixture, operation: str, value: dict[str, Any]
) -> None:
    server.script(json_answer(value))
    path = {"verifier_id": "v"} if "{" in OPERATIONS[operation].path else {}
    with caplog.at_level(logging.DEBUG, "runwatch"):
        answer = await client.request(operation, body=b"{}", key="k", path=path)
    assert answer.value == value
    assert "canary-a1" not in redact(str(value))
    assert "canary-a1" not in caplog.text


@pytest.mark.parametrize("value", [None, [], {}, {"key": 3}, {"key": None}, "text"])
def test_an_answer_without_its_secret_is_no_trouble(value: object) -> None:
    redact_response_secrets(OPERATIONS["postApiKeys"], value)
    redact_response_secrets(OPERATIONS["postTenants"], value)
