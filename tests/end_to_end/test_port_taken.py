"""The local service dies and a process of another user takes its port: no byte of the owner's key goes there."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from runwatch.api.client import Client
from runwatch.api.errors import NoResponseError
from runwatch.base.clock import SystemClock
from runwatch.base.network.service_file import read_service_file, service_lock
from runwatch.base.paths import find_paths
from runwatch.base.secrets.secret import Secret
from runwatch.settings import local_service
from runwatch.store.service_problems import connect_running_service
from tests.support.cli import Cli
from tests.support.console import console
from tests.support.port_taker import PortTaker

KILLS: Final = 100
POLLS: Final = 5


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """The data directory of the local service that the console and ``--local`` use in this test's home."""
    directory = tmp_path / "runwatch-data" / "local-service"
    yield directory
    local_service.stop_running(directory)


def kill(data_dir: Path) -> int:
    """Kill the service of a data directory as ``kill -9`` does, and answer the port that it had."""
    written = read_service_file(data_dir)
    assert written is not None
    os.kill(written.pid, signal.SIGKILL)
    lock = service_lock(data_dir)
    lock.acquire(wait=True)
    lock.release()
    port = urlsplit(written.base_url).port
    assert port is not None
    return port


async def polls_are_refused(client: Client) -> None:
    """Call as often as a console does within some seconds; every call ends without an answer."""
    for _ in range(POLLS):
        with pytest.raises(NoResponseError) as caught:
            await client.get_account()
        assert (caught.value.kind, caught.value.title) == ("refused", "The local service is not running")
        assert not caught.value.was_sent


async def kill_and_poll(data_dir: Path, client: Client, *, comes_back_elsewhere: bool) -> bytes:
    """Kill the service, let another process take its port, call on, start the service again; what that process heard.

    Args:
        data_dir: The service's data directory.
        client: A client that has called the service.
        comes_back_elsewhere: Whether the port is still taken when the service starts again.
    """
    with PortTaker(kill(data_dir)) as taker:
        await polls_are_refused(client)
        async with connect_running_service(find_paths(), SystemClock()) as found:
            assert found is None
        if comes_back_elsewhere:
            local_service.ensure_running(data_dir)
            await client.get_account()
    local_service.ensure_running(data_dir)
    await client.get_account()
    return taker.heard


async def test_the_process_that_takes_the_port_of_a_killed_service_gets_no_byte(data_dir: Path) -> None:
    async with Client(local_service.ensure_running(data_dir).target(), retries=0) as client:
        await client.get_account()
        assert await kill_and_poll(data_dir, client, comes_back_elsewhere=False) == b""
        assert await kill_and_poll(data_dir, client, comes_back_elsewhere=True) == b""


@pytest.mark.exhaustive
async def test_over_a_hundred_kills_the_process_that_takes_the_port_gets_no_byte(data_dir: Path) -> None:
    heard = b""
    async with Client(local_service.ensure_running(data_dir).target(), retries=0) as client:
        await client.get_account()
        for kills in range(KILLS):
            heard += await kill_and_poll(data_dir, client, comes_back_elsewhere=kills % 2 == 1)
    print(f"{KILLS} kills, {KILLS * POLLS} calls while another process had the port: it heard {len(heard)} bytes")
    assert heard == b""


@pytest.mark.exhaustive
async def test_the_process_that_takes_a_port_does_hear_a_client_that_calls_the_port(data_dir: Path) -> None:
    # Else the tests above would prove nothing.
    target = local_service.ensure_running(data_dir).target()._replace(socket=None, key=Secret("rw_given_away"))
    with PortTaker(kill(data_dir)) as taker:
        async with Client(target, retries=0) as client:
            await client.request("getAccount")
    assert b"authorization: bearer rw_given_away" in taker.heard.lower()


@pytest.mark.exhaustive
def test_console_and_commands_give_the_taken_port_nothing_and_come_back(tmp_path: Path, data_dir: Path) -> None:
    cli = Cli(tmp_path)
    with console(tmp_path) as terminal:
        terminal.wait_for("No runs yet.")
        with PortTaker(kill(data_dir)) as taker:
            terminal.wait_for("The local service is not running")
            terminal.wait_for("✗ offline")
            done = cli("problems", "find", "--at", "now", "--within", "1h")
            assert "it is not running" in done.text + done.errors
            # This starts the service again, on another port and the same socket.
            assert cli("runs", "list", "--local").code == 0
            terminal.wait_gone("offline")
            assert cli("doctor", "--local").code == 0
        assert taker.heard == b""
        assert cli("serve", "--stop", "--data-dir", str(data_dir)).code == 0
        terminal.wait_for("The local service is not running")
