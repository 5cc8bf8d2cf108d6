"""Model servers are looked for when the user asks for it, never before, and only by the local service."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from runwatch.base.paths import Paths
from runwatch.base.secrets.secret import Secret
from runwatch.records.model import CatalogEntry
from runwatch.records.source import SourceConnection
from runwatch.settings.local_service import LocalService
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.flows.action_dialog import ActionForm, perform_action
from runwatch.tui.screens.help import HelpScreen
from runwatch.tui.widgets.panes.command_line import CommandLine
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.tui.widgets.panes.menu import Menu
from runwatch.view.actions.sources import SYNC_NEW, TEST
from tests.support import resources
from tests.support.builders import account, problem, run
from tests.support.clock import FakeClock
from tests.support.scripted import Said, ScriptedService
from tests.tui.app.test_startup_notices import STARTS, unconfigured
from tests.tui.console import KEY, NARROW, Driven, console, drive, quick_pauses
from tests.tui.look import lines_of
from tests.tui.samples import NOON

PATH = "/v1/model-server-searches"
OLLAMA = {
    "base_url": "http://127.0.0.1:11434/v1", "name": "Ollama", "protocol_profile": "openai_chat",
    "models": ["tiny-1", "tiny-2", "tiny-3"], "needs_key": False,
}  # fmt: skip
SLOW = {
    **OLLAMA, "base_url": "http://127.0.0.1:8080/v1", "name": "llama.cpp", "models": [], "is_slow": True,
}  # fmt: skip
VLLM = {**OLLAMA, "base_url": "http://127.0.0.1:8000/v1", "name": "vLLM", "models": [], "needs_key": True}
CONNECT = "runwatch sources connect --local --openai-compatible"


def finding(*servers: Any) -> ScriptedService:
    """A local service that finds these servers."""
    service = ScriptedService(account=account(), runs=[run("ex_1", "completed")])
    service.say("POST", PATH, Said(200, {"servers": list(servers)}))
    return service


def fields_of(driven: Driven) -> tuple[str, ...]:
    """The first fields of the form in front: source, scheme, address and protocol."""
    return tuple(field.value for field in driven.app.screen.query(Input))[:4]


def searches(driven: Driven) -> int:
    """How often the service was asked to look."""
    return len(driven.service.requests("POST", PATH))


SYNC_PATH = "/v1/source-connections/conn_1/deployments/sync"


def catalog(service: ScriptedService, *connections: str) -> None:
    """Have the service list one model of each connection."""
    entries = [
        resources.catalog_entry(f"mdep_{n}", connection={"connection_id": id, "access_lane": "byok"})
        for n, id in enumerate(connections)
    ]
    wire = CatalogEntry.WIRE
    service.say("GET", wire.path, Said(200, {wire.items: [dict(one.raw) for one in entries], "next_cursor": None}))


@asynccontextmanager
async def local(
    service: ScriptedService, home: Path, *, size: tuple[int, int] = (120, 36), settings: str = "", demo: bool = False
) -> AsyncIterator[Driven]:
    """A console with nothing configured, open on its local service."""
    paths = Paths(home / "settings.toml", home / "data")
    if settings:
        paths.settings_file.write_text(settings, "utf-8")
        paths.settings_file.chmod(0o600)

    def start(_: Path) -> LocalService:
        return LocalService(service.base_url, Secret(KEY), 1, socket)

    async with service:
        socket = await service.listen_locally(home / "service")
        launch = LaunchOptions(paths, {}, SettingOptions(local=demo), start_local=start, demo=demo)
        clock = FakeClock(NOON, manual=True)
        app = ConsoleApp(launch, clock=clock)
        async with drive(app, service, clock, size=size) as driven:
            await driven.until(lambda: app.session is not None, "the desk to open")
            await driven.settle()
            with quick_pauses():
                yield driven


@pytest.mark.exhaustive
async def test_the_welcome_names_the_key_and_nothing_is_looked_for_until_it_is_pressed(tmp_path: Path) -> None:
    service = finding(OLLAMA)
    service.runs.clear()
    async with local(service, tmp_path) as driven:
        await driven.shows("M looks for model servers on this machine, for live runs.", "No service is configured")
        assert driven.text.count("M looks for") == 1, "the welcome does not repeat it"
        await driven.press("0", "1", "r", "question_mark", "escape")
        await driven.pass_time(30)
        assert searches(driven) == 0
        await driven.reaches("port 11434 (Ollama?)", "M")
        assert searches(driven) == 1
        await driven.pass_time(60)
        assert searches(driven) == 1


@pytest.mark.exhaustive
async def test_the_key_of_the_settings_is_the_one_that_is_named_and_looks(tmp_path: Path) -> None:
    service = finding(OLLAMA)
    service.runs.clear()
    async with local(service, tmp_path, settings='[keys]\n"app.find_servers" = "f12"\n') as driven:
        await driven.shows("f12 looks for model servers on this machine, for live runs.")
        await driven.reaches("port 11434 (Ollama?)", "f12")


async def test_choosing_a_server_opens_the_form_that_connects_it(tmp_path: Path) -> None:
    async with local(finding(OLLAMA, VLLM), tmp_path) as driven:
        await driven.reaches("Model servers   enter connects one", "M")
        rows = [row.strip("┃ ") for row in lines_of(driven.app) if "port " in row]
        assert rows[0].startswith("▸ port 11434 (Ollama?) · 3 models")
        assert f"{CONNECT} http://127.0.0.1:11434/v1" in rows[0]
        assert rows[1].startswith("port 8000 (vLLM?) · wants a key")
        await driven.opens(ActionForm, "enter")
        assert fields_of(driven) == ("openai_compatible", "none", "http://127.0.0.1:11434/v1", "openai_chat")
        assert searches(driven) == 1


@pytest.mark.exhaustive
async def test_the_protocol_follows_the_source_and_a_refusal_of_it_goes_with_it(tmp_path: Path) -> None:
    service = finding(OLLAMA)
    errors = [{"field": "endpoint.protocol_profile", "message": "Must be anthropic_messages."}]
    service.say("POST", "/v1/source-credential-handoffs", Said(400, problem("validation_failed", errors=errors)))
    async with local(service, tmp_path) as driven:
        await driven.reaches("Model servers   enter connects one", "M")
        await driven.opens(ActionForm, "enter")
        form = driven.app.screen
        assert isinstance(form, ActionForm)
        form.fields.input("source_id").value = "anthropic_compatible"
        await driven.until(lambda: fields_of(driven)[3] == "anthropic_messages", "the protocol to follow")
        form.fields.input("endpoint-protocol_profile").value = "openai_chat"
        await driven.review()
        await driven.reaches("[ Close ]", "f9")
        await driven.press("escape")
        await driven.shows("✗ Must be anthropic_messages.")
        form.fields.input("source_id").value = "openai_compatible"
        await driven.until(lambda: "Must be" not in driven.text, "the refusal to go")
        assert fields_of(driven)[0::3] == ("openai_compatible", "openai_chat")


@pytest.mark.exhaustive
async def test_the_form_for_a_server_that_wants_a_key_asks_for_one(tmp_path: Path) -> None:
    async with local(finding(OLLAMA, VLLM), tmp_path) as driven:
        await driven.reaches("port 8000 (vLLM?)", "comma", "M")
        await driven.opens(ActionForm, "down", "enter")
        assert fields_of(driven) == ("openai_compatible", "api_key", "http://127.0.0.1:8000/v1", "openai_chat")


@pytest.mark.exhaustive
async def test_a_server_that_answers_slowly_is_told_and_may_be_connected_all_the_same(tmp_path: Path) -> None:
    async with local(finding(OLLAMA, SLOW), tmp_path) as driven:
        await driven.reaches("Model servers   enter connects one", "M")
        await driven.shows(re.compile(r"port 8080 answers slowly +enter connects a model server, M asks again"))
        await driven.opens(ActionForm, "down", "enter")
        assert fields_of(driven) == ("openai_compatible", "none", "http://127.0.0.1:8080/v1", "openai_chat")


async def test_a_connected_server_is_told_also_where_the_search_does_not_find_it(tmp_path: Path) -> None:
    service = finding()
    there = [("conn_1", "http://localhost:9000/v1"), ("conn_2", "https://models.example.com/v1")]
    connected = [
        resources.connection(id, source_id="openai_compatible", display_name=id, endpoint={"base_url": url})
        for id, url in there
    ]
    listed = {"connections": [dict(each.raw) for each in connected], "next_cursor": None}
    catalog(service, "conn_1", "conn_2")
    async with local(service, tmp_path) as driven:
        await driven.reaches("no server responds on the usual ports", "M")
        await driven.press("escape")
        # Connected by a command, after the list was read.
        service.say("GET", SourceConnection.WIRE.path, Said(200, listed))
        await driven.reaches(re.compile("port 9000 +connected as conn_1; enter shows its models"), "M")
        assert "connected as conn_2" not in driven.text


@pytest.mark.exhaustive
async def test_a_server_that_is_connected_already_leads_to_its_models(tmp_path: Path) -> None:
    service = finding(OLLAMA, VLLM)
    connected = [
        resources.connection(
            id, source_id="openai_compatible", display_name=name, endpoint={"base_url": server["base_url"]}, **over
        )
        for id, name, server, over in (
            ("conn_1", "my ollama", OLLAMA, {}),
            ("conn_2", "big one", VLLM, {"test_state": "untested"}),
        )
    ]
    listed = {"connections": [dict(each.raw) for each in connected], "next_cursor": None}
    service.say("GET", SourceConnection.WIRE.path, Said(200, listed))
    catalog(service, "conn_1")
    async with local(service, tmp_path) as driven:
        await driven.reaches("Model servers   1 source is connected already", "M")
        await driven.shows("3 models   connected as my ollama; enter shows its models")
        await driven.shows("connected as big one; not usable yet; enter tests it", "Another server", "of my ollama")
        await driven.press("enter")
        await driven.shows("connection_id=conn_1")
        await driven.reaches("big one; not usable", "M")
        await driven.press("down", "enter")
        await driven.opens(ConfirmDialog)
        await driven.shows("Test it, step 3 of 4")
        await driven.press("escape", "escape")
        await driven.hides("connection_id=conn_1")
        await driven.reaches("of my ollama", "M")
        await driven.press("end", "enter")
        await driven.shows("connection_id=conn_1")


async def test_a_connection_whose_models_were_not_read_leads_to_reading_them(tmp_path: Path) -> None:
    service = finding()
    unread = resources.connection("conn_1", display_name="mine", endpoint={"base_url": "http://127.0.0.1:9/v1"})
    service.say("GET", SourceConnection.WIRE.path, Said(200, {"connections": [dict(unread.raw)], "next_cursor": None}))
    catalog(service)
    service.say("POST", SYNC_PATH, Said(200, {"deployments": []}))
    async with local(service, tmp_path, size=NARROW) as driven:
        await driven.reaches("▸ Read its models   mine conn_1", "M")
        await driven.press("enter")
        await driven.opens(ConfirmDialog)
        await driven.shows("Read its models, step 4 of 4 on local")
        await driven.press("escape", "3")
        await driven.shows('"mine" (conn_1) is connected, but no model of it is listed here.')
        await driven.shows("+ reads its models. On the command line:", "`runwatch sources sync --local conn_1`")
        assert "looks for model servers" not in driven.text
        await driven.press("plus")
        await driven.opens(ConfirmDialog)
        await driven.press("f9")
        await driven.shows("Step 4 of 4 completed")


@pytest.mark.exhaustive
async def test_several_connections_without_models_are_in_a_menu(tmp_path: Path) -> None:
    service = finding()
    listed = [
        dict(resources.connection("conn_1", display_name="mine").raw),
        dict(resources.connection("conn_2", display_name="other", test_state="untested").raw),
    ]
    service.say("GET", SourceConnection.WIRE.path, Said(200, {"connections": listed, "next_cursor": None}))
    catalog(service)
    async with local(service, tmp_path) as driven:
        await driven.press("3")
        await driven.shows('"other" (conn_2) is connected, but no test of it has passed.')
        await driven.shows("+ reads the models of one of them, after a test where it needs one.")
        await driven.reaches("Test it           other conn_2", "plus")
        await driven.press("down", "enter")
        await driven.opens(ConfirmDialog)
        await driven.shows("Test it, step 3 of 4")


async def test_a_model_is_saved_by_a_key_and_the_notice_says_what_starts_a_run(tmp_path: Path) -> None:
    service = finding()
    catalog(service, "conn_1")
    service.say("GET", "/v1/arms", Said(200, {"arms": [], "next_cursor": None}))
    service.say("POST", "/v1/arms", Said(201, dict(resources.arm("arm_1", model_deployment_id="mdep_0").raw)))
    async with local(service, tmp_path, size=NARROW) as driven:
        await driven.press("3")
        await driven.shows("enter open  + save")
        await driven.reaches("saved models   none of this deployment   enter saves it", "enter")
        await driven.press("down", "enter")
        await driven.opens(ActionForm)
        await driven.press("escape")
        await driven.opens(ActionForm, "plus")
        await driven.review()
        await driven.opens(ConfirmDialog)
        await driven.press("f9")
        await driven.shows("1 + starts a run, which may use it", "Saved models")


@pytest.mark.exhaustive
@pytest.mark.parametrize("screen", ["runs", "sources"])
async def test_a_new_connection_leads_to_its_models_that_can_be_saved(tmp_path: Path, screen: str) -> None:
    service = finding(OLLAMA)
    service.runs.clear()
    service.say("POST", SYNC_PATH, Said(200, {"deployments": []}))
    async with local(service, tmp_path) as driven:
        app = driven.app
        await driven.shows("M looks for model servers on this machine, for live runs.")
        await app.go_to(screen)
        perform_action(app.console_screen, resources.connection("conn_1"), SYNC_NEW)
        await driven.opens(ConfirmDialog)
        await driven.press("f9")
        await driven.until(lambda: getattr(app.present_view, "screen", "") == "models", "the models to be in front")
        assert app.present_view is not None
        assert app.present_view.filter == "connection_id=conn_1"


@pytest.mark.exhaustive
async def test_the_menu_of_a_connection_leads_to_its_models(tmp_path: Path) -> None:
    service = finding()
    listed = {"connections": [dict(resources.connection("conn_1").raw)], "next_cursor": None}
    service.say("GET", SourceConnection.WIRE.path, Said(200, listed))
    catalog(service, "conn_1", "conn_2")
    async with local(service, tmp_path) as driven:
        await driven.app.go_to("sources")
        await driven.reaches("Save one of its models", "full_stop")
        await driven.press("down", "down", "enter")
        await driven.shows("connection_id=conn_1")
        await driven.shows("1 of 2")


@pytest.mark.exhaustive
async def test_commands_in_the_outcome_of_a_dialog_call_the_same_service(tmp_path: Path) -> None:
    service = finding(OLLAMA)
    failed = resources.connection("conn_1", status="disabled", test_state="failed", test_error="source_5xx")
    service.say("POST", "/v1/source-connections/conn_1/test", Said(200, dict(failed.raw)))
    async with local(service, tmp_path) as driven:
        perform_action(driven.app.console_screen, resources.connection("conn_1"), TEST)
        await driven.opens(ConfirmDialog)
        await driven.reaches(" --local conn_1", "f9")
        # The word of the list, though the service says "disabled" of it.
        await driven.shows(re.compile("done +conn_1 +failed"))


@pytest.mark.exhaustive
async def test_commands_in_the_error_of_a_field_call_the_same_service(tmp_path: Path) -> None:
    service = finding(OLLAMA)
    errors = [{"field": "source_id", "message": "See runwatch sources list"}]
    service.say("POST", "/v1/source-credential-handoffs", Said(422, problem("validation_failed", errors=errors)))
    async with local(service, tmp_path) as driven:
        await driven.reaches("port 11434 (Ollama?)", "M")
        await driven.opens(ActionForm, "enter")
        await driven.review()
        await driven.opens(ConfirmDialog)
        await driven.press("f9")
        await driven.shows("validation_failed")
        await driven.opens(ActionForm, "escape")
        await driven.shows("See runwatch sources list --local")


@pytest.mark.parametrize("answer", [{"servers": []}, {"servers": [{"name": "Ollama"}, 7]}, {}, [], None])
async def test_where_none_is_found_it_is_said_how_another_is_connected(tmp_path: Path, answer: Any) -> None:
    service = finding()
    service.say("POST", PATH, Said(200, b"null" if answer is None else answer))
    async with local(service, tmp_path, size=NARROW) as driven:
        await driven.reaches("Model servers   no server responds on the usual ports", "M")
        await driven.shows(f"▸ Another server   {CONNECT} URL ")
        assert "port 1" not in driven.text
        await driven.opens(ActionForm, "enter")
        await driven.type("http://a")
        assert fields_of(driven) == ("openai_compatible", "none", "http://a", "openai_chat")


async def test_a_search_that_fails_is_reported(tmp_path: Path) -> None:
    service = finding()
    service.say("POST", PATH, Said(403, problem("permission_denied", detail="The key lacks arms:manage.")))
    async with local(service, tmp_path) as driven:
        await driven.reaches("looking for model servers: ", "M")
        assert searches(driven) == 1, "it is not tried again"


@pytest.mark.exhaustive
async def test_the_command_line_has_it_too(tmp_path: Path) -> None:
    async with local(finding(OLLAMA), tmp_path) as driven:
        await driven.say("servers")
        await driven.shows("port 11434 (Ollama?) · 3 models")
        assert not driven.app.screen.query(CommandLine)


@pytest.mark.exhaustive
async def test_a_read_only_console_may_look(tmp_path: Path) -> None:
    async with local(finding(OLLAMA), tmp_path, settings="read_only = true\n") as driven:
        await driven.reaches("port 11434 (Ollama?) · 3 models", "M")


@pytest.mark.exhaustive
async def test_a_search_that_a_429_holds_says_so_and_interrupts_nobody_when_it_is_done(tmp_path: Path) -> None:
    async with local(finding(OLLAMA), tmp_path) as driven:
        driven.session.client.gate.close(None, 23)
        await driven.reaches("Rate limited (429), sends in 0:23", "M")
        assert searches(driven) == 0
        await driven.opens(HelpScreen, "question_mark")
        await driven.pass_time(24)
        await driven.shows("Model servers found: 1. M searches again.")
        assert searches(driven) == 1
        assert not driven.app.screen.query(Menu)


async def test_another_service_is_not_asked_to_look(tmp_path: Path) -> None:
    async with console(finding(OLLAMA), tmp_path) as driven:
        await driven.reaches("Only your own local service looks for model servers: runwatch --local", "M")
        await driven.say("servers")
        await driven.shows("unknown command servers")
        assert searches(driven) == 0


async def test_the_demo_does_not_offer_what_would_be_connected_elsewhere(tmp_path: Path) -> None:
    async with local(finding(OLLAMA), tmp_path, demo=True) as driven:
        await driven.reaches("The demo looks for no model servers; runwatch --local does.", "M")
        assert searches(driven) == 0


@pytest.mark.exhaustive
async def test_while_the_local_service_starts_the_key_is_not_named_and_asks_nobody(tmp_path: Path) -> None:
    go = threading.Event()
    async with unconfigured(finding(OLLAMA), tmp_path, go=go) as driven:
        await driven.shows(STARTS)
        assert "looks for model servers" not in driven.text
        await driven.reaches("The service is not connected yet.", "M")
        go.set()
        await driven.until(lambda: driven.app.session is not None, "the desk to open")
        await driven.settle()
        assert searches(driven) == 0
