"""``templates plan|apply|resume|select|show``: from a template to a proved model, with a yes before money is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.base.json import loads
from tests.commands.here import Here
from tests.commands.test_resources import serve
from tests.support import resources
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService

PLANS: Final = "/v1/tenant-template-plans"
APPLICATIONS: Final = "/v1/tenant-template-applications"
RESUME: Final = f"{APPLICATIONS}/app_01/resume"
WAITING: Final = {"type": "retry_consent", "detail": "Complete the page."}


def offer(service: ScriptedService, application: Any = None, **planned: Any) -> None:
    """Offer a plan and the application that it becomes."""
    service.say("POST", PLANS, Said(200, resources.plan(**planned)))
    answer = Said(200, application or resources.application())
    service.say("POST", APPLICATIONS, answer)
    service.say("GET", f"{APPLICATIONS}/app_01", answer)
    service.say("POST", RESUME, answer)


def body_of(service: ScriptedService, path: str) -> Any:
    (heard,) = service.requests("POST", path)
    return loads(heard.body)


def test_a_plan_is_shown_and_changes_nothing(runwatch: Here, service: ScriptedService) -> None:
    offer(service)
    shown = runwatch("templates", "plan", "starter", "--read-only", code=0)
    for words in ("0.15 USD", "submit_bounded_live_proof", "Submits a test run.", "sha256:d1"):
        assert words in shown.text
    assert body_of(service, PLANS) == {"template_id": "starter"}
    assert runwatch("templates", "plan", "starter", "--json").json == dict(resources.plan().raw)


def test_a_plan_with_something_in_its_way_exits_1(runwatch: Here, service: ScriptedService) -> None:
    blockers = resources.template(eligible=False).raw["blockers"]
    offer(service, blockers=blockers, eligible=False)
    outcome = runwatch("templates", "plan", "starter", code=1)
    assert "pool_not_entitled" in outcome.text


def test_an_offering_is_named_whole_or_not_at_all(runwatch: Here, service: ScriptedService) -> None:
    offer(service)
    words = ("--source-id", "s", "--auth-scheme", "api_key", "--served-variant-id", "sv")
    assert runwatch("templates", "plan", "byok-open-model", "--deployment-id", "m", *words).code == 0
    assert body_of(service, PLANS) == {
        "template_id": "byok-open-model",
        "model_deployment_id": "m",
        "byok_offering": {"source_id": "s", "auth_scheme": "api_key", "served_variant_id": "sv"},
    }
    assert runwatch("templates", "plan", "byok-open-model", *words[:2]).code == 2


def test_applying_tells_the_plan_and_needs_a_yes(runwatch: Here, service: ScriptedService) -> None:
    offer(service)
    asked = runwatch("templates", "apply", "starter", code=2)
    assert "--yes" in asked.errors
    assert "at most: 0.15 USD" in asked.errors
    assert "Submits one live run within the budget." in asked.errors
    assert service.requests("POST", APPLICATIONS) == []
    done = runwatch("templates", "apply", "starter", "--yes", "--json")
    assert (done.code, done.json) == (0, dict(resources.application().raw))
    body = body_of(service, APPLICATIONS)
    assert (body["digest"], body["issued_at"], body["template_id"]) == (
        "sha256:d1", "2026-11-20T10:05:00.123Z", "starter",
    )  # fmt: skip
    (heard,) = service.requests("POST", APPLICATIONS)
    assert heard.head.header("idempotency-key") == body["application_key"]


def test_a_plan_that_was_approved_before_is_applied_without_a_question(
    runwatch: Here, service: ScriptedService
) -> None:
    offer(service)
    words = ("templates", "apply", "starter", "--digest", "sha256:x", "--issued-at", "then")
    assert runwatch(*words, "--idempotency-key", "app-key").code == 0
    assert service.requests("POST", PLANS) == []
    assert body_of(service, APPLICATIONS) == {
        "template_id": "starter", "digest": "sha256:x", "issued_at": "then", "application_key": "app-key",
    }  # fmt: skip
    assert runwatch(*words[:5]).code == 2


@pytest.mark.parametrize("member", ["eligible", "application_supported"])
def test_a_plan_that_cannot_be_applied_exits_1_whichever_member_says_so(
    runwatch: Here, service: ScriptedService, member: str
) -> None:
    offer(service, **{member: False})
    assert runwatch("templates", "plan", "starter").code == 1


@pytest.mark.parametrize("member", ["eligible", "application_supported"])
def test_a_blocked_template_is_not_applied(runwatch: Here, service: ScriptedService, member: str) -> None:
    offer(service, **{member: False})
    outcome = runwatch("templates", "apply", "starter", "--yes", code=1)
    assert "runwatch templates show starter" in outcome.errors
    assert service.requests("POST", APPLICATIONS) == []


def test_a_stale_plan_is_reported_with_its_fields(runwatch: Here, service: ScriptedService) -> None:
    offer(service)
    stale = problem("validation_failed", errors=[{"field": "digest", "message": "Plan again."}])
    service.say("POST", APPLICATIONS, Said(400, stale))
    outcome = runwatch("templates", "apply", "starter", "--yes", code=1)
    assert "digest: Plan again." in outcome.errors


def test_a_consent_is_reported_or_given_with_a_key(runwatch: Here, service: ScriptedService) -> None:
    address = f"{service.base_url}/connect/source?intent=canary-0011223344556677"
    consent = {"handoff_intent_id": "hand_01", "continue_url": address, "expires_at": None, "attempt": 1}
    waiting = resources.application("consent_pending", consent=consent, next_action=WAITING, live_proof=None)
    offer(service, waiting)
    told = runwatch("templates", "apply", "byok-open-model", "--yes")
    assert (told.code, told.errors.count(address), address in told.text) == (0, 1, False)
    service.say("POST", "/connect/source", Said(200, {}))
    service.say("POST", RESUME, Said(200, resources.application("arm_ready")))
    given = runwatch(
        "templates", "apply", "byok-open-model", "--yes", "--key-stdin", "--json", stdin=b"sk-canary-778899"
    )
    assert (given.code, given.json["state"]) == (0, "arm_ready")
    assert body_of(service, "/connect/source") == {"secret": "sk-canary-778899"}
    assert body_of(service, RESUME) == {"action": "poll_consent"}
    assert "canary" not in given.errors


@pytest.mark.parametrize(
    ("state", "wanted", "action"),
    [
        ("consent_pending", "retry_consent", "poll_consent"),
        ("action_required", "retry_connection_test", "retry_connection_test"),
        ("action_required", "refresh_byok_readiness", "refresh_byok_readiness"),
    ],
)
def test_resume_does_what_the_application_waits_for(
    runwatch: Here, service: ScriptedService, state: str, wanted: str, action: str
) -> None:
    offer(service, resources.application(state, next_action={"type": wanted, "detail": "Do it."}))
    assert runwatch("templates", "resume", "app_01", "--json").json["application_id"] == "app_01"
    assert body_of(service, RESUME) == {"action": action}


def test_a_paid_proof_is_authorized_by_its_digest_and_with_a_yes_alone(
    runwatch: Here, service: ScriptedService
) -> None:
    offer(service)
    asked = runwatch("templates", "resume", "app_01", code=2)
    assert "paid live proof" in asked.errors
    assert service.requests("POST", RESUME) == []
    assert runwatch("templates", "resume", "app_01", "--yes").code == 0
    assert body_of(service, RESUME) == {"action": "authorize_live_proof", "live_proof_digest": "sha256:l1"}


def test_an_application_that_waits_for_nothing_is_not_resumed(runwatch: Here, service: ScriptedService) -> None:
    offer(service, resources.application("ready", next_action=None))
    outcome = runwatch("templates", "resume", "app_01", "--json", code=1)
    assert "the application is ready" in json.loads(outcome.errors)["detail"]


def test_an_application_that_failed_exits_1(runwatch: Here, service: ScriptedService) -> None:
    offer(service, resources.application("failed_safe", next_action=None))
    assert runwatch("templates", "resume", "app_01", "--action", "retry_consent").code == 1


def test_an_application_is_shown_by_its_id(runwatch: Here, service: ScriptedService) -> None:
    serve(service, "templates")
    offer(service)
    shown = runwatch("templates", "show", "app_01")
    assert "authorize_byok_live_proof" in shown.text
    assert runwatch("templates", "show", "app_01", "--json").json == dict(resources.application().raw)


def test_the_selected_model_is_shown_or_that_there_is_none(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/tenant-model-selection", Said(200, {"selection": dict(resources.selection().raw)}))
    assert runwatch("templates", "select", "--json").json == dict(resources.selection().raw)
    service.say("GET", "/v1/tenant-model-selection", Said(200, {"selection": None}))
    assert runwatch("templates", "select").errors.strip() == "no model is selected"
    assert runwatch("templates", "select", "--json").json is None


def reported(service: ScriptedService) -> None:
    serve(service, "templates", [resources.template("pooled-open-model", eligible=False), resources.template()])


def test_the_report_says_what_blocks_a_template_and_what_to_do_next(runwatch: Here, service: ScriptedService) -> None:
    reported(service)
    shown = runwatch("templates", "report", code=0)
    assert shown.text.startswith("# Eligibility of templates")
    assert "Add credit, then plan again." in shown.text


def test_the_report_as_csv_has_a_row_a_blocker(runwatch: Here, service: ScriptedService, tmp_path: Path) -> None:
    reported(service)
    rows = runwatch("templates", "report", "--format", "csv").text.splitlines()
    assert [row.split(",")[0] for row in rows] == ["template", "pooled-open-model", "starter"]
    (found,) = (row for row in runwatch("templates", "report", "--json").json if row["blocker"] is not None)
    assert (found["blocker"], found["next_action"]) == ("pool_not_entitled", "top_up_in_billing")
    file = tmp_path / "report.csv"
    assert runwatch("templates", "report", "--output", str(file)).code == 0
    assert file.read_text("utf-8").splitlines() == rows
