"""The service as a process: one a directory, where it listens, what it says, how it ends."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from runwatch.base.errors import LocalServiceError, UntrustedSocketError, UsageError
from runwatch.base.network.service_file import is_running, service_lock
from runwatch.base.text import is_clean
from runwatch.commands.cli.exit_codes import exit_code
from runwatch.service import server
from runwatch.service.http.endpoints import Endpoint, Router
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.options import ServeOptions
from runwatch.service.process import INTERRUPTED, REFUSED, serve, stop_when_idle
from runwatch.settings.local_service import stop_running
from tests.service.conftest import Local, Serving, serve_in_process, step
from tests.support.clock import FakeClock
from tests.support.master_keys import MASTER_KEYS, master_keys, opened_service_file
from tests.support.postgres import on_file
from tests.support.problems import check

SCRIPT = """
import sys
from pathlib import Path
from runwatch.service.options import ServeOptions
from runwatch.service.process import serve
from tests.support.master_keys import master_keys
sys.exit(serve(ServeOptions(data_dir=Path(sys.argv[1]), master_keys=master_keys, json=sys.argv[2] == "json")))
"""


class Process:
    def __init__(self, data_dir: Path, how: str, *, stdout: int = subprocess.PIPE) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(data_dir), how], stdout=stdout, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def first_line(self, stream: str) -> str:
        pipe = self.process.stdout if stream == "stdout" else self.process.stderr
        assert pipe is not None
        return pipe.readline()

    def rest(self) -> tuple[int, str, str]:
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        out, error = self.process.stdout.read(), self.process.stderr.read()
        return self.process.wait(30), out, error


@pytest.fixture
def start(data_dir: Path) -> Iterator[list[Process]]:
    """Processes that a test starts; those that it leaves are killed."""
    started: list[Process] = []
    yield started
    for process in started:
        process.process.kill()
        process.process.communicate()


def test_one_line_says_where_the_service_is_and_a_second_one_is_sent_there(
    data_dir: Path, start: list[Process]
) -> None:
    start.append(Process(data_dir, "json"))
    line = json.loads(start[0].first_line("stdout"))
    assert list(line) == ["base_url", "api_key", "data_dir", "pid", "socket"]
    assert (line["data_dir"], line["pid"]) == (str(data_dir), start[0].process.pid)
    kept = json.loads((data_dir / "service.json").read_text())
    assert MASTER_KEYS.open(base64.b64decode(kept.pop("sealed_key")), "owner").decode() == line["api_key"]
    assert kept == {name: value for name, value in line.items() if name != "api_key"}
    assert data_dir.stat().st_mode & 0o777 == 0o700
    with httpx.Client(base_url=line["base_url"], headers={"Authorization": f"Bearer {line['api_key']}"}) as client:
        assert client.get("/v1/account").status_code == 200
    start.append(Process(data_dir, "json"))
    code, out, error = start[1].rest()
    assert (code, out) == (exit_code(LocalServiceError("")), "")
    assert line["base_url"] in error
    assert line["api_key"] not in error
    assert stop_running(data_dir) is True
    assert start[0].rest() == (0, "", "")
    assert not is_running(data_dir)
    assert stop_running(data_dir) is False


def test_the_user_is_told_where_it_listens_and_how_to_stop_it_and_stops_it_with_ctrl_c(
    data_dir: Path, start: list[Process]
) -> None:
    start.append(Process(data_dir, "person"))
    first = start[0].first_line("stderr")
    file = opened_service_file(data_dir)
    assert file is not None
    assert file.base_url in first
    start[0].process.send_signal(signal.SIGINT)
    code, out, error = start[0].rest()
    assert (code, out) == (INTERRUPTED, "")
    assert str(data_dir / "service.json") in error
    assert "Start it with --json" in error
    assert "serve --stop" in error
    assert file.api_key.reveal() not in first + error


def test_a_directory_that_others_may_change_is_refused_and_left_alone(
    data_dir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data_dir.mkdir()
    data_dir.chmod(0o777)
    assert serve(ServeOptions(data_dir=data_dir, master_keys=master_keys, json=True)) == REFUSED
    told = capfd.readouterr()
    assert told.out == ""
    assert "other users own or may change it" in told.err
    assert f"chmod go-w {data_dir}" in told.err
    assert list(data_dir.iterdir()) == []


def test_a_directory_that_cannot_be_used_ends_with_a_message(data_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data_dir.mkdir()
    with sqlite3.connect(data_dir / "service.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert serve(ServeOptions(data_dir=data_dir, master_keys=master_keys, json=True)) == REFUSED
    out, error = capfd.readouterr()
    assert out == ""
    assert "newer version of runwatch" in error
    assert "Update runwatch" in error
    assert not is_running(data_dir)


async def test_port_and_key_stay_over_restarts(serving: Serving) -> None:
    async with serving() as service:
        first = service.running.file
    async with serving() as service:
        assert service.running.file == first


async def test_a_kept_port_that_somebody_else_has_is_given_up(serving: Serving) -> None:
    async with serving() as service:
        address = service.address
    with socket.create_server(address):
        async with serving() as service:
            assert service.address[1] != address[1]
            await service.get("/v1/account")


async def test_a_port_that_was_asked_for_is_taken_or_nothing(serving: Serving, data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(LocalServiceError, match="cannot listen"):
        await serving(port=taken.getsockname()[1]).__aenter__()
    assert not is_running(data_dir)
    with pytest.raises(UsageError, match="takes a number up to 65535"):
        await serving(port=70_000).__aenter__()


async def test_the_service_answers_on_its_socket_and_the_socket_goes_when_it_ends(
    serving: Serving, data_dir: Path
) -> None:
    async with serving() as service:
        path = service.running.file.socket
        assert path is not None
        async with on_socket(service) as client:
            assert (await client.get("/v1/account")).status_code == 200
            # The caller is on this machine, as a look-up of Problems asks for.
            assert (await client.get("/v1/problem-lookups")).status_code == 200
            check(await client.get("/v1/account", headers={"Host": "evil.example"}), "validation_failed")
            check(await client.get("/v1/account", headers={"Authorization": ""}), "unauthenticated")
            origin = {"Origin": "http://evil.example"}
            check(await client.get("/v1/account", headers=origin), "permission_denied")
    assert not path.exists()


def on_socket(service: Local) -> httpx.AsyncClient:
    """A client of a service's socket that sends the owner's key."""
    file = service.running.file
    headers = {"Authorization": f"Bearer {service.key}"}
    transport = httpx.AsyncHTTPTransport(uds=str(file.socket))
    return httpx.AsyncClient(base_url=file.base_url, headers=headers, transport=transport, timeout=30)


@pytest.mark.exhaustive
@on_file
async def test_the_socket_of_a_killed_service_is_replaced_at_the_next_start(
    serving: Serving, data_dir: Path, start: list[Process]
) -> None:
    start.append(Process(data_dir, "json"))
    path = Path(json.loads(start[0].first_line("stdout"))["socket"])
    start[0].process.kill()
    start[0].process.wait()
    assert path.is_socket()
    async with serving() as service:
        assert service.running.file.socket == path
        async with on_socket(service) as client:
            assert (await client.get("/v1/account")).status_code == 200


async def test_a_data_directory_with_a_long_path_has_its_socket_elsewhere(tmp_path: Path) -> None:
    data_dir = tmp_path / ("d" * 100)
    async with serve_in_process(data_dir, FakeClock()) as service:
        path = service.running.file.socket
        assert path is not None
        assert not path.is_relative_to(data_dir)
        async with on_socket(service) as client:
            assert (await client.get("/v1/account")).status_code == 200
    assert not path.exists()


async def test_a_service_does_not_start_with_a_socket_directory_that_others_can_enter(
    serving: Serving, data_dir: Path
) -> None:
    async with serving() as service:
        path = service.running.file.socket
    assert path is not None
    path.parent.chmod(0o777)
    with pytest.raises(UntrustedSocketError, match="mode 0777"):
        await serving().__aenter__()
    path.parent.chmod(0o700)
    assert not is_running(data_dir)
    async with serving():
        pass


async def test_a_system_without_unix_sockets_is_reported_before_anything_is_made(
    serving: Serving, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    with pytest.raises(LocalServiceError, match="cannot run on this system"):
        await serving().__aenter__()
    assert not data_dir.exists()


async def test_a_name_under_localhost_that_leads_to_another_machine_is_not_listened_on(
    serving: Serving, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [address])
    for host in ("run.localhost", "localhost"):
        with pytest.raises(UsageError, match="only on this machine") as caught:
            await serving(host=host).__aenter__()
        assert "leads to 192.0.2.7" in str(caught.value)
    assert not is_running(data_dir)


async def test_a_request_names_this_machine_and_no_other_name_under_localhost(serving: Serving) -> None:
    async with serving() as service:
        port = service.address[1]
        for host in ("localhost", f"LocalHost:{port}", "127.0.0.1", "127.1.2.3", "[::1]"):
            assert (await service.http.get("/v1/account", headers={"Host": host})).status_code == 200
        for host in ("evil.localhost", f"evil.localhost:{port}", "localhost.evil.example"):
            check(await service.http.get("/v1/account", headers={"Host": host}), "validation_failed")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.com"])
async def test_a_host_that_others_can_reach_needs_to_be_allowed(serving: Serving, data_dir: Path, host: str) -> None:
    with pytest.raises(UsageError, match="only on this machine"):
        await serving(host=host).__aenter__()
    assert not data_dir.exists()


async def test_a_service_on_all_addresses_is_called_by_address_and_not_by_just_any_name(serving: Serving) -> None:
    async with serving(host="0.0.0.0", allow_remote=True) as service:
        assert service.address[0] == "127.0.0.1"
        for host in ("192.0.2.7:80", "[2001:db8::1]", "localhost"):
            assert (await service.http.get("/v1/account", headers={"Host": host})).status_code == 200
        check(await service.http.get("/v1/account", headers={"Host": "evil.example"}), "validation_failed")


async def test_a_service_on_a_named_host_is_called_by_that_name(serving: Serving) -> None:
    async with serving(host="LocalHost") as service:
        assert (await service.http.get("/v1/account", headers={"Host": "localhost:1"})).status_code == 200


class _LettingGo(FakeClock):
    """A clock during whose third sleep the other holder of the lock lets go."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__()
        self._lock = service_lock(data_dir)
        assert self._lock.acquire(wait=False)

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        if len(self.sleeps) == 3:
            self._lock.release()


async def test_somebody_who_only_looks_whether_a_service_runs_is_no_service(serving: Serving, data_dir: Path) -> None:
    async with serving(_LettingGo(data_dir)) as service:
        await service.get("/v1/account")


async def test_a_directory_that_stays_held_is_refused(serving: Serving, data_dir: Path) -> None:
    lock = service_lock(data_dir)
    assert lock.acquire(wait=False)
    with pytest.raises(LocalServiceError, match="already runs"):
        await serving().__aenter__()
    lock.release()


async def test_an_idle_service_ends_when_nobody_called_for_so_long(held: Local) -> None:
    clock = held.fake_clock
    idle = asyncio.ensure_future(stop_when_idle(held.running, 600, clock))
    await clock.until_sleeping()
    clock.advance(599)
    await held.get("/v1/account")
    clock.advance(1)
    await clock.until_sleeping()
    assert not held.running.stop.is_set()
    clock.advance(599)
    await idle
    assert held.running.stop.is_set()


async def test_an_idle_service_waits_for_its_live_runs(held: Local) -> None:
    clock = held.fake_clock
    await held.submit()
    idle = asyncio.ensure_future(stop_when_idle(held.running, 0.001, clock))
    await clock.until_sleeping(2)
    clock.advance_to_next()
    while held.context.engine.unfinished:
        assert not held.running.stop.is_set()
        await step(held)
    await idle
    assert held.running.stop.is_set()


async def test_a_service_without_an_idle_time_stays(held: Local) -> None:
    await stop_when_idle(held.running, None, held.fake_clock)
    assert not held.running.stop.is_set()


async def test_every_request_is_logged_without_its_secrets(local: Local, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "runwatch.service.access"):
        await local.http.get("/v1/executions", params={"cursor": "hunter2-hunter2", "limit": 3})
        await local.get("/v1/account")
    texts = [record.getMessage() for record in caplog.records if record.name == "runwatch.service.access"]
    me = (await local.get("/v1/account"))["authenticated_principal_id"]
    assert [text.split(" ")[:3] for text in texts] == [
        ["GET", "/v1/executions?cursor&limit", "400"],
        ["GET", "/v1/account", "200"],
    ]
    assert all(text.endswith(me) for text in texts)
    assert "hunter2" not in caplog.text
    assert local.key not in caplog.text


@pytest.mark.exhaustive
def test_a_starter_that_has_gone_does_not_take_the_service_with_it(data_dir: Path, start: list[Process]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = Process(data_dir, "json", stdout=writer)
    os.close(writer)
    start.append(process)
    # The service says nothing that could be waited for, so ask the directory until it is held and answered for.
    file = None
    while file is None:
        assert process.process.poll() is None
        file = opened_service_file(data_dir)
    with httpx.Client(base_url=file.base_url, headers={"Authorization": f"Bearer {file.api_key.reveal()}"}) as client:
        assert client.get("/v1/account").status_code == 200
    assert stop_running(data_dir) is True
    assert process.process.wait(30) == 0


async def test_a_request_under_way_when_the_service_stops_is_answered(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, never = asyncio.Event(), asyncio.Event()

    async def hang(_: ServiceCall) -> ServiceResponse:
        reached.set()
        await never.wait()
        raise AssertionError

    monkeypatch.setattr(server, "STOP_S", 0.01)
    monkeypatch.setattr(Router, "find", lambda *_: (Endpoint("GET", "/v1/account", hang), {}))
    async with serving() as service:
        request = asyncio.ensure_future(service.http.get("/v1/account"))
        await reached.wait()
        service.running.stop.set()
        check(await request, "internal")


def test_why_it_did_not_start_is_cleaned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "\x1b]52;c;cm0gLXJmIH4=\x07\u202e"
    place.touch()
    assert serve(ServeOptions(data_dir=place / "data", json=False, master_keys=master_keys)) == REFUSED
    told = capsys.readouterr().err
    assert "␛]52;c;" in told
    assert is_clean(told)
