"""Only one origin sees the key; no error, request log or text shows it (manual: decisions, "Keys to the service")."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.api.client import Client
from runwatch.base.errors import RunwatchError
from runwatch.base.log import start_log
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.api.conftest import (
    CANARY,
    Connection,
    RawServer,
    Step,
    then_close,
    then_reset,
)
from tests.support.http1 import answer_bytes, answer_head


def echo(status: int, content_type: str) -> Step:
    """Answer with everything that was heard, as careless services and proxies do."""

    async def step(connection: Connection) -> None:
        heard = connection.heard.head.raw.decode("latin-1").replace("\r\n", " ").replace('"', "'")
        body = heard if "html" in content_type else f'{{"title": "{heard}", "detail": "{heard}", "x": ["{heard}"]}}'
        headers = [("Location", f"https://x.test/{heard.split('Bearer ')[-1].split(' ')[0]}"), ("X-Echo", heard)]
        await connection.send(answer_bytes(status, body.encode(), content_type=content_type, headers=headers))

    return step


ENDINGS: dict[str, Step] = {
    "a problem that repeats the request": echo(401, "application/problem+json"),
    "a page of HTML that repeats the request": echo(502, "text/html"),
    "a redirect that repeats the key": echo(302, "text/html"),
    "a success in HTML that repeats the request": echo(200, "text/html"),
    "a reset": then_reset(),
    "a cut body": then_close(answer_head(200, [("Content-Length", "9")]) + b"{"),
    "no HTTP": then_close(b"SSH-2.0\r\n\r\n"),
    "broken chunks": answer_head(200, [("Transfer-Encoding", "chunked")]) + b"zz\r\n",
    "a wrong encoding": answer_bytes(200, b"x", headers=[("Content-Encoding", "br")]),
}


def everything(error: BaseException) -> Iterator[str]:
    """All texts of an error, of what led to it, and of every local variable on the way."""
    yield repr(error)
    yield str(error)
    yield repr(vars(error))
    yield "".join(traceback.format_exception(error))
    yield "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    problem = getattr(error, "problem", None)
    if problem is not None:
        yield problem.json()
    for inner in (error.__cause__, error.__context__):
        if inner is not None:
            yield from everything(inner)


@pytest.mark.parametrize("step", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.representatives(key=lambda case: case["step"])
async def test_no_failure_shows_the_key(server: RawServer, connect: Callable[..., Client], step: Step) -> None:
    told: list[RequestAttempt] = []
    server.script(step)
    client = connect(observe=told.append)
    with pytest.raises(RunwatchError) as caught:
        await client.request("postExecutions", body=b"{}", key="k")
    assert server.heard[0].head.header("authorization") == f"Bearer {CANARY}"
    assert not [text for text in everything(caught.value) if CANARY in text]
    assert CANARY not in repr(told)
    assert not [each for each in told if each.problem is not None and CANARY in each.problem.json()]


async def test_no_failure_to_connect_shows_the_key(connect: Callable[..., Client]) -> None:
    client = connect(target=Target("test", "http://127.0.0.1:1", Secret(CANARY)))
    with pytest.raises(RunwatchError) as caught:
        await client.get_account()
    assert not [text for text in everything(caught.value) if CANARY in text]


async def test_a_key_that_cannot_be_sent_is_not_shown_either(server: RawServer, connect: Callable[..., Client]) -> None:
    client = connect(target=Target("test", server.base_url, Secret(f"{CANARY}\r\nX: y")))
    with pytest.raises(RunwatchError) as caught:
        await client.get_account()
    assert not [text for text in everything(caught.value) if CANARY in text]


async def test_the_client_and_an_answer_do_not_show_the_key(server: RawServer, client: Client) -> None:
    server.script(echo(200, "application/json"))
    answer = await client.request("getAccount")
    shown: list[Any] = [client, vars(client), client._transport, vars(client._transport), answer, answer.response]
    assert not [each for each in shown if CANARY in repr(each)]
    assert CANARY not in repr(dict(answer.response.headers))


async def test_the_log_does_not_show_the_key(server: RawServer, client: Client, tmp_path: Any) -> None:
    handler = start_log(tmp_path / "log", "debug")
    assert handler is not None
    server.script(echo(200, "application/json"))
    try:
        value = (await client.request("getAccount")).value
        logging.getLogger("runwatch.test").warning("careless: %s", value)
        await asyncio.sleep(0)
    finally:
        logger = logging.getLogger("runwatch")
        logger.removeHandler(handler)
        logger.propagate = True
        handler.close()
    text = (tmp_path / "log").read_text()
    assert "careless" in text
    assert CANARY not in text
