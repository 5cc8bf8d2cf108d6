"""Forms of actions: keys that come in a burst, choices, dependents of a record, private pages, and results."""

from __future__ import annotations

import asyncio
import re
import threading
from base64 import b64encode
from pathlib import Path
from typing import Any, Final

import pytest
from textual import events

from runwatch.api.calls import CallResult
from runwatch.api.errors import NoResponseError
from runwatch.api.operations import SUBMIT
from runwatch.base.errors import WriteInProgressError
from runwatch.base.json import loads
from runwatch.store.repositories.outbox import WriteRequest
from runwatch.tui.app.console_app import ConsoleApp
from runwatch.tui.flows.action_dialog import ActionForm
from runwatch.tui.flows.runs.run_form import RunFormScreen
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.widgets.inputs.form_fields import FormFields
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.view.actions.form import Form
from tests.support import resources
from tests.support.builders import account, problem
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, PATIENCE_S, Driven, console

SIZE: Final = (120, 40)


class Noting(ConsoleApp):
    """A console that notes what it sends to the terminal to be copied."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.sent: list[str] = []
        super().__init__(*arguments, **named)

    def _write_to_terminal(self, data: str) -> None:
        self.sent.append(data)


def service(**lists: Any) -> ScriptedService:
    """A service with these lists; their names are for the reader."""
    made = noon.service(account=account())
    for records in lists.values():
        wire = type(records[0]).WIRE
        made.say("GET", wire.path, Said(200, {wire.items: [dict(one.raw) for one in records], "next_cursor": None}))
    return made


async def burst(driven: Driven, *keys: str) -> None:
    """Give keys to the console faster than anything can be drawn, as a terminal does with what is pasted or typed."""
    for key in keys:
        character = key if len(key) == 1 else None
        driven.app.post_message(events.Key(key, character))
    await driven.pilot.pause()


async def form(driven: Driven) -> ActionForm:
    await driven.opens(ActionForm)
    found = driven.app.screen
    assert isinstance(found, ActionForm)
    await driven.until(lambda: found._can_check, "the rules to be there")
    return found


@pytest.mark.exhaustive
async def test_keys_of_a_burst_land_in_the_field_that_the_key_before_them_went_to(tmp_path: Path) -> None:
    async with console(service(arms=[resources.arm()]), tmp_path, size=SIZE, open_at="github") as driven:
        await driven.press("plus")
        opened = await form(driven)
        await burst(driven, *"acme/widgets", "enter")
        await driven.until(
            lambda: driven.focused is not None and driven.focused.id == "start", "the button to be reached"
        )
        assert opened.fields.values() == {"repository": "acme/widgets"}


@pytest.mark.exhaustive
async def test_what_is_typed_ahead_of_the_rules_goes_on_once_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_load, original = threading.Event(), Form.validate_body

    def held(form: Form, value: Any) -> dict[str, str]:
        may_load.wait(PATIENCE_S)
        return original(form, value)

    async with console(service(arms=[resources.arm()]), tmp_path, size=SIZE, open_at="github") as driven:
        monkeypatch.setattr(Form, "validate_body", held)
        await driven.opens(ActionForm, "plus")
        await driven.type("acme/widgets")
        await driven.press("tab", "enter")
        assert driven.focused is not None
        assert driven.focused.id == "start"
        assert isinstance(driven.app.screen, ActionForm)
        may_load.set()
        await driven.opens(ConfirmDialog)


@pytest.mark.exhaustive
async def test_a_form_longer_than_the_window_says_how_many_fields_follow(tmp_path: Path) -> None:
    async with console(service(arms=[resources.arm()]), tmp_path, size=(80, 20), open_at="arms") as driven:
        await driven.shows("Ember 7B Instruct")
        await driven.press("plus", "enter")
        opened = await form(driven)
        await driven.shows("1 more field and Review… below")
        opened.fields.go_to(opened.form.fields[-1].id)
        await driven.until(lambda: "1 more field" not in driven.text, "the last field")
        opened.query_one("#leave").focus()
        await driven.until(lambda: "below" not in driven.text, "the end of the form")


@pytest.mark.exhaustive
async def test_the_last_field_leads_to_a_wrong_one_and_choices_follow_the_arrows(tmp_path: Path) -> None:
    async with console(service(keys=[resources.api_key()]), tmp_path, size=SIZE, open_at="keys") as driven:
        await driven.press("plus")
        opened = await form(driven)
        assert "Required." not in driven.text
        await driven.press("enter", "enter", "enter")
        await driven.until(lambda: driven.focused is opened.fields.input("display_name"), "the label to have the focus")
        await driven.shows("✗ Required.")
        await driven.type("ci")
        await driven.press("down")
        assert driven.focused is opened.fields.input("role")
        await driven.press("down")
        assert opened.fields.values() == {"display_name": "ci", "role": "runner", "expires_in_s": ""}
        await driven.press("up", "up")
        assert opened.fields.values()["role"] == "owner"


async def test_an_address_without_https_is_taken_and_its_field_says_what_becomes_of_it(tmp_path: Path) -> None:
    async with console(service(verifiers=[resources.verifier()]), tmp_path, size=SIZE, open_at="verifiers") as driven:
        await driven.press("plus")
        opened = await form(driven)
        opened.fields.go_to("endpoint-url")
        await driven.type("http://checks.example.test")
        await driven.shows("Accepted, but its test fails")
        await driven.press("home", *["delete"] * 4)
        await driven.type("https")
        await driven.shows("an https URL, or http")
        await driven.type("x" * 60)
        await driven.press("home")
        await driven.shows("… ┃")


async def test_fields_are_marked_so_that_they_are_seen_without_colours(tmp_path: Path) -> None:
    environment = {"NO_COLOR": "1"}
    made = service(keys=[resources.api_key()])
    async with console(made, tmp_path, size=SIZE, open_at="keys", environment=environment) as driven:
        await driven.press("plus")
        await form(driven)
        assert "label         ▸ " in driven.text
        assert "role          │ reader" in driven.text


async def test_what_is_typed_into_a_form_is_kept_until_the_service_accepts_it(tmp_path: Path) -> None:
    made = service(keys=[resources.api_key()])
    made.say("POST", "/v1/api-keys", Said(200, {**resources.api_key("key_new").raw, "key": "rk_shown_once"}))
    async with console(made, tmp_path, size=SIZE, open_at="keys") as driven:
        await driven.press("plus")
        await form(driven)
        await driven.type(f"sk-{'a1B2' * 8}")
        await driven.opens(ResourceScreen, "escape")
        await driven.press("plus")
        assert (await form(driven)).fields.values()["display_name"] == "", "a key is not kept"
        await driven.type("c")
        await driven.opens(ResourceScreen, "escape")
        await driven.reaches("Kept from before", "plus")
        opened = await form(driven)
        assert opened.fields.values()["display_name"] == "c"
        await driven.type("ci")
        assert opened.fields.values()["display_name"] == "ci", "typing replaces it"
        await driven.press("tab", "shift+tab")
        await driven.type("2")
        assert opened.fields.values()["display_name"] == "ci2", "but not what was typed since"
        await driven.press("backspace")
        await driven.opens(ConfirmDialog, "f2")
        await driven.reaches("rk_shown_once", "f9")
        values = [row.index(value) for value in ("key_new", "rk_shown_once") for row in driven.lines if value in row]
        assert len(set(values)) == 1, "they stand in one column"
        await driven.opens(ResourceScreen, "escape")
        await driven.press("escape", "plus")
        assert (await form(driven)).fields.values()["display_name"] == ""


@pytest.mark.parametrize("size", [SIZE, (100, 30), NARROW], ids=lambda size: "x".join(map(str, size)))
async def test_a_key_is_shown_once_and_kept_nowhere(tmp_path: Path, size: tuple[int, int]) -> None:
    made = service(keys=[resources.api_key()])
    secret = "rk_live_shown_once_0123456789"
    made.say("POST", "/v1/api-keys", Said(200, {**resources.api_key("key_new").raw, "key": secret}))
    async with console(made, tmp_path, size=size, open_at="keys") as driven:
        await driven.press("plus")
        await form(driven)
        await driven.type("ci")
        await driven.press("enter", "enter", "enter")
        await driven.until(lambda: driven.focused is not None and driven.focused.id == "start", "the button")
        await driven.reaches("Create the key", "enter")
        listed = [dict(resources.api_key("key_new").raw), dict(resources.api_key().raw)]
        made.say("GET", "/v1/api-keys", Said(200, {"api_keys": listed}))
        await driven.reaches(secret, "tab", "enter")
        assert "It is shown only once" in driven.text
        known = driven.session.store.get(driven.session.scope.profile, "api_key", "key_new")
        assert known is not None
        assert "key" not in known.record.raw
        await driven.opens(ResourceScreen, "enter")
        await driven.until(lambda: driven.table.cursor_key == "key_new", "the cursor to stand on the new key")
        await driven.until(lambda: driven.focused is driven.app.screen.query_one("#fields"), "the focus in the new key")
        await driven.press("enter", "v")
        assert secret not in driven.text
        assert driven.app.clipboard == ""
    left = [file for file in tmp_path.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()]
    assert left == []


async def test_a_minted_key_is_copied_from_its_dialog_and_the_route_is_said_without_it(tmp_path: Path) -> None:
    made = service(keys=[resources.api_key()])
    secret = "rk_live_shown_once_0123456789"
    key = resources.api_key("key_new", key=secret, expires_at="2026-12-21T12:00:00.000Z")
    made.say("POST", "/v1/api-keys", Said(200, key))
    async with console(made, tmp_path, size=SIZE, open_at="keys", app_class=Noting) as driven:
        await driven.press("plus")
        await form(driven)
        await driven.type("ci")
        await driven.press("enter", "enter")
        await driven.type("30d")
        await driven.press("enter")
        await driven.until(lambda: driven.focused is not None and driven.focused.id == "start", "the button")
        await driven.reaches("Create the key", "enter")
        assert "Copy the key" not in driven.text
        await driven.reaches("Copy the key (y)", "tab", "enter")
        assert "2026-12-21" in driven.text
        sent = made.requests("POST", "/v1/api-keys")[-1]
        assert loads(sent.body) == {"display_name": "ci", "role": "reader", "expires_in_s": 2_592_000}
        app = driven.app
        assert isinstance(app, Noting)
        await driven.reaches("Copied key by OSC 52 ", "y")
        sequence = f"\x1b]52;c;{b64encode(secret.encode()).decode()}\x1b\\"
        assert app.sent == [sequence]
        await driven.click_text("Copy the key (y)")
        await driven.until(lambda: app.sent == [sequence] * 2, "the button to copy it too")


async def test_the_dialog_that_destroys_names_what_hangs_on_the_record(tmp_path: Path) -> None:
    made = service(
        sources=[resources.connection("conn_1")],
        deployments=[resources.deployment("mdep_1", connection_id="conn_1")],
        arms=[resources.arm("arm_1", model_deployment_id="mdep_1", display_name="Ember")],
        templates=[resources.template()],
    )
    async with console(made, tmp_path, size=SIZE, open_at="sources") as driven:
        await driven.comes("conn_1")
        await driven.reaches("Used by 1 deployment", "X")
        assert "1 saved model (Ember)" in driven.text
        assert driven.focused is not None
        assert driven.focused.id == "dialog-keep"


@pytest.mark.exhaustive
async def test_a_saved_model_is_shown_with_the_keys_that_start_a_run(tmp_path: Path) -> None:
    made = service(models=[resources.catalog_entry()], arms=[resources.arm("arm_new")])
    made.say("POST", "/v1/arms", Said(200, dict(resources.arm("arm_new").raw)))
    async with console(made, tmp_path, size=SIZE, open_at="models") as driven:
        await driven.comes("ember")
        await driven.reaches("Save the model", "full_stop")
        await driven.press("enter")
        opened = await form(driven)
        await driven.until(lambda: not opened.query_one("#start").disabled, "the request to be valid")
        await driven.opens(ConfirmDialog, "f2")
        await driven.reaches("Model saved · next 1 + starts a run, which may use it · arm_new", "tab", "enter")
        await driven.shows("Saved models › Ember")
        assert driven.table.cursor_key == "arm_new"


@pytest.mark.parametrize(("answer", "told"), [(200, "done"), (409, "(?!done)")])
async def test_the_outcome_is_reported_after_the_dialog_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: int, told: str
) -> None:
    made = service(arms=[resources.arm("arm_1")])
    body = dict(resources.arm("arm_1", "disabled").raw) if answer == 200 else problem("invalid_state")
    made.say("DELETE", "/v1/arms/arm_1", Said(answer, body))
    async with console(made, tmp_path, size=SIZE, open_at="arms") as driven:
        await driven.comes("arm_1")
        may_send, original = asyncio.Event(), driven.session.send_write

        async def held(write: WriteRequest) -> Any:
            await may_send.wait()
            return await original(write)

        monkeypatch.setattr(driven.session, "send_write", held)
        await driven.reaches("Disable it", "X")
        await driven.reaches("Close, it continues", "f9")
        await driven.opens(ResourceScreen, "escape")
        may_send.set()
        await driven.shows(re.compile(f"Disable a saved model: {told}"))


async def left_while_sending(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Send a run, leave its dialog while that is being sent, and return what lets the request go on."""
    may_send, original = asyncio.Event(), driven.session.outbox.deliver

    async def held(client: Any, scope: Any, write: WriteRequest) -> Any:
        await may_send.wait()
        return await original(client, scope, write)

    monkeypatch.setattr(driven.session.outbox, "deliver", held)
    await driven.opens(RunFormScreen, "plus")
    await driven.type("Say hello.")
    await driven.review()
    await driven.reaches("Close, it continues", "f9")
    await driven.opens(RunFormScreen, "escape")
    return may_send


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "Started run ex_scripted_10; :open ex_scripted_10 shows it"),
        (Said(409, problem("invalid_state")), r"Submit a run: [^;]+; :problems explains it"),
        (Said(503, problem("upstream_unavailable")), r"Submit a run: [^;]+, outcome unknown"),
    ],
    ids=["done", "refused", "unknown"],
)
async def test_a_form_that_is_closed_while_its_write_is_sent_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Said | None, told: str
) -> None:
    made = service()
    if answer is not None:
        made.say("POST", "/v1/executions", answer)
    async with console(made, tmp_path, size=SIZE) as driven:
        may_send = await left_while_sending(driven, monkeypatch)
        await driven.opens(ResourceScreen, "escape")
        before = driven.table.cursor_key
        may_send.set()
        await driven.comes(re.compile(told))
        assert (not driven.app.run_drafts) == (answer is None)
        assert driven.table.cursor_key == before, "nothing is taken from what the user does meanwhile"


async def test_a_form_whose_write_is_on_its_way_says_so_and_sends_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        may_send = await left_while_sending(driven, monkeypatch)
        await driven.shows("This request is on its way, sent at")
        await driven.reaches("This request is already on its way, sent at", "f2")
        assert isinstance(driven.app.screen, RunFormScreen)
        await driven.opens(ResourceScreen, "escape")
        await driven.opens(RunFormScreen, "plus")
        await driven.shows(re.compile(r'Submit a run "Say hello\.", sent at \d\d:\d\d:\d\d: on its way\.'))
        await driven.reaches("on its way. Sending from here makes a new request", "f2")
        await driven.opens(RunFormScreen, "escape")
        may_send.set()
        await driven.pass_time(1)
        await driven.hides("on its way")
        assert len(driven.service.requests("POST", "/v1/executions")) == 1


@pytest.mark.exhaustive
async def test_a_write_that_another_process_sends_has_no_known_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def claimed(number: int, key: str, claim: Any) -> None:
        raise WriteInProgressError("This write is being sent right now", hint="wait for its answer there")

    async with console(service(), tmp_path, size=SIZE) as driven:
        monkeypatch.setattr(driven.session.outbox, "_claim", claimed)
        await driven.opens(RunFormScreen, "plus")
        await driven.type("Say hello.")
        await driven.review()
        await driven.reaches("This write is being sent right now", "f9")
        await driven.shows("Unknown: a run may have been accepted", "wait for its answer there")
        assert "Nothing was accepted" not in driven.text
        assert "Check the base URL" not in driven.text
        key = driven.app.screen_stack[-2]._key  # type: ignore[attr-defined]
        await driven.opens(RunFormScreen, "escape")
        assert driven.app.screen._key == key, "the next attempt is the same request"  # type: ignore[attr-defined]


@pytest.mark.exhaustive
async def test_a_form_that_waits_for_its_outcome_closes_unless_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        may_send = await left_while_sending(driven, monkeypatch)
        may_send.set()
        await driven.opens(ResourceScreen)
        monkeypatch.undo()
        may_send = await left_while_sending(driven, monkeypatch)
        driven.app.screen.query_one(FormFields).go_to("objective")
        await driven.type("And more.")
        may_send.set()
        await driven.shows("Started run ex_scripted_11")
        assert isinstance(driven.app.screen, RunFormScreen)
        assert driven.app.run_drafts


async def test_a_dialog_whose_response_is_shown_once_is_not_left_before_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = service(webhooks=[resources.webhook("wh_1")])
    secret = "whsec_shown_once_0123456789"
    made.say("POST", "/v1/webhooks/wh_1/rotate-secret", Said(200, {"webhook_id": "wh_1", "secret": secret}))
    async with console(made, tmp_path, size=SIZE, open_at="webhooks") as driven:
        await driven.comes("wh_1")
        may_send, original = asyncio.Event(), driven.session.send_write

        async def held(write: WriteRequest) -> Any:
            await may_send.wait()
            return await original(write)

        monkeypatch.setattr(driven.session, "send_write", held)
        await driven.reaches("another signing secret", "full_stop", "enter")
        await driven.reaches("it is shown only here and once", "f9")
        await driven.press("escape", "enter", "q")
        assert isinstance(driven.app.screen, ConfirmDialog)
        may_send.set()
        await driven.shows(secret)
        await driven.opens(ResourceScreen, "escape")
        assert secret not in driven.text


@pytest.mark.exhaustive
async def test_lists_that_cannot_be_read_are_named_on_the_dialog_that_destroys(tmp_path: Path) -> None:
    async with console(
        service(sources=[resources.connection("conn_1")]), tmp_path, size=SIZE, open_at="sources"
    ) as driven:
        await driven.comes("conn_1")
        await driven.reaches("Not known: the lists of deployment, arm,", "X")


async def test_on_a_production_profile_the_end_of_the_id_is_typed_first(tmp_path: Path) -> None:
    settings = '[profiles.prod]\nbase_url = "{base_url}"\nproduction = true\n'
    made = service(arms=[resources.arm("arm_01HX7")])
    environment = {"RUNWATCH_PROFILE": "prod"}
    async with console(made, tmp_path, size=SIZE, open_at="arms", settings=settings, environment=environment) as driven:
        await driven.comes("arm_01HX7")
        await driven.reaches("type the last 6 characters of the id", "X")
        await driven.type("_01HX7")
        await driven.press("enter")
        await driven.until(lambda: driven.app.screen.query_one("#dialog-confirm").has_focus, "the way to open")


@pytest.mark.exhaustive
async def test_what_can_be_made_in_several_ways_is_chosen_from_a_menu(tmp_path: Path) -> None:
    async with console(service(arms=[resources.arm()]), tmp_path, size=SIZE, open_at="arms") as driven:
        await driven.reaches("Save a skill", "plus")
        await driven.press("down", "enter")
        await form(driven)
        assert "Save an agent" in driven.text
        assert "postArms" not in driven.text


async def test_records_of_the_service_are_offered_where_one_is_named(tmp_path: Path) -> None:
    made = service(github=[resources.github_connection(repository="acme/widgets")])
    async with console(made, tmp_path, size=SIZE, open_at="agents") as driven:
        await driven.press("plus")
        opened = await form(driven)
        await driven.shows("down: acme/widgets")
        await driven.press("down")
        assert opened.fields.values()["repository"] == "acme/widgets"


async def test_what_is_off_says_why_and_what_cannot_be_done_here_has_no_key(tmp_path: Path) -> None:
    async with console(service(arms=[resources.arm(status="disabled")]), tmp_path, size=SIZE, open_at="arms") as driven:
        await driven.comes("disabled")
        await driven.reaches("It is disabled already.", "X")
        await driven.press("T")
        await driven.settle()
        assert isinstance(driven.app.screen, ResourceScreen)


@pytest.mark.exhaustive
async def test_a_chosen_record_is_told_by_its_name(tmp_path: Path) -> None:
    made = service(arms=[resources.arm("arm_1", display_name="Ember")], verifiers=[resources.verifier()])
    async with console(made, tmp_path, size=SIZE) as driven:
        await driven.reaches("down: arm_1", "plus")
        driven.app.screen.query_one("#field-arm_id").focus()
        await driven.reaches(re.compile(r"saved model +▸ arm_1 .*\n.* Ember "), "down")


@pytest.mark.exhaustive
async def test_the_dialog_of_a_run_names_the_run_that_came_of_it(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        await driven.press("plus")
        await driven.type("Say hello.")
        start = driven.app.screen.query_one("#start")
        await driven.until(lambda: not start.disabled, "the request to be valid")
        start.focus()
        await driven.reaches("Start the run", "enter")
        await driven.reaches("Started run ex_scripted_10", "tab", "enter")


async def test_a_submit_that_no_connection_carried_is_not_kept_and_can_be_tried_again(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZE) as driven:
        session, real = driven.session, driven.session.send_write

        async def refuse(request: WriteRequest) -> CallResult:
            raise NoResponseError(
                "Nothing responds at this address", kind="refused", was_sent=False, operation=SUBMIT, attempts=3,
                outcome_known=True, key=request.key, hint="Check the port.", detail=None,
            )  # fmt: skip

        session.send_write = refuse  # type: ignore[method-assign]
        await driven.press("plus")
        await driven.type("Say hello.")
        start = driven.app.screen.query_one("#start")
        await driven.until(lambda: not start.disabled, "the request to be valid")
        start.focus()
        await driven.reaches("Start the run", "enter")
        await driven.reaches("Nothing was accepted or charged.", "tab", "enter")
        await driven.shows("nothing was sent; r tries again", "tab moves  r retries  y copies", "Check the port.")
        session.send_write = real  # type: ignore[method-assign]
        await driven.reaches("ex_scripted_10", "r")


async def test_a_lost_write_of_any_kind_is_settled_from_the_list_of_kept_writes(tmp_path: Path) -> None:
    made = service(arms=[resources.arm("arm_1")])
    made.say("DELETE", "/v1/arms/arm_1", Said(503, problem("upstream_unavailable")))
    async with console(made, tmp_path, size=SIZE, open_at="arms") as driven:
        await driven.comes("arm_1")
        await driven.reaches("Disable it", "X")
        await driven.press("tab", "enter")
        await driven.pass_time(5)
        await driven.shows("retries with the same key and body")
        await driven.opens(ResourceScreen, "escape")
        made.say("DELETE", "/v1/arms/arm_1", Said(200, dict(resources.arm("arm_1", "disabled").raw)))
        await driven.reaches("Retry: Disable a saved model", "O")
        await driven.reaches("Sends the same bytes with the same key once more.", "enter")
        await driven.reaches(re.compile("done +arm_1 +disabled"), "tab", "enter")


async def test_sample_credit_is_added_from_the_account(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=SIZE, open_at="account") as driven:
        await driven.press("plus")
        opened = await form(driven)
        assert opened.fields.values() == {"amount_usd": "10"}
        assert "Add sample credit" in driven.text
        assert "postAccountTopUpIntents" not in driven.text


async def test_the_menu_of_a_record_names_the_keys_and_the_verbs_that_do_the_same(tmp_path: Path) -> None:
    async with console(service(arms=[resources.arm("arm_1")]), tmp_path, size=SIZE, open_at="arms") as driven:
        await driven.comes("arm_1")
        await driven.reaches(re.compile(r"Change it +E +┃"), "full_stop")
        assert re.search(r"Disable it +X +┃", driven.text)
        await driven.reaches(re.compile("Change it +runwatch arms edit arm_1"), "down", "down", "enter")
        assert re.search(r"Disable it +runwatch arms disable arm_1", driven.text)
        await driven.press("escape")
        await driven.reaches("Copy a command", "plus")
        await driven.reaches("runwatch arms create --kind model", *["down"] * 3, "enter")
