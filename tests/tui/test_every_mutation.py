"""Whatever an action declares keeps the promises that every write keeps.

One dialog, nothing sent before it is confirmed, read-only profiles, lost answers with a way out, refusals on the fields
that they are about.

A new action gets all of this by being declared; what it needs to be done is one line in :data:`SUBJECTS` or
:data:`TYPED`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.api.http.exchange import HttpRequest, HttpResponse
from runwatch.api.http.transport import Transport
from runwatch.api.operations import OPERATIONS, Operation
from runwatch.records.record import Record
from runwatch.tui.app.console_app import ConsoleApp
from runwatch.tui.flows.action_dialog import ActionForm, perform_action
from runwatch.tui.flows.writes.write_sender import WriteSender
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.bars.header_bar import HeaderInfo
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.view.resources.registry import RESOURCES
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.action_parts import PageResult
from runwatch.view.spec.resource import ResourceSpec
from tests.support import resources
from tests.support.builders import account, problem
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import Driven, console

SIZE: Final = (120, 50)
LOST: Final = Said(503, problem("upstream_unavailable"))
PENDING: Final = {"handle": resources.HANDLE, "captured_generation": 3, "staged_until": None}

SUBJECTS: Final[dict[str, Record]] = {
    "model": resources.catalog_entry(), "arm": resources.arm(), "verifier": resources.verifier(),
    "agent": resources.agent(), "connection": resources.connection(), "source_profile": resources.source_profile(),
    "proposal": resources.proposal(), "api_key": resources.api_key(), "template": resources.template(),
    "webhook": resources.webhook(), "delivery": resources.delivery(),
}  # fmt: skip
"""A record of each kind with which most can be done."""

TYPED: Final[dict[str, str]] = {
    "display_name": "Something new", "capability_tags": "code", "data_class_grants": "public", "provider": "northwind",
    "model_id": "ember-7b", "endpoint-url": "https://check.example.test/score", "artifact-content": "Be brief.",
    "artifact-version": "1", "input_data_classes": "public", "version": "2", "repository": "acme/widgets",
    "max_runtime_s": "60", "source_id": "northwind_direct", "auth_scheme": "api_key", "reason": "Too bold.",
    "amount_usd": "5", "url": "https://hooks.example.test/in", "stop": "no_expiration", "role": "reader",
}  # fmt: skip
"""What is typed where an action asks for it, by the id of the field."""

Case = tuple[ResourceSpec[Any], ResourceAction[Any], Any]


def _cases() -> Iterator[Any]:
    """Everything that is declared, with the steps that come after private pages."""
    for spec in RESOURCES:
        for action in spec.create_actions:
            yield from _with_next(spec, action, None)
        for action in spec.actions:
            if action.mutation is not None:
                yield from _with_next(spec, action, SUBJECTS[spec.kind])


def _with_next(spec: ResourceSpec[Any], action: ResourceAction[Any], subject: Any) -> Iterator[Any]:
    yield pytest.param((spec, action, subject), id=f"{spec.name}-{action.id}")
    entry = action.mutation.private_page if action.mutation is not None else None
    if entry is not None and entry.then is not None and entry.then not in spec.actions:
        state = {"pending_key": PENDING, "generation": 3, **resources.handoff("completed").raw}
        entered = PageResult("" if subject is None else subject.id, subject, {}, state)
        yield pytest.param((spec, entry.then, entered), id=f"{spec.name}-{action.id}-{entry.then.id}")


CASES: Final = list(_cases())
each_mutation = pytest.mark.parametrize("case", CASES)
each_form = pytest.mark.parametrize("case", [case for case in CASES if case.values[0][1].mutation.fields])


def path_of(operation: Operation) -> str:
    return re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(operation.path))


def service_for(case: Case) -> ScriptedService:
    """A service that lists the record, and tells what an action reads first or afterwards."""
    spec, _, subject = case
    made = noon.service(account=account())
    wire = spec.record.WIRE
    assert wire is not None
    record = subject.subject if isinstance(subject, PageResult) else subject
    listed = [] if record is None else [dict(record.raw)]
    if wire.items:
        made.say("GET", wire.path, Said(200, {wire.items: listed, "next_cursor": None}))
    mutation = mutation_of(case)
    for read in (mutation.prerequisite, mutation.effect_check):
        if read is not None:
            state = dict(resources.key_connection(pending_key=PENDING).raw)
            made.say("GET", path_of(OPERATIONS[read.operation]), Said(200, state))
    return made


def mutation_of(case: Case) -> Mutation[Any]:
    assert case[1].mutation is not None
    return case[1].mutation


def answer_of(case: Case) -> dict[str, Any]:
    """A good answer that names the record."""
    mutation = mutation_of(case)
    answered = OPERATIONS[mutation.operation].record if mutation.then is not None else None
    wire = (answered or case[0].record).WIRE
    assert wire is not None
    return {"intent_id" if wire.id == "tenant_id" else wire.id: "new_0001", "status": "ready"}


def place_of(case: Case) -> str:
    """The screen for the action: a record that belongs to another one has no screen."""
    return case[0].name if case[0].has_screen else "runs"


async def begin(driven: Driven, case: Case) -> None:
    _, action, subject = case
    screen = driven.app.screen
    assert isinstance(screen, ConsoleScreen)
    perform_action(screen, subject, action)


async def dialog(driven: Driven, case: Case) -> None:
    """Do the action, and type what it asks for, until its dialog is open."""
    await begin(driven, case)
    if mutation_of(case).fields:
        await driven.opens(ActionForm)
        form = driven.app.screen
        assert isinstance(form, ActionForm)
        for field in form.form.fields:
            if field.id in TYPED:
                form.fields.input(field.id).value = TYPED[field.id]
        await driven.review()
    await driven.opens(ConfirmDialog)


def sent(service: ScriptedService, case: Case) -> list[Any]:
    """The requests of the action that the service got."""
    operation = OPERATIONS[mutation_of(case).operation]
    return service.requests(operation.method, path_of(operation))


@each_mutation
async def test_nothing_is_sent_before_the_dialog_is_confirmed_and_a_lost_answer_is_asked_for_again(
    tmp_path: Path, case: Case
) -> None:
    service, operation = service_for(case), OPERATIONS[mutation_of(case).operation]
    service.say(operation.method, path_of(operation), LOST)
    async with console(service, tmp_path, size=SIZE, open_at=place_of(case)) as driven:
        await dialog(driven, case)
        assert f"{operation.method} /v1/" in driven.text
        assert driven.focused is not None
        assert driven.focused.id == "dialog-keep"
        assert sent(service, case) == []
        await driven.press("tab", "enter")
        await driven.pass_time(5)
        await driven.shows("retries with the same key and body")
        lost = len(sent(service, case))
        service.say(operation.method, path_of(operation), Said(200, answer_of(case)))
        await driven.press("r")
        page = mutation_of(case).private_page
        then = mutation_of(case).then
        # What took effect comes first in the notice.
        done = re.compile(
            "done +new_0001 +ready|Model saved|is in use|shown only once"
            if then is None
            else "━ Test (it, step 3 of 4|a connection)"
        )
        await driven.shows(done if page is None else f"━ Private page{', step 1 of 4' * bool(page.step)} ━")
        heard = sent(service, case)
        assert len(heard) == lost + 1
        assert len({(one.body, one.head.header("idempotency-key")) for one in heard}) == 1
        assert await driven.session.outbox.unconfirmed(driven.session.scope) == []


@each_mutation
async def test_a_read_only_profile_sends_nothing_and_says_why(tmp_path: Path, case: Case) -> None:
    service = service_for(case)
    async with console(service, tmp_path, size=SIZE, open_at=place_of(case), settings="read_only = true\n") as driven:
        await begin(driven, case)
        await driven.shows("This profile is read-only; nothing can be sent.")
        assert not isinstance(driven.app.screen, ActionForm | ConfirmDialog)
        assert sent(service, case) == []


@each_form
async def test_what_the_service_says_of_a_field_is_at_the_field(tmp_path: Path, case: Case) -> None:
    service, mutation = service_for(case), mutation_of(case)
    operation = OPERATIONS[mutation.operation]
    fields = [field for field in mutation.fields if field.path]
    errors = [{"field": field.path, "message": f"Refused {number}."} for number, field in enumerate(fields)]
    refused = Said(400, problem("validation_failed", errors=errors))
    service.say(operation.method, path_of(operation), refused)
    async with console(service, tmp_path, size=SIZE, open_at=place_of(case)) as driven:
        await dialog(driven, case)
        await driven.reaches("validation_failed · HTTP 400", "tab", "enter")
        await driven.opens(ActionForm, "escape")
        form = driven.app.screen
        assert isinstance(form, ActionForm)
        for number, field in enumerate(fields):
            assert f"Refused {number}." in str(form.query_one(f"#note-{field.id}").render())
        await driven.until(
            lambda: driven.focused is form.fields.input(fields[0].id), "the first field to have the focus"
        )
        key = sent(service, case)[-1].head.header("idempotency-key")
        form.fields.input(fields[0].id).value += "x"
        await driven.until(
            lambda: "Refused 0." not in str(form.query_one(f"#note-{fields[0].id}").render()), "it to go"
        )
        assert key not in driven.text


@each_mutation
def test_what_is_sent_keeps_the_rules_that_the_service_checks(case: Case) -> None:
    from runwatch.view.actions.form import build_form, has_body

    mutation = mutation_of(case)
    subject = case[2]
    if mutation.prerequisite is not None and not isinstance(subject, PageResult):
        subject = PageResult(subject.id, subject, {}, {"pending_key": PENDING, "generation": 3})
    form = build_form(mutation, subject)
    values = {**form.start, **{id: text for id, text in TYPED.items() if id in form.start}}
    assert form.problems(values) == {}
    assert has_body(mutation) or form.body(values) == {}


class Tracing(ConsoleApp):
    """A console that notes the rooms of ``runwatch`` on the way to each form, dialog and header, in order."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.opened: list[list[str]] = []
        self.headers: list[list[str]] = []
        super().__init__(*arguments, **named)

    def push_screen(self, screen: Any, *arguments: Any, **named: Any) -> Any:
        self.opened.append(rooms_on_the_way())
        return super().push_screen(screen, *arguments, **named)

    def header_info(self) -> HeaderInfo:
        self.headers.append([*rooms_on_the_way(), "tui.app"])
        return super().header_info()


def rooms_on_the_way() -> list[str]:
    """The rooms that a call has passed, such as ``tui.flows``, each once for calls in a row."""
    names = (str(each.frame.f_globals["__name__"]) for each in reversed(inspect.stack()[2:]))
    rooms = [".".join(name.split(".")[1:3]) for name in names if name.startswith("runwatch.")]
    return [room for room, _ in groupby(rooms)]


@pytest.mark.parametrize(
    ("place", "keys"),
    [
        ("runs", ["plus"]), ("runs", ["X"]), ("runs", ["full_stop", "down", "enter"]), ("runs", ["plus", "f9"]),
        ("arms", ["X"]), ("arms", ["plus", "enter"]), ("arms", ["full_stop", "enter"]), ("keys", ["plus"]),
        ("models", ["plus"]), ("receipts", ["a"]), ("account", ["plus"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)  # fmt: skip
async def test_a_key_enters_each_room_once_until_its_form_or_dialog_opens_and_until_its_request_is_sent(
    place: str, keys: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = noon.service(account=account())
    for records in ([resources.arm()], [resources.api_key()], [resources.catalog_entry()]):
        wire = type(records[0]).WIRE
        made.say("GET", wire.path, Said(200, {wire.items: [dict(one.raw) for one in records], "next_cursor": None}))
    confirmed: list[list[str]] = []
    requests: list[list[str]] = []
    confirm, send = WriteSender.send, Transport.send

    def note_and_confirm(sender: WriteSender) -> None:
        confirmed.append([*rooms_on_the_way(), "tui.flows"])
        confirm(sender)

    async def note_and_send(transport: Transport, request: HttpRequest) -> HttpResponse:
        if request.method != "GET":
            requests.append([*rooms_on_the_way(), "api.http"])
        return await send(transport, request)

    monkeypatch.setattr(WriteSender, "send", note_and_confirm)
    monkeypatch.setattr(Transport, "send", note_and_send)
    async with console(made, tmp_path, size=SIZE, open_at=place, app_class=Tracing) as driven:
        app = driven.app
        assert isinstance(app, Tracing)
        await driven.until(lambda: place == "account" or len(driven.table.rows) > 0, "the list")
        app.opened.clear()
        for key in keys:
            await driven.press(key)
        await driven.until(lambda: bool(app.opened), "a form or dialog")
        assert all(way[-1] == "tui.flows" for way in app.opened)
        if isinstance(app.screen, ConfirmDialog):
            await driven.press("tab", "enter")
            await driven.until(lambda: bool(requests), "the request")
        # Each second, and when a screen comes to the front, the app asks the screen, which asks for the header.
        headers = [way for way in app.headers if "tui.flows" in way]
        assert len(confirmed) == len(requests)
        for way in (*app.opened, *headers, *confirmed, *requests):
            print(way)
            assert len(way) == len(set(way)), way
