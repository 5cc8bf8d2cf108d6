"""Finding, starting and stopping the local service from outside, with a stand-in for the service itself."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from runwatch.base import log
from runwatch.base.errors import DataError, LocalServiceError, UntrustedSocketError
from runwatch.base.files import FileLock
from runwatch.base.network.service_file import (
    ServiceFile,
    is_running,
    read_service_file,
    service_lock,
    write_service_file,
)
from runwatch.base.network.service_socket import listen_on_socket
from runwatch.base.paths import find_paths
from runwatch.base.secrets.secret import Secret
from runwatch.base.shell_words import quote_word
from runwatch.settings import local_service
from runwatch.settings.local_service import LocalService, WaitTiming, ensure_running, find_running, stop_running
from runwatch.settings.master_key import find_master_keys, master_key_file
from tests.settings import fake_service
from tests.settings.fake_service import KEY

COMMAND = (sys.executable, fake_service.__file__)
PATIENT = WaitTiming(patience_s=60)


@dataclass
class FakeTime:
    """Time that passes only by sleeping; a sleep may let something happen.

    Attributes:
        happenings: What happens at the end of each sleep, one after another.
    """

    happenings: list[Any] = field(default_factory=list)
    now: float = 0.0
    sleeps: int = 0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.sleeps += 1
        if self.happenings:
            self.happenings.pop(0)()

    def pace(self) -> WaitTiming:
        return WaitTiming(monotonic=lambda: self.now, sleep=self.sleep)


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A data directory whose service, if there is one at the end, is killed."""
    directory = tmp_path / "service"
    yield directory
    written = read_service_file(directory)
    if is_running(directory) and written is not None and written.pid > 1 and os.getpgid(written.pid) == written.pid:
        os.kill(written.pid, signal.SIGKILL)


def environment(**more: str) -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **more}


def start(data_dir: Path, **more: str) -> LocalService:
    return ensure_running(data_dir, command=COMMAND, environment=environment(**more), pace=PATIENT)


def seen(data_dir: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((data_dir / "seen.json").read_text())
    return content


def write_down(file: ServiceFile) -> None:
    """Write a service file with the master key of this test's installation."""
    write_service_file(file, find_master_keys(find_paths().settings_file))


def held(data_dir: Path, pid: int, path: Path | None, port: int = 1) -> FileLock:
    """A lock held by this process, with a service file that says what the test wants."""
    lock = service_lock(data_dir)
    assert lock.acquire(wait=False)
    write_down(ServiceFile(f"http://127.0.0.1:{port}", Secret(KEY), data_dir, pid, path))
    return lock


@pytest.fixture
def listener(data_dir: Path) -> Iterator[socket.socket]:
    """The socket of a service that accepts connections."""
    data_dir.mkdir()
    _, listening = listen_on_socket(data_dir, os.environ)
    with listening:
        yield listening


def path_of(listener: socket.socket) -> Path:
    return Path(listener.getsockname())


def ended_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        pass
    return process.pid


def test_a_service_is_started_with_what_the_caller_adds(data_dir: Path) -> None:
    ensure_running(data_dir, more=("--pace", "60"), command=COMMAND, environment=environment(), pace=PATIENT)
    assert seen(data_dir)["arguments"][-2:] == ["--pace", "60"]


def test_where_none_runs_there_is_nothing_to_attach_to_or_to_stop(data_dir: Path) -> None:
    assert find_running(data_dir) is None
    assert stop_running(data_dir) is False
    assert not data_dir.exists(), "asking makes nothing"


def test_a_service_is_started_detached_and_found_again(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_known", ())
    service = start(data_dir)
    assert service.key.reveal() == KEY
    assert KEY not in repr(service)
    assert log.redact(KEY) == "[redacted]"
    how = seen(data_dir)
    assert how["arguments"] == ["--json", "--data-dir", str(data_dir), "--idle-exit-s", "600"]
    assert (how["directory"], how["session"], how["stdin"]) == ("/", True, "")
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((data_dir / "log" / "serve.err").stat().st_mode) == 0o600

    again = start(data_dir)
    assert again == LocalService(service.base_url, service.key, service.pid, service.socket)
    assert find_running(data_dir) == again
    assert stop_running(data_dir, pace=PATIENT) is True
    assert not is_running(data_dir)
    assert find_running(data_dir) is None


def test_a_service_inherits_no_key_no_address_and_no_proxy(data_dir: Path) -> None:
    start(
        data_dir, RUNWATCH_API_KEY="rw_other", RUNWATCH_BASE_URL="https://other.example",
        RUNWATCH_DATABASE="postgresql://user:secret@other.example/x", RUNWATCH_PROFILE="work",
        HTTPS_PROXY="http://proxy", http_proxy="http://proxy", ALL_PROXY="http://proxy", no_proxy="*", KEPT="yes",
    )  # fmt: skip
    inherited = seen(data_dir)["environment"]
    assert inherited["KEPT"] == "yes"
    assert [name for name in inherited if "PROXY" in name.upper() or name.startswith("RUNWATCH_")] == [
        name for name in os.environ if name.startswith("RUNWATCH_")
    ]
    assert not {"RUNWATCH_API_KEY", "RUNWATCH_BASE_URL", "RUNWATCH_DATABASE", "RUNWATCH_PROFILE"} & set(inherited)


def test_the_target_is_the_service_with_its_own_key(data_dir: Path) -> None:
    target = start(data_dir).target()
    assert (target.profile, target.key_source, target.is_loopback) == ("local", "local service", True)
    assert target.key == Secret(KEY)
    assert target.socket is not None
    assert target.socket.is_socket()


def test_of_many_who_start_one_at_once_one_does_and_all_get_it(data_dir: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        services = list(pool.map(lambda _: start(data_dir), range(6)))
    assert len({(service.base_url, service.pid) for service in services}) == 1
    assert (data_dir / "log" / "serve.err").read_text().count("starting") == 1, "no second one was even tried"


def test_who_loses_against_one_started_by_hand_attaches_to_that(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand: list[subprocess.Popen[bytes]] = []
    real = local_service.find_running

    def attach_first_finds_nobody(directory: Path, *, settings_file: Path, pace: WaitTiming) -> LocalService | None:
        if by_hand:
            return real(directory, settings_file=settings_file, pace=pace)
        command = [*COMMAND, "--json", "--data-dir", str(directory), "--idle-exit-s", "1"]
        by_hand.append(
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=dict(environment()))
        )
        assert by_hand[0].stdout is not None
        assert by_hand[0].stdout.readline()
        return None

    monkeypatch.setattr(local_service, "find_running", attach_first_finds_nobody)
    service = start(data_dir)
    assert service.pid == by_hand[0].pid
    with by_hand[0]:
        by_hand[0].terminate()


def test_a_child_that_ends_leaves_its_last_words_cleaned(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_known", (KEY,))
    with pytest.raises(LocalServiceError) as caught:
        start(data_dir, FAKE_SERVICE="dies")
    assert str(caught.value) == (
        "The local service did not start: It has ended. It wrote:\nstarting␛[31m as [redacted]"
    )
    assert str(data_dir / "log" / "serve.err") in (caught.value.hint or "")


@pytest.mark.exhaustive
def test_the_last_words_are_those_of_this_start_and_not_endless(data_dir: Path) -> None:
    for _ in range(2):
        with pytest.raises(LocalServiceError) as caught:
            start(data_dir, FAKE_SERVICE="dies")
    assert str(caught.value).count("starting") == 1
    with pytest.raises(LocalServiceError) as caught:
        start(data_dir, FAKE_SERVICE="dies", FAKE_LINES="10000")
    assert len(str(caught.value)) < 3000
    assert (data_dir / "log" / "serve.err").stat().st_size > local_service._ERROR_LOG_BYTES
    with pytest.raises(LocalServiceError):
        start(data_dir, FAKE_SERVICE="dies")
    assert (data_dir / "log" / "serve.err").stat().st_size < 100


def test_a_child_that_says_nothing_is_ended_after_the_patience(data_dir: Path) -> None:
    with pytest.raises(LocalServiceError, match="not ready within 0 seconds"):
        ensure_running(
            data_dir, command=COMMAND, environment=environment(FAKE_SERVICE="says nothing"),
            pace=WaitTiming(patience_s=0),
        )  # fmt: skip


def test_a_child_that_says_something_else_is_an_error_that_does_not_repeat_it(data_dir: Path) -> None:
    with pytest.raises(LocalServiceError, match="does not report where it listens") as caught:
        start(data_dir, FAKE_SERVICE="says something else")
    assert "no line of ours" not in str(caught.value)


def test_a_program_that_is_not_there_is_an_error_that_says_so(data_dir: Path) -> None:
    with pytest.raises(LocalServiceError, match="No such file"):
        ensure_running(data_dir, command=("/nowhere/python",), environment={})
    assert not is_running(data_dir)


def test_a_data_directory_that_is_invalid_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LocalServiceError, match="data directory of the local service"):
        ensure_running(tmp_path / "file")
    with pytest.raises(LocalServiceError, match="data directory of the local service"):
        ensure_running(tmp_path / "file" / "below")


@pytest.mark.parametrize("look", [ensure_running, find_running, stop_running])
def test_a_directory_that_others_may_change_is_not_looked_into(look: Callable[[Path], object], data_dir: Path) -> None:
    data_dir.mkdir()
    data_dir.chmod(0o777)
    with pytest.raises(DataError) as told:
        look(data_dir)
    assert f"chmod go-w {data_dir}" in str(told.value.hint)
    assert list(data_dir.iterdir()) == []


def test_attaching_waits_until_the_running_service_has_written_its_file(
    data_dir: Path, listener: socket.socket
) -> None:
    lock = held(data_dir, ended_pid(), path_of(listener))
    now = ServiceFile("http://127.0.0.1:1", Secret(KEY), data_dir, os.getpid(), path_of(listener))
    time = FakeTime([lambda: None, lambda: write_down(now)])
    found = find_running(data_dir, pace=time.pace())
    lock.release()
    assert found == LocalService(now.base_url, now.api_key, os.getpid(), path_of(listener))
    assert time.sleeps == 2


def test_attaching_waits_until_connections_are_accepted(data_dir: Path, listener: socket.socket) -> None:
    path = path_of(listener)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as later:
        happenings = [lambda: later.bind(os.fspath(path)), later.listen]
        lock = held(data_dir, os.getpid(), path)
        time = FakeTime(happenings)
        found = find_running(data_dir, pace=time.pace())
        lock.release()
    assert found is not None
    assert time.sleeps == 2


def test_a_service_that_listens_on_its_port_alone_is_not_attached_to(data_dir: Path, listener: socket.socket) -> None:
    path_of(listener).unlink()
    with socket.create_server(("127.0.0.1", 0)) as other:
        lock = held(data_dir, os.getpid(), path_of(listener), other.getsockname()[1])
        with pytest.raises(LocalServiceError, match="is running but does not respond"):
            find_running(data_dir, pace=FakeTime().pace())
        lock.release()
        other.settimeout(0)
        with pytest.raises(BlockingIOError):
            other.accept()


def test_a_service_of_the_version_without_a_socket_is_named_and_can_be_ended(data_dir: Path) -> None:
    with pytest.raises(LocalServiceError, match="is of an earlier version") as caught:
        start(data_dir, FAKE_SERVICE="is old")
    assert "serve --stop" in (caught.value.hint or "")
    with pytest.raises(LocalServiceError, match="is of an earlier version"):
        find_running(data_dir)
    assert stop_running(data_dir, pace=PATIENT) is True
    assert not is_running(data_dir)
    start(data_dir)


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o777])
def test_a_service_whose_socket_others_can_reach_is_not_attached_to_and_can_be_ended(mode: int, data_dir: Path) -> None:
    path = start(data_dir).socket
    path.parent.chmod(mode)
    try:
        with pytest.raises(UntrustedSocketError, match=f"mode {mode:04o}"):
            find_running(data_dir)
        assert stop_running(data_dir, pace=PATIENT) is True
    finally:
        path.parent.chmod(0o700)


def test_a_system_without_unix_sockets_is_told_what_to_use(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    with pytest.raises(LocalServiceError, match="cannot run on this system") as caught:
        ensure_running(data_dir)
    assert "RUNWATCH_BASE_URL" in (caught.value.hint or "")
    assert not data_dir.exists()


def test_a_service_that_ends_while_one_waits_for_it_is_none(data_dir: Path) -> None:
    lock = held(data_dir, ended_pid(), Path("/nowhere/service.sock"))
    assert find_running(data_dir, pace=FakeTime([lock.release]).pace()) is None


@pytest.mark.parametrize("pid", [0, -1, 1, 10**30])
def test_a_service_that_never_answers_is_an_error_after_the_patience(
    pid: int, data_dir: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals: list[tuple[int, int]] = []

    def kill(number: int, what: int) -> None:
        signals.append((number, what))
        if number == 10**30:
            raise OverflowError

    # Zero and the negative numbers mean groups of processes: the test must not send them anything, whatever happens.
    monkeypatch.setattr(os, "kill", kill)
    lock = held(data_dir, pid, path_of(listener))
    time = FakeTime()
    try:
        with pytest.raises(LocalServiceError, match="is running but does not respond"):
            find_running(data_dir, pace=time.pace())
        with pytest.raises(LocalServiceError, match="is running but does not respond"):
            stop_running(data_dir, pace=time.pace())
    finally:
        lock.release()
    assert 2 * local_service.START_TIMEOUT_S <= time.now <= 2 * local_service.START_TIMEOUT_S + 1
    assert {number for number, _ in signals} <= {10**30}


def test_the_key_of_a_service_with_another_master_key_is_not_opened_and_it_can_be_stopped(data_dir: Path) -> None:
    service = start(data_dir)
    assert KEY not in (data_dir / "service.json").read_text()
    attached = find_running(data_dir)
    assert attached is not None
    assert attached.key.reveal() == KEY
    master_key_file(find_paths().settings_file).unlink()
    with pytest.raises(LocalServiceError, match="cannot be opened") as told:
        find_running(data_dir)
    assert "RUNWATCH_CONFIG" in str(told.value.hint)
    assert stop_running(data_dir) is True
    assert service.pid > 0


def test_a_service_is_given_the_settings_file_of_its_console_by_its_full_name(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNWATCH_CONFIG", "relative.toml")
    start(data_dir)
    assert seen(data_dir)["environment"]["RUNWATCH_CONFIG"] == str(tmp_path / "relative.toml")
    stop_running(data_dir)
    other = tmp_path / "demo" / "settings.toml"
    ensure_running(data_dir, settings_file=other, command=COMMAND, environment=environment(), pace=PATIENT)
    assert seen(data_dir)["environment"]["RUNWATCH_CONFIG"] == str(other)
    found = find_running(data_dir, settings_file=other)
    assert found is not None
    assert found.key.reveal() == KEY
    stop_running(data_dir)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622])
def test_a_service_file_that_others_may_open_is_not_used(mode: int, data_dir: Path, listener: socket.socket) -> None:
    lock = held(data_dir, os.getpid(), path_of(listener))
    (data_dir / "service.json").chmod(mode)
    for look in (find_running, stop_running):
        with pytest.raises(LocalServiceError, match="not private") as told:
            look(data_dir)
        file, hint = quote_word(str(data_dir / "service.json")), str(told.value.hint)
        if mode & 0o022:
            # Others may have changed the number in it.
            assert f"Run rm -f {file}," in hint
            assert str(os.getpid()) not in hint.replace(file, "")
        else:
            assert f"Run chmod 600 {file} and try again. The service is process {os.getpid()}." in hint
        assert KEY not in hint
    lock.release()
    (data_dir / "service.json").chmod(0o600)


def test_a_service_file_that_is_a_link_is_not_followed(data_dir: Path, tmp_path: Path, listener: socket.socket) -> None:
    lock = held(data_dir, os.getpid(), path_of(listener))
    (data_dir / "service.json").rename(tmp_path / "elsewhere.json")
    (data_dir / "service.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(LocalServiceError, match="symbolic link"):
        find_running(data_dir)
    lock.release()
    (data_dir / "service.json").unlink()


def test_a_service_file_that_leads_elsewhere_is_not_followed(data_dir: Path, listener: socket.socket) -> None:
    lock = service_lock(data_dir)
    lock.acquire(wait=True)
    write_down(ServiceFile("http://evil.example", Secret(KEY), data_dir, os.getpid(), path_of(listener)))
    with pytest.raises(LocalServiceError, match="this machine"):
        find_running(data_dir)
    lock.release()


def test_a_service_that_does_not_end_is_an_error_after_the_patience(data_dir: Path) -> None:
    service = start(data_dir, FAKE_SERVICE="does not end")
    with pytest.raises(LocalServiceError, match="has not stopped"):
        stop_running(data_dir, pace=FakeTime().pace())
    os.kill(service.pid, signal.SIGKILL)


def test_a_service_of_somebody_else_may_not_be_ended(
    data_dir: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = held(data_dir, os.getpid(), path_of(listener))

    def refuse(pid: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "kill", refuse)
    with pytest.raises(LocalServiceError, match="cannot be stopped from here"):
        stop_running(data_dir)
    lock.release()
