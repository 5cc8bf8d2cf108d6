"""The key is sent to exactly one origin, despite redirects and the environment's proxies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from runwatch.api.client import Client
from runwatch.api.errors import ApiProblem, NoResponseError
from runwatch.base.errors import SettingsError
from runwatch.base.network.service_target import Target, normalise_base_url
from runwatch.base.secrets.secret import Secret
from tests.api.certificate import authority_file, server_context
from tests.api.conftest import CANARY, RawServer, json_answer, target_of
from tests.support.client_calls import submit_run
from tests.support.clock import FakeClock
from tests.support.http1 import answer_head

REDIRECTS: Final = (301, 302, 303, 307, 308)
WAYS: Final = {
    "from https to plain http": "http://127.0.0.1:{port}/v1/account",
    "another port": "https://127.0.0.1:{port}/v1/account",
    "another name of the same machine": "https://service.test:{port}/v1/account",
    "another name without a scheme": "//localhost:{port}/v1/account",
    "the own name before another one": "https://127.0.0.1@localhost:{port}/v1/account",
    "the own origin": "{own}/v1/account",
    "the own origin, without naming it": "/v1/account",
}


@pytest.fixture
async def secure(tmp_path: Path) -> AsyncIterator[RawServer]:
    """A service that speaks TLS, as every remote one does."""
    async with RawServer(server_context(tmp_path)) as server:
        yield server


@pytest.fixture
async def client(secure: RawServer, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Client]:
    async with Client(target_of(secure, ca_file=authority_file(tmp_path)), clock=clock) as client:
        yield client


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_no_redirect_is_followed_and_nothing_reaches_another_origin(
    secure: RawServer, client: Client, tmp_path: Path, way: str
) -> None:
    tls = None if way.startswith("http:") else server_context(tmp_path)
    async with RawServer(tls) as elsewhere:
        elsewhere.script(json_answer({}))
        location = way.format(port=elsewhere.base_url.rpartition(":")[2], own=secure.base_url)
        for number, status in enumerate(REDIRECTS):
            secure.script(answer_head(status, [("Location", location), ("Content-Length", "0")]))
            with pytest.raises(ApiProblem) as read:
                await client.get_account()
            with pytest.raises(ApiProblem) as written:
                await submit_run(client, b"{}", key=f"key-{number}")
            assert (read.value.status, written.value.status) == (status, status)
            assert not written.value.outcome_known
        assert elsewhere.heard == []
    assert len(secure.heard) == 2 * len(REDIRECTS)
    assert {heard.head.header("authorization") for heard in secure.heard} == {f"Bearer {CANARY}"}


def test_plain_http_to_another_machine_is_refused_before_anything_is_sent() -> None:
    for address in (
        "http://service.test",
        "http://192.0.2.1/v1",
        "http://127.0.0.1.evil.test",
        "http://localhost.evil",
    ):
        with pytest.raises(SettingsError, match="Plain http is only for this machine"):
            normalise_base_url(address)


async def test_a_proxy_for_plain_http_is_not_used_for_a_remote_service(
    client: Client, secure: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawServer() as proxy:
        proxy.script(json_answer({}))
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.base_url)
        secure.script(json_answer({"tenant_id": "ten_1"}))
        assert (await client.get_account()).tenant_id == "ten_1"
        assert proxy.heard == []


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
async def test_a_proxy_is_asked_for_a_way_and_given_nothing_else(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    async with RawServer() as proxy:
        proxy.script(answer_head(407, [("Content-Length", "0")]))
        monkeypatch.setenv(name, proxy.base_url)
        target = Target("test", "https://service.test", Secret(CANARY), ca_file=authority_file(tmp_path))
        async with Client(target, clock=clock, retries=0) as client:
            with pytest.raises(NoResponseError, match="network"):
                await submit_run(client, b"{}", key="key-1")
        (heard,) = proxy.heard
        assert heard.head.start[:2] == ("CONNECT", "service.test:443")
        assert CANARY.encode() not in heard.head.raw
        assert (heard.body, heard.head.header("idempotency-key")) == (b"", None)
