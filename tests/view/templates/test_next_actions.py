"""One table leads from each next action to the operation that does it; what no operation does is copied."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.api.operations import OPERATIONS
from runwatch.records.source import SourceConnection
from runwatch.records.template import Application, Blocker, NextAction, Plan, Template
from runwatch.view.detail.sections import build_sections
from runwatch.view.resources.applications import APPLICATION, PLAN
from runwatch.view.resources.registry import resource_named
from runwatch.view.resources.templates import TEMPLATES
from runwatch.view.templates.next_actions import (
    AUTHORIZE,
    COPY_HINT,
    STEPS,
    NextActionTarget,
    StepKind,
    find_action_target,
    find_blocked_connection,
    find_step,
    resume_action,
    without_changes,
)
from tests.support import resources
from tests.view.strategies import CONTEXT, few, garbage

RESUME_ACTIONS = (
    "poll_consent", "retry_consent", "retry_connection_test", "retry_deployment_sync", "authorize_live_proof",
    "refresh_pool_readiness", "refresh_byok_readiness",
)  # fmt: skip
"""What the references let a paused application be told to do."""

COPIED_TYPES = (
    "contact_tenant_admin", "ask_owner_for_role", "ask_org_admin_to_invite", "wait_for_preview_decision",
    "contact_support", "something_new",
)  # fmt: skip


def targets(spec: Any, record: Any) -> list[tuple[str, Any, str]]:
    """Every line of a detail that leads somewhere: its label, its target, and what it does."""
    return [
        (entry.label, entry.target, entry.does)
        for section in build_sections(spec, record, CONTEXT)
        for entry in section.lines
        if entry.target is not None
    ]


def test_every_step_names_something_that_there_is() -> None:
    for step in STEPS.values():
        assert step.kind in get_args(StepKind)
        if step.kind == "resume":
            assert step.action in RESUME_ACTIONS
        if step.resource:
            spec = resource_named(step.resource)
            assert step.operation in OPERATIONS
            found = {each.calls for each in (*spec.actions, *spec.create_actions)}
            assert step.operation in found


@pytest.mark.parametrize("type", COPIED_TYPES)
def test_what_no_operation_does_is_copied(type: str) -> None:
    lead = find_action_target(NextAction({"type": type, "detail": "Ask an owner."}))
    assert lead is not None
    assert lead.words == COPY_HINT
    assert isinstance(lead.target, NextActionTarget)
    assert (lead.target.step, lead.target.text) == (None, "Ask an owner.")


@pytest.mark.parametrize("type", ["wait", "none"])
def test_where_nobody_has_to_do_anything_there_is_nothing_to_stand_on(type: str) -> None:
    assert find_action_target(NextAction({"type": type, "detail": "It goes on by itself."})) is None
    assert find_action_target(None) is None
    assert find_action_target(NextAction({})) is None


def test_the_next_action_of_a_blocker_is_a_line_that_leads_to_its_operation() -> None:
    found = targets(TEMPLATES, resources.template("pooled-open-model", eligible=False))
    (label, blocked, does), (_, instead, _) = found
    assert (label, does) == ("next action", "enter tops it up")
    assert blocked.step == STEPS["top_up_in_billing"]
    assert blocked.blocker.code == "pool_not_entitled"
    assert (instead.step, instead.template_id) == (STEPS["approve_plan"], "byok-open-model")


@pytest.mark.parametrize(("of_file", "plan"), [(False, "enter shows the plan"), (True, "not in a file")])
def test_nothing_that_changes_is_offered_on_a_read_only_profile_and_no_plan_in_a_file(
    *, of_file: bool, plan: str
) -> None:
    sections = build_sections(TEMPLATES, resources.template("pooled-open-model", eligible=False), CONTEXT)
    refused = "not in a file" if of_file else "not on a read-only profile"
    said = [it.does for part in without_changes(sections, of_file=of_file) for it in part.lines if it.does]
    assert (refused in said, plan in said, "enter tops it up" in said) == (True, True, False)
    lines = [it for part in without_changes(sections, of_file=of_file) for it in part.lines]
    assert not [it for it in lines if it.does == refused and it.target is not None], "enter is offered where it opens"


def test_a_blocker_that_asks_for_a_plan_means_the_alternative_plan() -> None:
    blocked = resources.template("pooled-open-model", eligible=False)
    raw: dict[str, Any] = {**blocked.raw, "blockers": [{"code": "no_pool", "next_action": {"type": "approve_plan"}}]}
    assert targets(TEMPLATES, Template(raw))[0][1].template_id == "byok-open-model"
    raw["alternative_plans"] = []
    assert targets(TEMPLATES, Template(raw))[0][1].template_id == "pooled-open-model"


def test_an_eligible_template_leads_to_its_plan() -> None:
    ((label, wanted, _),) = targets(TEMPLATES, resources.template())
    assert (label, wanted.step, wanted.template_id) == ("verdict", STEPS["approve_plan"], "starter")


def test_a_plan_leads_to_applying_it_and_a_blocked_one_to_what_clears_it() -> None:
    ((label, wanted, _),) = targets(PLAN, resources.plan())
    assert (label, wanted.step.kind) == ("means", "apply")
    silent = Plan({name: value for name, value in resources.plan().raw.items() if name != "eligible"})
    labels = [it.label for section in build_sections(PLAN, silent, CONTEXT) for it in section.lines]
    assert "eligible" not in labels, "a plan that does not say it does not contradict its template"
    blocked = resources.plan(
        eligible=False,
        application_supported=False,
        next_action={"type": "connect_source", "detail": "Connect a source."},
        blockers=[{"code": "connection_required", "next_action": {"type": "connect_source", "detail": "Connect."}}],
    )
    assert [wanted.step.kind for _, wanted, _ in targets(PLAN, blocked)] == ["make", "make"]


@pytest.mark.parametrize(
    ("state", "next_type", "expected"),
    [
        ("consent_pending", "enter_credential", "poll_consent"),
        ("echo_proved", "authorize_byok_live_proof", AUTHORIZE),
        ("action_required", "retry_connection_test", "retry_connection_test"),
        ("action_required", "contact_support", None),
        ("ready", "select_model", None),
        ("ready", "none", None),
    ],
)
def test_an_application_is_resumed_by_what_it_waits_for(state: str, next_type: str, expected: str | None) -> None:
    assert resume_action(resources.application(state, next_action={"type": next_type})) == expected


def test_the_live_proof_is_asked_about_with_what_it_may_spend_and_named_by_its_digest() -> None:
    application = resources.application(diagnostics={"request_policy": {"budget": {"max_cost_usd": 0.25}}})
    authorize = next(action for action in APPLICATION.actions if action.id == "authorize")
    assert authorize.enabled_when(application)
    assert authorize.mutation is not None
    assert "at most 0.25 USD and the platform fee" in authorize.mutation.sentence(application)
    assert authorize.mutation.members is not None
    assert authorize.mutation.members(application) == {"action": AUTHORIZE, "live_proof_digest": "sha256:l1"}
    others = {action.id: action.enabled_when(application) for action in APPLICATION.actions}
    assert others == {"resume": False, "authorize": True, "select": False}


def test_a_proof_whose_price_nobody_tells_says_so() -> None:
    authorize = next(action for action in APPLICATION.actions if action.id == "authorize")
    assert authorize.mutation is not None
    assert "does not state" in authorize.mutation.sentence(resources.application())


CONNECTED = resources.connection("conn_a")
UNTESTED = resources.connection("conn_b", test_state="untested", status="disabled")


def blocker(detail: str = "It is not tested.") -> Blocker:
    return Blocker({"code": "connection_test_required", "detail": detail, "next_action": {"type": "test_connection"}})


def test_the_connection_is_that_of_the_catalog_row() -> None:
    template = resources.template("byok-open-model", catalog_row=dict(resources.catalog_entry().raw))
    assert find_blocked_connection(template, blocker("conn_b is not tested"), [CONNECTED, UNTESTED]) == "conn_01HX5"


def test_without_a_catalog_row_it_is_the_one_that_the_blocker_names() -> None:
    longer = resources.connection("conn_bb", test_state="untested")
    found = find_blocked_connection(
        resources.template(), blocker("The connection conn_bb fails."), [CONNECTED, UNTESTED, longer]
    )
    assert found == "conn_bb"


def test_without_a_name_it_is_the_only_one_that_it_can_be() -> None:
    template = resources.template()
    assert find_blocked_connection(template, blocker(), [CONNECTED, UNTESTED]) == "conn_b"
    assert find_blocked_connection(template, blocker(), [CONNECTED, UNTESTED], is_sync=True) == "conn_a"
    other = SourceConnection({**UNTESTED.raw, "connection_id": "conn_c"})
    assert find_blocked_connection(template, blocker(), [UNTESTED, other]) is None
    gone = SourceConnection({**UNTESTED.raw, "revoked_at": "2026-11-20T10:00:00Z"})
    assert find_blocked_connection(template, blocker(), [gone]) is None


@few
@given(garbage(Template).map(Template), garbage(Blocker).map(Blocker), st.lists(garbage(SourceConnection), max_size=3))
def test_no_answer_of_a_service_makes_a_next_action_fail(template: Template, one: Blocker, known: list[Any]) -> None:
    find_blocked_connection(template, one, [SourceConnection(raw) for raw in known])
    targets(TEMPLATES, template)
    find_step(one.next_action)


@few
@given(garbage(Plan).map(Plan), garbage(Application).map(Application))
def test_no_plan_and_no_application_makes_its_actions_fail(plan: Plan, application: Application) -> None:
    for spec, record in ((PLAN, plan), (APPLICATION, application)):
        targets(spec, record)
        for action in spec.actions:
            action.enabled_when(record)
            assert action.mutation is not None
            assert action.mutation.sentence(record)
            assert action.mutation.members is not None
            action.mutation.members(record)
