"""A target with a socket is called through that alone, and only once its directory and its peer are checked."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from runwatch.api.client import Client
from runwatch.api.errors import NoResponseError, ServiceStoppedError
from runwatch.api.http import transport
from runwatch.base.network import service_socket
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.api.conftest import CANARY, RawServer, json_answer, target_of, then_close

ACCOUNT = json_answer({"tenant_id": "ten_1"})


@pytest.fixture
async def local(server: RawServer, tmp_path: Path) -> Target:
    """A server behind a socket, with the address of a port without a listener."""
    path = await server.listen_locally(tmp_path / "service")
    server.script(ACCOUNT)
    return Target("local", "http://127.0.0.1:1", Secret(CANARY), socket=path)


async def refused(client: Client) -> NoResponseError:
    with pytest.raises(NoResponseError) as caught:
        await client.get_account()
    return caught.value


async def test_a_target_with_a_socket_is_called_through_it_with_the_host_of_its_origin(
    server: RawServer, local: Target, connect: Callable[..., Client]
) -> None:
    client = connect(target=local)
    for _ in range(3):
        assert (await client.get_account()).tenant_id == "ten_1"
    head = server.heard[0].head
    assert head.header("host") == "127.0.0.1:1"
    assert head.header("authorization") == f"Bearer {CANARY}"


async def test_the_variables_of_a_proxy_do_not_reach_a_socket(
    local: Target, connect: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for origin in (local.origin, "http://service.example"):
        assert (await connect(target=local._replace(origin=origin)).get_account()).tenant_id == "ten_1"


async def test_a_directory_that_others_can_enter_is_refused_at_the_next_connection(
    server: RawServer, local: Target, connect: Callable[..., Client]
) -> None:
    assert local.socket is not None
    server.script(then_close(ACCOUNT))
    client = connect(target=local)
    await client.get_account()
    local.socket.parent.chmod(0o755)
    try:
        error = await refused(client)
    finally:
        local.socket.parent.chmod(0o700)
    assert len(server.heard) == 1
    assert (error.kind, error.was_sent, error.attempts, error.retryable) == ("untrusted", False, 1, False)
    assert "mode 0755" in str(error)
    assert str(local.socket) in str(error)
    assert "Nothing was sent" in (error.hint or "")
    await client.get_account()


async def test_a_linked_directory_is_refused(
    server: RawServer, local: Target, connect: Callable[..., Client], tmp_path: Path
) -> None:
    assert local.socket is not None
    link = tmp_path / "l"
    link.symlink_to(local.socket.parent)
    error = await refused(connect(target=local._replace(socket=link / local.socket.name)))
    assert error.kind == "untrusted"
    assert "is a link" in str(error)
    assert server.heard == []


async def test_a_peer_of_another_user_is_refused_before_a_byte_is_sent(
    server: RawServer, local: Target, connect: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_socket, "_find_peer_user", lambda _: os.geteuid() + 1)
    client = connect(target=local)
    for _ in range(3):
        error = await refused(client)
        assert (error.kind, error.was_sent, error.attempts) == ("untrusted", False, 1)
        assert f"user {os.geteuid() + 1} listens" in str(error)
    assert server.heard == []
    assert CANARY not in f"{error!r} {error} {error.hint}"


async def test_a_write_that_met_a_peer_of_another_user_is_known_to_have_done_nothing(
    local: Target, connect: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_socket, "_find_peer_user", lambda _: os.geteuid() + 1)
    with pytest.raises(NoResponseError) as caught:
        await connect(target=local).request("postExecutionsByExecutionIdCancel", path={"execution_id": "ex_1"})
    assert caught.value.outcome_known


async def test_a_connection_that_breaks_before_it_is_checked_has_sent_nothing(
    server: RawServer, local: Target, connect: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Any) -> None:
        raise OSError(57, "Socket is not connected")

    monkeypatch.setattr(transport, "check_socket_peer", broken)
    error = await refused(connect(target=local))
    assert not error.was_sent
    assert server.heard == []


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_socket_without_a_service_says_that_the_local_service_does_not_run(
    is_there: bool, server: RawServer, local: Target, connect: Callable[..., Client]
) -> None:
    assert local.socket is not None
    server.stop_listening()
    if not is_there:
        local.socket.unlink(missing_ok=True)
    error = await refused(connect(target=local))
    assert (error.kind, error.title, error.was_sent) == ("refused", "The local service is not running", False)
    assert "--local" in (error.hint or "")
    assert isinstance(error, ServiceStoppedError)
    temporary = await refused(connect(target=local._replace(start_hint="Start the demo.")))
    assert temporary.hint == "Start the demo."


async def test_a_secret_for_a_private_page_goes_through_the_socket(
    server: RawServer, local: Target, connect: Callable[..., Client]
) -> None:
    server.script(json_answer({}))
    address = Secret(f"{local.origin}/connect/source/1?token=tok_{'x' * 40}")
    await connect(target=local).enter_secret(address, Secret("sk-hidden"))
    assert server.heard[0].head.start[1].startswith("/connect/source/1?")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name leads to 127.0.0.1."""
    look_up = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *more, **named: look_up("127.0.0.1", *more, **named))


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize("name", ["localhost", "run.localhost"])
async def test_plain_http_goes_to_a_name_that_leads_to_this_machine(
    name: str, server: RawServer, connect: Callable[..., Client]
) -> None:
    server.script(ACCOUNT)
    origin = server.base_url.replace("127.0.0.1", name)
    await connect(target=target_of(server)._replace(origin=origin)).get_account()
    assert len(server.heard) == 1


@pytest.mark.usefixtures("names")
@pytest.mark.parametrize("name", ["localhost", "run.localhost", "127.0.0.1"])
async def test_plain_http_to_a_name_that_leads_elsewhere_sends_nothing(
    name: str, server: RawServer, connect: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The only machine there is plays the other one.
    monkeypatch.setattr(transport, "is_loopback_address", lambda address: address != "127.0.0.1")
    server.script(ACCOUNT)
    origin = server.base_url.replace("127.0.0.1", name)
    error = await refused(connect(target=target_of(server)._replace(origin=origin)))
    assert (error.kind, error.was_sent, error.attempts) == ("untrusted", False, 1)
    assert "leads to 127.0.0.1" in str(error)
    assert server.heard == []


async def test_a_connection_that_is_lost_before_its_peer_is_known_is_a_lost_connection() -> None:
    class Lost:
        def get_extra_info(self, _: str) -> None:
            return None

        async def aclose(self) -> None:
            """End it."""

    lost = transport.Transport(Target("environment", "http://127.0.0.1:1", None))
    with pytest.raises(httpx.ConnectError):
        await lost._check_connection("connection.connect_tcp.complete", {"return_value": Lost()})
