"""A real browser: Debian's Chromium, driven through the private pages by selenium.

Tests that need it are skipped with the reason where it is missing; with ``RUNWATCH_NEED_BROWSER`` in the environment,
as ``.ci/run`` sets it, they fail instead.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import pytest
from axe_selenium_python import Axe
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.ui import WebDriverWait

from tests.support.environment import clean_environment

T = TypeVar("T")

NEED: Final = "RUNWATCH_NEED_BROWSER"
"""The variable that makes a missing browser a failure."""

INSTALL: Final = "apt-get install -y chromium chromium-driver"
"""What to type where the browser is missing."""

WAIT_S: Final = 30.0
"""How long a busy machine may take to show a page."""

# Read before the environment of every test is cleaned.
_IS_NEEDED: Final = bool(os.environ.get(NEED))

_ARGUMENTS: Final = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


class Programs(NamedTuple):
    """Where the browser and its driver are."""

    browser: str
    driver: str


def find_programs(find: Callable[[str], str | None] = shutil.which) -> Programs | str:
    """The browser and its driver, or why tests that need them cannot run here."""
    found = {name: find(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        return f"{' and '.join(missing)} not found; on Debian: {INSTALL}"
    return Programs(str(found["chromium"]), str(found["chromedriver"]))


def need_programs(found: Programs | str, *, is_needed: bool) -> Programs:
    """The programs; skips the test, or fails it, where they are missing."""
    if isinstance(found, Programs):
        return found
    if is_needed:
        pytest.fail(f"{NEED} is set, and {found}")
    pytest.skip(found)


class Browser:
    """One browser window as a test uses it. Each step runs in a thread, so that a service in the loop can answer.

    Args:
        driver: The driven Chromium.
    """

    def __init__(self, driver: Chrome) -> None:
        self._driver: Final = driver

    async def call(self, work: Callable[[Chrome], T]) -> T:
        """Have the driver do something."""
        return await asyncio.to_thread(work, self._driver)

    async def open(self, address: str) -> None:
        """Open an address and wait until the page is there."""
        await self.call(lambda driver: driver.get(address))

    async def text(self) -> str:
        return await self.call(lambda driver: driver.find_element(By.TAG_NAME, "body").text)

    async def title(self) -> str:
        """The page's first heading."""
        return await self.call(lambda driver: driver.find_element(By.TAG_NAME, "h1").text)

    async def address(self) -> str:
        return await self.call(lambda driver: driver.current_url)

    async def source(self) -> str:
        """The page as it came, with what scripts could read of it."""
        return await self.call(lambda driver: driver.page_source)

    async def evaluate(self, script: str) -> Any:
        return await self.call(lambda driver: driver.execute_script(f"return {script}"))

    async def type(self, *keys: str) -> None:
        await self.call(lambda driver: driver.switch_to.active_element.send_keys(*keys))

    async def tab(self) -> str:
        """Move the focus on, and say to what: its tag and its id or text."""

        def press(driver: Chrome) -> str:
            driver.switch_to.active_element.send_keys(Keys.TAB)
            return _name(driver.switch_to.active_element)

        return await self.call(press)

    async def focused(self) -> str:
        """What has the focus: its tag and its id or text."""
        return await self.call(lambda driver: _name(driver.switch_to.active_element))

    async def follow(self, selector: str) -> None:
        """Click something that leads to another page, and wait for that page."""
        await self._leave(lambda driver: driver.find_element(By.CSS_SELECTOR, selector).click())

    async def enter(self) -> None:
        """Send the form of the focused input by the Enter key, and wait for the page that answers it."""
        await self._leave(lambda driver: driver.switch_to.active_element.send_keys(Keys.ENTER))

    async def reload(self) -> None:
        """Load the page again."""
        await self._leave(lambda driver: driver.refresh())

    async def back(self) -> None:
        """Go to the page before."""
        await self._leave(lambda driver: driver.back())

    async def until(self, condition: Callable[[Chrome], bool]) -> None:
        """Wait until something is so."""
        await self.call(lambda driver: WebDriverWait(driver, WAIT_S, poll_frequency=0.05).until(condition))

    async def resize(self, width: int, height: int = 800, *, is_dark: bool = False) -> None:
        """Give the page this size in CSS pixels, and the colours of a light or a dark desktop."""

        def emulate(driver: Chrome) -> None:
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

        await self.call(emulate)

    async def violations(self) -> list[str]:
        """The accessibility rules that the page breaks, with where."""

        def run(driver: Chrome) -> list[str]:
            axe = Axe(driver)
            axe.inject()
            found = axe.run()["violations"]
            return [f"{each['id']}: {[node['html'] for node in each['nodes']]}" for each in found]

        return await self.call(run)

    async def picture(self, path: Path) -> None:
        await self.call(lambda driver: driver.save_screenshot(str(path)))

    async def complaints(self) -> list[str]:
        """What the browser has warned of since it was asked last; a status of failure is no warning."""
        lines = await self.call(_read_log)
        return [
            line["message"] for line in lines if line["level"] in {"WARNING", "SEVERE"} and line["source"] != "network"
        ]

    async def _leave(self, act: Callable[[Chrome], object]) -> None:
        def go(driver: Chrome) -> None:
            before = driver.find_element(By.TAG_NAME, "html")
            act(driver)
            # A question asked while the browser changes from one page to the other may fail in many ways.
            wait = WebDriverWait(driver, WAIT_S, poll_frequency=0.05, ignored_exceptions=[WebDriverException])
            wait.until(staleness_of(before))
            wait.until(lambda each: each.execute_script("return document.readyState") == "complete")

        await self.call(go)


def _read_log(driver: Chrome) -> list[dict[str, Any]]:
    """What was written to the console since this was called last."""
    lines: list[dict[str, Any]] = driver.execute("getLog", {"type": "browser"})["value"]
    return lines


def _name(element: WebElement) -> str:
    return f"{element.tag_name} {element.get_attribute('id') or element.text}".strip()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One Chromium for all tests of this process, with its own home and profile."""
    programs = need_programs(find_programs(), is_needed=_IS_NEEDED)
    home = tmp_path_factory.mktemp("browser")
    options = ChromeOptions()
    options.binary_location = programs.browser
    for argument in (*_ARGUMENTS, f"--user-data-dir={home / 'profile'}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options, Service(programs.driver, env=clean_environment(home)))
    try:
        driver.set_page_load_timeout(WAIT_S)
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def browser(chromium: Chrome) -> Browser:
    """The browser without cookies, at an empty page."""
    chromium.get("about:blank")
    chromium.execute_cdp_cmd("Network.clearBrowserCookies", {})
    _read_log(chromium)
    return Browser(chromium)
