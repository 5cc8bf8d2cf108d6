"""Requests over real sockets, with every kind of failure (manual: decisions, "Client and retries")."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from runwatch import __version__
from runwatch.api.http import transport
from runwatch.api.http.exchange import ConnectionLostError, HttpRequest, HttpResponse
from runwatch.api.http.transport import CONNECTIONS, MAX_BODY_BYTES, MAX_ERROR_BYTES, Timeouts, Transport
from runwatch.base.errors import SettingsError
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.api.certificate import authority_file, server_context
from tests.api.conftest import (
    CANARY,
    Connection,
    RawServer,
    Step,
    json_answer,
    stall,
    target_of,
    then_close,
    then_reset,
    then_stall,
)
from tests.support.http1 import answer_bytes, answer_head, chunk
from tests.support.listening import own_port

GET = HttpRequest("GET", "/v1/account")
POST = HttpRequest("POST", "/v1/executions", body=b'{"a": 1}', key="k 1")
OK = json_answer({"ok": True})

Make = Callable[..., Transport]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Makes transports; all are closed at the end."""
    made: list[Transport] = []

    def one(target: Target, timeouts: Timeouts = Timeouts()) -> Transport:  # noqa: B008
        made.append(Transport(target, timeouts))
        return made[-1]

    yield one
    for each in made:
        await each.close()


async def lost(transport: Transport, request: HttpRequest = GET) -> ConnectionLostError:
    with pytest.raises(ConnectionLostError) as caught:
        await transport.send(request)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    return caught.value


def test_importing_the_client_does_not_import_httpx_or_pydantic() -> None:
    code = (
        "import sys, runwatch.api.client; print([name for name in ('httpx', 'pydantic', 'h11') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_httpx_is_imported_in_one_file_of_the_client() -> None:
    folder = Path(transport.__file__).parent
    imports = re.compile(r"^\s*(import|from) httpx", re.MULTILINE)
    assert [path.name for path in folder.glob("*.py") if imports.search(path.read_text())] == ["transport.py"]


async def test_a_request_looks_for_no_module_in_the_directories(
    server: RawServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make(target_of(server))
    server.script(OK)
    await client.send(GET)
    sought: list[str] = []

    class Finder:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            sought.append(name)

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    await client.send(GET)
    await client.send(POST)
    assert sought == []


async def test_a_read_carries_the_key_and_nothing_that_belongs_to_a_body(server: RawServer, make: Make) -> None:
    server.script(OK)
    reply = await make(target_of(server)).send(HttpRequest("GET", "/v1/executions", "limit=5&cursor=a%2Fb"))
    head = server.heard[0].head
    assert head.start[:2] == ("GET", "/v1/executions?limit=5&cursor=a%2Fb")
    assert head.header("authorization") == f"Bearer {CANARY}"
    assert head.header("accept") == "application/json"
    assert head.header("accept-encoding") == "gzip"
    assert head.header("user-agent") == f"runwatch/{__version__}"
    assert head.header("content-type") is None
    assert head.header("idempotency-key") is None
    assert (reply.status, reply.body, reply.media_type) == (200, b'{"ok":true}', "application/json")
    assert reply.received_bytes == len(reply.body)


async def test_a_write_carries_its_exact_bytes_its_type_and_its_key(server: RawServer, make: Make) -> None:
    server.script(OK)
    await make(target_of(server)).send(POST)
    heard = server.heard[0]
    assert heard.body == b'{"a": 1}'
    assert heard.head.header("content-type") == "application/json"
    assert heard.head.header("idempotency-key") == "k 1"


async def test_a_write_without_a_body_has_no_content_type(server: RawServer, make: Make) -> None:
    server.script(OK)
    await make(target_of(server)).send(HttpRequest("POST", "/v1/executions/x/cancel", key="k"))
    assert server.heard[0].head.header("content-type") is None
    assert server.heard[0].body == b""


@pytest.mark.parametrize(
    "path",
    ["/v1/executions/..%2F..%2Fx", "/v1/executions/%252F", "/v1/executions/%C3%A4%20%3F%23", "/v1/executions/..."],
)
async def test_a_path_goes_out_as_it_was_encoded(server: RawServer, make: Make, path: str) -> None:
    server.script(OK)
    await make(target_of(server)).send(HttpRequest("GET", path))
    assert server.paths == [path]


async def test_without_a_key_no_key_is_sent(server: RawServer, make: Make) -> None:
    server.script(OK)
    await make(target_of(server, key=None)).send(GET)
    assert server.heard[0].head.header("authorization") is None


async def test_white_space_around_a_key_is_not_sent(server: RawServer, make: Make) -> None:
    server.script(OK)
    await make(target_of(server, key=f" {CANARY}\n")).send(GET)
    assert server.heard[0].head.header("authorization") == f"Bearer {CANARY}"


@pytest.mark.parametrize("key", ["", " ", "a b", "a\r\nX: y", "schlüssel", "a\x00b"])
async def test_a_key_that_no_header_can_carry_is_a_matter_of_settings(server: RawServer, make: Make, key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        await make(target_of(server, key=key)).send(GET)
    assert not server.heard
    assert not key.strip() or key not in f"{caught.value}{caught.value.hint}"


async def test_connections_are_kept_and_reopened_after_closing(server: RawServer, make: Make) -> None:
    server.script(OK)
    one = make(target_of(server))
    await one.send(GET)
    await one.send(GET)
    await one.close()
    await one.close()
    assert (await one.send(GET)).status == 200
    assert len(server.heard) == 3


async def test_whether_a_connection_opens_is_found_without_a_request(
    server: RawServer, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = target_of(server)
    assert await make(target).can_connect() is True
    assert not server.heard
    assert await make(target._replace(origin=f"http://127.0.0.1:{own_port()}")).can_connect() is False
    assert await make(target._replace(socket=tmp_path / "none.sock")).can_connect() is False
    assert await make(target._replace(origin=f"http://{'a' * 64}.localhost")).can_connect() is False
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    remote = target._replace(origin="https://runs.example.test")
    assert await make(remote).can_connect() is None, "the proxy would open it"


async def test_a_redirect_is_an_answer_and_not_followed(server: RawServer, make: Make) -> None:
    async with RawServer() as elsewhere:
        elsewhere.script(OK)
        head = answer_head(302, [("Location", f"{elsewhere.base_url}/v1/account"), ("Content-Length", "0")])
        server.script(head)
        reply = await make(target_of(server)).send(GET)
        assert reply.status == 302
        assert not elsewhere.heard


@pytest.mark.parametrize(
    "path", ["//elsewhere.test/v1/account", "/@elsewhere.test/", "/v1/../../x", "/\\elsewhere.test"]
)
async def test_no_path_leads_to_another_origin(server: RawServer, make: Make, path: str) -> None:
    server.script(OK)
    await make(target_of(server)).send(HttpRequest("GET", path))
    assert len(server.heard) == 1


async def test_the_key_is_given_to_the_exact_origin_only(server: RawServer, make: Make) -> None:
    import httpx

    one = make(Target("test", "https://service.test", Secret(CANARY)))
    for url, is_given in {
        "https://service.test/v1": True,
        "https://service.test:443/v1": True,
        "https://service.test:444/v1": False,
        "http://service.test/v1": False,
        "https://service.test.evil.test/v1": False,
        "https://evil.test/v1": False,
    }.items():
        authorised = one._authorise(httpx.Request("GET", url))
        assert ("authorization" in authorised.headers) is is_given, url


async def test_header_values_that_are_credentials_come_back_redacted(server: RawServer, make: Make) -> None:
    server.script(json_answer({}, Set_Cookie="service_session=abc", X_Other="fine"))
    reply = await make(target_of(server)).send(GET)
    assert reply.headers["set-cookie"] == "[redacted]"
    assert reply.headers["x-other"] == "fine"


async def test_a_204_has_no_body(server: RawServer, make: Make) -> None:
    server.script(answer_head(204, []))
    reply = await make(target_of(server)).send(GET)
    assert (reply.status, reply.body, reply.flaw) == (204, b"", None)


async def test_informational_answers_are_passed_over(server: RawServer, make: Make) -> None:
    server.script(b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK)
    assert (await make(target_of(server)).send(GET)).status == 200


async def test_chunks_and_closing_are_ends_too(server: RawServer, make: Make) -> None:
    chunked = answer_head(200, [("Transfer-Encoding", "chunked")]) + chunk(b'{"a"') + chunk(b": 1}") + chunk(b"")
    server.script(chunked, then_close(answer_head(200, []) + b'{"a": 1}'))
    one = make(target_of(server))
    assert (await one.send(GET)).body == b'{"a": 1}'
    assert (await one.send(GET)).body == b'{"a": 1}'


async def test_gzip_is_unpacked_and_counted_as_it_came(server: RawServer, make: Make) -> None:
    body = b'{"a": "' + b"x" * 10_000 + b'"}'
    wire = gzip.compress(body)
    server.script(answer_bytes(200, wire, headers=[("Content-Encoding", "gzip")]))
    reply = await make(target_of(server)).send(GET)
    assert reply.body == body
    assert reply.received_bytes == len(wire)


async def test_a_gzip_bomb_is_too_large(server: RawServer, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY_BYTES", 100_000)
    bomb = gzip.compress(b"\0" * 20_000_000)
    assert len(bomb) < 100_000
    server.script(answer_bytes(200, bomb, headers=[("Content-Encoding", "gzip")]))
    gone = await lost(make(target_of(server)))
    assert (gone.kind, gone.was_sent) == ("too_large", True)


async def test_an_endless_body_is_too_large(server: RawServer, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY_BYTES", 1_000_000)

    async def endless(connection: Connection) -> None:
        await connection.send(answer_head(200, [("Transfer-Encoding", "chunked")]))
        while True:
            await connection.send(chunk(b"x" * 65536))

    server.script(endless)
    gone = await lost(make(target_of(server)))
    assert gone.kind == "too_large"
    assert gone.received_bytes < 2_000_000


def test_the_limits_are_those_of_the_design() -> None:
    assert MAX_BODY_BYTES == 64 * 1024 * 1024
    assert MAX_ERROR_BYTES == 64 * 1024
    assert Timeouts() == Timeouts(connect_s=5, read_s=30, write_s=30, pool_s=5, whole_s=120)


FLAWED = {
    "br": answer_bytes(200, b"x", headers=[("Content-Encoding", "br")]),
    "no gzip": answer_bytes(200, b"{}", headers=[("Content-Encoding", "gzip")]),
    "half gzip": answer_bytes(200, gzip.compress(b"{}")[:-3], headers=[("Content-Encoding", "gzip")]),
}


@pytest.mark.parametrize("answer", FLAWED.values(), ids=FLAWED)
async def test_a_content_encoding_that_cannot_be_read_is_a_flaw_of_the_answer(
    server: RawServer, make: Make, answer: bytes
) -> None:
    server.script(answer)
    reply = await make(target_of(server)).send(GET)
    assert reply.status == 200
    assert reply.flaw


CUT = {
    "shorter than its length": then_close(answer_head(200, [("Content-Length", "100")]) + b'{"a": '),
    "reset in the body": then_reset(answer_head(200, [("Content-Length", "100")]) + b'{"a": '),
    "nothing of the body": then_close(answer_head(200, [("Content-Length", "100")])),
    "chunks without an end": then_close(answer_head(200, [("Transfer-Encoding", "chunked")]) + chunk(b'{"a": ')),
    "half a chunk": then_close(answer_head(200, [("Transfer-Encoding", "chunked")]) + b"ff\r\nabc"),
    "a broken chunk size": answer_head(200, [("Transfer-Encoding", "chunked")]) + b"zz\r\nabc\r\n",
}


@pytest.mark.parametrize("step", CUT.values(), ids=CUT)
async def test_a_success_that_breaks_off_is_cut(server: RawServer, make: Make, step: Step) -> None:
    server.script(step)
    gone = await lost(make(target_of(server)))
    assert (gone.kind, gone.was_sent) == ("cut", True)


ERRORS: dict[str, tuple[Step, str]] = {
    "shorter than its length": (then_close(answer_head(503, [("Content-Length", "100")]) + b"half"), "it broke off"),
    "reset in the body": (then_reset(answer_head(503, [("Content-Length", "100")]) + b"half"), "it broke off"),
    "too long": (answer_bytes(503, b"half" * 50_000), f"it is longer than {MAX_ERROR_BYTES} bytes"),
    "packed in vain": (answer_bytes(503, b"half", headers=[("Content-Encoding", "br")]), "not asked for"),
}


@pytest.mark.parametrize(("step", "flaw"), ERRORS.values(), ids=ERRORS)
async def test_an_error_answer_keeps_its_status_whatever_happens_to_its_body(
    server: RawServer, make: Make, step: Step, flaw: str
) -> None:
    server.script(step)
    reply = await make(target_of(server)).send(GET)
    assert reply.status == 503
    assert flaw in (reply.flaw or "")
    assert reply.body in (b"", b"half", (b"half" * 50_000)[:MAX_ERROR_BYTES])


async def test_an_endless_error_is_left_at_its_limit(server: RawServer, make: Make) -> None:
    async def endless(connection: Connection) -> None:
        await connection.send(answer_head(502, [("Transfer-Encoding", "chunked")]))
        while True:
            await connection.send(chunk(b"x" * 4096))

    server.script(endless)
    reply = await make(target_of(server)).send(GET)
    assert (reply.status, len(reply.body)) == (502, MAX_ERROR_BYTES)


BEFORE = {
    "a reset": (then_reset(), "reset"),
    "a closed connection": (then_close(b""), "reset"),
    "a reset in the head": (then_reset(b"HTTP/1.1 200 OK\r\nContent-Le"), "reset"),
    "another protocol": (then_close(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "network"),
    "a head without an end": (then_close(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000), "network"),
    "a broken length": (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "network"),
}


@pytest.mark.parametrize(("step", "kind"), BEFORE.values(), ids=BEFORE)
async def test_a_connection_that_ends_before_an_answer_may_have_brought_the_request(
    server: RawServer, make: Make, step: Step, kind: str
) -> None:
    server.script(step)
    gone = await lost(make(target_of(server)))
    assert (gone.kind, gone.was_sent) == (kind, True)


async def test_what_is_no_http_is_quoted(server: RawServer, make: Make) -> None:
    server.script(then_close(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"))
    assert "SSH-2.0" in (await lost(make(target_of(server)))).detail


QUICK = Timeouts(connect_s=0.05, read_s=0.05, write_s=0.05, pool_s=0.05)


@pytest.mark.parametrize(
    "step", [stall, then_stall(b"HTTP/1.1 200 OK\r\n"), then_stall(answer_head(200, [("Content-Length", "9")]) + b"{")]
)
async def test_silence_is_a_timeout_of_a_request_that_was_sent(server: RawServer, make: Make, step: Step) -> None:
    server.script(step)
    gone = await lost(make(target_of(server), QUICK))
    assert (gone.kind, gone.was_sent) == ("timeout", True)


async def test_an_error_that_stalls_keeps_its_status(server: RawServer, make: Make) -> None:
    server.script(then_stall(answer_head(500, [("Content-Length", "9")]) + b"{"))
    reply = await make(target_of(server), QUICK).send(GET)
    assert (reply.status, reply.flaw, reply.body) == (500, "it broke off", b"{")


SHORT = Timeouts(whole_s=0.05)
MANY = 20_000
"""Pieces that a trickle has: more than fit into the time of ``SHORT``, fewer bytes than any limit of a body."""


def trickle(head: bytes, piece: bytes, end: bytes) -> Step:
    """Send a head and then many small pieces, one in each turn of the loop, as long as the client listens."""

    async def step(connection: Connection) -> None:
        await connection.send(head)
        for _ in range(MANY):
            if connection.reader.at_eof():
                break
            await connection.send(piece)
            await asyncio.sleep(0)
        else:
            await connection.send(end)
        connection.close()

    return step


CHUNKED = [("Transfer-Encoding", "chunked")]
TRICKLES = {
    "one byte": trickle(answer_head(200, [("Content-Length", str(MANY))]), b"x", b""),
    "a chunk of one byte": trickle(answer_head(200, CHUNKED), chunk(b"x"), chunk(b"")),
    "103": trickle(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", OK),
    "100": trickle(b"", b"HTTP/1.1 100 Continue\r\n\r\n", OK),
    "a byte of a header": trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ", b"y", b"\r\n\r\n"),
}


@pytest.mark.parametrize("step", TRICKLES.values(), ids=TRICKLES)
async def test_an_answer_that_trickles_is_endless(server: RawServer, make: Make, step: Step) -> None:
    server.script(step)
    gone = await lost(make(target_of(server), SHORT))
    assert (gone.kind, gone.was_sent) == ("endless", True)


async def test_an_error_that_trickles_keeps_its_status(server: RawServer, make: Make) -> None:
    server.script(trickle(answer_head(503, CHUNKED), chunk(b"x"), chunk(b"")))
    reply = await make(target_of(server), SHORT).send(GET)
    assert (reply.status, reply.flaw, set(reply.body)) == (503, "it did not end", set(b"x"))


async def test_nobody_listening_is_refused_and_nothing_was_sent(make: Make) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        gone = await lost(make(Target("test", f"http://127.0.0.1:{free.getsockname()[1]}", Secret(CANARY))))
    assert (gone.kind, gone.was_sent) == ("refused", False)


async def test_an_unknown_name_is_dns_and_nothing_was_sent(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    gone = await lost(make(Target("test", "https://service.test", Secret(CANARY))))
    assert (gone.kind, gone.was_sent, gone.detail) == ("dns", False, "Name or service not known")


async def test_a_network_that_cannot_be_reached_says_why(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreachable(*_: object, **__: object) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", unreachable)
    gone = await lost(make(Target("test", "http://127.0.0.1:9", Secret(CANARY))))
    assert (gone.kind, gone.was_sent, gone.detail) == ("network", False, "Network is unreachable")


async def test_a_free_connection_that_does_not_come_is_a_timeout_of_a_request_that_was_not_sent(
    server: RawServer, make: Make
) -> None:
    server.script(stall)
    one = make(target_of(server), Timeouts(pool_s=0.05))
    busy = [asyncio.create_task(one.send(GET)) for _ in range(CONNECTIONS)]
    while len(server.heard) < CONNECTIONS:
        await asyncio.sleep(0)
    gone = await lost(one)
    assert (gone.kind, gone.was_sent) == ("timeout", False)
    for task in busy:
        task.cancel()
    await asyncio.gather(*busy, return_exceptions=True)


def port_of(listener: asyncio.Server) -> int:
    port: int = listener.sockets[0].getsockname()[1]
    return port


class TestTls:
    """Certificates and proxies of remote services."""

    @pytest.fixture
    async def secure(self, tmp_path: Path) -> AsyncIterator[RawServer]:
        async with RawServer(server_context(tmp_path)) as server:
            server.script(OK)
            yield server

    async def test_the_profiles_certificate_file_is_trusted(
        self, secure: RawServer, make: Make, tmp_path: Path
    ) -> None:
        reply = await make(target_of(secure, ca_file=authority_file(tmp_path))).send(GET)
        assert reply.status == 200
        assert secure.heard[0].head.header("authorization") == f"Bearer {CANARY}"

    async def test_a_certificate_that_nobody_vouches_for_is_tls_and_no_request_was_sent(
        self, secure: RawServer, make: Make
    ) -> None:
        gone = await lost(make(target_of(secure)))
        assert (gone.kind, gone.was_sent) == ("tls", False)
        assert "certificate" in gone.detail
        assert not secure.heard

    async def test_a_server_without_tls_is_tls_and_no_request_was_sent(self, make: Make) -> None:
        async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(OK)
            writer.close()

        listener = await asyncio.start_server(plain, "127.0.0.1", 0)
        gone = await lost(make(Target("test", f"https://127.0.0.1:{port_of(listener)}", Secret(CANARY))))
        assert (gone.kind, gone.was_sent) == ("tls", False)
        listener.close()

    async def test_a_handshake_that_does_not_come_is_a_timeout_of_a_request_that_was_not_sent(self, make: Make) -> None:
        over = asyncio.Event()

        async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await over.wait()
            writer.close()

        listener = await asyncio.start_server(silent, "127.0.0.1", 0)
        gone = await lost(make(Target("test", f"https://127.0.0.1:{port_of(listener)}", Secret(CANARY)), QUICK))
        assert (gone.kind, gone.was_sent) == ("timeout", False)
        over.set()
        listener.close()

    @pytest.mark.parametrize("content", [None, "no certificate at all"])
    async def test_a_certificate_file_that_cannot_be_used_is_named(
        self, secure: RawServer, make: Make, tmp_path: Path, content: str | None
    ) -> None:
        path = tmp_path / "authority.pem"
        if content is not None:
            path.write_text(content)
        with pytest.raises(SettingsError, match=r"authority\.pem"):
            await make(target_of(secure, ca_file=path)).send(GET)


class Proxy:
    """A proxy that opens the way it is asked for by CONNECT, or refuses, and leads every way to one server."""

    def __init__(self, server: RawServer, context: ssl.SSLContext, status: int = 200) -> None:
        self.url = ""
        self.heads: list[bytes] = []
        self._server = server
        self._context = context
        self._status = status

    async def __aenter__(self) -> Proxy:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{port_of(self._listener)}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer_head(self._status, [] if self._status == 200 else [("Content-Length", "0")]))
        await writer.drain()
        if self._status == 200:
            await writer.start_tls(self._context)
            await self._server.serve(reader, writer)
        else:
            writer.close()


class TestProxies:
    """Proxy variables hold for remote services and never for one on this machine."""

    @pytest.fixture
    def remote(self, tmp_path: Path) -> Target:
        return Target("test", "https://service.test", Secret(CANARY), ca_file=authority_file(tmp_path))

    async def test_a_remote_service_is_reached_through_the_proxy_which_never_sees_the_key(
        self, server: RawServer, make: Make, remote: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.script(then_close(OK))
        async with Proxy(server, server_context(tmp_path)) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
            assert (await make(remote).send(GET)).status == 200
        assert server.heard[0].head.header("authorization") == f"Bearer {CANARY}"
        assert proxy.heads[0].startswith(b"CONNECT service.test:443 ")
        assert CANARY.encode() not in b"".join(proxy.heads)

    async def test_a_proxy_that_refuses_has_not_sent_the_request(
        self, server: RawServer, make: Make, remote: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with Proxy(server, server_context(tmp_path), status=407) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
            gone = await lost(make(remote))
        assert (gone.kind, gone.was_sent) == ("network", False)
        assert "the proxy refused: 407" in gone.detail

    async def test_no_proxy_takes_a_host_out(self, make: Make, remote: Target, monkeypatch: pytest.MonkeyPatch) -> None:
        async def unknown(host: object, *_: object, **__: object) -> None:
            raise socket.gaierror(socket.EAI_NONAME, f"asked for {host!r}")

        monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")
        monkeypatch.setenv("NO_PROXY", "service.test")
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
        assert "service.test" in (await lost(make(remote))).detail

    async def test_a_service_on_this_machine_is_called_without_any_proxy(
        self, server: RawServer, make: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.script(OK)
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert (await make(target_of(server)).send(GET)).status == 200

    @pytest.mark.parametrize("value", ["socks5://user:hunter2@127.0.0.1:9", "ftp://user:hunter2@x"])
    async def test_a_proxy_variable_that_cannot_be_used_is_named_without_its_value(
        self, make: Make, remote: Target, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        monkeypatch.setenv("HTTPS_PROXY", value)
        with pytest.raises(SettingsError) as caught:
            await make(remote).send(GET)
        assert "hunter2" not in f"{caught.value} {caught.value.hint}"
        assert caught.value.__context__ is None


def test_a_reply_does_not_show_its_body_or_headers() -> None:
    reply = HttpResponse(200, {"x": "secret-ish"}, b"secret-ish", 10)
    assert "secret-ish" not in repr(reply)
