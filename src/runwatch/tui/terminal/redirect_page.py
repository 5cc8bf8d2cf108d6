"""Opening a private page in a browser without putting its address on a command line.

Every user of a machine can read process arguments, and the address is a secret. So the browser gets the path of a file
of mode 0600 that redirects to it (manual: security, "Terminal and process list"). Run as a program, this module opens
that file and removes it a minute later, whatever happens to the console.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Final

from runwatch.base.environment import without_own_variables
from runwatch.base.errors import RunwatchError
from runwatch.base.files import PRIVATE_FILE, private_directory
from runwatch.tui.terminal.desktop_tool import read_tool
from runwatch.view.actions.private_page import explain_browser_refusal

FILE_LIFETIME_S: Final = 60.0
"""How long the file stays, for a browser that has to start first."""

MAX_START_S: Final = 15.0
"""How long to wait for the browser to start; one that stays in the foreground never reports it."""

_DIRECTORY: Final = "redirect-"
_FILE: Final = "open.html"

_OPENED, _NO_BROWSER, _CONFINED = b"opened", b"none", b"confined"

_SETTINGS_S: Final = 5.0
"""How long the desktop may take to name its browser: it runs several programs for that."""

_READ_BYTES: Final = 8192
_CONFINING: Final = (b"/snap/bin/", b"flatpak run")
"""Marks of a sandboxed browser's launcher; such a browser cannot read the file."""

_DESKTOP_OPENERS: Final = {"xdg-open", "gio", "gvfs-open", "x-www-browser", "sensible-browser"}


def open_in_browser(address: str, data_dir: Path) -> None:
    """Open a private page in a browser.

    Args:
        data_dir: Directory of the redirect file, which stays for a minute.

    Raises:
        RunwatchError: The address must not be opened, the file cannot be written, or no browser can read it.
    """
    try:
        file = write_redirect_page(address, data_dir)
    except OSError as error:
        raise RunwatchError("The file for the browser cannot be written", detail=error.strerror) from error
    # -P keeps the working directory out of the module path.
    command = [sys.executable, "-P", "-m", "runwatch.tui.terminal.redirect_page", str(file)]
    try:
        said = subprocess.run(  # noqa: S603 - this module
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=without_own_variables(os.environ),
            timeout=MAX_START_S,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired:
        return
    except OSError:
        remove_redirect_page(file)
        said = _NO_BROWSER
    if said == _CONFINED:
        raise RunwatchError(
            "The browser of this desktop cannot read files of runwatch", detail="copy the address into it instead"
        )
    if said != _OPENED:
        raise RunwatchError("No browser could be opened", detail="copy the address into one instead")


def write_redirect_page(address: str, data_dir: Path) -> Path:
    """Write the redirect page, readable by its owner alone, in a new directory of its own.

    Raises:
        RunwatchError: The address is neither https nor on this machine.
        OSError: The file cannot be written.
    """
    why = explain_browser_refusal(address)
    if why is not None:
        raise RunwatchError("The address is not opened from here", detail=why)
    _remove_old(private_directory(data_dir))
    target = escape(address)
    content = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={target}"><title>runwatch</title></head>'
        f'<body><p><a href="{target}" rel="noreferrer">Open the private page</a></p></body></html>\n'
    )
    file = Path(tempfile.mkdtemp(prefix=_DIRECTORY, dir=data_dir)) / _FILE
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(file, flags, PRIVATE_FILE), "w", encoding="ascii") as opened:
        opened.write(content)
    return file


def remove_redirect_page(file: Path) -> None:
    """Remove a redirect page and its directory; harmless if missing."""
    with contextlib.suppress(OSError):
        file.unlink()
    with contextlib.suppress(OSError):
        file.parent.rmdir()


def _remove_old(data_dir: Path) -> None:
    """Remove files left after a crash of the machine."""
    for directory in data_dir.glob(f"{_DIRECTORY}*"):
        with contextlib.suppress(OSError):
            found = directory.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_mtime < time.time() - FILE_LIFETIME_S:
                remove_redirect_page(directory / _FILE)


def has_browser(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Return whether a graphical browser is likely; a terminal browser would write over the console."""
    if platform in {"darwin", "win32"}:
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def is_confined(program: str, environment: Mapping[str, str]) -> bool:
    """Return whether a browser is sandboxed (snap, flatpak), so that it cannot read runwatch's files.

    Of a desktop opener, the default browser is checked; the environment names the directories of desktop files.
    """
    found = shutil.which(program)
    if found is None:
        return False
    if Path(found).name not in _DESKTOP_OPENERS:
        return _is_sandbox_start(Path(found))
    name = _default_browser()
    home = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    shared = environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    directories = [home, *shared.split(":"), "/var/lib/snapd/desktop", "/var/lib/flatpak/exports/share"]
    files = [Path(directory) / "applications" / name for directory in directories if directory and name]
    return any(_is_sandbox_start(file) for file in files if file.is_file())


def _is_sandbox_start(file: Path) -> bool:
    actual = Path(os.path.realpath(file))
    if actual.parts[:2] == ("/", "snap") or actual.name in {"snap", "flatpak"}:
        return True
    try:
        with actual.open("rb") as opened:
            start = opened.read(_READ_BYTES)
    except OSError:
        return False
    return any(mark in start for mark in _CONFINING)


def _default_browser() -> str:
    """Return the name of the default browser's desktop file, or an empty text."""
    name = read_tool(("xdg-settings", "get", "default-web-browser"), _SETTINGS_S) or ""
    return "" if "/" in name else name


def _open(file: Path) -> bytes:
    if not has_browser(os.environ):
        return _NO_BROWSER
    try:
        program = str(getattr(webbrowser.get(), "name", ""))
    except webbrowser.Error:
        return _NO_BROWSER
    if is_confined(program, os.environ):
        return _CONFINED
    return _OPENED if webbrowser.open(file.as_uri()) else _NO_BROWSER


def main(file: Path, kept_s: float = FILE_LIFETIME_S) -> None:
    """Open a written page, print the outcome to standard output, and remove the page after a while."""
    if hasattr(os, "fork") and os.fork():
        os._exit(0)
    # The browser inherits the standard streams; its output must not reach the console.
    answer = os.dup(1)
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 1)
    end = threading.Timer(kept_s, remove_redirect_page, [file])
    end.start()
    said = _NO_BROWSER
    try:
        said = _open(file)
    finally:
        if said != _OPENED:
            end.cancel()
            remove_redirect_page(file)
        os.write(answer, said)
        os.close(answer)
    end.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
