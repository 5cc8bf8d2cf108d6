"""``runwatch web`` in a real Chromium: keys, mouse, copies, downloads, sizes, lost connections, and foreign pages.

``RUNWATCH_PAGE_PICTURES=screenshots`` makes the picture of the manual.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from tests.support.browser import Browser, browser, chromium
from tests.support.http1 import answer_bytes, read_head
from tests.support.listening import Listening
from tests.support.scripted import ScriptedService
from tests.support.web_console import ShownConsole, WebConsoles, is_alive, pasted, settings_with_profile, web_consoles
from tests.tui import noon
from tests.tui.console import KEY

__all__ = ["browser", "chromium"]

PICTURES: Final = os.environ.get("RUNWATCH_PAGE_PICTURES")
FAILED: Final = "5c9d03f4"
"""The beginning of a run's id in the list."""

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def served(tmp_path: Path, noon_service: ScriptedService) -> Iterator[WebConsoles]:
    """Consoles of that service, one at once."""
    env = {"RUNWATCH_BASE_URL": noon_service.base_url, "RUNWATCH_API_KEY": KEY}
    with web_consoles(tmp_path, "--max-consoles", "1", env=env) as running:
        yield running


async def over(browser: Browser, title: str) -> None:
    """Wait until the page says that the console is over."""
    await browser.until(lambda driver: driver.execute_script("return document.querySelector('#over[open]') !== null"))
    assert await browser.title() == title
    assert await browser.violations() == []


async def test_a_console_is_used_with_keys_and_mouse_and_is_read_only(
    served: WebConsoles, browser: Browser, tmp_path: Path
) -> None:
    shown = await ShownConsole.recording(browser)
    await browser.open(served.link)
    screen = await shown.wait_for(FAILED)
    assert "READ-ONLY" in screen.text
    assert "environment" in screen.text
    await shown.click(FAILED)
    await shown.wait_for("─ 5c9d…80b1  ✗ failed")
    await shown.press("+")
    await shown.wait_for("read-only")
    await shown.press(Keys.ESCAPE)
    await shown.wait_for("┏━ Runs")
    await browser.picture(Path(PICTURES or tmp_path) / "web.png")
    # Software rendering is what a machine without a screen has.
    assert [each for each in await browser.complaints() if "WebGL" not in each] == []
    sources = await browser.source() + str(await browser.evaluate("document.cookie"))
    assert KEY not in sources + served.command_lines().decode()
    assert await browser.evaluate(
        "performance.getEntriesByType('resource').map((each) => new URL(each.name).host)"
    ) == [urlsplit(served.link).netloc] * await browser.evaluate("performance.getEntriesByType('resource').length")
    await browser.resize(700, 500)
    await shown.wait_for("Summary", gone=True)
    await shown.press("q", "q")
    await over(browser, "The console has ended")


async def test_copies_reach_the_clipboard_and_exports_the_downloads(
    served: WebConsoles, browser: Browser, tmp_path: Path
) -> None:
    downloads = tmp_path / "downloads"
    await browser.call(
        lambda driver: driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)}
        )
    )
    shown = await ShownConsole.recording(browser)
    await browser.open(served.link)
    await shown.wait_for(FAILED)
    await shown.press(":")
    await shown.wait_for("enter runs it")
    await shown.press(*"export ../../runs.csv", Keys.ENTER)
    await shown.wait_for("goes to the browser's downloads")
    await browser.until(lambda driver: (downloads / "runs.csv").exists())
    assert noon.DONE in (downloads / "runs.csv").read_text("utf-8")
    assert not list((tmp_path / "runwatch-data" / "exports").iterdir())
    await shown.press("y")
    await shown.wait_for("by the browser")
    # Without a selection, ctrl+c neither ends the console nor changes the clipboard.
    await shown.press_control("c")
    await shown.wait_for("Nothing is selected")
    await shown.press("/")
    await shown.wait_for("enter apply")
    await shown.press_control("v")
    await shown.wait_for("1/9")
    assert (await browser.call(lambda driver: pasted(driver, (Keys.CONTROL, "v")))).startswith("77ab4411")


async def test_a_console_opens_again_after_a_lost_connection_and_all_end_with_the_server(
    served: WebConsoles, browser: Browser
) -> None:
    shown = await ShownConsole.recording(browser)
    await browser.open(served.link)
    await shown.wait_for(FAILED)
    (first,) = served.consoles
    await shown.press("5")
    await shown.wait_for("Output checks")
    await browser.evaluate("(window.lost = true, window.socket.close())")
    await browser.until(
        lambda driver: driver.execute_script("return !window.lost && document.readyState") == "complete"
    )
    # On the screen where it was.
    await shown.wait_for("Output checks")
    (second,) = served.consoles
    assert second != first
    assert not is_alive(first)
    assert served.stop() == 0
    assert not is_alive(second)
    await over(browser, "The connection is lost")


async def test_a_profile_that_was_removed_meanwhile_ends_on_a_page_that_says_what_to_do(
    tmp_path: Path, browser: Browser
) -> None:
    settings = settings_with_profile(tmp_path, "nowhere")
    with web_consoles(tmp_path, "--profile", "nowhere", env={"RUNWATCH_CONFIG": str(settings)}) as served:
        settings.unlink()
        await browser.open(served.link)
        await over(browser, "The console cannot start")
        text = await browser.text()
        assert "config set profiles.nowhere.base_url" in text
        assert "Who runs 'runwatch web' has the same text" in text


async def test_a_used_link_a_full_server_and_another_name_of_this_machine_are_refused(
    served: WebConsoles, browser: Browser
) -> None:
    link = served.link
    shown = await ShownConsole.recording(browser)
    await browser.open(link)
    await shown.wait_for(FAILED)
    page = await browser.address()

    def in_another_tab(driver: Chrome) -> None:
        driver.switch_to.new_window("tab")

    before = await browser.call(lambda driver: driver.current_window_handle)
    await browser.call(in_another_tab)
    try:
        await browser.open(page)
        await over(browser, "All consoles are in use")
        await browser.open(page.replace("127.0.0.1", "evil.localhost"))
        assert await browser.title() == "The address is not of this server"
        await browser.call(lambda driver: driver.execute_cdp_cmd("Network.clearBrowserCookies", {}))
        await browser.open(link)
        assert await browser.title() == "This link was used or is not valid"
        await browser.open(page)
        assert await browser.title() == "This browser has no session"
        assert await browser.violations() == []
        await browser.open(served.next_link())
        await over(browser, "All consoles are in use")
    finally:
        await browser.call(lambda driver: driver.close())
        await browser.call(lambda driver: driver.switch_to.window(before))


class _ForeignPage(Listening):
    """A page on another port of this machine, to which a browser sends the same cookies."""

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await read_head(reader) is not None:
            writer.write(answer_bytes(200, b"<!doctype html><h1>foreign</h1>", content_type="text/html"))


async def test_a_page_of_another_origin_opens_no_socket_although_it_knows_the_address(
    served: WebConsoles, browser: Browser
) -> None:
    shown = await ShownConsole.recording(browser)
    await browser.open(served.link)
    await shown.wait_for(FAILED)
    page = await browser.address()
    async with _ForeignPage() as foreign:
        await browser.open(foreign.origin)
        assert await browser.title() == "foreign"
        script = (
            "const [address, done] = arguments, socket = new WebSocket(address);"
            "socket.onopen = () => done('open'); socket.onclose = () => done('refused');"
        )
        address = page.replace("http:", "ws:") + "socket/" + "0" * 24
        assert await browser.call(lambda driver: driver.execute_async_script(script, address)) == "refused"
