"""Cut the writing of files at any line, one process a cut: ``python -m tests.base.cutter DIRECTORY STEP``.

Each job writes a file that is there already. A child does the job and ends, as by a kill, at the first line of Python
within the modules that write; the next child STEP lines later; and so on until a child comes to its end. After each cut
the file is read by the code that uses it. Prints one JSON object: cuts by job, and what was found wrong. Nothing
is flushed to the disk here: a kill takes nothing from the system's memory, and flushing thousands of times takes long.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from runwatch.base.files import copy_aside, write_atomic
from runwatch.base.network.service_file import ServiceFile, read_service_file, write_service_file
from runwatch.base.secrets.sealing import MasterKey, MasterKeys, is_sealed
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.vault import DIRECTORY, Vault
from runwatch.settings.key_store import KeyFile, StoredKey
from runwatch.settings.settings_file import load_settings_file, write_setting
from runwatch.settings.view_state import ViewState, load_view_state, save_view_state
from tests.support.master_keys import MASTER_KEYS

CUT: Final = 9
"""The status with which a child ends that was cut."""

WATCHED: Final = (
    "/runwatch/base/files.py", "/runwatch/base/network/service_file.py", "/runwatch/settings/",
    "/runwatch/service/access/vault.py", "/tempfile.py", "/pathlib.py", "/base/cutter.py",
)  # fmt: skip
"""Where lines are counted: everything between a caller and the system."""

ORIGIN: Final = "https://api.example.com"
NEW_KEY: Final = MasterKey(b"n" * 32)
OLD, NEW = b"old " * 500, b"new " * 800


@dataclass(frozen=True)
class Job:
    """One way to write a file.

    Attributes:
        begin: Makes the file with its old content.
        write: Writes the new content.
        read: What a reader gets, as anything that can be compared; raises when the file cannot be read.
    """

    begin: Callable[[Path], object]
    write: Callable[[Path], object]
    read: Callable[[Path], object]


def in_pieces(path: Path) -> None:
    """The new content in many pieces, as exports are written."""
    write_atomic(path, (NEW[start : start + 32] for start in range(0, len(NEW), 32)))


def put_key(path: Path, text: str) -> None:
    KeyFile(path).put("work", StoredKey(ORIGIN, Secret(text)))


def read_key(path: Path) -> str | None:
    kept = KeyFile(path).get("work")
    return None if kept is None else kept.key.reveal()


def service_file(path: Path, port: int) -> ServiceFile:
    """What a service that listens on a port says; its directory is that of the file."""
    return ServiceFile(f"http://127.0.0.1:{port}", Secret("rw_key"), path.parent, port)


def read_port(path: Path) -> int:
    """The port that a search for the service finds."""
    found = read_service_file(path.parent)
    if found is None:
        raise ValueError("the file cannot be read")
    return found.pid


def read_retries(path: Path) -> int:
    """A setting, from a file without problems."""
    loaded = load_settings_file(path)
    if loaded.problems:
        raise ValueError(str(loaded.problems))
    retries: int = loaded.settings.retries
    return retries


SECRET: Final = b"sk-plain-of-0.1.0"
HANDLE: Final = "cred_v_" + "0" * 32


def put_plain(path: Path) -> None:
    """A secret as version 0.1.0 kept it, next to one that is already sealed."""
    secrets = path.parent / DIRECTORY
    write_atomic(secrets / HANDLE, SECRET)
    write_atomic(secrets / f"{HANDLE[:-1]}1", MASTER_KEYS.seal(SECRET, f"{HANDLE[:-1]}1"))


def take_over(path: Path) -> None:
    """Take the secrets over, with a new master key."""
    vault = Vault(path.parent, MasterKeys((NEW_KEY, *MASTER_KEYS.keys)))
    if vault._take_over():
        raise ValueError("a secret cannot be opened")


def read_secrets(path: Path) -> list[bytes]:
    """What the files hold for the service."""
    keys = MasterKeys((NEW_KEY, *MASTER_KEYS.keys))
    files = [path.parent / DIRECTORY / name for name in (HANDLE, f"{HANDLE[:-1]}1")]
    contents = [(file.name, file.read_bytes()) for file in files]
    return [keys.open(content, name) if is_sealed(content) else content for name, content in contents]


JOBS: Final = {
    "a file": Job(lambda path: write_atomic(path, OLD), lambda path: write_atomic(path, NEW), Path.read_bytes),
    "a file in pieces": Job(lambda path: write_atomic(path, OLD), in_pieces, Path.read_bytes),
    "a copy set aside": Job(
        lambda path: write_atomic(path, OLD), lambda path: copy_aside(path, "bad"), Path.read_bytes,
    ),
    "settings": Job(
        lambda path: write_setting(path, "retries", 0), lambda path: write_setting(path, "retries", 1), read_retries,
    ),
    "a key": Job(lambda path: put_key(path, "rw_old_key"), lambda path: put_key(path, "rw_new_key"), read_key),
    "service.json": Job(
        lambda path: write_service_file(service_file(path, 1), MASTER_KEYS),
        lambda path: write_service_file(service_file(path, 2), MASTER_KEYS), read_port,
    ),
    "secrets of 0.1.0": Job(put_plain, take_over, read_secrets),
    "a session": Job(
        lambda path: save_view_state(path, ViewState("runs")), lambda path: save_view_state(path, ViewState("models")),
        load_view_state,
    ),
}  # fmt: skip


def cut_at(number: int, job: Job, path: Path) -> bool:
    """Do the job in a child that ends at that line; whether it came to its end before."""
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status not in {0, CUT}:
            raise RuntimeError(f"the child ended with {status}")
        return status == 0
    left = number

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not any(part in frame.f_code.co_filename for part in WATCHED):
            return None
        if event == "line":
            left -= 1
            if left < 0:
                os._exit(CUT)
        return trace

    try:
        sys.settrace(trace)
        job.write(path)
        sys.settrace(None)
        os._exit(0)
    except BaseException:
        os._exit(1)


def cut_everywhere(job: Job, directory: Path, first: int, step: int) -> tuple[int, list[str]]:
    """How many cuts one job took, from its first one on, and what was wrong after which line."""
    path = directory / "file.toml"
    job.begin(path)
    old = job.read(path)
    job.write(path)
    new = job.read(path)
    wrong: list[str] = []
    for cuts, at in enumerate(itertools.count(first, step)):
        job.begin(path)
        is_done = cut_at(at, job, path)
        try:
            found = job.read(path)
            if found not in ((new,) if is_done else (old, new)):
                wrong.append(f"line {at}: neither old nor new")
            job.write(path)
            if job.read(path) != new:
                wrong.append(f"line {at}: not written afterwards")
        except Exception as error:
            wrong.append(f"line {at}: {error!r}")
        if is_done:
            return cuts, wrong
    raise AssertionError("there is no end of lines")


def _flush(fd: object) -> None:
    """Nothing."""


def main(directory: Path, step: int) -> None:
    """Cut every job."""
    told: dict[str, Any] = {}
    os.fsync = _flush
    for number, (name, job) in enumerate(JOBS.items()):
        place = directory / str(number)
        place.mkdir(mode=0o700)
        cuts, wrong = cut_everywhere(job, place, number % step, step)
        told[name] = {"cuts": cuts, "wrong": wrong}
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
