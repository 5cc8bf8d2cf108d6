"""``runwatch web`` with real consoles: over TLS, to their end, however that comes."""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType

from runwatch.web import console_process
from runwatch.web.console_process import ConsoleProcess
from runwatch.web.process import MAX_CONNECTIONS
from runwatch.web.server import ENDED
from tests.api.certificate import SERVER, authority_file
from tests.support.screen import Screen
from tests.support.scripted import ScriptedService
from tests.support.web_console import START_S, is_alive, settings_with_profile, web_consoles
from tests.tui.console import KEY

TAB = "0" * 24


@asynccontextmanager
async def console_of(link: str, trusted: ssl.SSLContext | None = None) -> AsyncIterator[ClientWebSocketResponse]:
    """The socket of a console, opened as a browser does."""
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser:
        async with browser.get(link, ssl=trusted or True) as response:
            assert response.status == 200
            assert ("Secure" in response.headers["Set-Cookie"]) is (trusted is not None)
        parts = urlsplit(link)
        origin, entry = f"{parts.scheme}://{parts.netloc}", parts.path.split("/")[1]
        address = f"{origin}/{entry}/socket/{TAB}?width=100&height=30"
        async with browser.ws_connect(address, origin=origin, ssl=trusted or True, max_msg_size=0) as opened:
            yield opened


async def shows(opened: ClientWebSocketResponse, text: str, screen: Screen) -> None:
    """Read until the console shows a text."""
    async with asyncio.timeout(START_S):
        while text not in screen.text:
            screen.feed(await opened.receive_bytes())


async def test_with_tls_other_machines_reach_a_console_that_says_what_goes_on_at_its_end(
    tmp_path: Path, noon_service: ScriptedService
) -> None:
    certificate = tmp_path / "server.pem"
    certificate.write_text(SERVER)
    env = {"RUNWATCH_BASE_URL": noon_service.base_url, "RUNWATCH_API_KEY": KEY}
    words = ("--host", "0.0.0.0", "--tls-cert", str(certificate), "--tls-key", str(certificate))
    with web_consoles(tmp_path, *words, env=env) as served:
        parts = urlsplit(served.link)
        assert (parts.scheme, parts.hostname) == ("https", socket.gethostname().lower())
        link = served.link.replace(parts.netloc, f"127.0.0.1:{parts.port}")
        trusted = ssl.create_default_context(cafile=authority_file(tmp_path))
        screen = Screen(100, 30)
        async with console_of(link, trusted) as opened:
            await shows(opened, "hovering", screen)
            for key in ("q", "q"):
                await opened.send_json(["stdin", key])
            while (message := await opened.receive()).type is WSMsgType.BINARY:
                screen.feed(message.data)
            assert message.json() == ["ended", {"text": "", "has_failed": False}]
            assert (await opened.receive()).type is WSMsgType.CLOSE
            assert opened.close_code == ENDED
        assert served.stop(signal.SIGINT) == 130
    assert KEY not in (tmp_path / "web.log").read_text() + screen.text


async def test_consoles_end_when_the_server_is_killed(tmp_path: Path, noon_service: ScriptedService) -> None:
    env = {"RUNWATCH_BASE_URL": noon_service.base_url, "RUNWATCH_API_KEY": KEY}
    with web_consoles(tmp_path, env=env) as served:
        async with console_of(served.link) as opened:
            await shows(opened, "hovering", Screen(100, 30))
            (pid,) = served.consoles
            served.stop(signal.SIGKILL)
            while is_alive(pid):
                await asyncio.sleep(0.05)


async def test_callers_without_a_session_close_no_console_and_shut_nobody_out(
    tmp_path: Path, noon_service: ScriptedService
) -> None:
    env = {"RUNWATCH_BASE_URL": noon_service.base_url, "RUNWATCH_API_KEY": KEY}
    with web_consoles(tmp_path, env=env) as served:
        port = urlsplit(served.link).port
        async with console_of(served.link) as opened:
            await shows(opened, "hovering", Screen(100, 30))
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2 * MAX_CONNECTIONS)]
            # The oldest ones are closed.
            assert await idle[0][0].read() == b""
            await opened.send_json(["ping", "1"])
            while (message := await opened.receive()).type is not WSMsgType.TEXT:
                assert message.type is WSMsgType.BINARY
            assert message.json() == ["pong", "1"]
            async with console_of(served.next_link()) as other:
                await shows(other, "hovering", Screen(100, 30))
        for _, writer in idle:
            writer.close()


async def test_a_console_that_cannot_start_says_why(tmp_path: Path) -> None:
    settings = settings_with_profile(tmp_path, "nowhere")
    with web_consoles(tmp_path, "--profile", "nowhere", env={"RUNWATCH_CONFIG": str(settings)}) as served:
        settings.unlink()
        async with console_of(served.link) as opened:
            screen = Screen(100, 30)
            while (message := await opened.receive()).type is WSMsgType.BINARY:
                screen.feed(message.data)
            kind, said = message.json()
            assert kind == "ended"
            assert said["has_failed"]
            assert "nowhere" in said["text"]
        served.stop(signal.SIGTERM)
        assert said["text"] in (tmp_path / "web.log").read_text()


async def test_a_console_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console_process, "END_S", 0.2)
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    console = await ConsoleProcess.start([sys.executable, "-c", stubborn], {}, (80, 24))
    await console.end()
    assert console.last_output == ""
