"""``runwatch web`` as a process, and what a real browser shows of its consoles."""

from __future__ import annotations

import base64
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.support.browser import WAIT_S, Browser
from tests.support.environment import clean_environment
from tests.support.screen import Screen

START_S: Final = 60.0

RECORDER: Final = """
(() => {
  if (window.shown) return;
  const Plain = window.WebSocket;
  window.shown = [];
  window.WebSocket = class extends Plain {
    constructor(url) {
      super(url);
      const asked = new URL(url).searchParams;
      window.cells = [Number(asked.get("width")), Number(asked.get("height"))];
      window.socket = this;
      this.addEventListener("message", (event) => {
        if (typeof event.data === "string") return;
        const bytes = new Uint8Array(event.data);
        window.shown.push(btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")));
      });
    }
    send(text) {
      const [kind, told] = JSON.parse(text);
      if (kind === "resize" && String([told.width, told.height]) !== String(window.cells)) {
        // The console draws everything again.
        window.cells = [told.width, told.height];
        window.shown = [];
      }
      super.send(text);
    }
  };
})();
"""
"""Keeps what a page's socket has received. The terminal itself is a canvas, which cannot be read."""


class WebConsoles:
    """A running ``runwatch web``.

    Attributes:
        link: The link that was printed last.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process: Final = process
        self.link = self.next_link()

    def next_link(self) -> str:
        """Wait for the next link that is printed.

        Raises:
            AssertionError: It printed none in a minute.
        """
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], START_S)
        line = self._process.stdout.readline() if readable else b""
        assert line, "no link was printed"
        self.link = line.decode().strip()
        return self.link

    @property
    def consoles(self) -> list[int]:
        """The processes of its consoles."""
        pid = self._process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def command_lines(self) -> bytes:
        """The command lines of its consoles."""
        return b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.consoles)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal, and return its exit code."""
        self._process.send_signal(number)
        return self._process.wait(START_S)


def settings_with_profile(home: Path, name: str) -> Path:
    """Write a settings file with one profile, whose service answers nothing."""
    file = home / "settings.toml"
    file.write_text(f'[profiles.{name}]\nbase_url = "http://127.0.0.1:1"\n')
    file.chmod(0o600)
    return file


@contextmanager
def web_consoles(home: Path, *words: str, env: Mapping[str, str]) -> Iterator[WebConsoles]:
    """``runwatch web`` while the block runs.

    Args:
        home: Where its settings and data are.
        words: Its options.
        env: More of its environment.
    """
    command = [sys.executable, "-m", "runwatch", "web", *words]
    log = home / "web.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=clean_environment(home, env),
        ) as process,
    ):
        try:
            yield WebConsoles(process)
        finally:
            process.kill()


class ShownConsole:
    """The console that a browser shows.

    Args:
        browser: At the page of a console, or about to open one.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser: Final = browser

    @classmethod
    async def recording(cls, browser: Browser) -> ShownConsole:
        """Make every page that the browser opens from now on keep what it shows, in a window of usual size."""
        await browser.resize(1200)
        await browser.call(
            lambda driver: driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": RECORDER})
        )
        return cls(browser)

    async def screen(self) -> Screen:
        """What the terminal shows now."""
        columns, rows = await self.browser.evaluate("window.cells || [80, 24]")
        screen = Screen(columns, rows)
        for piece in await self.browser.evaluate("window.shown || []"):
            screen.feed(base64.b64decode(piece))
        return screen

    async def wait_for(self, text: str, *, gone: bool = False) -> Screen:
        """Wait until the terminal shows a text, or shows it no more.

        Raises:
            AssertionError: It did not come to that.
        """
        deadline = time.monotonic() + WAIT_S
        while True:
            screen = await self.screen()
            if (text in screen.text) is not gone:
                return screen
            assert time.monotonic() < deadline, f"{text!r} {'stays' if gone else 'is missing'} in:\n{screen.text}"

    async def press(self, *keys: str) -> None:
        await self.browser.call(lambda driver: ActionChains(driver).send_keys(*keys).perform())

    async def press_control(self, key: str) -> None:
        """Press a key while the control key is held."""
        await self.browser.call(
            lambda driver: ActionChains(driver).key_down(Keys.CONTROL).send_keys(key).key_up(Keys.CONTROL).perform()
        )

    async def click(self, text: str) -> None:
        """Click the first cell of a text on the terminal."""
        screen = await self.wait_for(text)
        row = next(number for number, line in enumerate(screen.lines) if text in line)
        column = screen.lines[row].index(text)
        columns, rows = await self.browser.evaluate("window.cells")

        def click(driver: Chrome) -> None:
            area = driver.find_element(By.CSS_SELECTOR, ".xterm-screen")
            width, height = area.size["width"] / columns, area.size["height"] / rows
            # Offsets are from the middle of the element.
            x, y = (column + 0.5 - columns / 2) * width, (row + 0.5 - rows / 2) * height
            ActionChains(driver).move_to_element_with_offset(area, round(x), round(y)).click().perform()

        await self.browser.call(click)


def pasted(driver: Chrome, keys: Any) -> str:
    """Return what a paste gives on a page of another site."""
    driver.get("data:text/html,<textarea autofocus></textarea>")
    area = driver.find_element(By.TAG_NAME, "textarea")
    area.send_keys(*keys)
    return str(area.get_property("value"))


def is_alive(pid: int) -> bool:
    """Whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
