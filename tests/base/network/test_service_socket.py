"""The socket of a local service: where it is, and what is not taken for it."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runwatch.base.errors import LocalServiceError, UntrustedSocketError
from runwatch.base.network import service_socket
from runwatch.base.network.service_socket import (
    MAX_PATH_BYTES,
    check_socket_path,
    check_socket_peer,
    connect_to_socket,
    find_socket_paths,
    listen_on_socket,
)

NOBODY = 65_534

AS_NOBODY = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.setuid(int(sys.argv[2]))
listener.listen()
print("ready", flush=True)
connection, _ = listener.accept()
print(connection.recv(100), flush=True)
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory with a short path, used as ``/tmp`` too."""
    place = Path(tempfile.mkdtemp(dir=os.environ["XDG_RUNTIME_DIR"]))
    monkeypatch.setattr(service_socket, "SHARED_DIRECTORY", place)
    return place


@contextmanager
def listening(data_dir: Path) -> Iterator[Path]:
    data_dir.mkdir(exist_ok=True)
    path, listener = listen_on_socket(data_dir, {})
    with listener:
        yield path


def test_the_socket_is_in_a_private_directory_of_the_data_directory_and_is_connected_to(place: Path) -> None:
    with listening(place / "data") as path:
        assert path == place / "data" / "run" / "service.sock"
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        connect_to_socket(path, 5).close()


def test_the_path_is_as_long_as_every_system_takes_and_else_in_the_runtime_directory(place: Path) -> None:
    room = MAX_PATH_BYTES - len(os.fsencode(place / "run" / "service.sock")) - 1
    fits, too_long = place / ("d" * room), place / ("d" * (room + 1))
    environment = {"XDG_RUNTIME_DIR": str(place)}
    assert next(find_socket_paths(fits, environment)) == fits / "run" / "service.sock"
    with listening(fits) as path:
        connect_to_socket(path, 5).close()
    first, second = find_socket_paths(too_long, environment)
    assert first.parent == place / "runwatch"
    assert second.parent == place / f"runwatch-{os.geteuid()}"
    assert all(len(os.fsencode(path)) <= MAX_PATH_BYTES for path in (first, second))


def test_letters_of_several_bytes_count_as_what_they_are(place: Path) -> None:
    first = next(find_socket_paths(place / ("ü" * 45), {}))
    assert first.parent == place / f"runwatch-{os.geteuid()}"


def test_a_shared_place_that_another_user_took_is_refused_with_a_way_around_it(place: Path) -> None:
    (place / f"runwatch-{os.geteuid()}").symlink_to(place)
    with pytest.raises(UntrustedSocketError) as refused:
        listen_on_socket(place / ("d" * 90), {})
    assert "is a link" in str(refused.value)
    assert "XDG_RUNTIME_DIR" in (refused.value.hint or "")
    assert [path.name for path in place.iterdir()] == [f"runwatch-{os.geteuid()}"]


def test_two_data_directories_with_long_paths_have_two_sockets(place: Path) -> None:
    one, other = (next(find_socket_paths(place / (letter * 90), {})) for letter in "ab")
    assert one != other


@pytest.mark.parametrize("runtime", ["relative", "/nowhere/at/all", ""])
def test_a_runtime_directory_that_is_invalid_is_not_used(runtime: str, place: Path) -> None:
    assert len(list(find_socket_paths(place, {"XDG_RUNTIME_DIR": runtime}))) == 2


def test_a_runtime_directory_of_another_user_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert len(list(find_socket_paths(place, {"XDG_RUNTIME_DIR": str(place)}))) == 2


def test_the_socket_of_a_service_that_was_killed_is_replaced(place: Path) -> None:
    with listening(place / "data") as path:
        pass
    assert path.is_socket()
    with pytest.raises(ConnectionRefusedError):
        connect_to_socket(path, 5)
    with listening(place / "data") as again:
        assert again == path
        connect_to_socket(path, 5).close()


def open_to_others(directory: Path) -> None:
    directory.chmod(0o770)


def as_a_link(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))
    directory.symlink_to("elsewhere")


def as_a_dangling_link(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))
    directory.symlink_to("nowhere")


def as_a_file(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))
    directory.write_bytes(b"")


def of_another_user(directory: Path) -> None:
    os.chown(directory, NOBODY, NOBODY)


PLANTED = [
    pytest.param(open_to_others, "open to other users", id="mode"),
    pytest.param(as_a_link, "is a link", id="link"),
    pytest.param(as_a_dangling_link, "is a link", id="dangling link"),
    pytest.param(as_a_file, "is not a directory", id="file"),
    pytest.param(of_another_user, f"belongs to user {NOBODY}", id="owner", marks=needs_root),
]


@pytest.mark.parametrize(("plant", "why"), PLANTED)
def test_a_planted_directory_is_neither_listened_in_nor_connected_through(
    plant: Callable[[Path], None], why: str, place: Path
) -> None:
    with listening(place / "data") as path:
        plant(path.parent)
        with pytest.raises(UntrustedSocketError, match=why) as caught:
            connect_to_socket(path, 5)
        assert "Nothing was sent" in (caught.value.hint or "")
    with pytest.raises(UntrustedSocketError, match=why), listening(place / "data"):
        pass


@pytest.mark.parametrize(("plant", "why"), PLANTED)
def test_a_planted_directory_in_the_shared_one_is_refused_too(
    plant: Callable[[Path], None], why: str, place: Path
) -> None:
    directory = place / f"runwatch-{os.geteuid()}"
    directory.mkdir(mode=0o700)
    plant(directory)
    with pytest.raises(UntrustedSocketError, match=why), listening(place / ("d" * 90)):
        pass


def test_what_is_no_socket_is_not_connected_to(place: Path) -> None:
    (place / "file").touch()
    with listening(place / "data") as path:
        (place / "link").symlink_to(path)
        for name in ("file", "link"):
            with pytest.raises(UntrustedSocketError, match="is no socket"):
                check_socket_path(place / name)


def test_a_directory_of_another_user_than_that_of_the_process_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(place / "data") as path:
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        with pytest.raises(UntrustedSocketError, match=f"belongs to user {me}, and this process runs as user {me + 1}"):
            connect_to_socket(path, 5)


@needs_root
def test_a_socket_that_belongs_to_another_user_is_not_connected_to(place: Path) -> None:
    with listening(place / "data") as path:
        os.chown(path, NOBODY, NOBODY)
        with pytest.raises(UntrustedSocketError, match=f"belongs to user {NOBODY}"):
            connect_to_socket(path, 5)


@needs_root
def test_a_process_of_another_user_behind_a_socket_that_looks_right_gets_no_byte(place: Path) -> None:
    path = place / "service.sock"
    command = [sys.executable, "-I", "-c", AS_NOBODY, str(path), str(NOBODY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        check_socket_path(path)
        with pytest.raises(UntrustedSocketError, match=f"user {NOBODY} listens on the socket"):
            connect_to_socket(path, 5)
        assert process.stdout.readline() == b"b''\n"


def test_a_peer_is_refused_when_it_is_another_user_or_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair()
    with one, other:
        check_socket_peer(one)
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        with pytest.raises(UntrustedSocketError, match=f"user {me} listens"):
            check_socket_peer(one)
        monkeypatch.setattr(service_socket, "_find_peer_user", lambda _: None)
        with pytest.raises(UntrustedSocketError, match="does not report"):
            check_socket_peer(one)


def test_a_file_system_that_holds_no_sockets_is_left_for_the_next_place(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bind = service_socket._bind

    def refuse(path: Path, backlog: int) -> socket.socket:
        if path.name == "service.sock":
            raise PermissionError(1, "Operation not permitted")
        return bind(path, backlog)

    monkeypatch.setattr(service_socket, "_bind", refuse)
    with listening(place / "data") as path:
        assert path.parent == place / f"runwatch-{os.geteuid()}"


def test_a_place_that_cannot_be_written_is_an_error_that_says_so(place: Path) -> None:
    (place / "data" / "run" / "service.sock" / "in the way").mkdir(parents=True)
    (place / "data" / "run").chmod(0o700)
    with pytest.raises(LocalServiceError, match="cannot listen on its socket") as caught, listening(place / "data"):
        pass
    assert "service.sock" in str(caught.value)
    assert "--data-dir" in (caught.value.hint or "")
