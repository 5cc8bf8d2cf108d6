"""Opening a private page by a file: who can read it, where it leads, what a process list shows, when it is removed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from runwatch.base.errors import RunwatchError
from runwatch.tui.terminal.redirect_page import has_browser, is_confined, open_in_browser, write_redirect_page

TOKEN = "t0ken_0123456789abcdefghij"
ADDRESS = f"http://127.0.0.1:40213/connect/verifier?intent={TOKEN}"
WAIT_S = 60.0

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the modes of files are those of POSIX")


class Targets(HTMLParser):
    """Where a page leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the targets of links and refreshes."""
        named = dict(attrs)
        self.tags.add(tag)
        if tag == "a":
            self.found.append(named["href"] or "")
        if named.get("http-equiv") == "refresh":
            self.found.append((named["content"] or "").partition("url=")[2])


def program(path: Path, text: str) -> Path:
    """A program of these lines of shell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "address", [ADDRESS, "https://a.example/connect?intent=x&amp;y=\"><script>alert(1)</script>&z='", "http://[::1]:8/"]
)
def test_only_the_owner_can_read_the_page_and_it_leads_to_the_address_alone(tmp_path: Path, address: str) -> None:
    old = os.umask(0)
    try:
        file = write_redirect_page(address, tmp_path / "data")
    finally:
        os.umask(old)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    page = Targets(file.read_text())
    assert page.found == [address, address]
    assert "script" not in page.tags
    assert 'name="referrer" content="no-referrer"' in file.read_text()


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "http://models.example/", "https://a@b/", ""],
)
def test_an_address_that_is_no_private_page_is_not_written(tmp_path: Path, address: str) -> None:
    with pytest.raises(RunwatchError, match="not opened from here"):
        write_redirect_page(address, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_address_is_in_no_argument_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = 'echo "$1" > {0}/argument; cat "/proc/$PPID/cmdline" > {0}/parent; echo $PPID > {0}/pid'
    seen = program(tmp_path / "browser", record.format(tmp_path))
    monkeypatch.setenv("BROWSER", f"{seen} %s")
    open_in_browser(ADDRESS, tmp_path / "data")
    try:
        argument = (tmp_path / "argument").read_text().strip()
        (file,) = (tmp_path / "data").glob("redirect-*/open.html")
        assert argument == file.as_uri()
        assert TOKEN in file.read_text()
        assert TOKEN not in argument
        assert TOKEN.encode() not in (tmp_path / "parent").read_bytes()
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_neither_the_browser_nor_its_parent_gets_our_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = 'env > {0}/own; cat "/proc/$PPID/environ" > {0}/parent; echo $PPID > {0}/pid'
    monkeypatch.setenv("BROWSER", f"{program(tmp_path / 'browser', record.format(tmp_path))} %s")
    monkeypatch.setenv("OTHER_VARIABLE", "kept")
    monkeypatch.setenv("RUNWATCH_API_KEY", "rk_secret")
    open_in_browser(ADDRESS, tmp_path / "data")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    for told in ("own", "parent"):
        variables = (tmp_path / told).read_bytes()
        assert b"OTHER_VARIABLE=kept" in variables
        assert b"RUNWATCH_" not in variables


def test_the_page_is_removed_after_its_time_whatever_becomes_of_the_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", f"{program(tmp_path / 'browser', 'exit 0')} %s")
    file = write_redirect_page(ADDRESS, tmp_path / "data")
    work = (
        "from pathlib import Path; from runwatch.tui.terminal.redirect_page import main; "
        f"main(Path({str(file)!r}), 0.0)"
    )
    # What the console starts has ended here; what removes the page goes on by itself.
    assert subprocess.run([sys.executable, "-c", work], stdout=subprocess.PIPE, check=True).stdout == b"opened"
    deadline = time.monotonic() + WAIT_S
    while file.parent.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_page_that_a_dead_machine_left_is_removed_by_the_next(tmp_path: Path) -> None:
    old, other = write_redirect_page(ADDRESS, tmp_path), tmp_path / "other"
    other.mkdir()
    (other / "open.html").write_text("kept")
    (tmp_path / "redirect-link").symlink_to(other)
    for place in (old.parent, other):
        os.utime(place, (0, 0))
    new = write_redirect_page(ADDRESS, tmp_path)
    assert not old.parent.exists()
    assert new.exists()
    assert (other / "open.html").read_text() == "kept"


def test_without_a_browser_the_link_is_to_be_copied_and_no_page_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", f"{program(tmp_path / 'browser', 'exit 1')} %s")
    with pytest.raises(RunwatchError, match="No browser could be opened: copy the address"):
        open_in_browser(ADDRESS, tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []


def test_a_confined_browser_is_not_asked_for_a_file_that_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    browser = program(tmp_path / "firefox", f'touch {started}\nexit 0\nexec /snap/bin/firefox "$@"')
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with pytest.raises(RunwatchError, match="cannot read files of runwatch"):
        open_in_browser(ADDRESS, tmp_path / "data")
    assert not started.exists()
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize(
    ("start", "confined"),
    [
        ("env BAMF_DESKTOP_FILE_HINT=x /snap/bin/firefox %u", True),
        ("/usr/bin/flatpak run --file-forwarding org.mozilla.firefox @@u %u @@", True),
        ("/usr/lib/firefox/firefox %u", False),
    ],
)
def test_the_browser_that_the_desktop_names_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, confined: bool
) -> None:
    program(tmp_path / "bin" / "xdg-open", "exit 0")
    program(tmp_path / "bin" / "xdg-settings", "echo firefox.desktop")
    desktop = tmp_path / "share" / "applications" / "firefox.desktop"
    desktop.parent.mkdir(parents=True)
    desktop.write_text(f"[Desktop Entry]\nExec={start}\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert is_confined("xdg-open", {"XDG_DATA_DIRS": str(tmp_path / "share")}) is confined


def test_a_shell_without_a_desktop_has_no_browser() -> None:
    assert not has_browser({}, "linux")
    assert not has_browser({"DISPLAY": ""}, "linux")
    assert has_browser({"DISPLAY": ":0"}, "linux")
    assert has_browser({"WAYLAND_DISPLAY": "wayland-0"}, "linux")
    assert has_browser({"BROWSER": "firefox"}, "linux")
    assert has_browser({}, "darwin")
