"""The server of consoles in a browser: what it refuses, and how a console begins and ends with its socket."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType
from aiohttp.test_utils import TestServer

from runwatch.web import server
from runwatch.web.admission import COOKIE, Admission
from runwatch.web.pages import HEADERS
from runwatch.web.server import ENDED, FULL, MAX_MESSAGE_BYTES, NO_PROTOCOL, REPLACED, ConsoleCommand, ConsoleServer
from tests.support.web_console import is_alive

ROOT: Final = Path(__file__).resolve().parents[2]
ECHO: Final = [sys.executable, "-m", "tests.web.echo_console"]
TAB: Final = "0" * 24
OTHER_TAB: Final = "1" * 24


class Site:
    """A running server with few places for consoles, and browsers."""

    def __init__(self, views: Path, places: int) -> None:
        self.admission = Admission("127.0.0.1")
        self.used_links = 0
        self.failures: list[str] = []
        command = ConsoleCommand(ECHO, {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"})
        self.server = TestServer(
            ConsoleServer(
                self.admission,
                command,
                views,
                max_consoles=places,
                link_used=self._count,
                report_failure=self.failures.append,
            ).app(),
            host="127.0.0.1",
        )
        self.browsers: list[ClientSession] = []

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    @property
    def entry(self) -> str:
        return f"{self.origin}/{self.admission.entry}"

    def browser(self) -> ClientSession:
        """A browser without a session."""
        self.browsers.append(ClientSession(cookie_jar=CookieJar(unsafe=True)))
        return self.browsers[-1]

    async def signed_in(self) -> ClientSession:
        """A browser that has opened a link."""
        browser = self.browser()
        async with browser.get(self.origin + self.admission.make_link()) as response:
            assert response.status == 200
        return browser

    async def socket(
        self, browser: ClientSession, tab: str = TAB, size: str = "?width=100&height=30"
    ) -> ClientWebSocketResponse:
        return await browser.ws_connect(
            f"{self.entry}/socket/{tab}{size}", origin=self.origin, autoping=True, max_msg_size=0
        )

    def _count(self) -> None:
        self.used_links += 1


@pytest_asyncio.fixture
async def site(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    site = Site(tmp_path, getattr(request, "param", 1))
    await site.server.start_server()
    yield site
    for browser in site.browsers:
        await browser.close()
    await site.server.close()


async def pid_of(socket: ClientWebSocketResponse) -> int:
    return int((await socket.receive_bytes()).split()[0])


async def close_code(socket: ClientWebSocketResponse) -> int | None:
    """Read to the end of a socket."""
    while (await socket.receive()).type not in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.CLOSING):
        pass
    return socket.close_code


async def test_a_link_works_once_and_its_browser_keeps_the_session(site: Site) -> None:
    link, browser, other = site.origin + site.admission.make_link(), site.browser(), site.browser()
    async with browser.head(link) as response:
        assert response.status == 405
    async with browser.get(link) as response:
        assert f'content="0; url=/{site.admission.entry}/"' in await response.text()
    async with other.get(link) as response:
        assert (response.status, COOKIE in response.cookies) == (403, False)
        assert "This link was used" in await response.text()
    async with browser.get(link) as response:
        assert response.status == 200
    async with browser.get(site.entry + "/") as response:
        assert 'class="textual-terminal"' in await response.text()
    assert site.used_links == 1


@pytest.mark.parametrize(
    ("path", "headers", "has_session", "status"),
    [
        ("/", {}, False, 401),
        ("/alive", {}, False, 401),
        ("/alive", {}, True, 204),
        ("/start/unknown", {}, False, 403),
        ("/download/unknown", {}, True, 404),
        ("/static/..%2Fserver.py", {}, True, 404),
        ("/../", {}, True, 404),
        ("/", {"Host": "evil.example"}, True, 400),
        ("/", {"Origin": "http://evil.example"}, True, 403),
        ("/static/console.js", {"Origin": "null"}, True, 403),
        (f"/socket/{TAB}", {"Host": "evil.example"}, True, 400),
        (f"/socket/{TAB}", {"Origin": "http://evil.example"}, True, 403),
        (f"/socket/{TAB}", {}, True, 403),
        (f"/socket/{TAB}", {"Origin": "OWN"}, False, 403),
        (f"/socket/{TAB}", {"Origin": "OWN"}, True, 400),
        ("/socket/short", {"Origin": "OWN"}, True, 404),
    ],
)
async def test_what_is_not_of_this_page_and_session_is_refused(
    site: Site, path: str, headers: Mapping[str, str], status: int, *, has_session: bool
) -> None:
    browser = await site.signed_in() if has_session else site.browser()
    sent = {name: site.origin if value == "OWN" else value for name, value in headers.items()}
    async with browser.get(site.entry + path, headers=sent) as response:
        assert response.status == status
        assert {name: response.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Host": "evil.example"}])
async def test_a_real_handshake_of_another_page_starts_no_console(site: Site, headers: Mapping[str, str]) -> None:
    browser = await site.signed_in()
    with pytest.raises(Exception, match="Invalid response status"):
        await browser.ws_connect(f"{site.entry}/socket/{TAB}", headers=headers)
    # The one place is free.
    assert await pid_of(await site.socket(browser))


async def test_the_page_loads_only_files_of_its_own_server_and_all_of_them(site: Site) -> None:
    browser = await site.signed_in()
    async with browser.get(site.entry + "/") as response:
        policy, page = response.headers["Content-Security-Policy"], await response.text()
    assert "script-src 'self';" in policy
    assert f"connect-src 'self' ws://127.0.0.1:{site.server.port};" in policy
    assert "http" not in page
    for name in ("textual.js", "console.js", "xterm.css", "console.css", "RobotoMono.ttf", "RobotoMono-Italic.ttf"):
        async with browser.get(f"{site.entry}/static/{name}") as response:
            assert response.status == 200
            assert await response.read()


async def test_keys_size_and_focus_reach_the_console_and_what_it_draws_the_browser(site: Site) -> None:
    socket = await site.socket(await site.signed_in(), size="?width=99999&height=30")
    assert (await socket.receive_bytes()).endswith(b" 80x30")
    await socket.send_json(["stdin", "kä"])
    assert await socket.receive_bytes() == "kä".encode()
    await socket.send_json(["resize", {"width": 100_000, "height": 1}])
    assert await socket.receive_bytes() == b'{"type": "resize", "width": 1000, "height": 4}'
    await socket.send_json(["blur"])
    assert await socket.receive_bytes() == b'{"type": "blur"}'
    await socket.send_json(["ping", "12"])
    assert await socket.receive_json() == ["pong", "12"]


async def test_no_more_consoles_than_allowed_and_a_place_is_free_again(site: Site) -> None:
    browser = await site.signed_in()
    first = await site.socket(browser)
    pid = await pid_of(first)
    assert await close_code(await site.socket(browser, OTHER_TAB)) == FULL
    await first.send_json(["stdin", "quit"])
    assert await first.receive_json() == ["ended", {"text": "the last words", "has_failed": True}]
    assert await close_code(first) == ENDED
    assert site.failures == ["the last words"]
    assert not is_alive(pid)
    assert await pid_of(await site.socket(browser, OTHER_TAB)) != pid


async def test_a_tab_that_comes_again_gets_a_console_and_its_earlier_one_ends(site: Site) -> None:
    browser = await site.signed_in()
    lost = await site.socket(browser)
    pid = await pid_of(lost)
    again = await site.socket(browser)
    assert await close_code(lost) == REPLACED
    assert await pid_of(again) != pid
    assert not is_alive(pid)


async def left_view(site: Site, browser: ClientSession, tab: str, leave: str = "") -> bytes:
    """What an earlier console of the tab has left for this one, which then leaves something and ends."""
    socket = await site.socket(browser, tab)
    await pid_of(socket)
    await socket.send_json(["stdin", "left"])
    found = await socket.receive_bytes()
    await socket.send_json(["stdin", f"leave {leave}"])
    await socket.send_json(["stdin", "quit"])
    assert await close_code(socket) == ENDED
    return found


@pytest.mark.parametrize("site", [3], indirect=True)
async def test_a_tab_finds_its_own_view_again_and_no_other(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, stranger = await site.signed_in(), await site.signed_in()
    assert await left_view(site, browser, TAB, "one") == b"nothing"
    assert await left_view(site, browser, OTHER_TAB, "other") == b"nothing"
    assert await left_view(site, browser, TAB, "two") == b"one"
    monkeypatch.setattr(server, "MAX_TAB_VIEWS", 2)
    assert await left_view(site, stranger, TAB, "strange") == b"nothing"
    assert await left_view(site, browser, TAB) == b"two"
    # One too many.
    assert await left_view(site, browser, OTHER_TAB) == b"nothing"


async def test_a_console_ends_when_its_socket_closes(site: Site) -> None:
    browser = await site.signed_in()
    socket = await site.socket(browser)
    pid = await pid_of(socket)
    await socket.close()
    # The same tab waits for the end of its earlier console.
    await pid_of(await site.socket(browser))
    assert not is_alive(pid)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ('["stdin", "' + "x" * MAX_MESSAGE_BYTES + '"]', 1009),
        ("no json", NO_PROTOCOL),
        ('["stdin", 5]', NO_PROTOCOL),
        ('["resize", {"width": null}]', NO_PROTOCOL),
        ("[" * 20_000, NO_PROTOCOL),
    ],
    ids=["large", "text", "number", "width", "deep"],
)
async def test_a_message_that_is_too_large_or_of_no_use_ends_the_socket(site: Site, message: str, code: int) -> None:
    socket = await site.socket(await site.signed_in())
    await pid_of(socket)
    await socket.send_str(message)
    assert await close_code(socket) == code


async def test_a_file_is_downloaded_once_by_its_own_session_and_leaves_the_disk(site: Site, tmp_path: Path) -> None:
    browser, stranger = await site.signed_in(), await site.signed_in()
    socket, file = await site.socket(browser), tmp_path / "rüns.csv"
    await pid_of(socket)
    await socket.send_json(["stdin", f"download {file}"])
    kind, told = await socket.receive_json()
    assert (kind, told["name"]) == ("download", file.name)
    assert not file.exists()
    address = f"{site.entry}/download/{told['key']}"
    async with stranger.get(address) as response:
        assert response.status == 404
    async with browser.get(address) as response:
        assert await response.read() == b"the file"
        assert response.headers["Content-Disposition"] == "attachment; filename*=UTF-8''r%C3%BCns.csv"
    async with browser.get(address) as response:
        assert response.status == 404


async def test_only_web_addresses_are_opened(site: Site) -> None:
    socket = await site.socket(await site.signed_in())
    await pid_of(socket)
    for url in ("javascript:alert(1)", "file:///etc/passwd", "https://example.com/"):
        await socket.send_json(["stdin", f"open {url}"])
    assert await socket.receive_json() == ["open_url", {"url": "https://example.com/", "new_tab": True}]


async def test_all_consoles_end_with_the_server(site: Site) -> None:
    socket = await site.socket(await site.signed_in())
    pid = await pid_of(socket)
    ending: asyncio.Task[Any] = asyncio.ensure_future(site.server.close())
    assert await close_code(socket) == 1001
    await ending
    assert not is_alive(pid)
