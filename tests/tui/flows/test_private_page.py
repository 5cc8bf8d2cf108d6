"""A private page: its address in full, opened or copied by the user, stored nowhere, and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.base.errors import RunwatchError
from runwatch.base.json import loads
from runwatch.tui.flows import private_page
from runwatch.tui.flows.private_page import PrivatePageDialog
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from tests.support import resources
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import Driven, console
from tests.tui.flows.test_action_dialog import SIZE, form, service

TOKEN: Final = "t0ken_0123456789abcdefghij"
ADDRESS: Final = f"http://127.0.0.1:40213/connect/verifier?intent={TOKEN}"
CHECK: Final = "/v1/verifiers/vrf_7c1e"
PENDING: Final = {"handle": "cred_v_11111111111111111111111111111111", "captured_generation": 4, "staged_until": None}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was opened in a browser; no test opens one."""
    found: list[str] = []

    monkeypatch.setattr(private_page, "open_in_browser", lambda address, _: found.append(address))
    return found


def check_service(address: str | None = ADDRESS) -> ScriptedService:
    """A service with one output check whose key is about to be entered."""
    made = service(verifiers=[resources.verifier()])
    intent = {**resources.key_intent(address or "").raw, "continue_url": address}
    made.say("POST", f"{CHECK}/connection-intents", Said(200, intent))
    made.say("GET", f"{CHECK}/connection", Said(200, dict(resources.key_connection(pending_key=None).raw)))
    return made


async def send_form(driven: Driven, said: str = "") -> None:
    """Send what is in the form; its dialog closes by itself.

    Args:
        said: What the dialog says before it sends anything.
    """
    start = driven.app.screen.query_one("#start")
    await driven.until(lambda: not start.disabled, "the request to be valid")
    start.focus()
    await driven.opens(ConfirmDialog, "enter")
    await driven.shows(said)
    await driven.press("tab", "enter")
    await driven.until(lambda: not isinstance(driven.app.screen, ConfirmDialog), "the dialog to close")


async def ask_for_page(driven: Driven) -> PrivatePageDialog:
    """Ask for the page of the check's key."""
    await driven.comes("vrf_7c1e")
    await driven.press("full_stop", "down", "down", "enter")
    await form(driven)
    await send_form(driven)
    await driven.opens(PrivatePageDialog)
    found = driven.app.screen
    assert isinstance(found, PrivatePageDialog)
    return found


async def press_button(driven: Driven, id: str) -> None:
    driven.app.screen.query_one(f"#{id}").focus()
    await driven.press("enter")


async def test_the_address_is_shown_in_full_and_opened_by_the_user_alone(tmp_path: Path, opened: list[str]) -> None:
    async with console(check_service(), tmp_path, size=SIZE, open_at="verifiers") as driven:
        await ask_for_page(driven)
        await driven.shows(ADDRESS, "ssh -L 40213:127.0.0.1:40213")
        assert driven.focused is not None
        assert driven.focused.id == "page-leave"
        assert opened == []
        await press_button(driven, "page-open")
        await driven.until(lambda: opened == [ADDRESS], "the browser to be asked")
        await driven.comes("If no page opens, copy the address into it.")
        await driven.shows(ADDRESS)


async def test_once_the_key_is_entered_it_is_tested_and_what_came_of_it_is_read_back(tmp_path: Path) -> None:
    made = check_service()
    made.say("POST", f"{CHECK}/connection/test", Said(200, {"generation": 5, "handle": PENDING["handle"]}))
    async with console(made, tmp_path, size=SIZE, open_at="verifiers") as driven:
        await ask_for_page(driven)
        await driven.shows("waiting until the key is entered")
        state = dict(resources.key_connection().raw)
        made.say("GET", f"{CHECK}/connection", Said(200, {**state, "pending_key": PENDING}))
        await driven.comes("the key was entered and waits for its test")
        await driven.until(lambda: driven.focused is not None and driven.focused.id == "page-then", "the next step")
        await driven.opens(ConfirmDialog, "enter")
        made.say("GET", f"{CHECK}/connection", Said(200, {**state, "status": "active", "handle": PENDING["handle"]}))
        await driven.reaches("the key passed its test and is in use", "tab", "enter")
        (heard,) = made.requests("POST", f"{CHECK}/connection/test")
        sent = loads(heard.body)
        assert (sent["handle"], sent["captured_generation"]) == (PENDING["handle"], 4)
        assert sent["operation_key"] == resources.key_intent(ADDRESS).intent_id


async def test_a_key_that_fails_its_test_is_reported_as_not_in_use(tmp_path: Path) -> None:
    made = check_service()
    failed = {"outcome": "failed", "handle": PENDING["handle"], "reason": "authentication_failed", "at": None}
    state = {**resources.key_connection().raw, "pending_key": PENDING, "last_test": failed}
    made.say("GET", f"{CHECK}/connection", Said(200, state))
    made.say("POST", f"{CHECK}/connection/test", Said(200, {"generation": 5, "handle": PENDING["handle"]}))
    async with console(made, tmp_path, size=SIZE, open_at="verifiers") as driven:
        await driven.comes("vrf_7c1e")
        await driven.opens(ConfirmDialog, "full_stop", "down", "down", "down", "enter")
        await driven.press("tab", "enter")
        await driven.shows("the key is not in use: authentication_failed; an earlier key stays as it was")


@pytest.mark.exhaustive
async def test_the_address_goes_into_no_file_no_store_and_no_other_screen(tmp_path: Path) -> None:
    async with console(check_service(), tmp_path, size=SIZE, open_at="verifiers") as driven:
        await ask_for_page(driven)
        await driven.press("escape")
        await driven.settle()
        assert TOKEN not in driven.text
        for name in ("H", "O", "0"):
            await driven.press(name)
            await driven.settle()
            assert TOKEN not in driven.text
        await driven.pass_time(2)
    left = [file.name for file in tmp_path.rglob("*") if file.is_file() and TOKEN.encode() in file.read_bytes()]
    assert left == []


@pytest.mark.exhaustive
async def test_a_repeated_answer_names_no_address_and_says_so(tmp_path: Path) -> None:
    async with console(check_service(None), tmp_path, size=SIZE, open_at="verifiers") as driven:
        await ask_for_page(driven)
        await driven.shows("The response has no address;")
        assert not driven.app.screen.query("#page-open")


@pytest.mark.parametrize("address", ["http://evil.example.test/connect?x=1", "file:///etc/passwd"])
async def test_an_address_that_is_neither_secure_nor_local_is_not_opened_from_here(
    tmp_path: Path, address: str
) -> None:
    async with console(check_service(address), tmp_path, size=SIZE, open_at="verifiers") as driven:
        await ask_for_page(driven)
        await driven.shows("Not opened from here")
        assert not driven.app.screen.query("#page-open")
        assert driven.app.screen.query("#page-copy")


@pytest.mark.exhaustive
async def test_a_browser_that_does_not_open_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_none(_: str, __: Path) -> None:
        raise RunwatchError("No browser could be opened", detail="copy the address into one instead")

    monkeypatch.setattr(private_page, "open_in_browser", open_none)
    async with console(check_service(), tmp_path, size=SIZE, open_at="verifiers") as driven:
        await ask_for_page(driven)
        await press_button(driven, "page-open")
        await driven.shows("No browser could be opened: copy the address into one instead.")
        await driven.shows(ADDRESS)


@pytest.mark.exhaustive
async def test_how_far_it_is_is_looked_for_again_after_a_failure(tmp_path: Path) -> None:
    made = check_service()
    made.say("GET", f"{CHECK}/connection", Said(404, problem("not_found")))
    async with console(made, tmp_path, size=SIZE, open_at="verifiers") as driven:
        await ask_for_page(driven)
        await driven.shows("cannot read the progress")
        made.say("GET", f"{CHECK}/connection", Said(200, dict(resources.key_connection(pending_key=None).raw)))
        await driven.comes("waiting until the key is entered")


async def test_a_source_is_connected_with_the_key_that_was_entered(tmp_path: Path) -> None:
    made = service(sources=[resources.connection("conn_1")])
    begun: dict[str, Any] = {**resources.handoff("pending").raw, "continue_url": ADDRESS}
    handoffs = "/v1/source-credential-handoffs"
    made.say("POST", handoffs, Said(200, begun))
    made.say("GET", f"{handoffs}/.*", Said(200, dict(resources.handoff("completed").raw)))
    made.say("POST", "/v1/source-connections", Said(200, dict(resources.connection("conn_new").raw)))
    async with console(made, tmp_path, size=SIZE, open_at="sources") as driven:
        await driven.comes("conn_1")
        await driven.press("plus")
        opened = await form(driven)
        opened.fields.input("source_id").value = "northwind_direct"
        await send_form(driven)
        await driven.shows("the key was entered")
        await driven.until(lambda: driven.focused is not None and driven.focused.id == "page-then", "the next step")
        await driven.press("enter")
        await form(driven)
        assert "Sources › Connect it" in driven.text
        body = driven.app.screen.query_one("#preview")
        assert body is not None
        assert '"handoff_intent_id"' in driven.text


async def test_a_source_without_a_key_is_connected_without_a_page_or_a_word_of_a_key(tmp_path: Path) -> None:
    made = service(sources=[resources.connection("conn_1")])
    done = dict(resources.handoff("completed", auth_scheme="none").raw)
    handoffs = "/v1/source-credential-handoffs"
    made.say("POST", handoffs, Said(200, done))
    made.say("GET", f"{handoffs}/.*", Said(200, done))
    untested = {"test_state": "untested", "status": "disabled"}
    made.say("POST", "/v1/source-connections", Said(200, dict(resources.connection("conn_new", **untested).raw)))
    async with console(made, tmp_path, size=SIZE, open_at="sources") as driven:
        await driven.comes("conn_1")
        await driven.press("plus")
        opened = await form(driven)
        opened.fields.input("source_id").value = "northwind_direct"
        opened.fields.input("auth_scheme").value = "none"
        before = driven.app.screen
        await send_form(driven, "Prepares a connection that is called without a key.")
        await driven.until(
            lambda: driven.app.screen is not before and bool(driven.app.screen.query("#start")), "the next form"
        )
        opened = await form(driven)
        assert "page" not in driven.text
        start = opened.query_one("#start")
        await driven.until(lambda: not start.disabled, "the request to be valid")
        start.focus()
        await driven.reaches("which takes no key. No model is called", "enter")
        await driven.reaches("Calls the source of", "tab", "enter")


@pytest.mark.exhaustive
async def test_an_intent_to_connect_a_repository_is_listed_until_it_is_over(tmp_path: Path) -> None:
    made = service(github=[resources.github_connection(repository="acme/other")])
    answer = {"intent_id": "int_1", "continue_url": ADDRESS, "expires_at": "2099-01-01T00:00:00Z"}
    made.say("POST", "/v1/github-connections/intents", Said(200, answer))
    async with console(made, tmp_path, size=SIZE, open_at="github") as driven:
        await driven.press("plus")
        await form(driven)
        await driven.type("acme/widgets")
        await driven.press("enter")
        await driven.until(lambda: driven.focused is not None and driven.focused.id == "start", "the button")
        await driven.opens(ConfirmDialog, "enter")
        await driven.reaches("the console cannot see when this is done; the screen below shows", "tab", "enter")
        assert "esc closes" in driven.text, "nothing is taken back"
        await driven.press("escape")
        await driven.comes("begun here")
        assert "acme/widgets" in driven.text
        connected = resources.github_connection(repository="acme/widgets", connection_id="ghc_new")
        page = {"connections": [dict(connected.raw)], "next_cursor": None}
        made.say("GET", "/v1/github-connections", Said(200, page))
        await driven.press("r")
        await driven.pass_time(31)
        await driven.hides("begun here")
