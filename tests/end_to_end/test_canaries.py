"""A key and the address of a private page are looked for in everything that runwatch leaves, shows or sends elsewhere.

The service is careless: it repeats the key that it was sent in every answer, in the text of Problems, in members of
records and in events. What is looked at: standard streams, settings, data, log, both parts of the database after an
end in order and after a kill, support bundles, screens and the arguments of processes. Traces and ``repr`` are looked
at in tests/api/test_secrets.py.
"""

from __future__ import annotations

import http.client
import signal
import subprocess
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Final

import pytest

from runwatch.api.client import Client
from runwatch.base.errors import RunwatchError
from runwatch.base.json import loads
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from tests.support import resources
from tests.support.builders import RUN_ID, account, echo_events, open_run, problem
from tests.support.cli import Cli
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.service import ServiceProcess
from tests.support.terminal import Terminal

KEY: Final = "solverapi_test_canary-4b7d0e55aa19"
TOKEN: Final = "canary_page_8c1f2e3d4a5b6c7d"
ADDRESS: Final = f"http://127.0.0.1:40213/connect/verifier?intent={TOKEN}"
PARTS: Final = (KEY.encode(), KEY[-12:].encode(), TOKEN.encode())
"""Whole, and the part that makes the key a secret."""


def careless_service() -> ScriptedService:
    """A service that repeats the key in every place, and names a private page."""
    repeated = f"could not use Bearer {KEY}"
    service = ScriptedService(
        runs=[open_run(RUN_ID, "completed", reason="internal")], events={RUN_ID: echo_events()}, account=account(),
        key=KEY,
    )  # fmt: skip
    refused = Said(400, problem("validation_failed", detail=repeated, title=repeated))
    service.say("GET", "/v1/receipts/.*", refused)
    service.say("GET", "/v1/arms", Said(502, f"<p>{repeated}</p>".encode(), content_type="text/html"))
    service.say("POST", "/v1/executions/.*/cancel", refused)
    intent = {**resources.key_intent(ADDRESS).raw, "continue_url": ADDRESS}
    service.say("POST", "/v1/verifiers/vrf_7c1e/connection-intents", Said(200, intent))
    service.say("GET", "/v1/verifiers/vrf_7c1e", Said(200, dict(resources.verifier().raw)))
    service.say("GET", "/v1/verifiers/vrf_7c1e/connection", Said(200, dict(resources.key_connection().raw)))
    return service


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    with running_service(careless_service()) as running:
        yield running


@pytest.fixture
def cli(service: ScriptedService, tmp_path: Path) -> Cli:
    return Cli(tmp_path, base_url=service.base_url, api_key=KEY)


def assert_unseen(content: bytes, where: object) -> None:
    """Neither canary is there, whole or in its telling part."""
    for part in PARTS:
        assert part not in content, where


def assert_unkept(home: Path) -> None:
    """Neither canary is in any file."""
    files = [file for file in home.rglob("*") if file.is_file()]
    assert any(file.suffix == ".db" for file in files), "the database is looked at"
    for file in files:
        assert_unseen(file.read_bytes(), file)


VERBS: Final = (
    ("runs", "list"), ("runs", "show", RUN_ID), ("runs", "events", RUN_ID), ("runs", "watch", RUN_ID),
    ("runs", "cancel", RUN_ID, "--yes"), ("receipts", "show", RUN_ID), ("arms", "list"), ("account",), ("doctor",),
    ("problems", "list"), ("requests", "list"), ("config", "show"), ("verifiers", "connection", "vrf_7c1e"),
)  # fmt: skip


@pytest.mark.exhaustive
def test_no_verb_prints_or_keeps_the_key_whatever_the_service_repeats(
    cli: Cli, service: ScriptedService, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('log_level = "debug"\n', "utf-8")
    settings.chmod(0o600)
    for words, form in zip(VERBS, cycle(("table", "json")), strict=False):
        outcome = cli(*words, "--format", form)
        assert_unseen(outcome.stdout + outcome.stderr, words)
        assert "Traceback" not in outcome.errors
    assert {heard.head.header("authorization") for heard in service.heard} == {f"Bearer {KEY}"}
    assert_unkept(tmp_path)


SUBMIT: Final = (
    "runs", "submit", "--objective", "Say hello.", "--data-class", "public", "--max-cost-usd", "1", "--max-runtime-s",
    "60",
)  # fmt: skip
REFERENCES: Final = (
    ("verifiers", "register", "--name", "C", "--version-name", "1", "--url", "https://a.test/", "--data-class",
     "public", "--auth-ref"),
    ("arms", "create", "--kind", "agent", "--name", "A", "--url", "https://a.test/", "--capability-tag", "x",
     "--data-class", "public", "--auth-ref"),
    ("arms", "edit", "arm_1", "--credential-ref"),
    (*SUBMIT, "--mode", "live", "--arm-id"),
    (*SUBMIT, "--mode", "echo", "--idempotency-key"),
)  # fmt: skip


@pytest.mark.parametrize("words", REFERENCES, ids=lambda words: " ".join(words[:2]))
def test_a_key_given_as_a_reference_or_id_is_refused_before_it_is_kept_or_sent(
    cli: Cli, service: ScriptedService, tmp_path: Path, words: tuple[str, ...]
) -> None:
    cli("account")
    heard = len(service.heard)
    outcome = cli(*words, KEY, code=2)
    assert ": Looks like a key of this API" in outcome.errors
    assert_unseen(outcome.stdout + outcome.stderr, words)
    assert [one for one in service.heard[heard:] if one.head.method != "GET"] == []
    assert_unkept(tmp_path)


@pytest.mark.exhaustive
def test_the_address_of_a_private_page_is_reported_once_and_kept_nowhere(
    cli: Cli, service: ScriptedService, tmp_path: Path
) -> None:
    with cli.running("verifiers", "connect", "vrf_7c1e") as waiting:
        assert waiting.stderr is not None
        told = b""
        while ADDRESS.encode() not in told:
            line = waiting.stderr.readline()
            assert line, told
            told += line
        arguments = subprocess.run(["ps", "-axww", "-o", "args="], capture_output=True, check=True).stdout
        assert b"verifiers connect vrf_7c1e" in arguments
        assert_unseen(arguments, "the arguments of processes")
        waiting.send_signal(signal.SIGINT)
        rest, errors = waiting.communicate(timeout=60)
        assert waiting.returncode == 130
    assert (told + errors).count(TOKEN.encode()) == 1
    assert_unseen(rest, "standard output")
    assert cli("receipts", "show", RUN_ID).code == 1
    (met,) = cli("problems", "list", "--json").json
    file = tmp_path / "bundle.json"
    assert cli("problems", "show", met["instance"], "--bundle", str(file)).code == 0
    assert loads(file.read_bytes())["problem"]["instance"] == met["instance"]
    for words in (("requests", "list"), ("problems", "list"), ("verifiers", "connection", "vrf_7c1e")):
        outcome = cli(*words, "--json")
        assert_unseen(outcome.stdout + outcome.stderr, words)
    assert len(service.requests("POST", ".*/connection-intents")) == 1
    assert_unkept(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT], ids=lambda number: str(number.name))
def test_a_console_that_is_killed_leaves_no_key_in_its_files(cli: Cli, tmp_path: Path, number: signal.Signals) -> None:
    with Terminal(cli.command(), env=cli.environment, columns=120, rows=36) as terminal:
        terminal.wait_for("● live")
        terminal.wait_for(RUN_ID[-4:])
        terminal.signal(number)
        terminal.process.wait(60)
        assert_unseen(bytes(terminal.raw), "the screen")
    assert any(file.name.endswith("-wal") for file in tmp_path.rglob("*")) == (number is signal.SIGKILL)
    assert_unkept(tmp_path)


async def test_the_key_goes_to_one_origin_under_redirects_and_foreign_hosts(service: ScriptedService) -> None:
    async with ScriptedService() as elsewhere:
        for status in (301, 302, 303, 307, 308):
            away = Said(status, {}, headers=(("Location", f"{elsewhere.base_url}/v1/account"),))
            service.say("*", "/v1/executions", away)
            client = Client(Target("work", service.base_url, Secret(KEY)))
            async with client:
                with pytest.raises(RunwatchError):
                    await client.request("getExecutions")
                with pytest.raises(RunwatchError):
                    await client.request("postExecutions", body=b"{}", key=f"key-{status}")
        assert elsewhere.heard == []
    assert {heard.head.header("host") for heard in service.heard} == {service.base_url.removeprefix("http://")}


async def test_a_proxy_of_the_environment_never_sees_a_request_to_this_machine(
    service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedService() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.base_url)
        async with Client(Target("work", service.base_url, Secret(KEY))) as client:
            await client.get_account()
        assert proxy.heard == []


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"])
def test_the_local_service_answers_no_page_that_was_led_to_it_by_another_name(tmp_path: Path, host: str) -> None:
    with ServiceProcess(tmp_path / "service") as local:
        connection = http.client.HTTPConnection("127.0.0.1", local.port, timeout=60)
        connection.request("GET", "/v1/account", headers={"Host": host, "Authorization": f"Bearer {local.api_key}"})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
    assert answer.status in {400, 403, 421}
    assert local.api_key.encode() not in content
