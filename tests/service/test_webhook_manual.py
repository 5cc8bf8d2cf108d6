"""The page on webhooks: its receiver takes what this service sends, and its figures are those of the code."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import HTTPServer
from types import SimpleNamespace
from typing import Any

import pytest

from runwatch.service.organization import webhook_sender, webhooks
from runwatch.view.manual.pages import DIRECTORY
from tests.service.conftest import Local, Serving
from tests.service.test_webhooks import add, done, settled
from tests.support.clock import START
from tests.support.receiver import Receiver

PAGE = (DIRECTORY / "webhooks.md").read_text("utf-8")


@pytest.fixture
def example() -> dict[str, Any]:
    """The names of the page's receiver, whose clock is the one of the service here."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "webhooks.md", "exec"), names)
    names["time"] = SimpleNamespace(time=START.timestamp)
    return names


@pytest.fixture
def receiver_url(example: dict[str, Any]) -> Iterator[str]:
    """The address of the page's receiver, which runs."""
    with HTTPServer(("127.0.0.1", 0), example["Receiver"]) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


async def test_the_receiver_of_the_page_takes_a_delivery_once_and_refuses_one_signed_otherwise(
    serving: Serving, receiver_url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async with serving(allow_loopback_checks=True) as service:
        hook = await add(service, receiver_url)
        monkeypatch.setenv("WEBHOOK_SECRET", hook["secret"])
        run_id = await done(service)
        (first,) = await settled(service, hook["webhook_id"])
        answer = await service.http.post(f"/v1/webhooks/deliveries/{first['delivery_id']}/replay")
        assert answer.status_code == 200
        assert [row["status_code"] for row in await settled(service, hook["webhook_id"], 2)] == [204, 204]
        assert capfd.readouterr().out == f"execution.completed {run_id}\n"

        monkeypatch.setenv("WEBHOOK_SECRET", "whsec_another")
        await done(service)
        refused, *_ = await settled(service, hook["webhook_id"], 3)
        assert (refused["status"], refused["status_code"], refused["attempts"]) == ("failed", 401, webhooks.TRIES)
        assert capfd.readouterr().out == ""


async def test_the_check_of_the_page_refuses_what_is_changed_or_old(serving: Serving, example: dict[str, Any]) -> None:
    async with Receiver() as receiver, serving(allow_loopback_checks=True) as service:
        (secret, headers, body) = await taken(service, receiver)
    is_genuine = example["is_genuine"]
    sent_at = int(headers["Runwatch-Timestamp"])
    assert is_genuine(secret, headers, body, sent_at + 299)
    assert not is_genuine(secret, headers, body, sent_at + 301)
    assert not is_genuine(secret, headers, body, sent_at - 301)
    assert not is_genuine(secret, headers, body + b" ", sent_at)
    assert not is_genuine("whsec_other", headers, body, sent_at)
    for name, value in (("Runwatch-Timestamp", str(sent_at + 1)), ("Runwatch-Signature", "v1=ä")):
        assert not is_genuine(secret, {**headers, name: value}, body, sent_at)
        assert not is_genuine(secret, {key: kept for key, kept in headers.items() if key != name}, body, sent_at)


async def taken(service: Local, receiver: Receiver) -> tuple[str, dict[str, str], bytes]:
    """A real delivery and the secret that it is signed with."""
    hook = await add(service, receiver.url)
    await done(service)
    await settled(service, hook["webhook_id"])
    (got,) = receiver.taken
    return hook["secret"], {name.title(): value for name, value in got.headers.items()}, got.body


def test_the_figures_of_the_page_are_those_of_the_code() -> None:
    assert webhooks.RETRY_WAITS_S == (10, 60, 600, 3600)
    assert webhooks.TRIES == 5
    assert "tried again 10 s, 1 min, 10 min and 1 h after\nthe try before: five tries in all" in PAGE
    assert f"{webhooks.WEBHOOKS_EACH} webhooks" in PAGE
    assert f"{webhooks.MAX_QUEUED:,} deliveries" in PAGE
    assert f"response within {webhook_sender.TIMEOUT_S:g} s" in PAGE
    assert webhook_sender.RECEIVER_AT_ONCE == 2


def test_every_command_of_the_page_names_the_local_service_and_a_running_one_is_stopped_first() -> None:
    commands = re.findall(r"runwatch webhooks [^`]*", PAGE)
    assert len(commands) >= 5
    assert all("--local" in command for command in commands)
    stop, start = PAGE.index("runwatch serve --stop"), PAGE.index("runwatch serve --allow-loopback-checks")
    assert stop < start
