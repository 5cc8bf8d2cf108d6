"""Templates: why one is not eligible, what clears it, what changed, and what a reviewer decided on it."""

from __future__ import annotations

import re
import shlex
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from textual.widget import Widget

from runwatch.base.json import loads
from runwatch.records.digest import compute_digest
from runwatch.records.template import Template
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.flows.comparison import CompareScreen
from runwatch.tui.screens.base import resource_screen
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.screens.templates.application import ApplicationScreen
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from runwatch.view.templates.decisions import ReviewDecision
from tests.support import resources
from tests.support.builders import account, problem
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden

TEMPLATES: Final = "/v1/tenant-templates"
PLANS: Final = "/v1/tenant-template-plans"
APPLICATIONS: Final = "/v1/tenant-template-applications"
TEST: Final = "/v1/source-connections/conn_01HX5/test"

UNTESTED: Final = resources.template(
    "byok-open-model", eligible=False,
    blockers=[
        {
            "code": "connection_untested", "detail": "The provider connection was never tested.",
            "next_action": {"type": "test_connection", "detail": "Test the connection, then sync its models."},
        },
        {
            "code": "role_lacks_permission", "detail": "This key may not manage arms.",
            "next_action": {"type": "ask_owner_for_role", "detail": "Ask an owner for arms:manage."},
        },
    ],
    catalog_row=dict(resources.catalog_entry().raw),
)  # fmt: skip
POOLED: Final = resources.template("pooled-open-model", eligible=False)
STARTER: Final = resources.template()
PROVED: Final = {"type": "authorize_byok_live_proof", "detail": "Authorize one bounded live run."}


def offer(service: ScriptedService, *lists: list[Template]) -> None:
    """Have the service list these templates, one list after another; the last one stays."""
    answers = [Said(200, {"templates": [dict(template.raw) for template in found]}) for found in lists]
    service.say("GET", TEMPLATES, *answers)


def service() -> ScriptedService:
    script = ScriptedService(account=account())
    offer(script, [STARTER, POOLED, UNTESTED])
    connection = dict(resources.connection(test_state="untested", status="disabled", last_tested_at=None).raw)
    script.say("GET", "/v1/source-connections", Said(200, {"connections": [connection]}))
    script.say("POST", TEST, Said(200, resources.connection()))
    script.say("POST", PLANS, Said(200, resources.plan()))
    return script


at_start = partial(console, open_at="templates")
"""The console on the screen of templates, before they have come."""


async def at_templates(driven: Driven) -> None:
    await driven.comes("byok-open-model")
    await driven.settle()


@asynccontextmanager
async def reviewing(service: ScriptedService, home: Path, **more: Any) -> AsyncIterator[Driven]:
    """The console on the screen of templates, which have come."""
    async with at_start(service, home, **more) as driven:
        await at_templates(driven)
        yield driven


async def begin(driven: Driven) -> None:
    """Have an earlier session begun the application, and go to its next action."""
    scope = driven.session.scope
    await driven.session.notes.write(scope, Template.KIND, "starter", "intent", '{"application_id": "app_01"}')
    await at_templates(driven)
    await driven.reaches("application started here", "r", "G")
    await at_next_action(driven)


async def at_next_action(driven: Driven) -> None:
    """Open the template under the cursor, and go to its first next action."""
    await driven.press("enter")
    await driven.until(lambda: isinstance(driven.focused, DetailView) and driven.focused.has_target, "a next action")


def body_of(service: ScriptedService, path: str) -> Any:
    (heard,) = service.requests("POST", path)
    return loads(heard.body) if heard.body else None


@pytest.mark.parametrize("size", [NARROW, (120, 36), WIDE], ids=["80x24", "120x36", "160x50"])
async def test_the_screen_looks_as_approved(tmp_path: Path, size: tuple[int, int]) -> None:
    async with reviewing(service(), tmp_path, size=size) as driven:
        await driven.shows("1 eligible · 2 blocked")
        check_golden(f"templates-{size[0]}x{size[1]}", driven.text)
        await at_next_action(driven)
        check_golden(f"templates-opened-{size[0]}x{size[1]}", driven.text)


async def test_blockers_are_numbered_values_copied_and_rows_counted(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        assert driven.table.cursor_key == "byok-open-model"
        await driven.shows("Not eligible: 2 blockers.", "Blocker 1 connection_untested")
        assert "Blocker 2 role_lacks_permission" in driven.text
        await driven.reaches("Copied", "y")
        assert "byok-open-model" in driven.lines[-1]
        await at_next_action(driven)
        await driven.press("y")
        await driven.until(lambda: "test_connection" in driven.lines[-1], "the value to be copied")
        await driven.press("escape")
        detail: Widget = driven.app.screen.query_one("#fields", DetailView)
        table: Widget = driven.table
        await driven.press("tab")
        assert driven.focused is detail
        await driven.press("tab")
        assert driven.focused is table
        await driven.shows("1 eligible · 2 blocked")
        driven.app.screen.filter_by("is:blocked")  # type: ignore[attr-defined]
        await driven.shows("0 eligible · 2 blocked")


async def test_each_template_opens_on_its_own_next_action(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path, size=NARROW) as driven:
        await driven.select("byok-open-model")
        await at_next_action(driven)
        await driven.press("escape")
        await driven.select("starter")
        await driven.press("enter")
        await driven.shows(re.compile("▸ verdict .*enter shows the plan"))
        await driven.reaches("This line opens nothing.", "G", "enter")


async def test_enter_on_a_next_action_runs_it_on_the_record_that_the_template_names(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        await at_next_action(driven)
        await driven.reaches("POST /v1/source-connections/conn_01HX5/test", "enter")
        offer(driven.service, [STARTER, POOLED, resources.template("byok-open-model")])
        await driven.reaches("done", "tab", "enter")
        assert len(driven.service.requests("POST", TEST)) == 1
        await driven.comes("2 eligible · 1 blocked")


@pytest.mark.exhaustive
async def test_a_next_action_that_nobody_runs_is_copied_with_the_service_that_it_is_about(tmp_path: Path) -> None:
    told = service()
    ask = {"type": "ask_owner", "detail": "Ask an owner. They find you with: runwatch keys list"}
    blocked = resources.template("byok-open-model", eligible=False, blockers=[{"code": "x", "next_action": ask}])
    offer(told, [blocked])
    settings = 'clipboard = "osc52"\n[profiles.work]\nbase_url = "{base_url}"\nkey_command = "echo rk_test"\n'
    unset = {"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": ""}
    async with reviewing(told, tmp_path, settings=settings, environment=unset) as driven:
        await driven.shows("runwatch keys list --profile work")
        copied: list[str] = []
        driven.app._write_to_terminal = copied.append  # type: ignore[method-assign, assignment]
        await at_next_action(driven)
        await driven.press("enter")
        await driven.until(lambda: bool(copied), "the text to be copied")
        assert shlex.split(b64decode(copied[-1].split(";")[-1].rstrip("\x1b\\")).decode()) == [
            "Ask an owner. They find you with: runwatch keys list --profile work"
        ]


@pytest.mark.exhaustive
async def test_a_next_action_that_nobody_runs_is_copied(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        await driven.shows("enter copies it")
        await at_next_action(driven)
        view = driven.app.screen.query_one("#fields", DetailView)
        await driven.press("down")
        await driven.until(lambda: not view.has_target, "the cursor to move")
        while not view.has_target:
            await driven.press("down")
        await driven.press("enter")
        await driven.until(lambda: "Ask an owner for arms:manage." in driven.lines[-1], "the next action to be copied")
        assert not driven.service.requests("POST")


async def test_backspace_takes_a_decision_back(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        await driven.reaches("stays on this machine", "n")
        await driven.reaches("Reason for go, although it is blocked", "enter")
        await driven.reaches("not saved: go needs a reason", "enter")
        await driven.type("fine by me")
        await driven.reaches("✓ go, 0s ago: fine by me", "enter")
        await driven.reaches("Undone: decision on byok", "backspace")
        await driven.hides("fine by me")


@pytest.mark.exhaustive
async def test_a_read_only_profile_runs_no_next_action_and_decides_all_the_same(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path, options=SettingOptions(read_only=True)) as driven:
        await at_next_action(driven)
        await driven.shows("not on a read-only profile")
        assert "enter runs it" not in driven.text
        assert "open and act" not in driven.text
        await driven.press("enter")
        if isinstance(driven.app.screen, ConfirmDialog):
            await driven.press("escape")
        await driven.reaches("stays on this machine", "n")
        await driven.press("enter")
        await driven.type("fine by me")
        await driven.reaches("✓ go, 0s ago: fine by me", "enter")
        assert not driven.service.requests("POST")


@pytest.mark.exhaustive
async def test_what_another_console_decided_meanwhile_is_written_over_only_when_the_user_says_so(
    tmp_path: Path,
) -> None:
    async with reviewing(service(), tmp_path) as driven:
        await driven.reaches("No-go", "n")
        session, template = driven.session, driven.table.rows[0].subject.template  # type: ignore[attr-defined]
        theirs = ReviewDecision("no-go", "theirs", compute_digest(template), driven.clock.now()).text
        await session.notes.write(session.scope, Template.KIND, template.id, "decision", theirs)
        await driven.press("enter")
        await driven.type("fine by me")
        await driven.reaches("Another console decided no-go meanwhile; enter overwrites it", "enter")
        await driven.shows("✗ no-go, 0s ago: theirs")
        assert "fine by me" in driven.text, "what was typed is not lost"
        await driven.reaches("✓ go, 0s ago: fine by me", "enter")
        await driven.reaches("Take it back", "n")
        await session.notes.write(session.scope, Template.KIND, template.id, "decision", theirs)
        await driven.reaches("Another console decided no-go meanwhile; its decision stays", "down", "down", "enter")


@pytest.mark.exhaustive
async def test_what_another_console_decides_is_shown_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_screen, "NOTES_REFRESH_S", 0.05)
    async with reviewing(service(), tmp_path) as driven:
        session, template = driven.session, driven.table.rows[0].subject.template  # type: ignore[attr-defined]
        theirs = ReviewDecision("no-go", "theirs", compute_digest(template), driven.clock.now()).text
        await session.notes.write(session.scope, Template.KIND, template.id, "decision", theirs)
        await driven.until(lambda: driven.table.rows[0].subject.decision is not None, "the decision")  # type: ignore[attr-defined]


@pytest.mark.exhaustive
async def test_a_decision_is_flagged_when_the_record_changes_afterwards(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        await driven.reaches("No-go", "n")
        await driven.press("down", "enter")
        await driven.type("not yet")
        await driven.reaches("✗ no-go, 0s ago: not yet", "enter")
        changed = Template({**UNTESTED.raw, "template_version": "2"})
        offer(driven.service, [STARTER, POOLED, changed])
        await driven.press("r")
        await driven.comes("no-go, old")
        await driven.shows("changed since")
        await driven.reaches("Take it back", "n")
        await driven.press("down", "down", "enter")
        await driven.hides("no-go")


async def test_a_decision_and_the_versions_outlive_the_console(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        await driven.reaches("Go", "n")
        await driven.press("enter")
        await driven.type("fine")
        await driven.reaches("✓ go, 0s ago", "enter")
        await driven.pass_time(2)
    # The same service at another port is another origin, and still the same organization and key.
    again = ScriptedService(account=account())
    offer(again, [STARTER, POOLED, Template({**UNTESTED.raw, "blockers": []})])
    async with reviewing(again, tmp_path, size=WIDE) as driven:
        await driven.comes("changed since")
        await driven.shows("blocker connection_untested is gone", "go, old")


async def test_d_compares_a_template_with_an_earlier_version_of_itself(tmp_path: Path) -> None:
    told = service()
    offer(told, [STARTER, UNTESTED], [STARTER, Template({**UNTESTED.raw, "template_version": "2"})])
    async with reviewing(told, tmp_path) as driven:
        await driven.pass_time(2)
        await driven.press("r")
        await driven.comes("changed since")
        await driven.reaches("1 value of the rest differs", "D")
        await driven.opens(CompareScreen, "enter")
        await driven.shows("template_version", "members differ")
        await driven.press("escape")
        assert isinstance(driven.app.screen, ResourceScreen)
        await driven.reaches("another template", "D")
        await driven.press("down", "enter")
        await driven.press("down")
        await driven.opens(CompareScreen, "D")


@pytest.mark.exhaustive
async def test_without_an_earlier_version_d_chooses_the_other_template(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        await driven.reaches("Comparing", "D")
        await driven.opens(CompareScreen, "down", "D")


@pytest.mark.parametrize("form", ["md", "csv"])
async def test_the_report_is_written_where_the_notice_says(tmp_path: Path, form: str) -> None:
    async with reviewing(service(), tmp_path, size=WIDE) as driven:
        await driven.reaches(f"report {form}", "e")
        await driven.press(*(["down"] if form == "csv" else []), "enter")
        exports = driven.app.launch.paths.exports_dir
        await driven.until(lambda: any(exports.glob(f"template-report-*.{form}")), "the report")
        (path,) = exports.glob(f"template-report-*.{form}")
        await driven.shows("report on 3 templates")
        text = path.read_text("utf-8")
        assert path.stat().st_mode & 0o777 == 0o600
        for word in ("connection_untested", "ask_owner_for_role", "pool_not_entitled", "starter"):
            assert word.replace("_", "\\_" if form == "md" else "_") in text


async def test_a_plan_is_shown_with_what_it_may_spend_and_changes_nothing(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        await driven.press("G")
        await at_next_action(driven)
        await driven.reaches("Applying it spends at most 0.15 USD", "enter")
        await driven.shows("sha256:d1")
        check_golden("templates-plan-120x36", driven.text)
        assert body_of(driven.service, PLANS) == {"template_id": "starter"}
        assert not driven.service.requests("POST", APPLICATIONS)
        await driven.reaches("Copy a command", "full_stop")
        await driven.reaches("runwatch templates apply starter", "down", "enter")


@pytest.mark.exhaustive
@pytest.mark.parametrize("read_only", [False, True])
async def test_a_plan_that_cannot_be_applied_says_beside_its_next_action_that_enter_runs_it(
    tmp_path: Path, read_only: bool
) -> None:
    told = service()
    blocker = {"code": "connection_untested", "detail": "It was never tested."}
    action = {"type": "test_connection", "detail": "Test the connection."}
    told.say("POST", PLANS, Said(200, resources.plan(eligible=False, blockers=[blocker], next_action=action)))
    options = SettingOptions(read_only=read_only)
    async with reviewing(told, tmp_path, options=options) as driven:
        await driven.press("G")
        await at_next_action(driven)
        await driven.press("enter")
        if read_only:
            await driven.shows("test_connection   not on a read-only profile")
            assert "enter " not in driven.lines[-1]
            return
        await driven.shows(re.compile("▸ next action +test_connection   enter runs it"))
        assert "the reasons are below.  " in driven.text
        assert "run next action" in driven.text
        # Only the line of the next action leads somewhere.
        await driven.press("up")
        await driven.until(lambda: "enter " not in driven.lines[-1], "the hint to go")


async def test_applying_approves_the_digest_that_was_looked_at_and_follows_the_application(tmp_path: Path) -> None:
    told = service()
    moving = resources.application(
        "applying", live_proof=None, template_id="starter", next_action={"type": "wait", "detail": "It goes on."}
    )
    told.say("POST", APPLICATIONS, Said(200, moving))
    ready = resources.application(
        "ready", live_proof=None, template_id="starter", next_action={"type": "none", "detail": "Set up."}
    )
    told.say("GET", f"{APPLICATIONS}/app_01", Said(200, moving), Said(200, ready))
    async with reviewing(told, tmp_path) as driven:
        await driven.press("G")
        await at_next_action(driven)
        await driven.reaches("enter applies it", "enter")
        await driven.reaches("Applies starter as this plan says", "enter")
        # Neither the focus of the dialog, which comes after its text, nor the notice, which goes, is waited for.
        await driven.reaches("Application of the template started · ", "f9")
        await driven.shows("read every 2s")
        body = body_of(told, APPLICATIONS)
        assert body == {"template_id": "starter", "digest": "sha256:d1", "issued_at": "2026-11-20T10:05:00.123Z"}
        screen: Any = driven.app.screen
        for reads in (1, 2):
            await driven.pass_time(3)
            # An answer that comes late, on a busy machine, begins the next wait.
            await driven.until(lambda: not screen._is_reading, "the answer")
            assert len(told.requests("GET", f"{APPLICATIONS}/app_01")) == reads
        await driven.shows("Set up.")
        await driven.pass_time(60)
        assert len(told.requests("GET", f"{APPLICATIONS}/app_01")) == 2, "an ended one is read no more"
        await driven.reaches("application started here", "escape")


@pytest.mark.exhaustive
async def test_a_paid_proof_is_asked_about_again_with_what_it_may_spend(tmp_path: Path) -> None:
    told = service()
    waiting = resources.application(next_action=PROVED, diagnostics={"maximum_spend_usd": 0.35})
    told.say("POST", APPLICATIONS, Said(200, waiting))
    told.say("GET", f"{APPLICATIONS}/app_01", Said(200, waiting))
    running = resources.application("live_running", live_proof=None, next_action={"type": "wait"})
    told.say("POST", f"{APPLICATIONS}/app_01/resume", Said(200, running))
    async with reviewing(told, tmp_path) as driven:
        await driven.press("G")
        await at_next_action(driven)
        await driven.reaches("enter applies it", "enter")
        await driven.reaches("Apply it", "enter")
        await driven.reaches("enter asks before it spends", "tab", "enter")
        await driven.reaches("It spends at most 0.35 USD", "enter")
        assert not told.requests("POST", f"{APPLICATIONS}/app_01/resume")
        await driven.reaches("done", "tab", "enter")
        assert body_of(told, f"{APPLICATIONS}/app_01/resume") == {
            "action": "authorize_live_proof",
            "live_proof_digest": "sha256:l1",
        }


async def test_an_application_that_was_begun_is_resumed_in_a_later_session(tmp_path: Path) -> None:
    told = service()
    proof = {"digest": "sha256:l1", "issued_at": "2026-11-21T12:00:00.000Z", "expires_at": "2026-11-21T14:05:00.000Z"}
    spends = {"maximum_spend_usd": 0.25}
    waiting = resources.application(next_action=PROVED, template_id="starter", live_proof=proof, diagnostics=spends)
    told.say("GET", f"{APPLICATIONS}/app_01", Said(200, waiting))
    async with at_start(told, tmp_path) as driven:
        await begin(driven)
        await driven.opens(ApplicationScreen, "G", "enter")
        await driven.shows("authorize_byok_live_proof")
        await driven.reaches("Run the paid live proof", "full_stop")
        assert "off: It waits for nothing that a resume does." in driven.text
        await driven.reaches(re.compile("waits for your go: 0.25 USD, until [0-9:]+"), "escape", "escape")
        assert driven.text.index("waits for your go") < driven.text.index("verdict"), "what waits comes first"
        await driven.opens(ApplicationScreen, "g", "down", "enter")


async def test_a_plan_that_cannot_be_made_says_why_and_is_made_again(tmp_path: Path) -> None:
    told = service()
    told.say("POST", PLANS, Said(403, problem("permission_denied")), Said(200, resources.plan()))
    async with reviewing(told, tmp_path) as driven:
        await driven.press("G")
        await at_next_action(driven)
        await driven.reaches("reads it again", "enter")
        await driven.reaches("Applying it spends at most", "r")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Said(200, {"templates": []}), "The service offers no templates."),
        (Said(404, problem("not_found")), "not offered"),
        (Said(403, problem("permission_denied")), "not authorised"),
        (Said(500, problem("internal")), "error 500"),
    ],
    ids=["empty", "not offered", "not authorised", "error"],
)
async def test_a_list_that_says_nothing_says_why(tmp_path: Path, answer: Said, words: str) -> None:
    told = service()
    told.say("GET", TEMPLATES, answer)
    async with at_start(told, tmp_path) as driven:
        await driven.comes(words)


async def test_whatever_a_template_holds_is_shown_and_hides_nothing(tmp_path: Path) -> None:
    told = service()
    odd = Template(
        {
            "template_id": "odd", "eligible": "perhaps", "blockers": [{"code": 7, "next_action": "none"}, "text"],
            "alternative_plans": {"a": 1}, "catalog_row": [1, 2], "new_member": {"deep": [None]},
        }
    )  # fmt: skip
    offer(told, [odd])
    async with at_start(told, tmp_path, size=WIDE) as driven:
        await driven.comes("The service does not say whether it is eligible")
        await driven.press("enter")
        for text in ("perhaps", "new_member.deep", "alternative_plans.a", "catalog_row"):
            await driven.shows(text)


@pytest.mark.exhaustive
async def test_the_age_of_the_list_grows_while_the_service_is_away(tmp_path: Path) -> None:
    async with reviewing(service(), tmp_path) as driven:
        driven.service.say("GET", TEMPLATES, Said(503, problem("internal")))
        await driven.pass_time(timedelta(minutes=5).total_seconds())
        assert "byok-open-model" in driven.text, "what is known stays"
        assert "error 500 · data 5m old · since 12:0" in driven.text


async def test_the_private_page_of_an_application_is_offered_and_is_in_no_field(tmp_path: Path) -> None:
    told = service()
    address = "https://broker.example.test/enter?intent=sentinel"
    consent = {"handoff_intent_id": "hnd_01", "continue_url": address, "expires_at": None, "attempt": 1}
    waiting = resources.application("consent_pending", template_id="starter", consent=consent, live_proof=None)
    told.say("GET", f"{APPLICATIONS}/app_01", Said(200, waiting))
    async with at_start(told, tmp_path) as driven:
        await begin(driven)
        await driven.reaches("enter the key of the model source", "G", "enter")
        await driven.settle()
        await driven.opens(ApplicationScreen, "escape")
        await driven.press("G")
        assert "sentinel" not in driven.text
        await driven.press("v")
        assert "sentinel" not in driven.text
