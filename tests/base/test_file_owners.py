"""Files and directories that other users own or may change, links and pipes in the place of a file."""

from __future__ import annotations

import grp
import logging
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from runwatch.base import files
from runwatch.base.errors import DataError
from runwatch.base.files import (
    FileLock,
    UnsafePlaceError,
    check_data_dir,
    check_place,
    open_private_append,
    read_private,
)
from runwatch.base.log import LOG_BYTES, start_log
from runwatch.base.shell_words import quote_word

GROUP = 54_321


@pytest.fixture
def _shared_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """No group is the user's alone, whichever users this machine has."""
    monkeypatch.setattr(files, "_is_own_group", lambda _: False)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A file in a directory in a directory, all of this user's alone."""
    directory = tmp_path / "above" / "directory"
    directory.mkdir(parents=True, mode=0o700)
    (tmp_path / "above").chmod(0o700)
    file = directory / "file"
    file.write_text("content")
    file.chmod(0o600)
    return file


class TestPlace:
    def test_what_is_ones_own_and_what_is_missing_is_fine(self, place: Path) -> None:
        check_place(place)
        check_place(place.parent / "missing" / "below")

    @pytest.mark.usefixtures("_shared_group")
    @pytest.mark.parametrize("levels", [0, 1, 2])
    @pytest.mark.parametrize("mode", [0o757, 0o775, 0o777])
    def test_others_may_write_at_no_level(self, mode: int, levels: int, place: Path) -> None:
        at = (place, *place.parents)[levels]
        at.chmod(mode)
        with pytest.raises(UnsafePlaceError) as told:
            check_place(place)
        assert told.value.path == at
        assert told.value.mend == f"chmod go-w {at}"
        assert f"mode {mode:04o}" in str(told.value)

    def test_a_directory_with_the_sticky_bit_may_be_above_and_is_no_place_itself(self, place: Path) -> None:
        place.parent.chmod(0o1777)
        check_place(place)
        with pytest.raises(UnsafePlaceError):
            check_place(place.parent)

    def test_a_link_leads_to_no_other_place(self, place: Path, tmp_path: Path) -> None:
        link = tmp_path / "link"
        link.symlink_to(place)
        check_place(link)
        place.parent.chmod(0o777)
        with pytest.raises(UnsafePlaceError):
            check_place(link)

    def test_a_link_in_a_directory_of_others_is_refused_wherever_it_leads(self, place: Path, tmp_path: Path) -> None:
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        theirs.chmod(0o777)
        (theirs / "link").symlink_to(place)
        with pytest.raises(UnsafePlaceError):
            check_place(theirs / "link")

    def test_another_owner_is_refused_and_root_is_not(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
        if place.stat().st_uid == 0:
            check_place(place)
            os.chown(place, 4711, -1)
        with pytest.raises(UnsafePlaceError, match="belongs to another user"):
            check_place(place)

    @pytest.mark.parametrize(
        ("group", "members", "primary", "accepted"),
        [
            ("me", [], GROUP, True),
            ("me", ["me"], GROUP, True),
            ("me", ["me", "you"], GROUP, False),
            ("staff", [], GROUP, False),
            ("me", [], GROUP + 1, False),
        ],
    )
    def test_a_group_that_is_the_user_alone_may_write(
        self,
        group: str,
        members: list[str],
        primary: int,
        accepted: bool,
        place: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(grp, "getgrgid", lambda _: SimpleNamespace(gr_name=group, gr_mem=members))
        monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="me", pw_gid=primary))
        assert files._is_own_group.__wrapped__(GROUP) is accepted

    def test_the_group_of_a_file_is_what_counts(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        place.chmod(0o664)
        monkeypatch.setattr(files, "_is_own_group", lambda group: group == place.stat().st_gid)
        check_place(place)
        assert files.is_readable_by_others(place.stat())
        place.chmod(0o660)
        assert not files.is_readable_by_others(place.stat())

    @pytest.mark.usefixtures("_shared_group")
    def test_a_data_directory_of_others_is_an_error_with_the_command_that_mends_it(self, place: Path) -> None:
        check_data_dir(place.parent)
        place.parent.chmod(0o770)
        with pytest.raises(DataError) as told:
            check_data_dir(place.parent)
        assert f"chmod go-w {place.parent}" in str(told.value.hint)

    @pytest.mark.usefixtures("_shared_group")
    @pytest.mark.parametrize("name", ["a;touch pwned", "b$(touch pwned)", "c\ntouch pwned", "d e"])
    def test_the_name_in_that_command_is_one_word_of_it(self, name: str, place: Path) -> None:
        directory = place.parent / name
        directory.mkdir(mode=0o700)
        directory.chmod(0o777)
        with pytest.raises(DataError) as told:
            check_data_dir(directory)
        assert f"Run chmod go-w {quote_word(str(directory))} or name" in str(told.value.hint)


class TestPrivateFile:
    def test_it_is_read_up_to_its_bound(self, place: Path) -> None:
        assert read_private(place, max_bytes=7) == b"content"
        with pytest.raises(UnsafePlaceError, match="larger than 6 bytes"):
            read_private(place, max_bytes=6)

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610])
    def test_others_may_do_nothing_with_it(self, mode: int, place: Path) -> None:
        place.chmod(mode)
        with pytest.raises(UnsafePlaceError) as told:
            read_private(place, max_bytes=100)
        assert told.value.mend == f"chmod 600 {place}"

    def test_a_link_is_followed_only_where_it_may_be_one(self, place: Path, tmp_path: Path) -> None:
        link = tmp_path / "link"
        link.symlink_to(place)
        assert read_private(link, max_bytes=100, follows_links=True) == b"content"
        with pytest.raises(UnsafePlaceError, match="symbolic link"):
            read_private(link, max_bytes=100)

    def test_a_pipe_or_a_directory_is_no_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe", 0o600)
        for path in (tmp_path / "pipe", tmp_path):
            with pytest.raises(UnsafePlaceError, match="not a regular file"):
                read_private(path, max_bytes=100)

    def test_another_owner_is_refused(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(UnsafePlaceError, match="another user"):
            read_private(place, max_bytes=100)
        with pytest.raises(UnsafePlaceError, match="another user"):
            open_private_append(place)


@pytest.fixture
def _fresh_log() -> Iterator[None]:
    logger = logging.getLogger("runwatch")
    before = (list(logger.handlers), logger.level, logger.propagate)
    yield
    for handler in [handler for handler in logger.handlers if handler not in before[0]]:
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(before[1])
    logger.propagate = before[2]


def plant(kind: str, path: Path, victim: Path) -> None:
    """Put something in the place of a log that leads elsewhere."""
    victim.write_text("precious\n")
    if kind == "link":
        path.symlink_to(victim)
    elif kind == "dangling":
        path.symlink_to(victim.with_name("missing"))
    elif kind == "hard link":
        path.hardlink_to(victim)
    else:
        os.mkfifo(path)


@pytest.mark.parametrize("kind", ["link", "dangling", "hard link", "pipe"])
class TestPlanted:
    def test_nothing_planted_is_appended_to(self, kind: str, tmp_path: Path) -> None:
        victim, path = tmp_path / "victim", tmp_path / "file"
        plant(kind, path, victim)
        with pytest.raises(UnsafePlaceError):
            open_private_append(path)
        assert victim.read_text() == "precious\n"
        assert not victim.with_name("missing").exists()

    @pytest.mark.usefixtures("_fresh_log")
    def test_the_log_writes_into_nothing_planted(self, kind: str, tmp_path: Path) -> None:
        victim, path = tmp_path / "victim", tmp_path / "log" / "runwatch.log"
        path.parent.mkdir()
        plant(kind, path, victim)
        assert start_log(path) is None
        logging.getLogger("runwatch").warning("a line")
        assert victim.read_text() == "precious\n"
        assert not victim.with_name("missing").exists()


@pytest.mark.usefixtures("_fresh_log")
def test_a_log_that_is_exchanged_for_a_link_before_it_rotates_writes_no_further(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "runwatch.log"
    victim.write_text("precious\n")
    assert start_log(path) is not None
    logger = logging.getLogger("runwatch")
    path.with_name("runwatch.log.1").symlink_to(victim)
    logger.warning("x" * LOG_BYTES)
    logger.warning("behind the rotation")
    assert "behind the rotation" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert victim.read_text() == "precious\n"


def test_a_lock_is_made_behind_no_link(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "missing")
    with pytest.raises(OSError, match="symbolic links"):
        FileLock(tmp_path / "lock").acquire(wait=False)
    assert not (tmp_path / "missing").exists()
