"""The HTTP server of consoles in a browser: its checks, its pages, and one socket for each console."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple
from urllib.parse import quote, urlsplit

from aiohttp import WSMsgType, web

from runwatch.base.console_packets import DATA, VIEW_VARIABLE
from runwatch.web.admission import COOKIE, Admission
from runwatch.web.console_process import ConsoleProcess, clamp_size
from runwatch.web.pages import HEADERS, STATIC_FILES, console_page, console_policy, message_page, read_static

ENDED: Final = 4000
FULL: Final = 4001
REPLACED: Final = 4002
"""Close codes of a socket: its console has ended, there is no place for one, another tab took it over. The page's
script knows them too."""
NO_PROTOCOL: Final = 1008

MAX_MESSAGE_BYTES: Final = 256 * 1024
"""The largest message of a browser: a long paste."""

MAX_DOWNLOADS: Final = 8
"""Files of one console that wait for the browser."""

MAX_TAB_VIEWS: Final = 256
"""Tabs whose last view is kept; for one more, that of the tab whose console began first is removed."""

HEARTBEAT_S: Final = 15.0
"""How often a browser must show that it is there."""

DOWNLOAD_BYTES: Final = 64 * 1024

_NEW_LINK: Final = "'runwatch web' prints a new link when one is used. Open that one."

_log: Final = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ConsoleCommand(NamedTuple):
    """How a console is started.

    Attributes:
        words: The command line; holds no secret.
        environment: The variables of the server.
    """

    words: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class _Tab:
    """One console and the socket that shows it.

    Attributes:
        ended: Set when the console's process is gone.
        files: Files that wait for the browser, by key.
    """

    session: str
    socket: web.WebSocketResponse
    transport: asyncio.BaseTransport | None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    files: dict[str, tuple[str, BinaryIO]] = field(default_factory=dict)


class ConsoleServer:
    """The web application of one server.

    Args:
        views: An empty directory of the server, where each tab's console leaves its view for the next one.
        max_consoles: How many may run at once.
        link_used: Called when a link was used up.
        report_failure: Gets why a console ended on an error.
    """

    def __init__(
        self,
        admission: Admission,
        command: ConsoleCommand,
        views: Path,
        *,
        max_consoles: int,
        link_used: Callable[[], None] = lambda: None,
        report_failure: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._admission: Final = admission
        self._command: Final = command
        self._max_consoles: Final = max_consoles
        self._link_used: Final = link_used
        self._report_failure: Final = report_failure
        self._tabs: Final[dict[tuple[str, str], _Tab]] = {}
        self._views: Final = views
        self._view_files: Final[dict[tuple[str, str], Path]] = {}
        self._view_numbers: Final = count()

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._check], client_max_size=0)
        at = f"/{self._admission.entry}"
        app.add_routes(
            [
                # Not for HEAD, because it uses up the link.
                web.get(at + "/start/{token}", self._start, allow_head=False),
                web.get(at + "/", self._page),
                web.get(at + "/alive", self._alive),
                web.get(at + "/static/{name}", self._static),
                web.get(at + "/socket/{tab:[0-9a-f]{24}}", self._socket, allow_head=False),
                web.get(at + "/download/{key}", self._download, allow_head=False),
            ]
        )
        app.on_shutdown.append(self._close)
        return app

    def shows_console(self, transport: asyncio.BaseTransport | None) -> bool:
        """Return whether a connection is the socket of a console."""
        return any(tab.transport is transport for tab in self._tabs.values())

    async def _close(self, app: web.Application) -> None:
        tabs = list(self._tabs.values())
        await asyncio.gather(*(tab.socket.close(code=1001) for tab in tabs), return_exceptions=True)
        await asyncio.gather(*(tab.ended.wait() for tab in tabs))

    # Checks.

    @web.middleware
    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse what a page of another host may have sent, and give every response its headers."""
        hosts, origins = request.headers.getall("Host", []), request.headers.getall("Origin", [])
        if not self._admission.names_this_server(hosts):
            response: web.StreamResponse = _refuse(400, "The address is not of this server", "Use the printed link.")
        elif origins and not self._admission.is_same_origin(hosts, origins):
            response = _refuse(403, "The request was refused", "It came from a page of another site.")
        else:
            try:
                response = await handler(request)
            except web.HTTPNotFound:
                response = _refuse(404, "There is nothing here", "Open the whole link that 'runwatch web' printed.")
            except web.HTTPException as error:
                response = _refuse(error.status, error.reason)
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            response.headers["Server"] = "runwatch"
        return response

    def _session(self, request: web.Request) -> str | None:
        return self._admission.session_of(request.cookies.get(COOKIE))

    # Pages.

    async def _start(self, request: web.Request) -> web.Response:
        """Take a link: give the browser a session. A browser that has one goes on without using it up."""
        onward = _page_response(200, message_page("Opening the console", forward=f"/{self._admission.entry}/"))
        if self._session(request) is not None:
            return onward
        cookie = self._admission.begin(request.match_info["token"])
        if cookie is None:
            return _refuse(403, "This link was used or is not valid", _NEW_LINK)
        onward.headers["Set-Cookie"] = cookie
        self._link_used()
        return onward

    async def _page(self, request: web.Request) -> web.Response:
        if self._session(request) is None:
            return _refuse(401, "This browser has no session", _NEW_LINK)
        secure = "s" * (request.url.scheme == "https")
        page = _page_response(200, console_page(self._max_consoles))
        page.headers["Content-Security-Policy"] = console_policy(f"ws{secure}://{request.headers['Host']}")
        return page

    async def _alive(self, request: web.Request) -> web.Response:
        return web.Response(status=401 if self._session(request) is None else 204)

    async def _static(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in STATIC_FILES:
            raise web.HTTPNotFound
        headers = {"Cache-Control": "private, max-age=86400"}
        return web.Response(body=read_static(name), content_type=STATIC_FILES[name].type, headers=headers)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Give a file of a console to the browser, once."""
        session, key = self._session(request), request.match_info["key"]
        kept = [tab.files.pop(key) for tab in self._tabs.values() if tab.session == session and key in tab.files]
        if not kept:
            raise web.HTTPNotFound
        [(name, file)] = kept
        response = web.StreamResponse(
            headers={**HEADERS, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
        )
        response.content_type = "application/octet-stream"
        with file:
            await response.prepare(request)
            while chunk := await asyncio.to_thread(file.read, DOWNLOAD_BYTES):
                await response.write(chunk)
            await response.write_eof()
        return response

    # Sockets.

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        """Start a console and show it in the browser until either ends."""
        hosts, origins = request.headers.getall("Host"), request.headers.getall("Origin", [])
        session = self._session(request)
        # A browser always names the origin of a socket.
        if session is None or not self._admission.is_same_origin(hosts, origins):
            return _refuse(403, "The request was refused", _NEW_LINK)
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MAX_MESSAGE_BYTES, compress=False)
        if not socket.can_prepare(request):
            return _refuse(400, "This address is for the console's page")
        await socket.prepare(request)
        key = (session, request.match_info["tab"])
        # The same tab again: its connection was lost, and this server may not know yet.
        while (earlier := self._tabs.get(key)) is not None:
            await earlier.socket.close(code=REPLACED)
            await earlier.ended.wait()
        if len(self._tabs) >= self._max_consoles:
            await socket.close(code=FULL)
            return socket
        tab = self._tabs[key] = _Tab(session, socket, request.transport)
        try:
            await self._run(
                tab, self._view_file(key), clamp_size(_count(request, "width", 80), _count(request, "height", 24))
            )
        finally:
            del self._tabs[key]
            for _, file in tab.files.values():
                file.close()
            tab.ended.set()
        return socket

    def _view_file(self, key: tuple[str, str]) -> Path:
        """Return the file for the view of a tab of one browser, and forget those of too many others."""
        # The key is the browser's secret, so it is not in the name.
        file = self._view_files.pop(key, None) or self._views / f"{next(self._view_numbers)}.toml"
        self._view_files[key] = file
        if len(self._view_files) > MAX_TAB_VIEWS:
            self._view_files.pop(next(iter(self._view_files))).unlink(missing_ok=True)
        return file

    async def _run(self, tab: _Tab, view: Path, size: tuple[int, int]) -> None:
        environment = {**self._command.environment, VIEW_VARIABLE: str(view)}
        console = await ConsoleProcess.start(self._command.words, environment, size)
        keys = asyncio.ensure_future(_hand_keys(tab.socket, console))
        screen = asyncio.ensure_future(_show_screen(tab, console))
        try:
            await asyncio.wait((keys, screen), return_when=asyncio.FIRST_COMPLETED)
        finally:
            # The process ends also when this handler is cancelled.
            await asyncio.shield(_end(tab.socket, console, keys, screen, self._report_failure))


async def _end(
    socket: web.WebSocketResponse,
    console: ConsoleProcess,
    keys: asyncio.Task[None],
    screen: asyncio.Task[None],
    report_failure: Callable[[str], None],
) -> None:
    has_ended = screen.done()
    for task in (keys, screen):
        task.cancel()
    for task, what in ((keys, "input"), (screen, "output")):
        try:
            await task
        except asyncio.CancelledError:
            pass
        except Exception as error:
            _log.warning("the %s of a console ended on an error", what, exc_info=error)
    await console.end()
    if has_ended and console.failure:
        report_failure(console.failure)
    if has_ended and not socket.closed:
        with contextlib.suppress(OSError):
            text = console.failure or console.last_output
            await socket.send_json(["ended", {"text": text, "has_failed": bool(console.failure)}])
            await socket.close(code=ENDED)
    elif not socket.closed:
        await socket.close(code=NO_PROTOCOL)


async def _hand_keys(socket: web.WebSocketResponse, console: ConsoleProcess) -> None:
    """Hand what the browser sends to the console; return when the socket has closed or sent something else."""
    async for message in socket:
        if message.type is not WSMsgType.TEXT:
            break
        try:
            kind, content = (*json.loads(message.data), None)[:2]
            match kind:
                case "stdin":
                    await console.send(DATA, content.encode("utf-8", "ignore"))
                case "resize":
                    width, height = clamp_size(int(content["width"]), int(content["height"]))
                    await console.send_message("resize", width=width, height=height)
                case "focus" | "blur":
                    await console.send_message(kind)
                case "ping":
                    await socket.send_json(["pong", str(content)[:32]])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            break


async def _show_screen(tab: _Tab, console: ConsoleProcess) -> None:
    """Send what the console draws to the browser until the console ends."""
    async for packet in console.packets():
        if packet.kind == DATA:
            await tab.socket.send_bytes(packet.content)
        else:
            await _hear(tab, json.loads(packet.content))


async def _hear(tab: _Tab, packet: Mapping[str, Any]) -> None:
    if packet["type"] == "open" and urlsplit(packet["url"]).scheme in {"http", "https"}:
        await tab.socket.send_json(["open_url", {"url": packet["url"], "new_tab": True}])
    elif packet["type"] == "download" and len(tab.files) < MAX_DOWNLOADS:
        path, key = Path(packet["path"]), secrets.token_urlsafe(16)
        tab.files[key] = (path.name, await asyncio.to_thread(_take_file, path))
        await tab.socket.send_json(["download", {"key": key, "name": path.name}])


def _take_file(path: Path) -> BinaryIO:
    """Open a file and remove its name, so that nothing is left when the browser does not fetch it."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
    path.unlink()
    return file


def _count(request: web.Request, name: str, default: int) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else default


def _page_response(status: int, page: str) -> web.Response:
    return web.Response(status=status, text=page, content_type="text/html")


def _refuse(status: int, title: str, *sentences: str) -> web.Response:
    return _page_response(status, message_page(title, *sentences))
