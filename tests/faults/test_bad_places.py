"""A place that cannot be used: a full disk, a home that is not to be written, data of a newer runwatch, damaged data.

Every command, the console and the service say which of these it is and what to do, and leave every file as it is; once
the place is in order again, everything that was ever acknowledged is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from runwatch.store.db.database import Database
from runwatch.store.repositories.notes import LocalNotes
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from tests.support.builders import RUN_ID, account, echo_events, open_run
from tests.support.cli import Cli
from tests.support.limited import narrow
from tests.support.scripted import ScriptedService, running_service
from tests.support.service import ServiceProcess
from tests.support.terminal import Terminal

KEY: Final = "solverapi_test_bad_places"
SCOPE: Final = Scope("work", "ten_01", "key_A1b2C3")
NOTED, WATCHED = "asked the owner on Monday", "ex_added_by_hand"

VERBS: Final = (
    ("runs", "list"),
    ("runs", "watch", RUN_ID),
    ("runs", "add", "ex_another"),
    ("problems", "list"),
    (
        *("runs", "submit", "--mode", "echo", "--objective", "Say nothing.", "--data-class", "public"),
        *("--max-cost-usd", "1", "--max-runtime-s", "60"),
    ),
)


@dataclass(frozen=True)
class Place:
    """What is wrong with a place.

    Attributes:
        spoil: Makes it so, given a database; the copy beside it is whole.
        console: Words that the console and its commands say of it: what it is, and what to do.
        service: Words that the service says of it.
        file_bytes: See :func:`narrow`.
        owner_only: See :func:`narrow`.
    """

    spoil: Callable[[Path], object]
    console: tuple[str, ...]
    service: tuple[str, ...]
    file_bytes: int | None = None
    owner_only: bool = False

    def command(self, command: Sequence[str]) -> list[str]:
        return narrow(command, file_bytes=self.file_bytes, owner_only=self.owner_only)


def make_newer(database: Path) -> None:
    """Say that a runwatch of the future wrote it."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 999")


def damage(database: Path) -> None:
    with database.open("r+b") as file:
        file.write(b"overwritten by something else " * 20)


def take_away_writing(database: Path) -> None:
    """Make the directory and everything in it read-only."""
    for path in (*sorted(database.parent.rglob("*")), database.parent):
        path.chmod(0o500 if path.is_dir() else 0o400)


def give_writing_back(directory: Path) -> None:
    """Let the owner write again."""
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


PLACES: Final = {
    "full disk": Place(
        lambda _: None, ("The console's data directory is not usable", "RUNWATCH_DATA_DIR"),
        ("The service's data", "space left"), file_bytes=0,
    ),
    "read-only": Place(
        take_away_writing, ("The console's data directory is not usable", "RUNWATCH_DATA_DIR"),
        ("is not usable", "--data-dir"), owner_only=True,
    ),
    "newer schema": Place(
        make_newer, ("The console's data was written by a newer runwatch", "Install a runwatch that knows schema 999"),
        ("was written by a newer version of runwatch", "Update runwatch"),
    ),
    "damaged": Place(
        damage, ("The console's database is damaged", "Nothing was deleted"),
        ("is damaged or not a database", "put a backup in its place"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Home:
    """A console's home that was used before.

    Attributes:
        cli: Its commands.
        service: What they call.
        database: Its database.
    """

    cli: Cli
    service: ScriptedService
    database: Path

    def files(self) -> Mapping[str, bytes]:
        """Every file of the data directory but the log."""
        data = self.database.parent
        return {
            str(file.relative_to(data)): file.read_bytes()
            for file in data.rglob("*")
            if file.is_file() and "log" not in file.relative_to(data).parts
        }


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    database = tmp_path / "runwatch-data" / "console.db"

    async def use() -> None:
        opened = Database.open(database)
        await LocalNotes(opened).write(SCOPE, "runs", RUN_ID, "note", NOTED)
        await WatchList(opened).add(SCOPE, [WATCHED])
        opened.close()

    asyncio.run(use())
    made = ScriptedService(
        runs=[open_run(RUN_ID, "completed")], events={RUN_ID: echo_events()}, account=account(), key=KEY
    )
    with running_service(made) as service:
        yield Home(Cli(tmp_path, base_url=service.base_url, api_key=KEY), service, database)
    give_writing_back(tmp_path)


@contextlib.contextmanager
def spoiled(place: Place, home: Home) -> Iterator[None]:
    """Yield the place; the block must change no file, and afterwards every stored record must be there."""
    whole = home.database.read_bytes()
    place.spoil(home.database)
    before = home.files()
    yield
    after = home.files()
    assert {name: after.get(name) for name in before} == before
    give_writing_back(home.database.parent)
    home.database.write_bytes(whole)

    async def look() -> None:
        opened = Database.open(home.database)
        try:
            assert await opened.faults() == []
            assert [note.text for note in await LocalNotes(opened).list_for(SCOPE, "runs")] == [NOTED]
            assert [watched.run_id for watched in await WatchList(opened).list(SCOPE)] == [WATCHED]
        finally:
            opened.close()

    asyncio.run(look())
    assert home.cli("runs", "add", RUN_ID).code == 0


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_verb_says_what_is_wrong_with_the_place_and_what_to_do_and_sends_nothing(place: Place, home: Home) -> None:
    with spoiled(place, home):
        for words in VERBS:
            done = subprocess.run(
                place.command(home.cli.command(*words)), env=home.cli.environment, capture_output=True, check=False
            )
            said = done.stderr.decode()
            assert (done.returncode, done.stdout) == (2, b""), (words, said)
            assert all(text in said for text in (*place.console, str(home.database.parent))), (words, said)
            assert "Traceback" not in said
        assert home.service.heard == []


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_the_console_says_what_is_wrong_with_the_place_and_what_to_do(place: Place, home: Home) -> None:
    command = place.command(home.cli.command())
    with (
        spoiled(place, home),
        Terminal(command, env=home.cli.environment, columns=200, rows=30) as terminal,
    ):
        for text in place.console:
            terminal.wait_for(text)
        terminal.wait_for("not connected")
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert b"Traceback" not in terminal.raw


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_the_service_says_what_is_wrong_with_the_place_and_what_to_do(place: Place, tmp_path: Path) -> None:
    # The service opens its own key with the master key of the one that starts it here.
    own = {"RUNWATCH_CONFIG": Cli(tmp_path).environment["RUNWATCH_CONFIG"]}
    with ServiceProcess(tmp_path / "service", env=own) as service:
        cli = Cli(tmp_path, base_url=service.base_url, api_key=service.api_key)
        made = cli(*VERBS[-1], "--json", code=0)
        service.stop()
        database = service.data_dir / "service.db"
        whole = database.read_bytes()
        place.spoil(database)
        spoiled_content = database.read_bytes()
        done = subprocess.run(
            place.command(cli.command("serve", "--json", "--data-dir", str(service.data_dir))),
            env=cli.environment, capture_output=True, check=False,
        )  # fmt: skip
        said = done.stderr.decode()
        assert (done.returncode, done.stdout) != (0, b"")
        assert all(text in said for text in (*place.service, str(service.data_dir))), said
        assert "Traceback" not in said
        assert database.read_bytes() == spoiled_content
        give_writing_back(service.data_dir)
        database.write_bytes(whole)
        service.start()
        listed = cli("runs", "list", "--json")
        assert [run["execution_id"] for run in listed.json] == [made.json["execution_id"]], listed.errors


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("full disk", ("The local service did not start", "full disk")),
        ("read-only", ("not usable", "Make it writable")),
    ],
)
def test_a_local_service_that_cannot_start_in_a_place_says_why(
    tmp_path: Path, place: str, words: tuple[str, ...]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    cli = Cli(home)
    if place == "read-only":
        home.chmod(0o500)
    done = subprocess.run(
        PLACES[place].command(cli.command("runs", "list", "--local")),
        env=cli.environment, capture_output=True, check=False,
    )  # fmt: skip
    home.chmod(0o700)
    assert (done.returncode, done.stdout) == (3, b"")
    assert all(word in done.stderr.decode() for word in words), done.stderr
